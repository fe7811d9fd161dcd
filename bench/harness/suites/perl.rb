# frozen_string_literal: true

require_relative "../paths"
require_relative "../recipes"
require_relative "../suite"
require_relative "flows"

module Bench
  module Suites
    # Tables and captures from Perl: the article's benchmark, tie and methods against Tokyo Cabinet's, and a loop over packets.
    # bench/README.md says what each row means.
    class Perl < Suite
      FULL_INPUTS = {
        ordered: RecordsRecipe.new(21, 1_000_000, "ordered"),
        ordered_100k: RecordsRecipe.new(23, 100_000, "ordered"),
        mixed: Flows::FULL_INPUTS.fetch(:mixed)
      }.freeze
      CHECK_COUNT = 2_000
      CHECK_INPUTS = {
        ordered: RecordsRecipe.new(21, CHECK_COUNT, "ordered"),
        ordered_100k: RecordsRecipe.new(23, CHECK_COUNT, "ordered"),
        mixed: Flows::CHECK_INPUTS.fetch(:mixed)
      }.freeze
      LETTERS = { ordered: "A", ordered_100k: "A, 100 k" }.freeze

      GROWN = Figure.megabytes("grown_bytes")
      PUT = Figure.seconds("put_s")
      GET = Figure.seconds("get_s")
      MANY = Figure.seconds("many_s")

      PEERS = {
        "hash" => "Perl hash", "tc-hash" => "TC *", "tc-tree" => "TC +", "tc-hash-file" => "TC .tch", "tc-tree-file" => "TC .tcb",
        "db-hash-file" => "DB_File hash", "db-tree-file" => "DB_File tree", "lmdb-file" => "LMDB_File"
      }.freeze
      # Parts that peers other than Tokyo Cabinet's need.
      NEEDS = {
        "hash" => :perl, "db-hash-file" => :perl_db_file, "db-tree-file" => :perl_db_file, "lmdb-file" => :perl_lmdb
      }.freeze

      def how_measured(runs_count:, **)
        "#{runs_count} runs of each side by turns, or the fewer that bench/README.md names, each pinned to one core; the " \
          "numbers are medians of processor time"
      end

      private

      def all_blocks
        [Block.new(measures: memory, runs_max: 2), Block.new(measures: ties), Block.new(measures: methods),
         Block.new(measures: many), Block.new(measures: files, runs_max: 3),
         Block.new(measures: captures)]
      end

      # The article's benchmark: a million records, stored through a tied hash.
      def memory
        [
          share("article: memory, HashTable", GROWN, "memory", "adb-hash", "hash", 0.18),
          share("article: memory, TreeTable", GROWN, "memory", "adb-tree", "hash", 0.12),
          share("article: memory, TreeTable", GROWN, "memory", "adb-tree", "tc-tree")
        ]
      end

      def ties
        [share("article: time to store, HashTable", PUT, "times", "adb-hash", "hash", 1.4)] +
          compared("tie", "times", "hash", "tc-hash", 1.6) + compared("tie", "times", "tree", "tc-tree", 2)
      end

      def methods
        compared("methods", "methods", "hash", "tc-hash", 1.8) + compared("methods", "methods", "tree", "tc-tree", 1.8)
      end

      def many
        [share("get_many of 1,000", MANY, "many", "hash", "hash", 1.5)]
      end

      def files
        [["hash-file", "tc-hash-file", 0.7], ["tree-file", "tc-tree-file", 0.7], %w[hash-file db-hash-file],
         %w[tree-file db-tree-file], %w[tree-file lmdb-file]].flat_map do |own, peer, bar|
          [["put", PUT], ["get", GET]].map do |what, figure|
            share("file by tie, #{own}: #{what}", figure, "times", own, peer, bar, :ordered_100k)
          end
        end
      end

      # Two fields of each packet; the whole process, because the reader works on threads of its own.
      def captures
        peer = whole("Net::Pcap + unpack", :net_pcap, [Paths.peer("net_pcap_unpack.pl")])
        [["columns", Bar.at_least(10)], ["rows", Bar.none]].map do |how, bar|
          own = whole("ours, #{how}", :perl_module, [Paths.ours("capture_fields.pl"), how], Paths::PERL_ENVIRONMENT)
          Measure.new(title: "captures: two fields of each packet, #{how} / Net::Pcap + unpack", kind: Kind::Speedup, ours: own,
                      peer: peer, input: :mixed, bar: bar)
        end
      end

      def whole(name, needs, script, environment = {})
        Side.new(name: name, needs: needs, environment: environment, command: ->(path) { ["perl", *script, path] })
      end

      # Compares the speed of storing and fetching.
      def compared(title, task, own, peer, bar)
        [["put", PUT], ["get", GET]].map do |what, figure|
          Measure.new(title: "#{title}: #{what}, #{own} / #{PEERS.fetch(peer)}, A", kind: Kind::FigureSpeedup.new(figure),
                      ours: ours(task, own), peer: theirs(task, peer), input: :ordered, bar: Bar.at_least(bar))
        end
      end

      def share(title, figure, task, own, peer, bar = nil, input = :ordered)
        Measure.new(title: "#{title} / #{PEERS.fetch(peer)}, #{LETTERS.fetch(input)}", kind: Kind::FigureShare.new(figure),
                    ours: ours(task, own), peer: theirs(task, peer), input: input,
                    bar: bar ? Bar.at_most(bar) : Bar.none)
      end

      def ours(task, engine)
        side(task, "ours, #{engine}", :perl_module, ["perl", Paths.ours("tables.pl"), task, engine], Paths::PERL_ENVIRONMENT)
      end

      def theirs(task, engine)
        side(task, PEERS.fetch(engine), NEEDS.fetch(engine, :perl_tokyo), ["perl", Paths.peer("tables.pl"), task, engine])
      end
    end
  end
end
