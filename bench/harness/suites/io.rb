# frozen_string_literal: true

require_relative "../paths"
require_relative "../recipes"
require_relative "../suite"

module Bench
  module Suites
    # Reading of files, and memory that is taken and given back. bench/README.md says what each row means.
    class IO < Suite
      FULL_INPUTS = {
        records: FileRecipe.new("records", 800_000),
        headers: FileRecipe.new("records", 200_000),
        small: FileRecipe.new("records", 25_000),
        log: FileRecipe.new("log", 780_000),
        trees: NumberRecipe.new(18),
        frames: NumberRecipe.new(12),
        values: NumberRecipe.new(1_000_000)
      }.freeze

      # Longer than the longest read, and short enough for programs to see that it is a check.
      CHECK_FILE_COUNT = 14_000
      CHECK_NUMBERS = { trees: 8, frames: 10, values: 5_000 }.freeze
      CHECK_INPUTS = FULL_INPUTS.to_h do |key, recipe|
        small = CHECK_NUMBERS[key]
        [key, small ? NumberRecipe.new(small) : FileRecipe.new(recipe.profile, CHECK_FILE_COUNT)]
      end.freeze

      # Lengths of raw reads, in bytes, with the share of the time of read(2) that is allowed.
      RAW_BARS = { 1 => 1.8, 16 => 1.8, 100 => 1.8, 1000 => 1.8, 10_000 => 1.2, 65_536 => 1.2,
                   1 << 20 => 1.2 }.freeze

      PASS = Figure.milliseconds("pass_s")
      READ = Figure.new(name: "read_s", divisor: 1e-6, format: "%.3f", unit: "µs")
      OWN_READ = Figure.new(name: "own_read_s", divisor: 1e-6, format: "%.3f", unit: "µs")
      PUT = Figure.seconds("put_s")
      SHIFT = Figure.seconds("shift_s")
      AFTER_DELETE = Figure.plain("after_delete_ratio")
      AFTER_SHIFT = Figure.plain("after_shift_ratio")

      def how_measured(runs_count:, **)
        "#{runs_count} runs of each side by turns, each pinned to one core, files in the page cache; the numbers " \
          "are medians of processor time, of wall time beside another thread"
      end

      private

      def all_blocks
        [records, headers, counted_lines, lines, *raw_reads, starvation, trees, *frames, churn]
          .map { |measures| Block.new(measures: measures) }
      end

      # Reading of files.

      def records
        own = ours("records", "reader")
        title = "800 k records, read(16) and read(64)"
        [
          faster(title, own, ruby("records", "field", "IO#read"), :records, 8),
          faster(title, own, ruby("records", "buffer", "80 KiB and byteslice"), :records, 1.3),
          share(title, own, python("records"), :records, 1.3),
          share(title, own, floor("records", "C, fread"), :records, 5),
          share(title, own, pypy("records"), :records)
        ]
      end

      def headers
        own, batch = ours("headers", "reader"), ours("headers", "batch", "unpack_records")
        title = "200 k headers, 4 × u32be and skip(64)"
        [
          faster(title, own, ruby("headers", "field", "read(4).unpack1, seek"), :headers, 25),
          faster(title, own, ruby("headers", "header", "read(16).unpack, seek"), :headers, 10),
          faster(title, own, ruby("headers", "buffer", "80 KiB and unpack(offset:)"), :headers),
          share(title, own, python("headers"), :headers),
          share(title, own, floor("headers", "C, fread"), :headers),
          share(title, own, pypy("headers"), :headers),
          faster("the same by unpack_records", batch, ruby("headers", "buffer", "80 KiB and unpack(offset:)"), :headers)
        ]
      end

      def counted_lines
        own = ours("count_lines", "reader")
        [faster("780 k lines, count_lines", own, ruby("count_lines", "field", "File.foreach"), :log, 6),
         share("780 k lines, count_lines", own, floor("count_lines", "C, memchr"), :log, 1.25)]
      end

      def lines
        batch, single = ours("lines", "batch", "each_line(batch: 1000)"), ours("lines", "reader")
        foreach = ruby("lines", "field", "File.foreach")
        each = ours("lines", "each-of-batch", "each_line(batch: 1000), each")
        [
          faster("780 k lines, each_line(batch: 1000)", batch, foreach, :log, 1.4),
          faster("the same, a block for each line of a batch", each, foreach, :log),
          faster("780 k lines, each_line", single, foreach, :log),
          share("780 k lines, each_line(batch: 1000)", batch, python("lines"), :log),
          share("780 k lines, each_line(batch: 1000)", batch, pypy("lines"), :log)
        ]
      end

      def raw_reads
        RAW_BARS.map do |length, at_most|
          task = "raw:#{length}"
          own = ours(task, "reader")
          [
            share("read_into of #{length} B", own, floor(task, "C, read(2)"), :records, at_most, READ),
            share("read_into of #{length} B", own, ruby(task, "field", "sysread(n, string)"), :records, nil, READ)
          ]
        end
      end

      def starvation
        title = "reads of 1000 B beside a thread that computes"
        beside, alone = %w[beside alone].map { |task| ours(task, "reader", "ours, #{task}", :reader_nowait) }
        sysread_beside, sysread_alone = %w[beside alone].map { |task| ruby(task, "field", "sysread, #{task}") }
        [
          faster(title, beside, sysread_beside, :small, 10, READ),
          faster("#{title}, processor time of the reading thread", beside, alone, :small, 0.95, OWN_READ),
          faster("reads of 1000 B with no other thread", alone, sysread_alone, :small, 0.95, READ),
          # Ruby gives threads turns of one length, so that half is all there is.
          faster("#{title}, wall time", beside, alone, :small, nil, READ)
        ]
      end

      # Memory.

      def trees
        tape, arena = heap("trees", "tape", "an array used again"), heap("trees", "bumpalo", "bumpalo")
        malloc, mimalloc = heap("trees", "boxes", "malloc"), mimalloc("trees", "boxes")
        [
          faster("gcbench in an array used again", tape, malloc, :trees, 8),
          faster("gcbench in an array used again", tape, mimalloc, :trees, 3),
          faster("gcbench in an arena of bumpalo's", arena, malloc, :trees),
          faster("gcbench in an arena of bumpalo's", arena, mimalloc, :trees)
        ]
      end

      def frames
        { 256 => "256 B", 1024 => "1 KiB" }.map do |length, size|
          task = "frames-#{length}"
          as_is = heap(task, "as-is", "not zeroed")
          [faster("frames of #{size}, not zeroed", as_is, heap(task, "zeroed", "zeroed 4 MiB at a time"), :frames, 1.4),
           faster("frames of #{size}, not zeroed", as_is, heap(task, "each-zeroed", "zeroed one by one"), :frames)]
        end
      end

      def churn
        records, table = heap("churn", "record-heap", "RecordHeap"), heap("churn", "hash-table", "HashTable")
        malloc, mimalloc = heap("churn", "boxes", "malloc"), mimalloc("churn", "boxes")
        [
          faster("1 M values in a RecordHeap, put anew", records, malloc, :values, 1.7, PUT),
          faster("1 M values in a RecordHeap, put anew", records, mimalloc, :values, 0.85, PUT),
          faster("the same with longer ones after deleting 90 %", records, malloc, :values, 1.7, SHIFT),
          faster("the same with longer ones after deleting 90 %", records, mimalloc, :values, 0.85, SHIFT),
          *resident(records, malloc), *resident(records, mimalloc, bars: false),
          *churned_tables(table)
        ]
      end

      def resident(records, peer, bars: true)
        { "deleting 90 %" => [AFTER_DELETE, 3], "longer ones" => [AFTER_SHIFT, 1.5] }.map do |change, (figure, bar)|
          Measure.new(title: "resident / live after #{change} (peer: #{label(peer)})", input: :values, ours: records,
                      peer: peer, kind: Kind::FigureLevel.new(figure), bar: bars ? Bar.at_most(bar) : Bar.none)
        end
      end

      def churned_tables(table)
        peers = [heap("churn", "hash-map", "HashMap, malloc"), mimalloc("churn", "hash-map", "HashMap, mimalloc")]
        peers.flat_map do |peer|
          [faster("1 M values in a HashTable, put anew", table, peer, :values, nil, PUT),
           faster("1 M values in a HashTable, longer ones after deleting 90 %", table, peer, :values, nil, SHIFT)]
        end
      end

      # Rows.

      def faster(title, own, peer, input, at_least = nil, figure = PASS)
        Measure.new(title: "#{title} / #{label(peer)}", kind: Kind::FigureSpeedup.new(figure), ours: own, peer: peer,
                    input: input, bar: at_least ? Bar.at_least(at_least) : Bar.none)
      end

      def share(title, own, peer, input, at_most = nil, figure = PASS)
        Measure.new(title: "#{title} / #{label(peer)}", kind: Kind::FigureShare.new(figure), ours: own, peer: peer,
                    input: input, bar: at_most ? Bar.at_most(at_most) : Bar.none)
      end

      # Sides.

      def ours(task, engine, name = "ours", needs = :reader)
        side(task, name, needs, [Paths::RUBY, Paths.ours("files.rb"), task, engine], Paths::GEM_ENVIRONMENT)
      end

      def ruby(task, engine, name)
        side(task, name, nil, [Paths::RUBY, Paths.peer("files.rb"), task, engine])
      end

      def python(task)
        side(task, "CPython", :python, [Paths::SYSTEM_PYTHON, Paths.peer("files.py"), task])
      end

      def pypy(task)
        side(task, "PyPy", :pypy, ["pypy3", Paths.peer("files.py"), task])
      end

      def floor(task, name)
        side(task, name, :io_floor, [Paths::IO_FLOOR, task])
      end

      def heap(task, engine, name)
        side(task, name, nil, [Paths.executable("heaps"), task, engine])
      end

      def mimalloc(task, engine, name = "mimalloc")
        side(task, name, nil, [Paths.executable("heaps-mimalloc"), task, engine])
      end
    end
  end
end
