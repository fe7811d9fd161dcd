# frozen_string_literal: true

module Bytewright
  class PStore
    # Methods that a table that loads its roots on demand has as the Hash of +whole+.
    # @api private
    module HashLike
      def to_h
        whole
      end
      alias to_hash to_h

      def inspect
        whole.inspect
      end

      private

      def respond_to_missing?(name, include_private = false)
        Hash.method_defined?(name) || super
      end

      def method_missing(name, ...)
        Hash.method_defined?(name) ? whole.public_send(name, ...) : super
      end
    end
    private_constant :HashLike
  end
end
