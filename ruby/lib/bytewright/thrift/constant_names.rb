# frozen_string_literal: true

require "set"

module Bytewright
  module Thrift
    # Ruby's names for what IDL defines in one module: with a capital, as the compiler gives them.
    #
    # Ruby has no constant that begins with `_`, and one where IDL has `Email` and `email`. Such a definition is called
    # `Idl_` and its own name: `Idl__try`, `Idl_email`. The one that is written as Ruby has it keeps its name.
    class ConstantNames
      PREFIX = "Idl_"

      # The name, without regard to others.
      def self.capital(name)
        name.match?(/\A[A-Za-z]/) ? name[0].upcase + name[1..] : PREFIX + name
      end

      # @param written [Array<String>] what IDL calls all that the module gets
      # @param given [Array<String>] names that the module has from elsewhere
      def initialize(written, given = [])
        @written = written.to_set
        @given = given.to_set
      end

      # The name for the next definition.
      def give(name)
        capital = self.class.capital(name)
        is_others = capital != name && @written.include?(capital)
        found = is_others || @given.include?(capital) ? PREFIX + name : capital
        @given << found
        found
      end
    end

    private_constant :ConstantNames
  end
end
