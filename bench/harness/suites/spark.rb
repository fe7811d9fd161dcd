# frozen_string_literal: true

require_relative "../agreement"
require_relative "../recipes"
require_relative "../side"
require_relative "../suite"

module Bench
  module Suites
    # A folder of captures on Apache Spark. bench/README.md says what each row means.
    class Spark < Suite
      FULL_INPUTS = { day: CaptureFolderRecipe.new(20, 27, "mixed"), large: CaptureRecipe.new(9, 1_000, "mixed") }.freeze
      CHECK_INPUTS = { day: CaptureFolderRecipe.new(3, 1, "mixed"), large: CaptureRecipe.new(9, 2, "mixed") }.freeze

      PASS = Figure.seconds("pass_s")
      TERABYTE = Figure.plain("terabyte_h", "h")
      CORE_RATE = Figure.new(name: "core_mb_s", divisor: 1, format: "%.0f", unit: "MB/s")
      SHUFFLED = Figure.new(name: "shuffled_bytes", divisor: 1e9, format: "%.1f", unit: "GB")

      def how_measured(runs_count:, **)
        "#{[runs_count, 3].min} runs of each side by turns; the numbers are medians of wall time, of core hours of processor time, " \
          "Spark's of a second pass of the same program, when it is warm"
      end

      private

      def all_blocks
        [flows, packets, [split]].map { |measures| Block.new(measures: measures, runs_max: 3) }
      end

      # Core hours are those of stages, each of them what one program needs above another that does the stages before.
      def flows
        one, two, entries = ours("flows", 1), ours("flows", 2), ours("entries", 1)
        [
          Measure.new(title: "flows of 20 captures: local[1] / the command, --jobs 1", kind: Kind::FigureShare.new(PASS),
                      ours: one, peer: command, input: :day, bar: Bar.at_most(1.4)),
          Measure.new(title: "flows of 20 captures: local[2] / local[1]", kind: Kind::FigureShare.new(PASS), ours: two, peer: one,
                      input: :day, bar: Bar.at_most(0.6)),
          terabyte("reading files", reading, witness: gunzip),
          terabyte("decompressing", decompression, above: reading, witness: gunzip),
          terabyte("decoding and adding up flows", command, above: decompression, witness: one),
          terabyte("the same in workers of Spark", entries, above: command, witness: separate_flows),
          terabyte("shuffling and merging flows", one, above: entries, witness: command),
          terabyte("flows on Spark, all stages", one, witness: command),
          level(".gz that one core goes through: flows on Spark", CORE_RATE, one, command),
          level("shuffled for a terabyte of .gz: flows on Spark", SHUFFLED, one, command)
        ]
      end

      def packets
        one = ours("packets", 1)
        [
          Measure.new(title: "packets of 20 captures: local[1] / binaryFile and dpkt in mapInPandas",
                      kind: Kind::FigureSpeedup.new(PASS), ours: one, peer: dpkt, input: :day, bar: Bar.at_least(20)),
          terabyte("packets on Spark, all stages", one, witness: dpkt),
          level(".gz that one core goes through: packets on Spark", CORE_RATE, one, dpkt),
          terabyte("packets by binaryFile and dpkt, all stages", dpkt, witness: one)
        ]
      end

      def split
        Measure.new(title: "packets of one plain capture of 1 GB on local[2]: split / unsplit", kind: Kind::FigureShare.new(PASS),
                    ours: ours("packets", 2), peer: ours("unsplit", 2), input: :large, bar: Bar.at_most(0.6))
      end

      # Core hours of a side, or those above another, without a bar.
      def terabyte(what, side, witness:, above: nil)
        title = "core hours for a terabyte of .gz: #{what}"
        return level(title, TERABYTE, side, witness) unless above

        Measure.new(title: title, kind: Kind::FigureAbove.new(TERABYTE), ours: side, peer: above, input: :day, bar: Bar.none,
                    agreement: agreement(side, witness))
      end

      # The witness answers what the side does.
      def level(title, figure, side, witness)
        Measure.new(title: title, kind: Kind::FigureLevel.new(figure), ours: side, peer: nil, input: :day, bar: Bar.none,
                    agreement: agreement(side, witness))
      end

      def agreement(side, witness)
        Agreement.new(first: side, second: witness, input: :day)
      end

      def ours(task, cores)
        program("#{task}: ours, local[#{cores}]", :spark, Paths.ours("spark.py"), task, cores.to_s)
      end

      def dpkt
        program("packets: dpkt, local[1]", :spark_dpkt, Paths.peer("spark_dpkt.py"), "1")
      end

      def command
        program("flows: the command", :spark_command, Paths.ours("folder.py"), "flows", Paths::COMMAND)
      end

      def separate_flows
        program("flows of each capture: the command", :spark_command, Paths.ours("folder.py"), "entries", Paths::COMMAND)
      end

      def decompression
        program("decompress: the core", :spark, Paths.ours("folder.py"), "decompress", Paths.executable("columns"))
      end

      def reading
        program("read: read(2)", :spark, Paths.peer("whole_folder.py"), "read", Paths.executable("read-discard"))
      end

      def gunzip
        program("decompress: gzip -dc", :spark, Paths.peer("whole_folder.py"), "decompress", "gzip")
      end

      # Not pinned: Spark runs on as many cores as it is told.
      def program(name, needs, *command)
        Side.new(name: name, needs: needs, measures_itself: true,
                 command: ->(path) { [Paths::SPARK_PYTHON, *command, path] })
      end
    end
  end
end
