# frozen_string_literal: true

module Bytewright
  module Thrift
    # Fields of many messages, one packed String per field: little-endian values without gaps, and a bit
    # per row that says whether the message has the field. The layout is Apache Arrow's.
    #
    #   columns[:id].unpack("q<*")           # a null takes its place, with bytes that mean nothing
    #   columns.validity(:id).unpack1("b*")  # "1101...": 1 where there is a value
    #   columns.values(:id)                  # an Array, nil where there is none
    #
    # Columns of structs, lists and maps have no String of their own: +values+ has their Hashes and Arrays.
    Columns = ThriftColumns

    # Methods over what is native.
    class Columns
      alias length size
      private :extend_with

      # @return [Hash{Symbol => Array}] every column as an Array, nil where there is no value
      def to_h
        names.to_h { |name| [name, values(name)] }
      end

      # @return [String] its size and columns
      def inspect
        "#<#{Columns} #{size} rows: #{names.join(", ")}>"
      end
    end
  end
end
