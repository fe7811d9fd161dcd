# frozen_string_literal: true

module Bytewright
  class PStore
    # Loads streams that hold objects of permitted classes alone, and refuses others before anything of
    # them is loaded.
    # @api private
    class CheckedMarshal
      # @param classes [Array<Class, String>]
      def initialize(classes)
        @permitted = classes.to_h { |name| [name.is_a?(Module) ? name.name : String(name), true] }.freeze
      end

      # @param stream [String, IO]
      # @return [Object]
      def load(stream)
        stream = stream.read unless stream.is_a?(String)
        # Ruby finds an end where there is nothing, which is a store without roots.
        raise EOFError, "end of file reached" if stream.empty?

        names = PStoreFile.class_names(stream)
        raise Error, "PStore file seems to be corrupted." unless names

        other = names.find { |name| !@permitted.key?(name) }
        raise DisallowedClass, other if other

        Marshal.load(stream) # rubocop:disable Security/MarshalLoad -- of permitted classes only
      end
    end
    private_constant :CheckedMarshal
  end
end
