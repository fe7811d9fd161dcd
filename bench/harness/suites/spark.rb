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
      TERABYTE = Figure.new(name: "terabyte_h", divisor: 1, format: "%.2f", unit: "h")

      def how_measured(runs_count:, **)
        "#{[runs_count, 3].min} runs of each side by turns; the numbers are medians of wall time, Spark's of a second pass of the same " \
          "program, when it is warm"
      end

      private

      def all_blocks
        [flows, packets, [split], [terabyte("decompressing alone", decompression, gunzip)]].map do |measures|
          Block.new(measures: measures, runs_max: 3)
        end
      end

      def flows
        one, two = ours("flows", 1), ours("flows", 2)
        [
          Measure.new(title: "flows of 20 captures: local[1] / the command, --jobs 1", kind: Kind::FigureShare.new(PASS),
                      ours: one, peer: command, input: :day, bar: Bar.at_most(1.4)),
          Measure.new(title: "flows of 20 captures: local[2] / local[1]", kind: Kind::FigureShare.new(PASS), ours: two, peer: one,
                      input: :day, bar: Bar.at_most(0.6)),
          terabyte("flows by the command", command, one),
          terabyte("flows on Spark", one, command)
        ]
      end

      def packets
        one = ours("packets", 1)
        [
          Measure.new(title: "packets of 20 captures: local[1] / binaryFile and dpkt in mapInPandas",
                      kind: Kind::FigureSpeedup.new(PASS), ours: one, peer: dpkt, input: :day, bar: Bar.at_least(20)),
          terabyte("packets on Spark", one, dpkt)
        ]
      end

      def split
        Measure.new(title: "packets of one plain capture of 1 GB on local[2]: split / unsplit", kind: Kind::FigureShare.new(PASS),
                    ours: ours("packets", 2), peer: ours("unsplit", 2), input: :large, bar: Bar.at_most(0.6))
      end

      # What one core needs, without a bar; the answer is compared with a witness's.
      def terabyte(what, side, witness)
        agreement = Agreement.new(first: side, second: witness, input: :day)
        Measure.new(title: "core hours for a terabyte of .gz: #{what}", kind: Kind::FigureLevel.new(TERABYTE), ours: side,
                    peer: nil, input: :day, bar: Bar.none, agreement: agreement)
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

      def decompression
        program("decompress: the core", :spark, Paths.ours("folder.py"), "decompress", Paths.executable("columns"))
      end

      def gunzip
        program("decompress: gzip -dc", :spark, Paths.peer("gunzip_folder.py"))
      end

      # Not pinned: Spark runs on as many cores as it is told.
      def program(name, needs, *command)
        Side.new(name: name, needs: needs, measures_itself: true,
                 command: ->(path) { [Paths::SPARK_PYTHON, *command, path] })
      end
    end
  end
end
