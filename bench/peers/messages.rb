# frozen_string_literal: true

# Peers: the gem thrift with its native extension, by its fastest protocols and by the Binary that programs
# get unless they ask; and the floor, which does what no decoder can do without.
#
#   ruby -I CLASSES -I FLOOR messages.rb TASK ENGINE MESSAGES

require_relative "../workload/messages"

raise LoadError, "the gem thrift has no native extension here" unless defined?(Thrift::BinaryProtocolAccelerated)

# Objects built by C that knows the two structs, see thrift_floor/floor.c.
class FloorEngine
  def initialize(input)
    require "thrift_floor"
    ThriftFloor.prepare(BenchMessages::Rich, BenchMessages::Flat, BenchMessages::Inner)
    @decode = ThriftFloor.method(:"#{input.name}_#{input.protocol}")
    # A method call like that of others, without a look-up by name.
    singleton_class.class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      def decode_all(messages)
        messages.each { |bytes| ThriftFloor.#{input.name}_#{input.protocol}(bytes) }
      end
    RUBY
  end

  def decode(bytes)
    @decode.call(bytes)
  end
end

ENGINES = {
  "gem" => ->(input) { MessageWorkload::GemEngine.new(input) },
  "gem-plain" => ->(input) { MessageWorkload::GemEngine.new(input, Thrift::BinaryProtocolFactory.new) },
  "floor" => ->(input) { FloorEngine.new(input) }
}.freeze

MessageWorkload.main(ENGINES, ARGV)
