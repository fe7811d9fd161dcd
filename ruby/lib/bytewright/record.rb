# frozen_string_literal: true

module Bytewright
  # JSON and YAML of what has fields: those of +to_h+, by their names.
  module FieldNotation
    # Supports the json library, which adds this method to Hash.
    #
    # @param arguments [Array<Object>] the library's
    # @return [String] the fields as a JSON object
    def to_json(*arguments)
      to_h.to_json(*arguments)
    end

    # Supports ActiveSupport.
    #
    # @param options [Hash, nil] the library's, such as only and except
    # @return [Hash{String => Object}]
    def as_json(options = nil)
      fields = to_h.transform_keys(&:to_s)
      fields.respond_to?(:as_json) ? fields.as_json(options) : fields
    end

    # Supports the yaml library: the fields become a mapping.
    #
    # @param coder [Psych::Coder]
    # @return [void]
    def encode_with(coder)
      coder.tag, coder.implicit, coder.map = nil, true, to_h.transform_keys(&:to_s)
    end
  end

  # Base of flows and calls: they have the fields of their FIELDS, and never change. Marshal dumps
  # them and loads them.
  module Record
    include FieldNotation

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
  end

  private_constant :FieldNotation, :Record
end
