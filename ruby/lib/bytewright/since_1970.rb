# frozen_string_literal: true

module Bytewright
  # Times as programs have them, in nanoseconds since 1970 and without the rounding of Floats.
  module Since1970
    class << self
      # A time in nanoseconds, which Integers are; other numbers are seconds.
      def nanoseconds(time)
        case time
        when nil, Integer then time
        when Time, Float, Rational then floor(time)
        when Numeric then floor(Rational(time))
        else floor(to_time(time))
        end
      end

      # A time as the core reads it, which takes a number by its size.
      def text(time)
        case time
        when nil, String then time
        when Integer then time.to_s
        else day?(time) ? time.iso8601 : "#{nanoseconds(time)}ns"
        end
      end

      private

      def floor(time)
        raise ArgumentError, "expected a time that is a finite number, found #{time}" if time.is_a?(Float) && !time.finite?

        (time.to_r * 1_000_000_000).floor
      end

      # Of a program that has no dates, none can come.
      def day?(time)
        defined?(::Date) && time.is_a?(::Date) && !time.is_a?(::DateTime)
      end

      def to_time(time)
        return time.to_time if defined?(::DateTime) && time.is_a?(::DateTime)

        raise TypeError, "expected a Time, a DateTime, Integer nanoseconds or other numbers of seconds since 1970, found #{Bytewright.send(:shown, time)}"
      end
    end
  end
  private_constant :Since1970
end
