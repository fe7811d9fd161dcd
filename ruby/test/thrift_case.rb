# frozen_string_literal: true

require_relative "test_case"
require "forwardable"
require "set"

# Common part of the tests of Thrift: classes and objects (thrift_classes.rb), and the gem's own methods, which
# are still there beside the native ones.
begin
  verbose, $VERBOSE = $VERBOSE, nil
  require "bytewright/thrift"
  require_relative "thrift_classes"
rescue LoadError => error
  raise unless error.cause&.path == "thrift"

  warn "gap: Thrift is not tested: the gem thrift is not installed (apt-get install ruby-thrift)"
ensure
  $VERBOSE = verbose
end

class ThriftCase < TestCase
  def setup
    skip unless defined?(::Thrift)
  end

  if defined?(::Thrift)
    BINARY, ACCELERATED, COMPACT =
      ::Thrift::BinaryProtocolFactory, ::Thrift::BinaryProtocolAcceleratedFactory, ::Thrift::CompactProtocolFactory
    PROTOCOLS = { binary: ACCELERATED, compact: COMPACT }.freeze
    include ThriftClasses
    extend SingleForwardable
    def_delegators :ThriftClasses, :generated, :define, :field

    # Reads bytes into the object by the gem's own methods.
    def gem_read(object, bytes, protocol)
      object.read_without_bytewright(PROTOCOLS.fetch(protocol).new.get_protocol(::Thrift::MemoryBufferTransport.new(bytes.dup)))
      object
    end

    def gem_write(object, protocol)
      transport = ::Thrift::MemoryBufferTransport.new
      object.write_without_bytewright(PROTOCOLS.fetch(protocol).new.get_protocol(transport))
      transport.read(transport.available)
    end

    # An object down to its last detail, as text.
    def picture(value)
      case value
      when String then [value.encoding.name, value.b, value.frozen?]
      when Array then value.map { |element| picture(element) }
      when Set then [:set, value.to_a.map { |element| picture(element) }, value.include?(Object.new)]
      when Hash then [:map, value.map { |key, element| [picture(key), picture(element)] }]
      when Float then [value].pack("G")
      when ::Thrift::Struct, ::Thrift::Union, ::Thrift::Struct_Union
        variables = value.instance_variables.sort.map { |name| [name, picture(value.instance_variable_get(name))] }
        [value.class, variables, value.is_a?(::Exception) ? ::Exception.instance_method(:message).bind_call(value) : nil]
      else value
      end
    end
  end
end
