# frozen_string_literal: true

# Tasks for every reader of the benches in Ruby, and how they are measured. The engines stand in
# ours/files.rb and peers/files.rb; peers/files.py and peers/io_floor do the same in other languages.

require "zlib"

require_relative "program"

module FileWorkload
  # A record is a header and a body; as four numbers of 32 bits, big-endian, a header is what `headers` reads.
  HEADER_BYTES = 16
  BODY_BYTES = 64
  RECORD_BYTES = HEADER_BYTES + BODY_BYTES
  BATCH_LINES = 1000

  # Records and lines whose bytes are compared.
  CHECKED_COUNT = 20_000
  # Files below are those of check mode, where nothing is timed in earnest.
  SMALL_BYTES = 1_500_000

  # Tasks, each with its answer and what it measured under :figures. An engine has a method for each of its
  # loops, which is timed and says how many it found, and a method that gives what the loop reads, to compare.
  class Tasks
    NAMES = %w[records headers count_lines lines raw:LENGTH alone beside].freeze

    TIMED_S = 0.4
    # Of reads of one length: how many there are at the most, and how many bytes.
    RAW_READS_MAX = 400_000
    RAW_BYTES_MAX = 64 << 20
    # Reads beside a thread.
    STARVED_S = 1.5
    STARVED_READ_BYTES = 1000
    # Between looks at the clock.
    STARVED_READS = 50

    # engine:: path -> an engine
    def initialize(engine, path)
      @path = path
      @size = File.size(path)
      @engine = engine.call(path)
    end

    def run(name)
      name, length = name.split(":")
      length ? send(name, Integer(length, 10)) : send(name)
    end

    private

    def records
      crc = 0
      each_checked(:each_record) { |header, body| crc = Zlib.crc32(body, Zlib.crc32(header, crc)) }
      { records: @engine.records, crc: crc, figures: pass { @engine.records } }
    end

    def headers
      sum = 0
      each_checked(:each_header) { |numbers| sum += numbers.sum }
      count = @size / RECORD_BYTES
      @engine.headers(count)
      { sum: sum, figures: pass { @engine.headers(count) } }
    end

    def count_lines
      { lines: @engine.count_lines, figures: pass { @engine.count_lines } }
    end

    def lines
      crc = 0
      each_checked(:each_line) { |line| crc = Zlib.crc32(line, crc) }
      { lines: @engine.lines, crc: crc, figures: pass { @engine.lines } }
    end

    # The first read shows that it reads what it should.
    def raw(length)
      reads = [RAW_READS_MAX, [RAW_BYTES_MAX, @size].min / length].min
      first = @engine.first_read(length)
      @engine.raw(length, reads)
      seconds = pass { @engine.raw(length, reads) }.fetch(:pass_s)
      { first: Zlib.crc32(first), figures: { read_s: seconds / reads } }
    end

    # Reads as fast as they go, by the clock on the wall and by what the reading thread had of the processor.
    def alone
      starved {}
    end

    def beside
      starved do
        Thread.new do
          number = 0
          loop { number += 1 }
        end
      end
    end

    def starved
      first = @engine.first_read(STARVED_READ_BYTES)
      other = yield
      reads, wall_s, own_s = read_for(@size < SMALL_BYTES ? 0.01 : STARVED_S)
      other&.kill&.join
      { first: Zlib.crc32(first), figures: { read_s: wall_s / reads, own_read_s: own_s / reads } }
    end

    def read_for(seconds)
      reads = 0
      own = now(Process::CLOCK_THREAD_CPUTIME_ID)
      start = now(Process::CLOCK_MONOTONIC)
      while now(Process::CLOCK_MONOTONIC) - start < seconds
        @engine.raw(STARVED_READ_BYTES, STARVED_READS)
        reads += STARVED_READS
      end
      [reads, now(Process::CLOCK_MONOTONIC) - start, now(Process::CLOCK_THREAD_CPUTIME_ID) - own]
    end

    def each_checked(each)
      count = 0
      @engine.send(each) do |*found|
        break if count == CHECKED_COUNT

        count += 1
        yield(*found)
      end
    end

    # Seconds for one pass, of as many as fit. What was done before has warmed up.
    def pass
      timed_s = @size < SMALL_BYTES ? 0 : TIMED_S
      GC.start
      passes, start = 0, now
      loop do
        yield
        passes += 1
        elapsed = now - start
        return { pass_s: elapsed / passes } if elapsed >= timed_s
      end
    end

    # Processor time, because the bytes are in the page cache and nothing waits.
    def now(clock = Process::CLOCK_PROCESS_CPUTIME_ID)
      Process.clock_gettime(clock)
    end
  end

  # The program of `engines`, a Hash of name to what makes an engine of a path.
  def self.main(engines, arguments)
    WorkloadProgram.run(Tasks, engines, arguments, "FILE")
  end
end
