# frozen_string_literal: true

require_relative "functions"

module Bytewright
  module Thrift
    # Puts native methods in the place of the gem's, which are still there under other names and do all
    # that is not exactly as the gem made it: classes, protocols and transports of others, subclasses,
    # objects with methods of their own, and all of it once a method of the gem is changed.
    module DropIn
      # The places of classes in native code.
      KNOWN = { binary: 0, accelerated: 1, compact: 2, own_binary: 3, own_compact: 4, memory: 5, framed: 6, buffered: 7,
                serializer: 8, deserializer: 9 }.freeze
      ALIASES = { read: :read_without_bytewright, write: :write_without_bytewright, hash: :hash_without_bytewright,
                  :== => :equal_without_bytewright, initialize: :initialize_without_bytewright,
                  serialize: :serialize_without_bytewright, deserialize: :deserialize_without_bytewright }.freeze

      class << self
        # Reads and writes natively by all protocols that are known.
        def install
          return if @installed

          @installed = true
          install_methods
          know(:binary, ::Thrift::BinaryProtocol, ::Thrift::BaseProtocol)
          if defined?(::Thrift::BinaryProtocolAccelerated)
            know(:accelerated, ::Thrift::BinaryProtocolAccelerated, ::Thrift::BinaryProtocol, ::Thrift::BaseProtocol)
          end
          know(:compact, ::Thrift::CompactProtocol, ::Thrift::BaseProtocol)
          replace(::Thrift::Serializer, :serializer, :serialize)
          replace(::Thrift::Deserializer, :deserializer, :deserialize)
          know(:serializer, ::Thrift::Serializer)
          know(:deserializer, ::Thrift::Deserializer)
        end

        # Installs this for a protocol of our own, whatever is done with the gem's.
        def install_own(name, protocol)
          install_methods
          know(name, protocol, *protocol.ancestors.grep(Class).take_while { |place| place != Object })
        end

        private

        def install_methods
          return if @methods_installed

          @methods_installed = true
          pin
          GemCompat.to_h
          places = [::Thrift::Struct, ::Thrift::Union, ::Thrift::Struct_Union]
          @untouched = places.all? { |place| untouched?(place) }
          replace(::Thrift::Struct, :struct, :read, :write, :==, :hash)
          replace(::Thrift::Struct, :initialize, :initialize)
          replace(::Thrift::Union, :struct, :read, :write, :==, :hash)
          know(:memory, ::Thrift::MemoryBufferTransport, ::Thrift::BaseTransport)
          know(:framed, ::Thrift::FramedTransport, ::Thrift::BaseTransport)
          know(:buffered, ::Thrift::BufferedTransport, ::Thrift::BaseTransport)
          places.each { |place| Guard.over(place) { forget_all } }
        end

        # The gem's extension remembers modules by address, and does not tell the garbage collector: where
        # compaction moves one, it crashes (THRIFT-5367). What is left to the gem is to survive that too.
        def pin
          ThriftCodec.pin(Set)
          ThriftCodec.pin(::Thrift)
          ::Thrift.constants.each { |name| ThriftCodec.pin(::Thrift.const_get(name)) if ::Thrift.const_get(name).is_a?(Module) }
        end

        def replace(place, methods, *names)
          names.each do |name|
            place.send(:alias_method, ALIASES.fetch(name), name)
            place.send(:public, ALIASES.fetch(name))
          end
          silently { ThriftCodec.define_methods(place, methods) }
        end

        # Ruby would warn that methods are redefined, which is what this is for.
        def silently
          verbose, $VERBOSE = $VERBOSE, nil
          yield
        ensure
          $VERBOSE = verbose
        end

        # Takes a class as known for as long as it, and those that it has methods of, are as they are.
        def know(name, place, *bases)
          return unless @untouched && [place, *bases].all? { |each| untouched?(each) }

          ThriftCodec.know(KNOWN.fetch(name), place)
          [place, *bases].uniq.each { |each| Guard.over(each) { ThriftCodec.know(KNOWN.fetch(name), nil) } }
        end

        def forget_all
          KNOWN.each_value { |number| ThriftCodec.know(number, nil) }
          ThriftCodec.expire
        end

        # Returns true if all methods are the gem's or ours, and no module was put in between.
        def untouched?(place)
          modules = place.ancestors.take_while { |each| each != Object }
          return false unless modules.all? { |each| each == Guard || each.name.to_s.start_with?("Thrift::", "Bytewright::") }

          methods = place.instance_methods(false) + place.private_instance_methods(false) + place.protected_instance_methods(false)
          methods.all? do |name|
            file = place.instance_method(name).source_location&.first
            file.nil? || Layouts.gem_file?(file) || file.start_with?(__dir__)
          end
        end
      end
    end

    private_constant :DropIn
  end
end
