# frozen_string_literal: true

require "thrift"
require_relative "drop_in"

module Bytewright
  module Thrift
    # Binary for the gem's clients, processors and servers, with structs read and written natively.
    class BinaryProtocol < (defined?(::Thrift::BinaryProtocolAccelerated) ? ::Thrift::BinaryProtocolAccelerated : ::Thrift::BinaryProtocol)
    end

    # Compact for the gem's clients, processors and servers, with structs read and written natively.
    class CompactProtocol < ::Thrift::CompactProtocol
    end

    # Makes {BinaryProtocol}s.
    class BinaryProtocolFactory < ::Thrift::BaseProtocolFactory
      # @param transport [::Thrift::BaseTransport]
      # @return [BinaryProtocol]
      def get_protocol(transport)
        BinaryProtocol.new(transport)
      end

      # @return [String]
      def to_s
        "bytewright-binary"
      end
    end

    # Makes {CompactProtocol}s.
    class CompactProtocolFactory < ::Thrift::BaseProtocolFactory
      # @param transport [::Thrift::BaseTransport]
      # @return [CompactProtocol]
      def get_protocol(transport)
        CompactProtocol.new(transport)
      end

      # @return [String]
      def to_s
        "bytewright-compact"
      end
    end

    DropIn.install_own(:own_binary, BinaryProtocol)
    DropIn.install_own(:own_compact, CompactProtocol)
  end
end
