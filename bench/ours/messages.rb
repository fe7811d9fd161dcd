# frozen_string_literal: true

# Ours: the gem's own interface with bytewright/thrift loaded, and our own interface.
#
#   ruby -I CLASSES messages.rb TASK ENGINE MESSAGES

require_relative "../workload/messages"
require "bytewright/thrift"

# By Bytewright::Thrift. Programs name the protocol where it is not Binary.
class DirectEngine
  def initialize(input)
    @klass, @paths = input.klass, input.paths
    protocol = input.protocol == :binary ? "" : ", protocol: :#{input.protocol}"
    paths = @paths.map(&:inspect).join(", ")
    singleton_class.class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      def decode(bytes)
        Bytewright::Thrift.decode(@klass, bytes#{protocol})
      end

      def decode_all(messages)
        messages.each { |bytes| Bytewright::Thrift.decode(@klass, bytes#{protocol}) }
      end

      def encode(object)
        Bytewright::Thrift.encode(object#{protocol})
      end

      def encode_all(objects)
        objects.each { |object| Bytewright::Thrift.encode(object#{protocol}) }
      end

      def pluck(bytes)
        Bytewright::Thrift.pluck(@klass, bytes, #{paths}#{protocol})
      end

      def pluck_all(messages)
        messages.each { |bytes| Bytewright::Thrift.pluck(@klass, bytes, #{paths}#{protocol}) }
      end

      def columns(framed)
        Bytewright::Thrift.columns(@klass, framed, #{paths}#{protocol})
      end
    RUBY
  end

  def column_values(framed)
    columns(framed).to_h.values
  end
end

ENGINES = {
  "drop-in" => ->(input) { MessageWorkload::GemEngine.new(input) },
  "drop-in-plain" => ->(input) { MessageWorkload::GemEngine.new(input, Thrift::BinaryProtocolFactory.new) },
  "direct" => ->(input) { DirectEngine.new(input) }
}.freeze

MessageWorkload.main(ENGINES, ARGV)
