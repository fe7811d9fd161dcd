# frozen_string_literal: true

module Bytewright
  # What a flow and a call have in common: they have the fields of their FIELDS, and never change.
  module Record
    include Undumpable

    # @return [Time, nil] when its first byte or packet was captured, in UTC
    def time
      nanoseconds = ts
      nanoseconds && Time.at(0, nanoseconds, :nsec, in: "UTC")
    end

    # For pattern matching: +case flow; in {dst_port: 443, bytes:}+.
    #
    # @param keys [Array<Symbol>, nil] the fields that the pattern names
    # @return [Hash{Symbol => Object}] those fields, or all
    def deconstruct_keys(keys)
      keys ? (keys & self.class::FIELDS).to_h { |name| [name, self[name]] } : to_h
    end

    # @return [Boolean] whether it is equal
    def eql?(other)
      self == other
    end

    # @return [Record] itself
    def dup
      self
    end

    # @return [Record] itself
    def clone(freeze: nil)
      self
    end

    # @return [Integer] equal for equal ones
    def hash
      to_h.hash
    end

    # @return [String] the fields that it has
    def inspect
      shown = to_h.compact.map { |name, value| "#{name}=#{value}" }
      "#<#{self.class} #{shown.join(" ")}>"
    end

    private

    def instead_of_dump
      "its fields (to_h)"
    end
  end

  private_constant :Record
end
