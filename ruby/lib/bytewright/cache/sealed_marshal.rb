# frozen_string_literal: true

require "openssl"

module Bytewright
  class Cache
    # Marshals objects behind a check by a key, and loads what has that check.
    # @api private
    class SealedMarshal
      # Bytes of the check: HMAC-SHA-256.
      CHECK_LENGTH = 32
      # Fewest bytes of a key.
      KEY_LENGTH_MIN = 16

      # @param key [String]
      def initialize(key)
        unless key.is_a?(String) && key.bytesize >= KEY_LENGTH_MIN
          raise ArgumentError, "expected a String as marshal_key, of #{KEY_LENGTH_MIN} bytes or more that nobody else knows, " \
                               "such as of SecureRandom.bytes(32)"
        end

        @key = key.b.freeze
      end

      # @param object [Object]
      # @return [String]
      def dump(object)
        data = Marshal.dump(object)
        check(data) << data
      end

      # @param sealed [String]
      # @return [Object]
      # @raise [CorruptError] where the check is another one; nothing is loaded then
      def load(sealed)
        data = sealed.byteslice(CHECK_LENGTH..) || ""
        given = sealed.byteslice(0, CHECK_LENGTH)
        unless given.bytesize == CHECK_LENGTH && OpenSSL.fixed_length_secure_compare(given, check(data))
          raise CorruptError, "expected a value that was marshalled with this marshal_key, found one with another check; nothing of it was read"
        end

        Marshal.load(data) # rubocop:disable Security/MarshalLoad -- written by who knows the key
      end

      private

      def check(data)
        OpenSSL::HMAC.digest("SHA256", @key, data)
      end
    end
    private_constant :SealedMarshal
  end
end
