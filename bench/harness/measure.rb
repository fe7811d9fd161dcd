# frozen_string_literal: true

require_relative "agreement"
require_relative "inputs"
require_relative "side"

module Bench
  # One row: two sides, what each reads, and the bar that their ratio must reach.
  #
  # agreement:: whose answers must be equal; by default both sides' about the peer's input
  # known_difference:: what this peer is known to answer wrong; then that is said and not failed
  Measure = Struct.new(:title, :kind, :ours, :input, :peer, :peer_input, :bar, :agreement,
                       keyword_init: true) do
    def initialize(ours:, input:, peer:, peer_input: input, agreement: nil, known_difference: nil, **rest)
      agreement ||= Agreement.new(first: ours, second: peer, input: peer_input,
                                  known_difference: known_difference)
      super(ours: ours, input: input, peer: peer, peer_input: peer_input, agreement: agreement, **rest)
    end

    def ratio(ours_timed, peer_timed)
      kind.ratio(ours_timed, peer_timed)
    end

    # What the set-up must bring for this row.
    def parts
      [ours.needs, peer.needs, Inputs.part(input), *agreement.parts].compact.uniq
    end
  end

  # The number that a row must reach, and from which side.
  Bar = Struct.new(:relation, :number) do
    def self.at_most(number)
      new(:<=, number)
    end

    def self.at_least(number)
      new(:>=, number)
    end

    # A row that is shown for scale.
    def self.none
      new(nil, nil)
    end

    def reached?(ratio)
      relation.nil? ? nil : ratio.public_send(relation, number)
    end
  end

  # A timed side of a row: its median run, the clock that counts (a method of Run), and how many
  # packets its input holds where the row needs to know.
  Timed = Struct.new(:run, :clock, :packets) do
    def seconds
      run.public_send(clock)
    end
  end

  # How a row's two runs become the number in its ratio column, and how each is shown.
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
    end

    # How many times faster we are.
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
    end

    # How many times more packets a second we do. The inputs may differ in size.
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
    end

    # Our peak memory above the peer's, in MB.
    module MemoryAbove
      def self.ratio(ours, peer)
        (ours.run.peak_kb - peer.run.peak_kb) / 1024.0
      end

      def self.show(timed)
        format("%.1f MB", timed.run.peak_kb / 1024.0)
      end

      def self.show_ratio(ratio)
        format("+%.1f MB", ratio)
      end
    end
  end
end
