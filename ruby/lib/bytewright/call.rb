# frozen_string_literal: true

module Bytewright
  # A call of a Thrift method, and its answer. Its source is the caller.
  #
  # Its getters are the fields of {Call::FIELDS}, but for the method, which is {#method_name}: every Ruby object has
  # a method +method+. docs/names.md says what each means.
  class Call
    # @return [Time, nil] when its first byte was captured, in UTC
    def time
      nanoseconds = ts
      nanoseconds && Time.at(0, nanoseconds, :nsec, in: "UTC")
    end

    # @return [Boolean] whether it answered an exception, or failed
    def error?
      %w[exception failure].include?(outcome)
    end

    # For pattern matching: +case call; in {method: "find", outcome: "exception"}+.
    #
    # @param keys [Array<Symbol>, nil] the fields that the pattern names
    # @return [Hash{Symbol => Object}] those fields, or all
    def deconstruct_keys(keys)
      keys ? (keys & FIELDS).to_h { |name| [name, self[name]] } : to_h
    end

    alias eql? ==

    # @return [Call] itself: a call never changes
    def dup
      self
    end

    # @return [Call] itself
    def clone(freeze: nil)
      self
    end

    # @return [Integer] equal for equal calls
    def hash
      to_h.hash
    end

    # @return [String] the fields that it has
    def inspect
      shown = to_h.compact.map { |name, value| "#{name}=#{value}" }
      "#<#{self.class} #{shown.join(" ")}>"
    end
  end
end
