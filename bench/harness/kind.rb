# frozen_string_literal: true

require_relative "side"

module Bench
  # A timed side of a row: its runs, the clock that counts (a method of Run), and how many packets its
  # input holds where the row needs to know.
  Timed = Struct.new(:runs, :clock, :packets) do
    def seconds
      median(clock)
    end

    # The median of one of Run's numbers.
    def median(member)
      Bench.median(runs.map(&member))
    end

    # Returns the figures of this name that each run measured itself.
    def figures(name)
      runs.map { |run| run.figures.fetch(name) }
    end
  end

  # A number that a side measures itself: its name there, what to divide it by to show it, and how.
  #
  # lowest:: whether the lowest of the runs counts instead of their median, because only other work on
  #          the machine can make it higher
  Figure = Struct.new(:name, :divisor, :format, :unit, :lowest, keyword_init: true) do
    def self.seconds(name)
      new(name: name, divisor: 1, format: "%.3f", unit: "s")
    end

    def self.milliseconds(name, lowest: false)
      new(name: name, divisor: 1e-3, format: "%.2f", unit: "ms", lowest: lowest)
    end

    def self.megabytes(name)
      new(name: name, divisor: 1e6, format: "%.1f", unit: "MB")
    end

    def self.thousands(name)
      new(name: name, divisor: 1e3, format: "%.0f", unit: "k")
    end

    def self.plain(name, unit = nil)
      new(name: name, divisor: 1, format: "%.2f", unit: unit)
    end

    def of(timed)
      numbers = timed.figures(name)
      (lowest ? numbers.min : Bench.median(numbers)) / divisor.to_f
    end

    def show(number)
      [Kernel.format(self.format, number), unit].compact.join(" ")
    end

    # The lowest and the highest of the runs.
    def show_range(timed)
      ends = timed.figures(name).minmax.map { |number| Kernel.format(self.format, number / divisor.to_f) }
      [ends.join("–"), unit].compact.join(" ")
    end
  end

  # Rules by which a row's two sides become the number in its ratio column, and each is shown. `unit` is
  # the ratio's if it has one. `figure` is what the sides measured themselves, or nil if the whole process
  # counts.
  module Kind
    # The share of the peer's time that we need.
    module TimeShare
      def self.ratio(ours, peer)
        ours.seconds / peer.seconds
      end

      def self.show(timed)
        format("%.3f s", timed.seconds)
      end

      def self.show_ratio(ratio)
        format("%.2f", ratio)
      end

      def self.unit; end

      def self.figure; end
    end

    # Factor by which we are faster.
    module Speedup
      def self.ratio(ours, peer)
        peer.seconds / ours.seconds
      end

      def self.show(timed)
        TimeShare.show(timed)
      end

      def self.show_ratio(ratio)
        format("%.1f×", ratio)
      end

      def self.unit; end

      def self.figure; end
    end

    # Factor by which we do more packets a second. The inputs may differ in size.
    module Rate
      def self.ratio(ours, peer)
        packets_per_second(ours) / packets_per_second(peer)
      end

      def self.show(timed)
        format("%.0f k/s", packets_per_second(timed) / 1000)
      end

      def self.show_ratio(ratio)
        format("%.0f×", ratio)
      end

      def self.packets_per_second(timed)
        timed.packets / timed.seconds
      end

      def self.unit; end

      def self.figure; end
    end

    # Our peak memory above the peer's.
    module MemoryAbove
      def self.ratio(ours, peer)
        (ours.median(:peak_kb) - peer.median(:peak_kb)) / 1024.0
      end

      def self.show(timed)
        format("%.1f MB", timed.median(:peak_kb) / 1024.0)
      end

      def self.show_ratio(ratio)
        format("+%.1f MB", ratio)
      end

      def self.unit
        "MB"
      end

      def self.figure; end
    end

    # Methods of the kinds that compare a number which the sides measure themselves.
    module OfFigure
      def show(timed)
        figure.show(figure.of(timed))
      end

      def unit; end
    end

    # Our share of a figure of the peer's.
    FigureShare = Struct.new(:figure) do
      include OfFigure

      def ratio(ours, peer)
        figure.of(ours) / figure.of(peer)
      end

      def show_ratio(ratio)
        format("%.2f", ratio)
      end
    end

    # Factor by which our figure is lower.
    FigureSpeedup = Struct.new(:figure) do
      include OfFigure

      def ratio(ours, peer)
        figure.of(peer) / figure.of(ours)
      end

      def show_ratio(ratio)
        format(ratio < 100 ? "%.1f×" : "%.0f×", ratio)
      end
    end

    # A figure of ours as it is. A peer is there for scale.
    FigureLevel = Struct.new(:figure) do
      include OfFigure

      def ratio(ours, _peer)
        figure.of(ours)
      end

      def show_ratio(ratio)
        figure.show(ratio)
      end

      def unit
        figure.unit
      end
    end

    # Figure of ours minus the peer's: one stage of some work, if the peer does the others.
    FigureAbove = Struct.new(:figure) do
      include OfFigure

      def ratio(ours, peer)
        figure.of(ours) - figure.of(peer)
      end

      def show_ratio(ratio)
        figure.show(ratio)
      end

      def unit
        figure.unit
      end
    end

    # A figure of ours for each byte of keys and values. A peer is there for scale.
    PayloadShare = Struct.new(:figure) do
      include OfFigure

      def ratio(ours, _peer)
        figure.of(ours) / payload.of(ours)
      end

      def show_ratio(ratio)
        format("%.2f", ratio)
      end

      private

      def payload
        Figure.megabytes("payload_bytes")
      end
    end
  end
end
