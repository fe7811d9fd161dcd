# frozen_string_literal: true

# Tasks for every engine of the tables' benches from Ruby, and how they are measured. The
# engines stand in ours/tables.rb and peers/tables.rb; the crate beside this file is the same for
# native engines.

require "fileutils"
require "zlib"

require_relative "program"

module TableWorkload
  # An engine by what a task needs of it.
  #
  # create:: folder -> a new table, in memory or in a file below the folder
  # open::   folder -> the table that is there, for a table in a file
  # finish:: makes what was put last, then gives back what the file can do without
  # close::  as a program ends with it
  # keeps_objects:: it keeps the Strings themselves, so that each record needs new ones
  Engine = Struct.new(:create, :open, :finish, :close, :keeps_objects, keyword_init: true)

  # The file that record-generator writes.
  class Records
    # Records that are made Strings at once.
    UNPACKED_COUNT = 1000

    attr_reader :count

    def initialize(path)
      @path = path
      header = File.open(path, "rb", &:gets)
      @header_len = header.bytesize
      @count, @key_len, @value_len = header.split.map { |number| Integer(number, 10) }
    end

    def payload_bytes
      @count * (@key_len + @value_len)
    end

    # Yields each key and value as new Strings.
    def each(&block)
      at(@header_len) do |file|
        @count.step(1, -UNPACKED_COUNT) do |left|
          count = [left, UNPACKED_COUNT].min
          entries = file.read(count * (@key_len + @value_len)).unpack("a#{@key_len}a#{@value_len}" * count)
          entries.each_slice(2, &block)
        end
      end
    end

    # Yields the same two Strings again and again with other bytes, which is slower, but makes no garbage.
    def each_reused
      key, value = String.new, String.new
      at(@header_len) do |file|
        @count.times { yield file.read(@key_len, key), file.read(@value_len, value) }
      end
    end

    # All keys and all values.
    def load
      GC.disable
      keys, values = [], []
      each do |key, value|
        keys << key
        values << value
      end
      [keys, values]
    ensure
      GC.enable
    end

    # The first `count_max` of the shuffled numbers.
    def order(count_max = @count)
      at(@header_len + payload_bytes) { |file| file.read(4 * [@count, count_max].min).unpack("L<*") }
    end

    # Keys by their numbers, read one by one.
    def keys_at(numbers)
      at(0) do |file|
        numbers.map { |number| file.pread(@key_len, @header_len + number * (@key_len + @value_len)) }
      end
    end

    private

    def at(offset)
      File.open(@path, "rb") do |file|
        file.seek(offset)
        yield file
      end
    end
  end

  # Resident memory in bytes, counted page by page: the sums in /proc/self/status are up to a megabyte
  # behind where a machine has several processors.
  Resident = Struct.new(:total, :anonymous) do
    def self.now
      rollup = File.read("/proc/self/smaps_rollup")
      new(*%w[Rss Anonymous].map { |name| Integer(rollup[/^#{name}: +(\d+) kB/, 1], 10) * 1024 })
    end

    def growth
      now = self.class.now
      { grown_bytes: now.total - total, anonymous_bytes: now.anonymous - anonymous }
    end
  end

  # Each task gives its answer, with what it measured under :figures.
  class Tasks
    NAMES = %w[memory times frozen gc growth file open_clean open_killed].freeze

    # Values that are compared, taken in shuffled order after everything is measured.
    CHECKED_COUNT_MAX = 20_000
    VALUES_AT_COUNT = 1000
    GC_COUNT = 5
    MICROSECONDS_MAX = 10_000

    def initialize(engine, path)
      @engine = engine
      @records = Records.new(path)
      # Beside the records, on their disk.
      @folder = "#{path}.#{Process.pid}.tables"
    end

    def run(name)
      FileUtils.mkdir_p(@folder)
      send(name)
    ensure
      FileUtils.rm_rf(@folder)
    end

    private

    # Measures the memory of a table of all records. Nothing else is kept meanwhile.
    def memory
      GC.start
      before = Resident.now
      table = stored
      GC.start
      answer(table, figures: before.growth.merge(payload_bytes: @records.payload_bytes))
    end

    # All puts in the file's order, all gets in shuffled order, one by one and many in one call.
    def times
      keys, values = @records.load
      put(keys, values) => { table:, **figures }
      shuffled = shuffle(keys, values)
      value_bytes, get_s = timed { get(table, shuffled) }
      figures[:get_s] = get_s
      figures[:values_at_s] = values_at(table, shuffled) if table.respond_to?(:values_at)
      answer(table, value_bytes: value_bytes, figures: figures)
    end

    # Puts with keys that are frozen already, as literals and interned Strings are.
    def frozen
      keys, values = @records.load
      put(keys.each(&:freeze), values) => { table:, **figures }
      answer(table, figures: figures)
    end

    # A full collection beside a full table.
    def gc
      table = stored
      GC.start
      durations = Array.new(GC_COUNT) { timed { GC.start }.last }
      answer(table, figures: { gc_s: durations.sort[GC_COUNT / 2] })
    end

    # Each single put on the way to all records.
    def growth
      table = @engine.create.call(@folder)
      counts = Array.new(MICROSECONDS_MAX + 1, 0)
      longest = 0
      @records.each do |key, value|
        start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        table[key] = value
        took = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start
        longest = took if took > longest
        counts[[took / 1000, MICROSECONDS_MAX].min] += 1
      end
      answer(table, figures: { longest_put_s: longest / 1e9, put_9999_s: put_9999_s(counts) })
    end

    # The duration below which 9,999 of 10,000 puts stayed.
    def put_9999_s(counts)
      left = @records.count * 9_999 / 10_000
      below = counts.index { |puts| (left -= puts) <= 0 }
      (below + 1) / 1e6
    end

    # All puts and all gets, and what a table in a file takes in memory and on disk.
    def file
      keys, values = @records.load
      GC.start
      before = Resident.now
      put(keys, values) => { table:, **figures }
      GC.start
      figures.merge!(before.growth, payload_bytes: @records.payload_bytes)
      shuffled = shuffle(keys, values)
      value_bytes, figures[:get_s] = timed { get(table, shuffled) }
      @engine.finish.call(table)
      answer(table, value_bytes: value_bytes, figures: figures.merge(finished_figures))
    end

    # The table's own file is the longest; what may be beside it can be made from it.
    def finished_figures
      { finished_file_bytes: file_sizes.max, finished_folder_bytes: file_sizes.sum }
    end

    def open_clean
      opening { |table| @engine.close.call(table) }
    end

    def open_killed
      opening { Process.kill(:KILL, Process.pid) }
    end

    # Measures the time to open a table that another process stored, which then ended as the block says.
    def opening
      _, status = Process.wait2(fork { yield stored })
      raise "the process that stores #{status}" unless status.success? || status.termsig == Signal.list["KILL"]

      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      table = @engine.open.call(@folder)
      open_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
      answer(table, figures: { open_s: open_s })
    end

    def stored
      table = @engine.create.call(@folder)
      entries = @engine.keeps_objects ? :each : :each_reused
      @records.public_send(entries) { |key, value| table[key] = value }
      table
    end

    def put(keys, values)
      table = @engine.create.call(@folder)
      put_wall_s, put_s = timed { put_all(table, keys, values) }
      { table: table, put_s: put_s, put_wall_s: put_wall_s }
    end

    # Gives the wall time.
    def put_all(table, keys, values)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      index = 0
      count = keys.size
      while index < count
        table[keys[index]] = values[index]
        index += 1
      end
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    end

    # The keys in shuffled order. The values go: from here on only a table that keeps objects keeps them.
    def shuffle(keys, values)
      values.clear
      @records.order.map { |number| keys[number] }
    end

    def get(table, keys)
      value_bytes = index = 0
      count = keys.size
      while index < count
        value_bytes += table[keys[index]].bytesize
        index += 1
      end
      value_bytes
    end

    def values_at(table, keys)
      slices = keys.each_slice(VALUES_AT_COUNT).to_a
      found, seconds = timed { slices.sum { |slice| table.values_at(*slice).size } }
      found == keys.size ? seconds : raise("values_at gave #{found} values for #{keys.size} keys")
    end

    # Returns what the block returns, and its processor time. Garbage of before is collected first: only what the
    # block makes itself shall cost it.
    def timed
      GC.start
      start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      result = yield
      [result, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start]
    end

    def file_sizes
      Dir.children(@folder).map { |name| File.size(File.join(@folder, name)) }
    end

    def answer(table, **rest)
      keys = @records.keys_at(@records.order(CHECKED_COUNT_MAX))
      crc = keys.reduce(0) { |sum, key| Zlib.crc32(table[key], sum) }
      { records: table.length, crc: crc, **rest }
    end
  end

  # The program of `engines`, a Hash of name to Engine.
  def self.main(engines, arguments)
    WorkloadProgram.run(Tasks, engines, arguments, "RECORDS")
  end
end
