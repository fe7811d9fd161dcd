# frozen_string_literal: true

require_relative "../paths"
require_relative "../recipes"
require_relative "../suite"

module Bench
  module Suites
    # Stores of Ruby objects in one file. bench/README.md says what each row means.
    class PStore < Suite
      FULL_INPUTS = {
        text_1k: StoreRecipe.new("text", 1_000),
        text_10k: StoreRecipe.new("text", 10_000),
        text_100k: StoreRecipe.new("text", 100_000),
        values_10k: StoreRecipe.new("values", 10_000),
        values_100k: StoreRecipe.new("values", 100_000),
        records_1k: StoreRecipe.new("records", 1_000),
        sharing_1k: StoreRecipe.new("sharing", 1_000),
        kilobytes_100k: StoreRecipe.new("kilobytes", 100_000),
        empty: StoreRecipe.new("empty", 0)
      }.freeze

      CHECK_COUNT = 30
      CHECK_INPUTS = FULL_INPUTS.transform_values do |recipe|
        StoreRecipe.new(recipe.profile, [recipe.count, CHECK_COUNT].min)
      end.freeze

      TRANSACTION = Figure.new(name: "transaction_s", divisor: 1e-6, format: "%.1f", unit: "µs")
      PEAK = Figure.megabytes("peak_bytes")

      def how_measured(runs_count:, **)
        "#{runs_count} runs of each side by turns, or the fewer that bench/README.md names; the numbers are " \
          "medians of wall time for one transaction, with our journal on"
      end

      private

      def all_blocks
        [
          Block.new(measures: appending), Block.new(measures: roots("10 k", :values_10k, [1000, 500, 100])),
          Block.new(measures: roots("100 k", :values_100k, [10_000, 5000, 200]), runs_max: 3),
          Block.new(measures: records), Block.new(measures: fresh), Block.new(measures: never_slower),
          Block.new(measures: memory, runs_max: 3)
        ]
      end

      # The benchmark of 2011.

      def appending
        sizes = { text_1k: ["N = 1,000", 3, 2], text_10k: ["N = 10,000", 3.5, 2], text_100k: ["N = 100,000", 5, 1.6] }
        sizes.flat_map do |input, (size, stock_bar, patch_bar)|
          title = "benchmark of 2011, #{size}"
          [faster(title, "append", input, at_least: stock_bar),
           faster(title, "append", input, peer: peer("append", "patch-2011", "the patch of 2011"),
                                          at_least: patch_bar),
           faster("#{title}, whole after kill -9", "append", input, peer: ultra_safe_peer, at_least: 7),
           faster("#{title}, on the disk after power loss", "append", input,
                  ours: ours("append", "ours-ultra-safe", "ours, ultra_safe"), peer: ultra_safe_peer)]
        end
      end

      def ultra_safe_peer
        peer("append", "stock-ultra-safe", "stock, ultra_safe")
      end

      # Many roots.

      def roots(count, input, bars)
        read, change, grow = bars
        [
          faster("#{count} roots: read one", "read", input, at_least: read),
          faster("#{count} roots: change one, same length", "change", input, at_least: change),
          faster("#{count} roots: change one, growing", "grow", input, at_least: grow),
          faster("#{count} roots: a transaction that changes nothing", "nothing", input)
        ]
      end

      def records
        [
          faster("1,000 nested records: change a field", "change_field", :records_1k, at_least: 200),
          faster("1,000 nested records: grow a field", "grow_field", :records_1k),
          faster("1,000 nested records: read one", "read", :records_1k)
        ]
      end

      def fresh
        [faster("a fresh process reads one of 100 k roots", "first_read", :values_100k, at_least: 3),
         whole_process("the same with Ruby's own start", "first_read", :values_100k)]
      end

      # Rows in which there is nothing to win, and must be nothing to lose.

      def never_slower
        [
          share("10 k roots: read all", "read_all", :values_10k),
          share("10 k roots: change all", "change_all", :values_10k),
          share("1,000 nested records: read all", "read_all", :records_1k),
          share("1,000 nested records that share Strings: read one", "read", :sharing_1k),
          share("1,000 nested records that share Strings: change a field", "change_field", :sharing_1k),
          share("one root: change it", "change", :empty),
          share("an empty store: a transaction that changes nothing", "nothing", :empty),
          share("a fresh process changes one of 10 k roots", "first_change", :values_10k),
          share("a fresh process changes an empty store", "first_change", :empty),
          share("a fresh process under Bundler changes an empty store", "first_change", :empty,
                ours: ours("first_change", "ours-activated"), at_most: 1.5)
        ]
      end

      def memory
        own, stock = ours("memory"), peer("memory")
        [
          Measure.new(title: "memory to read one root of 100 MB / the file", kind: Kind::PayloadShare.new(PEAK),
                      ours: own, peer: stock, input: :kilobytes_100k, bar: Bar.at_most(1.3)),
          Measure.new(title: "memory to read one root of 100 MB / stock", kind: Kind::FigureShare.new(PEAK),
                      ours: own, peer: stock, input: :kilobytes_100k, bar: Bar.none)
        ]
      end

      # Rows.

      def faster(title, task, input, ours: ours(task), peer: peer(task), at_least: nil)
        Measure.new(title: "#{title} / #{label(peer)}", kind: Kind::FigureSpeedup.new(TRANSACTION), ours: ours,
                    peer: peer, input: input, bar: at_least ? Bar.at_least(at_least) : Bar.none)
      end

      def share(title, task, input, ours: ours(task), at_most: 1.1)
        Measure.new(title: "#{title} / stock", kind: Kind::FigureShare.new(TRANSACTION), ours: ours,
                    peer: peer(task), input: input, bar: Bar.at_most(at_most))
      end

      def whole_process(title, task, input)
        Measure.new(title: "#{title} / stock", kind: Kind::Speedup, ours: ours(task), peer: peer(task),
                    input: input, bar: Bar.none)
      end

      # Sides.

      def ours(task, engine = "ours", name = "ours")
        side(task, name, :pstore, [Paths::RUBY, Paths.ours("stores.rb"), task, engine], Paths::GEM_ENVIRONMENT)
      end

      def peer(task, engine = "stock", name = "stock")
        side(task, name, nil, [Paths::RUBY, Paths.peer("stores.rb"), task, engine])
      end
    end
  end
end
