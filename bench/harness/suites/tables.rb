# frozen_string_literal: true

require_relative "../agreement"
require_relative "../recipes"
require_relative "../suite"
require_relative "table_sides"

module Bench
  module Suites
    # Tables in memory and in files. bench/README.md says what each row means.
    class Tables < Suite
      include TableSides

      FULL_INPUTS = {
        ordered: RecordsRecipe.new(21, 1_000_000, "ordered"),
        random: RecordsRecipe.new(22, 1_000_000, "random"),
        ordered_100k: RecordsRecipe.new(23, 100_000, "ordered"),
        ordered_10m: RecordsRecipe.new(24, 10_000_000, "ordered"),
        random_10m: RecordsRecipe.new(25, 10_000_000, "random"),
        random_10k: RecordsRecipe.new(26, 10_000, "random"),
        random_500: RecordsRecipe.new(27, 500, "random"),
        short: RecordsRecipe.new(28, 1_000_000, "short"),
        short_5m: RecordsRecipe.new(29, 5_000_000, "short"),
        short_10m: RecordsRecipe.new(30, 10_000_000, "short")
      }.freeze

      CHECK_COUNT = 2_000
      CHECK_INPUTS = FULL_INPUTS.transform_values do |recipe|
        RecordsRecipe.new(recipe.seed, [recipe.count, CHECK_COUNT].min, recipe.profile)
      end.freeze

      # The inputs as the titles call them.
      LETTERS = {
        ordered: "A", random: "B", ordered_100k: "A, 100 k", ordered_10m: "A", random_10m: "B",
        random_10k: "B, 10 k", random_500: "B, 500", short: "C", short_5m: "C, 5 M", short_10m: "C, 10 M"
      }.freeze

      GROWN = Figure.megabytes("grown_bytes")
      ANONYMOUS = Figure.megabytes("anonymous_bytes")
      FINISHED_FILE = Figure.megabytes("finished_file_bytes")
      FINISHED_FOLDER = Figure.megabytes("finished_folder_bytes")
      OVERHEAD = Figure.plain("overhead_bytes_per_record", "B")
      OVERHEAD_WORST_AT = Figure.thousands("overhead_worst_at")
      PUT = Figure.seconds("put_s")
      PUT_WALL = Figure.seconds("put_wall_s")
      GET = Figure.seconds("get_s")
      VALUES_AT = Figure.seconds("values_at_s")
      SCAN = Figure.seconds("scan_s")
      LONGEST_COMMIT = Figure.milliseconds("longest_commit_s")
      FILE = Figure.megabytes("file_bytes")
      LEFT_FILE = Figure.megabytes("left_file_bytes")
      GC_TIME = Figure.milliseconds("gc_s")
      LONGEST_PUT = Figure.milliseconds("longest_put_s", lowest: true)
      LONGEST_PUT_OWN = Figure.milliseconds("longest_put_own_s", lowest: true)
      PUT_9999 = Figure.milliseconds("put_9999_s")
      OPENING = Figure.milliseconds("open_s")
      AFTER_DELETE = Figure.plain("after_delete_ratio")
      AFTER_SHIFT = Figure.plain("after_shift_ratio")

      NATIVE_NAMES = { "hash" => "HashTable", "tree" => "TreeTable" }.freeze

      def how_measured(runs_count:, **)
        "#{runs_count} runs of each side by turns, or the fewer that bench/README.md names, each pinned to one " \
          "core; the numbers are medians, times processor time where not said otherwise"
      end

      # Adds agreements with the input itself, for peers that cannot be had.
      def agreements
        super +
          measures.select { |measure| measure.peer&.needs }.map { |measure| right(measure.ours, measure.input) }
      end

      private

      def all_blocks
        [
          Block.new(measures: memory_ordered, runs_max: 2),
          Block.new(measures: memory_random, runs_max: 2),
          Block.new(measures: memory_scale(:ordered) + memory_scale(:random), runs_max: 1),
          Block.new(measures: growth, runs_max: 3),
          Block.new(measures: times_ordered),
          Block.new(measures: times_random, runs_max: 3),
          Block.new(measures: times_tree, runs_max: 3),
          Block.new(measures: times_scale + native_times, runs_max: 2),
          Block.new(measures: times_through_c),
          Block.new(measures: collection, runs_max: 2),
          Block.new(measures: churn, runs_max: 3),
          Block.new(measures: stored_native, runs_max: 2),
          Block.new(measures: committed(:short)),
          Block.new(measures: committed(:short_5m), runs_max: 3),
          Block.new(measures: committed(:short_10m), runs_max: 1),
          Block.new(measures: committed_at_large),
          Block.new(measures: stored_ruby, runs_max: 3),
          Block.new(measures: opening, runs_max: 3),
          Block.new(measures: cache_stores)
        ]
      end

      # Memory that one Ruby process, or a native one, takes for all records.

      def memory_ordered
        [
          memory("HashTable", "hash", ruby_hash("memory"), :ordered, 0.18),
          memory("HashTable", "hash", tokyo("memory", "*"), :ordered, 0.40),
          memory("TreeTable", "tree", tokyo("memory", "+"), :ordered, 0.33),
          payload(:ordered, 1.25)
        ]
      end

      def memory_random
        [
          memory("HashTable", "hash", ruby_hash("memory"), :random, 0.50),
          memory("HashTable", "hash", tokyo("memory", "*"), :random, 0.78),
          payload(:random, 1.30)
        ]
      end

      def memory(name, engine, peer, input, bar)
        share("#{name} memory", GROWN, ours("memory", engine), peer, input, bar)
      end

      def payload(input, bar)
        Measure.new(title: "TreeTable memory / keys and values, #{LETTERS[input]}",
                    kind: Kind::PayloadShare.new(GROWN), ours: ours("memory", "tree"), peer: nil, input: input,
                    bar: Bar.at_most(bar), agreement: right(ours("memory", "tree"), input))
      end

      def memory_scale(input)
        peers = [perl("memory", "hash"), dict("memory")]
        peers.push(kyoto("memory", ":"), perl("memory", "tc-hash")) if input == :ordered
        peers.map { |peer| share("HashTable memory", GROWN, ours("memory", "hash"), peer, input) } +
          native_pairs("memory").map { |name, own, peer| share("#{name} memory", GROWN, own, peer, input) }
      end

      # The way to 10 million records.

      def growth
        [
          *native_growth("hash", :ordered_10m), *native_growth("hash", :random_10m),
          *native_growth("tree", :ordered_10m).last(3),
          *longest("Ruby, HashTable", ours("growth", "hash"), :ordered_10m)
        ]
      end

      def native_growth(engine, input)
        side = native("growth", engine)
        [
          level("#{NATIVE_NAMES[engine]} memory a record above key and value, worst from 100 k to 10 M",
                OVERHEAD, side, input, Bar.at_most(13)),
          level("the number of records where it is worst", OVERHEAD_WORST_AT, side, input, Bar.none),
          *longest(NATIVE_NAMES[engine], side, input),
          level("#{NATIVE_NAMES[engine]}: longest of those puts, processor time", LONGEST_PUT_OWN, side, input,
                Bar.none)
        ]
      end

      def longest(name, side, input)
        [
          level("#{name}: longest single put on the way to 10 M", LONGEST_PUT, side, input, Bar.at_most(2)),
          level("#{name}: 99.99 % of those puts are below", PUT_9999, side, input, Bar.none)
        ]
      end

      # From Ruby, with all keys and values there before.

      def times_ordered
        [
          *gets_and_puts(:ordered),
          share("Ruby: values_at of 1,000", VALUES_AT, ours("times", "hash"), ruby_hash("times"), :ordered, 0.5),
          share("Ruby: put, frozen keys", PUT, ours("frozen", "hash"), ruby_hash("frozen"), :ordered, 1.0)
        ]
      end

      def times_tree
        tree, peer = ours("times", "tree"), tokyo("times", "+")
        [share("Ruby: random get, TreeTable", GET, tree, peer, :ordered, 0.5),
         share("Ruby: put, TreeTable", PUT, tree, peer, :ordered)]
      end

      def times_random
        gets_and_puts(:random)
      end

      def gets_and_puts(input)
        table = ours("times", "hash")
        [
          share("Ruby: random get", GET, table, ruby_hash("times"), input, 0.7),
          share("Ruby: random get", GET, table, tokyo("times", "*"), input, 0.45),
          share("Ruby: put, unfrozen keys", PUT, table, ruby_hash("times"), input, 0.35),
          share("Ruby: put", PUT, table, tokyo("times", "*"), input, 0.6)
        ]
      end

      def times_scale
        table = ours("times", "hash")
        [kyoto("times", ":"), perl("times", "hash"), dict("times")].flat_map do |peer|
          [share("random get from its language", GET, table, peer, :ordered),
           share("put from its language", PUT, table, peer, :ordered)]
        end
      end

      def native_times
        native_pairs("times").flat_map do |name, own, peer|
          [share("#{name}, native: random get", GET, own, peer, :ordered),
           share("#{name}, native: put", PUT, own, peer, :ordered)]
        end
      end

      def times_through_c
        NATIVE_NAMES.flat_map do |engine, name|
          own, straight = through_c("times", engine), native("times", engine)
          [share("#{name} through C: random get", GET, own, straight, :ordered, 1.1),
           share("#{name} through C: put", PUT, own, straight, :ordered, 1.1)]
        end
      end

      def native_pairs(task)
        [
          ["HashTable", native(task, "hash"), rust(task, "hash-map", "std HashMap")],
          ["HashTable", native(task, "hash"), tkrzw(task, "tiny", "tkrzw TinyDBM")],
          ["TreeTable", native(task, "tree"), rust(task, "btree-map", "std BTreeMap")],
          ["TreeTable", native(task, "tree"), tkrzw(task, "baby", "tkrzw BabyDBM")]
        ]
      end

      def collection
        empty = ruby_peer("gc", "nothing", "empty process")
        NATIVE_NAMES.map do |engine, name|
          table = ours("gc", engine)
          Measure.new(title: "GC.start beside #{name} / empty process", kind: Kind::FigureShare.new(GC_TIME),
                      ours: table, peer: empty, input: :ordered, bar: Bar.at_most(2),
                      agreement: right(table, :ordered))
        end + [share("GC.start beside HashTable", GC_TIME, ours("gc", "hash"), ruby_hash("gc"), :ordered)]
      end

      def churn
        table = native("churn", "hash")
        map = rust("churn", "hash-map", "std HashMap")
        changes = { "deleting 90 %" => [AFTER_DELETE, 3], "a size shift" => [AFTER_SHIFT, 1.5] }
        changes.map do |change, (figure, bar)|
          Measure.new(title: "churn: resident / live after #{change} (peer: malloc)", input: :random,
                      kind: Kind::FigureLevel.new(figure), ours: table, peer: map, bar: Bar.at_most(bar))
        end
      end

      # In files.

      def stored_native
        redb = rust("file-all", "redb", "redb, one transaction")
        lmdb = rust("file-all", "lmdb", "LMDB, one transaction")
        single, all = %w[file file-all].map { |task| native(task, "hash-file") }
        [
          share("file HashTable, put by put: put", PUT, single, redb, :random, 0.5),
          share("file HashTable, put by put: put", PUT, single, lmdb, :random),
          share("file HashTable, one transaction: put", PUT, all, redb, :random, 0.5),
          share("file HashTable, one transaction: put", PUT, all, lmdb, :random),
          share("file HashTable: random get", GET, single, redb, :random),
          share("file HashTable: random get", GET, single, lmdb, :random)
        ]
      end

      # The highest shares of LMDB's time that a table in a file may take.
      COMMITTED_BARS = { "hash" => [nil, 0.9, 2], "tree" => [0.8, 1.2, 1.5] }.freeze

      # In commits of 1,000.
      def committed(input)
        peer = rust("commits", "lmdb", "LMDB")
        COMMITTED_BARS.flat_map do |engine, bars|
          name, own = "file #{NATIVE_NAMES.fetch(engine)}, commits of 1,000", native("commits", "#{engine}-file")
          { "put" => PUT, "random get" => GET, "scan" => SCAN }.zip(bars).map do |(what, figure), bar|
            share("#{name}: #{what}", figure, own, peer, input, bar)
          end << beside("#{name}: longest commit", LONGEST_COMMIT, own, peer, input, 8)
        end
      end

      # In commits of 100,000, on the disk.
      def committed_at_large
        peer = rust("large-commits", "lmdb", "LMDB")
        NATIVE_NAMES.flat_map do |engine, name|
          own = native("large-commits", "#{engine}-file")
          [share("file #{name}, commits of 100,000: file", FILE, own, peer, :short, engine == "tree" ? 1.0 : nil),
           beside("file #{name}: file after deleting 90 %", LEFT_FILE, own, peer, :short, engine == "tree" ? 30 : nil)]
        end
      end

      def stored_ruby
        table = ours("file", "hash-file")
        plain = tokyo("file", "x.tch")
        tuned = ruby_peer("file", "tc-hash-file-tuned", "TC .tch, bnum=2M", :tokyo)
        [plain, tuned].flat_map do |peer|
          [share("Ruby: file HashTable, put", PUT, table, peer, :random, 0.7),
           share("Ruby: file HashTable, put, wall time", PUT_WALL, table, peer, :random, 0.7),
           share("Ruby: file HashTable, random get", GET, table, peer, :random, 0.7)]
        end + stored_sizes(table, plain) + stored_trees
      end

      def stored_sizes(table, peer)
        [
          Measure.new(title: "file HashTable: anonymous memory added", kind: Kind::FigureLevel.new(ANONYMOUS),
                      ours: table, peer: peer, input: :random, bar: Bar.at_most(8)),
          Measure.new(title: "file HashTable after compaction / keys and values", input: :random,
                      kind: Kind::PayloadShare.new(FINISHED_FILE), ours: table, peer: peer,
                      bar: Bar.at_most(1.15)),
          Measure.new(title: "the same with its index", input: :random, ours: table, peer: peer,
                      kind: Kind::PayloadShare.new(FINISHED_FOLDER), bar: Bar.none)
        ]
      end

      def stored_trees
        table = ours("file", "tree-file")
        peer = tokyo("file", "x.tcb")
        [share("Ruby: file TreeTable, put", PUT, table, peer, :ordered_100k),
         share("Ruby: file TreeTable, random get", GET, table, peer, :ordered_100k)]
      end

      def opening
        [
          Measure.new(title: "open a file of 1 M records after a clean close", input: :random,
                      kind: Kind::FigureLevel.new(OPENING), ours: ours("open_clean", "hash-file"),
                      peer: tokyo("open_clean", "x.tch"), bar: Bar.at_most(5)),
          Measure.new(title: "open it after kill -9", input: :random,
                      kind: Kind::FigureLevel.new(OPENING), ours: ours("open_killed", "hash-file"), peer: nil,
                      bar: Bar.at_most(500), agreement: right(ours("open_killed", "hash-file"), :random))
        ]
      end

      # Stores of ActiveSupport, by the lengths of values.

      STORED_LENGTHS = { "100" => ["100 B", :random_10k], "1k" => ["1 KB", :random_10k], "100k" => ["100 KB", :random_500] }.freeze

      def cache_stores
        STORED_LENGTHS.flat_map do |suffix, (length, input)|
          own = side("times", "ours, store-#{suffix}", :cache_store, [Paths::RUBY, Paths.ours("tables.rb"), "times", "store-#{suffix}"],
                     Paths::WITH_SYSTEM_GEMS)
          { "file" => ["FileStore", 0.25], "memory" => ["MemoryStore", nil] }.flat_map do |engine, (name, bar)|
            peer = ruby_peer("times", "#{engine}-store-#{suffix}", "#{name} of #{length}", :active_support)
            [share("ActiveSupport, #{length}: write", PUT, own, peer, input, bar),
             share("ActiveSupport, #{length}: read", GET, own, peer, input, bar)]
          end
        end
      end

      # Rows.

      def share(title, figure, own, peer, input, bar = nil)
        Measure.new(title: "#{title} / #{label(peer)}, #{LETTERS.fetch(input)}", input: input,
                    kind: Kind::FigureShare.new(figure), ours: own, peer: peer,
                    bar: bar ? Bar.at_most(bar) : Bar.none)
      end

      def level(title, figure, own, input, bar)
        Measure.new(title: "#{title}, #{LETTERS.fetch(input)}", kind: Kind::FigureLevel.new(figure), ours: own,
                    peer: nil, input: input, bar: bar, agreement: right(own, input))
      end

      # Shows a figure of ours beside that of a peer.
      def beside(title, figure, own, peer, input, bar)
        Measure.new(title: "#{title}, #{LETTERS.fetch(input)} (peer: #{label(peer)})", kind: Kind::FigureLevel.new(figure),
                    ours: own, peer: peer, input: input, bar: bar ? Bar.at_most(bar) : Bar.none)
      end

      # Compares a side with the input itself, for rows without a peer that answers.
      def right(side, input)
        Agreement.new(first: side, second: rust("answer", "-", "the input"), input: input)
      end
    end
  end
end
