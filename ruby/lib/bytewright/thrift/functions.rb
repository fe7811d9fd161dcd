# frozen_string_literal: true

require "set"
require_relative "../extension"
Bytewright.send(:define_thrift)
require_relative "watch"
require_relative "gem_compat"
require_relative "layouts"
require_relative "columns"

module Bytewright
  private_constant :ThriftCodec, :ThriftColumns

  # Thrift messages as objects of generated classes, and back, at the cost of making the objects.
  #
  #   require "bytewright/thrift"   # from here on the gem thrift does it so by itself, in programs as they are
  #
  #   person = Bytewright::Thrift.decode(Person, bytes)
  #   bytes = Bytewright::Thrift.encode(person, protocol: :compact)
  #   name, city = Bytewright::Thrift.pluck(Person, bytes, :name, :"address.city")
  #
  # Classes are those that Thrift's compiler makes, or {load}.
  module Thrift
    PIECE_LEN = 1 << 20
    # Place of a Set in native code, as an object with its elements as the keys of a Hash.
    SET = 10
    private_constant :PIECE_LEN, :SET

    autoload :BinaryProtocol, File.expand_path("protocols", __dir__)
    autoload :BinaryProtocolFactory, File.expand_path("protocols", __dir__)
    autoload :CompactProtocol, File.expand_path("protocols", __dir__)
    autoload :CompactProtocolFactory, File.expand_path("protocols", __dir__)

    autoload :Definitions, File.expand_path("idl", __dir__)
    private_constant :Definitions

    probe = Set.allocate
    probe.instance_variable_set(:@hash, { 1 => true })
    ThriftCodec.know(SET, Set) if Set.new([1]).instance_variables == [:@hash] && probe == Set.new([1])

    # @!method self.pluck(klass, bytes, *paths, protocol: :binary)
    #   Some fields of a message, which is read up to the last of them and not checked beyond.
    #   @param paths [Array<Symbol>] names of fields, and with dots of fields in structs inside
    #   @return [Array] their values, nil for what the message does not have
    #   @raise [ArgumentError] for a field that the class does not have
    singleton = singleton_class
    ThriftCodec.define_methods(singleton, :functions)
    singleton.send(:private, :decode_message, :encode_message, :each_message)

    class << self
      # @param klass [Class] a generated class
      # @param bytes [String] a message; what is behind it is not looked at
      # @param protocol [:binary, :compact, :header, :json] with :header a frame of THeader, with its length before it
      # @return [Object] an object of the class
      # @raise [FormatError, TruncatedError, LimitError] with the offset of what is wrong
      def decode(klass, bytes, protocol: :binary)
        decode_message(klass, bytes, protocol)
      end

      # @param object [Object] of a generated class
      # @param protocol [:binary, :compact]
      # @return [String] its message
      # @raise [TypeError] for another object
      # @raise [RangeError] for a number that its field has not enough bits for
      def encode(object, protocol: :binary)
        encode_message(object, protocol)
      end

      # Messages one after the other: in frames, a length of 4 bytes before each, as a framed transport sends
      # them, or without.
      #
      # @param klass [Class] a generated class
      # @param messages [String, Pathname, IO] bytes, a file, or an object with read
      # @param protocol [:binary, :compact, :header, :json] with :header frames have headers of THeader
      # @param framed [Boolean] whether the messages are in frames
      # @yieldparam object [Object] one after the other
      # @return [Array, nil] the objects, where there is no block
      # @raise [FormatError, TruncatedError, LimitError] after the messages before the damage
      def decode_many(klass, messages, protocol: :binary, framed: true, &block)
        unless block
          return [].tap { |all| decode_many(klass, messages, protocol: protocol, framed: framed) { |object| all << object } }
        end

        ThriftCodec.of(klass)
        each_piece(messages) { |bytes, start, at_end| each_message(klass, bytes, protocol, start, framed, at_end, &block) }
        nil
      end

      # Fields of messages one after the other as columns, with no object for each message. A struct, a list, a set or a map
      # is a column of Hashes and Arrays ({Columns#values}). A path through a list has a list; with [] behind a list or a set,
      # and {} behind a map, there is a row for each element, with the other columns beside it:
      #
      #   columns(Meta, bytes, "groups[].chunks[].size", "groups[].rows", :name)
      #
      # @param klass [Class] a generated class
      # @param messages [String, Pathname, IO] bytes, a file, or an object with read
      # @param paths [Array<Symbol, String>] as for pluck; without any, all fields are columns
      # @param protocol [:binary, :compact, :header, :json] as for {decode_many}
      # @param framed [Boolean] whether the messages are in frames, as for {decode_many}
      # @return [Columns]
      # @raise [FormatError, TruncatedError, LimitError] with the offset of what is wrong
      def columns(klass, messages, *paths, protocol: :binary, framed: true)
        columns = ThriftColumns.of(ThriftCodec.of(klass), paths, protocol)
        is_framed = framed ? true : false
        each_piece(messages) { |bytes, start, at_end| columns.send(:extend_with, bytes, start, is_framed, at_end) }
        columns
      end

      # Makes classes of an IDL file and those that it includes, of the shape that Thrift's compiler gives
      # them: structs, unions, exceptions, enums, constants, and a Client and a Processor for each service.
      # It needs the gem thrift, not the compiler.
      #
      #   Bytewright::Thrift.load("service.thrift")   # namespace rb Shop
      #   client = Shop::Orders::Client.new(protocol)
      #
      # A name that Ruby cannot have, or that two definitions would share, has Idl_ before it: `const i32 _try` is
      # Idl__try, and `const Email email` beside `struct Email` is Idl_email.
      #
      # @param path [String] a file in IDL
      # @param into [Module] where its namespaces begin
      # @param folders [Array<String>] where included files are looked for, beside the folder of the file
      # @return [Module] that the definitions of the file are in
      # @raise [FormatError] with line, column and the line, for what the language does not allow
      # @raise [ArgumentError] with file and line, for a name that the module has from elsewhere
      def load(path, into: Object, folders: [])
        Definitions.new(path, into, folders).make
      end

      private

      # Decodes with the gem what is no matter of ours: classes that read in a way of their own.
      def decode_by_gem(klass, bytes, protocol)
        Layouts.codec_in_any_case(klass)
        ::Thrift::Deserializer.new(factory(protocol)).deserialize(klass.new, bytes.dup)
      end

      def encode_by_gem(object, protocol)
        raise ::TypeError, "expected an object of a generated class, found #{Bytewright.send(:shown, object)}" unless Layouts.thrift?(object.class)

        ::Thrift::Serializer.new(factory(protocol)).serialize(object)
      end

      def factory(protocol)
        case protocol
        when :compact then ::Thrift::CompactProtocolFactory.new
        when :json then ::Thrift::JsonProtocolFactory.new
        else ::Thrift::BinaryProtocolFactory.new
        end
      end

      # Yields bytes that begin with a message, where they begin in the input, and whether it ends behind them;
      # takes how many of them were whole messages.
      def each_piece(messages, &block)
        return yield(messages, 0, true) if messages.is_a?(String)
        return each_piece_of_io(messages, &block) if messages.respond_to?(:read) && !messages.respond_to?(:to_path)
        return each_piece_of_io(messages, &block) if messages.is_a?(IO)

        File.open(messages, "rb") { |file| each_piece_of_io(file, &block) }
      end

      def each_piece_of_io(io)
        left, start = "".b, 0
        while (piece = io.read(PIECE_LEN))
          left << piece
          consumed = yield(left, start, false)
          start += consumed
          left = left.byteslice(consumed..)
        end
        yield(left, start, true)
      end
    end
  end
end
