# frozen_string_literal: true

module Bytewright
  module Thrift
    # Behaviour of the loaded gem that differs between releases. Each is tried out once, with the gem's own methods and
    # a few bytes: version numbers say nothing of what a distribution or a program has changed.
    module GemCompat
      # An i32 of 1 that takes 6 bytes, and one in 5 bytes with a bit beyond 32.
      LONG_VARINT, WIDE_VARINT = "\x82\x80\x80\x80\x80\x00".b.freeze, "\x82\x80\x80\x80\x10".b.freeze
      # A union with two fields, in Binary.
      TWO_FIELDS = "\x08\0\1\0\0\0\1\x08\0\1\0\0\0\1\0".b.freeze
      private_constant :LONG_VARINT, :WIDE_VARINT, :TWO_FIELDS

      class << self
        # @return [Hash] these, as the codec takes them
        def to_h
          @compat ||= {
            resets_structs: resets_structs?, resets_unions: resets_unions?, takes_depth: takes_depth?,
            varint_len_max: reads_varint?(LONG_VARINT) ? nil : 5, exact_varints: !reads_varint?(WIDE_VARINT)
          }.freeze
        end

        # Raises what the gem raises for a union with more than one field.
        def refuse_fields
          error = refusal_of_fields
          raise error.class.new(*(error.type if error.respond_to?(:type)), error.message)
        end

        private

        # Returns true if an object that is read into loses a field that the message does not have.
        def resets_structs?
          object = probe(Object, ::Thrift::Struct).allocate.tap { |made| made.instance_variable_set(:@a, 1) }
          read(object, "\0")
          object.instance_variable_get(:@a).nil?
        end

        # Returns true if a union loses its field likewise, when the message has a field that it does not know.
        def resets_unions?
          object = probe(::Thrift::Union).new(:a, 1)
          read(object, "\x08\0\2\0\0\0\1\0")
          object.get_set_field.nil?
        end

        # Returns true if read and write take the maximum depth of nested structs.
        def takes_depth?
          ::Thrift::Struct.instance_method(original(::Thrift::Struct, :read)).arity != 1
        end

        def reads_varint?(bytes)
          ::Thrift::CompactProtocol.new(transport(bytes)).read_i32
          true
        rescue ::Thrift::ProtocolException
          false
        end

        def refusal_of_fields
          @refusal_of_fields ||= begin
            read(probe(::Thrift::Union).new, TWO_FIELDS)
            RuntimeError.new("Too many fields for union")
          rescue StandardError => error
            error
          end
        end

        # A class with one field, a, an i32.
        def probe(superclass, *modules)
          Class.new(superclass) { include(*modules, ::Thrift::Struct_Union) }.tap do |made|
            made.const_set(:FIELDS, { 1 => { type: 8, name: "a" } }.freeze)
            made.define_method(:struct_fields) { self.class::FIELDS }
            made.define_method(:validate) {}
          end
        end

        def read(object, bytes)
          place = object.is_a?(::Thrift::Union) ? ::Thrift::Union : ::Thrift::Struct
          object.send(original(place, :read), ::Thrift::BinaryProtocol.new(transport(bytes)))
        end

        # The gem's own method, whether or not a native one is in its place.
        def original(place, name)
          other = :"#{name}_without_bytewright"
          place.method_defined?(other) ? other : name
        end

        def transport(bytes)
          ::Thrift::MemoryBufferTransport.new(bytes.b)
        end
      end
    end

    private_constant :GemCompat
  end
end
