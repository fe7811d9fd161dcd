# frozen_string_literal: true

require_relative "agreement"
require_relative "inputs"
require_relative "kind"
require_relative "side"

module Bench
  # One row: two sides, what each reads, and the bar that their ratio must reach.
  #
  # peer:: nil where a row is about us alone; then `agreement` has a witness for our answer
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

    # Returns the parts that the set-up must bring for this row.
    def parts
      [ours.needs, peer&.needs, Inputs.part(input), *agreement.parts].compact.uniq
    end
  end

  # Rows whose sides run together by turns. A side that stands in several of them runs once a turn.
  #
  # runs_max:: fewer runs than asked for, where the number hardly varies or a run takes long
  Block = Struct.new(:measures, :runs_max, keyword_init: true)

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
end
