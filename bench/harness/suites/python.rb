# frozen_string_literal: true

require_relative "../agreement"
require_relative "../paths"
require_relative "../recipes"
require_relative "../suite"
require_relative "flows"
require_relative "python_sides"

module Bench
  module Suites
    # Captures, tables, messages and records from Python. bench/README.md says what each row means.
    class Python < Suite
      include PythonSides

      FILE_MESSAGES = 10_000
      RECORDS = 200_000
      # Of a Parquet file, whose footer has 1.2 MB then.
      FOOTER_COLUMNS = 1_000
      FULL_INPUTS = {
        **Flows::FULL_INPUTS.slice(:mixed, :cut),
        ordered: RecordsRecipe.new(21, 1_000_000, "ordered"),
        random: RecordsRecipe.new(22, 1_000_000, "random"),
        random_100k: RecordsRecipe.new(26, 100_000, "random"),
        rich_binary: MessagesRecipe.new(:rich, :binary, 50),
        flat_binary: MessagesRecipe.new(:flat, :binary, 50),
        rich_binary_file: MessagesRecipe.new(:rich, :binary, FILE_MESSAGES),
        flat_binary_file: MessagesRecipe.new(:flat, :binary, FILE_MESSAGES),
        footer_compact: MessagesRecipe.new(:footer, :compact, FOOTER_COLUMNS),
        headers: FileRecipe.new("records", RECORDS),
        nothing: NumberRecipe.new(0)
      }.freeze

      CHECK_COUNTS = { RecordsRecipe => 2_000, MessagesRecipe => 5, FileRecipe => 1_000 }.freeze
      CHECK_INPUTS = FULL_INPUTS.to_h do |key, recipe|
        small = recipe.dup.tap { |copy| copy.count = CHECK_COUNTS[recipe.class] if CHECK_COUNTS.key?(recipe.class) }
        [key, Flows::CHECK_INPUTS.fetch(key, small)]
      end.freeze

      LETTERS = { ordered: "A", random: "B", random_100k: "B, 100 k" }.freeze

      TABLES = { "hash" => "HashTable", "tree" => "TreeTable" }.freeze

      GROWN = Figure.megabytes("grown_bytes")
      PUT = Figure.seconds("put_s")
      GET = Figure.seconds("get_s")
      GET_MANY = Figure.seconds("get_many_s")
      WRITE = Figure.seconds("write_s")
      SHARED = Figure.megabytes("shared_bytes")
      UPDATE_PAIRS = Figure.seconds("update_pairs_s")
      UPDATE_DICTS = Figure.seconds("update_dicts_s")
      COLLECTION = Figure.milliseconds("gc_s")
      MESSAGE = Figure.new(name: "message_s", divisor: 1e-6, format: "%.2f", unit: "µs")
      PASS = Figure.milliseconds("pass_s")
      IMPORT = Figure.milliseconds("import_s")
      WHEEL = Figure.megabytes("wheel_bytes")

      def how_measured(runs_count:, **)
        "#{runs_count} runs of each side by turns, or the fewer that bench/README.md names; the numbers are medians, of " \
          "captures of the wall time of processes, of all else of processor time, each pinned to one core"
      end

      private

      def all_blocks
        captures.map { |measure| Block.new(measures: [measure]) } +
          [Block.new(measures: memory, runs_max: 2), Block.new(measures: times), Block.new(measures: collection),
           Block.new(measures: files, runs_max: 3), Block.new(measures: caches, runs_max: 3), Block.new(measures: processes)] +
          [*decoding, *columns, footers, *records].map { |measures| Block.new(measures: measures) } + [Block.new(measures: package)]
      end

      # Captures: whole processes, Python's start included.

      def captures
        [columns_measure, count_measure,
         rate("captures: to a polars frame / dpkt, lists (rate)", "frame", dpkt("lists"), 40, :wheel_polars),
         rate("captures: to a polars frame / scapy, lists (rate)", "frame", scapy, 400, :wheel_polars),
         rate("captures: for each packet, two attributes / dpkt (rate)", "attributes", dpkt("attributes"), 30)]
      end

      def columns_measure
        Measure.new(title: "captures: .gz to 12 Arrow columns / the core's own columns", kind: Kind::TimeShare,
                    ours: capture("columns", answered_by: "columns_sums"), peer: core_columns, input: :mixed_gz,
                    bar: Bar.at_most(1.08))
      end

      def count_measure
        Measure.new(title: "captures: count_by of the .gz / the command", kind: Kind::TimeShare, ours: capture("count"),
                    peer: command, input: :mixed_gz, bar: Bar.at_most(1.15), agreement: count_agreement)
      end

      # The command prints a row for each port, which is none of the answers that are compared.
      def count_agreement
        Agreement.new(first: capture("count"), second: dpkt("count_by_dst_port"), input: :mixed_gz, second_input: :mixed)
      end

      def rate(title, task, peer, bar, needs = :wheel)
        Measure.new(title: title, kind: Kind::Rate, ours: capture(task, needs: needs), input: :mixed, peer: peer,
                    peer_input: :cut, bar: Bar.at_least(bar))
      end

      # Tables, beside a dict of the same bytes.

      def memory
        [share("HashTable: memory", GROWN, "memory", "hash", :ordered, 0.2),
         share("HashTable: memory", GROWN, "memory", "hash", :random, 0.5),
         share("TreeTable: memory", GROWN, "memory", "tree", :ordered, 0.13)]
      end

      def times
        [share("HashTable: get", GET, "times", "hash", :ordered), share("HashTable: put", PUT, "times", "hash", :ordered),
         share("HashTable: get_many of 1,000", GET_MANY, "many", "hash", :ordered, 1.3),
         share("HashTable: update of 10,000 pairs", UPDATE_PAIRS, "many", "hash", :ordered, 1.3),
         share("HashTable: update of a dict of 10,000", UPDATE_DICTS, "many", "hash", :ordered, 1.3)]
      end

      def collection
        [Measure.new(title: "gc.collect() beside a HashTable / an empty process, A", kind: Kind::FigureShare.new(COLLECTION),
                     ours: ours("gc", "hash"), peer: theirs("nothing", "dict", "an empty process"), input: :ordered,
                     bar: Bar.at_most(1.5)),
         share("gc.collect() beside a HashTable", COLLECTION, "gc", "hash", :ordered)]
      end

      # Put by put is a commit each; where the peer has transactions, both put all in one.
      def files
        [["hash", "dbm.gnu", "times", 2, :python_gdbm], ["hash", "sqlite3", "file", 5, :python_environment],
         ["hash", "shelve", "times", 10, :python_gdbm], ["hash", "lmdb", "file", 1, :lmdb],
         ["tree", "lmdb", "file", 0.83, :lmdb]].flat_map do |kind, engine, task, bar, needs|
          peer = theirs(task, engine, engine, needs)
          [["put", PUT], ["get", GET]].map do |what, figure|
            faster("file #{TABLES.fetch(kind)}: #{what} / #{engine}#{", one transaction" if task == "file"}, B, 100 k",
                   figure, ours(task, "#{kind}-file"), peer, :random_100k, bar)
          end
        end + of_many
      end

      def of_many
        peer = theirs("file", "lmdb", "lmdb", :lmdb)
        TABLES.map do |kind, name|
          faster("file #{name}: get_many of 1,000 / a loop of lmdb, one transaction, B, 100 k", GET,
                 ours("file_many", "#{kind}-file"), peer, :random_100k, 2)
        end
      end

      # Entry by entry, in files, below the limits of both.
      def caches
        peer = theirs("times", "diskcache", "diskcache", :diskcache)
        { "set" => [PUT, 15], "get" => [GET, 5] }.map do |what, (figure, bar)|
          faster("Cache: #{what} / diskcache, B, 100 k", figure, ours("times", "cache"), peer, :random_100k, bar)
        end
      end

      # One file, and processes beside each other.
      def processes
        TABLES.flat_map do |kind, table|
          own = ->(task) { of_processes(task, "#{kind}-file") }
          writers(table, own) +
            [share_of_one("#{table}: get beside 4 writers / alone", GET, own["get-4"], own["get-0"], :random_100k),
             share_of_one("#{table}: memory of 8 readers / of one", SHARED, own["share-8"], own["share-1"], :random)]
        end
      end

      def writers(table, own)
        { "write-4" => ["single changes", 0.6], "write-4-by-100" => ["transactions of 100", 0.8] }.flat_map do |task, (what, bar)|
          [faster("file #{table}: 4 writers / one, #{what}, B, 100 k", WRITE, own[task], own[task.sub("4", "1")],
                  :random_100k, bar),
           faster("file #{table}: 4 writers / 4 of sqlite3, #{what}, B, 100 k", WRITE, own[task],
                  peers_of_processes(task, "sqlite3"), :random_100k, 5)]
        end
      end

      def share_of_one(title, figure, own, alone, input)
        Measure.new(title: "file #{title}, #{LETTERS.fetch(input)}", kind: Kind::FigureShare.new(figure), ours: own,
                    peer: alone, input: input, bar: Bar.at_most(1.3))
      end

      # Messages.

      LIBRARIES = { "thrift" => "apache's, accelerated", "thriftpy2" => "thriftpy2" }.freeze

      def decoding
        %i[rich flat].map do |struct|
          LIBRARIES.map do |library, name|
            faster("Thrift: decode, #{struct.capitalize} / #{name}", MESSAGE, messages("decode", library),
                   message_peer("decode", library, name), :"#{struct}_binary", 2)
          end
        end
      end

      def columns
        { rich: 50, flat: 20 }.map do |struct, bar|
          [faster("Thrift: 3 columns of 10,000 #{struct.capitalize} / objects of apache's, accelerated", MESSAGE,
                  messages("columns", "thrift"), message_peer("columns", "thrift", LIBRARIES.fetch("thrift")),
                  :"#{struct}_binary_file", bar)]
        end
      end

      # Of a Parquet file with 1,000 columns in 10 row groups.
      def footers
        { "columns" => ["3 fields of each chunk", 0.15], "whole" => ["all fields", 0.5] }.map do |task, (fields, bar)|
          Measure.new(title: "Thrift: #{fields} of a Parquet footer to Arrow / pyarrow reading it", kind: Kind::FigureShare.new(MESSAGE),
                      ours: messages(task, "idl"), peer: message_peer(task, "pyarrow", "pyarrow"), input: :footer_compact,
                      bar: Bar.at_most(bar))
        end
      end

      # Records of 16 bytes.
      def records
        [[faster("Reader: unpack_records to columns / struct.iter_unpack", PASS, record_reader("columns"),
                 struct_loop("loop"), :headers, 3),
          faster("Reader: unpack_records to tuples / a list by struct.iter_unpack", PASS, record_reader("tuples"),
                 struct_loop("tuples"), :headers)]]
      end

      # Without a peer; what the package says of itself must be one version.
      def package
        importing, wheel = package_figure("import"), package_figure("wheel")
        agreement = Agreement.new(first: importing, second: wheel, input: :nothing)
        [["import bytewright", IMPORT, importing, 12], ["size of the wheel", WHEEL, wheel, 7]].map do |title, figure, own, bar|
          Measure.new(title: title, kind: Kind::FigureLevel.new(figure), ours: own, peer: nil, input: :nothing,
                      bar: Bar.at_most(bar), agreement: agreement)
        end
      end

      # Rows.

      def share(title, figure, task, engine, input, bar = nil)
        Measure.new(title: "#{title} / dict, #{LETTERS.fetch(input)}", kind: Kind::FigureShare.new(figure),
                    ours: ours(task, engine), peer: theirs(task, "dict", "dict"), input: input,
                    bar: bar ? Bar.at_most(bar) : Bar.none)
      end

      def faster(title, figure, own, peer, input, bar = nil)
        Measure.new(title: title, kind: Kind::FigureSpeedup.new(figure), ours: own, peer: peer, input: input,
                    bar: bar ? Bar.at_least(bar) : Bar.none)
      end
    end
  end
end
