# frozen_string_literal: true

module Bytewright
  # A batch of packets, one packed String per field: little-endian values without gaps, and a bit
  # per row that says whether the value is there. The layout is Apache Arrow's.
  #
  #   columns[:dst_port].unpack("S<*")           # a null takes its place, with bytes that mean nothing
  #   columns.validity(:dst_port).unpack1("b*")  # "1101...": 1 where there is a value
  #   columns.values(:dst_port)                  # an Array, nil where there is none
  class Columns
    include Undumpable

    # The directive of String#unpack for each type of column. An address takes 16 bytes; IPv4 is
    # ::ffff:a.b.c.d.
    DIRECTIVES = { u8: "C*", u16: "S<*", u32: "L<*", u64: "Q<*", i64: "q<*" }.freeze

    alias length size

    # @param name [Symbol] a column of numbers
    # @return [Array<Integer>] its values, with no regard to nulls
    def unpack(name)
      values = self[name]
      directive = DIRECTIVES.fetch(Capture::FIELD_TYPES[name]) do |type|
        raise ArgumentError, "expected a column of numbers, found :#{name}, a column of type #{type}"
      end
      values.unpack(directive)
    end

    # @param name [Symbol] a column
    # @param row [Integer]
    # @return [Boolean] whether the packet in that row has no such field
    def null?(name, row)
      raise IndexError, "expected a row from 0 to #{size - 1}, found #{Bytewright.send(:shown, row)}" unless row.between?(0, size - 1)

      validity(name).getbyte(row / 8)[row % 8].zero?
    end

    # @return [Hash{Symbol => Array}] every column as an Array, nil where there is no value
    def to_h
      names.to_h { |name| [name, values(name)] }
    end

    # Supports the json library, which adds this method to Hash.
    #
    # @param arguments [Array<Object>] the library's
    # @return [String] the columns as a JSON object of arrays
    def to_json(*arguments)
      to_h.to_json(*arguments)
    end

    # Supports ActiveSupport.
    #
    # @param options [Hash, nil] the library's
    # @return [Hash{String => Array}]
    def as_json(options = nil)
      columns = to_h.transform_keys(&:to_s)
      columns.respond_to?(:as_json) ? columns.as_json(options) : columns
    end

    # @return [String] its size and columns
    def inspect
      "#<#{self.class} #{size} rows: #{names.join(", ")}>"
    end

    private

    def instead_of_dump
      "its columns (values)"
    end
  end
end
