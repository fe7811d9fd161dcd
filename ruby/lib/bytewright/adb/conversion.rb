# frozen_string_literal: true

module Bytewright
  class ADB
    # Conversion of Strings and numbers as Tokyo Cabinet's methods do it, with the errors that they raise.
    module Conversion
      INT = (-2**31...2**31)

      module_function

      # A key or a value: a String, or what becomes one.
      def bytes(object)
        case object
        when String then object
        when Integer then digits(object)
        when nil, true, false then object.inspect
        else String.try_convert(object) || raise(TypeError, "no implicit conversion of #{object.class} into String")
        end
      end

      # A number that fits in C's int.
      def int(object)
        # Array#at wants a long of C, as the original does, and refuses all else with the same words.
        [].at(object)
        number = object.to_int
        return number if INT.cover?(number)

        raise RangeError, "integer #{number} too #{number.negative? ? "small" : "big"} to convert to `int'"
      end

      def double(object)
        case object
        when Numeric then Float(object)
        when String then raise TypeError, "no implicit conversion to float from string"
        when nil, true, false then raise TypeError, "no implicit conversion to float from #{object.inspect}"
        else raise TypeError, "can't convert #{object.class} into Float"
        end
      end

      # The object, where it is of the class.
      def expect(klass, object)
        return object if object.is_a?(klass)

        found = [nil, true, false].include?(object) ? object.inspect : object.class
        raise TypeError, "wrong argument type #{found} (expected #{klass})"
      end

      # Integers are C's int, but those that do not fit in a word of Ruby's, which are C's long long.
      def digits(integer)
        return integer.to_s if integer.bit_length == 63
        raise RangeError, "bignum too big to convert into `long long'" if integer.bit_length > 63

        int(integer).to_s
      end
    end

    private_constant :Conversion
  end
end
