# frozen_string_literal: true

require_relative "inputs"
require_relative "side"

module Bench
  # Known error of a peer, and the values of its answer that suffer from it.
  KnownDifference = Struct.new(:reason, :keys)

  # Two sides that must answer the same, usually about one input.
  Agreement = Struct.new(:first, :second, :input, :second_input, :known_difference, keyword_init: true) do
    def initialize(input:, second_input: input, **rest)
      super
    end

    # Returns the parts that the set-up must bring before the two can be asked.
    def parts
      [first.needs, second.needs, Inputs.part(input), Inputs.part(second_input)].compact.uniq
    end

    def to_s
      where = input == second_input ? input : "#{input} and #{second_input}"
      "#{first.name} = #{second.name} on #{where}"
    end
  end
end
