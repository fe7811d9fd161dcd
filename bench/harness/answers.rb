# frozen_string_literal: true

require_relative "agreement"

module Bench
  # Difference of two answers, and whether the peer is known for it.
  Difference = Struct.new(:text, :known)

  # Answers of the sides, each asked once per input.
  class Answers
    def initialize(inputs)
      @inputs = inputs
      @answers = {}
    end

    def of(side, input)
      @answers[[side.name, input]] ||= side.answer(@inputs.path(input))
    end

    # Keeps an answer that came with a timed run. A side that answers otherwise than before has failed.
    def add(side, input, answer)
      before = (@answers[[side.name, input]] ||= answer)
      raise Failed, "#{side.name} answers #{before}, then #{answer}" unless before == answer
    end

    # nil when both say the same about everything that both speak of.
    def difference(agreement)
      first = of(agreement.first, agreement.input)
      second = of(agreement.second, agreement.second_input)
      shared = first.keys & second.keys
      return Difference.new("no value in common to compare", false) if shared.empty?

      differing = shared.reject { |key| first[key] == second[key] }
      return if differing.empty?

      known = agreement.known_difference
      if known && (differing - known.keys).empty?
        return Difference.new("answer differs (known: #{known.reason})", true)
      end

      values = differing.map { |key| "#{key} #{first[key]} and #{second[key]}" }
      Difference.new("answers differ: #{values.join(', ')}", false)
    end
  end
end
