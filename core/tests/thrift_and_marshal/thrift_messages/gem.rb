# frozen_string_literal: true

# Answers what the gem thrift makes of messages; gem.rs asks.
#
#   schema [{ID => FIELD, ...}, ...]     makes classes; no answer
#   PROTOCOL NUMBER HEX                  a message of that class: its value, and its bytes as the gem writes them

require "set"
require "thrift"

def define(source)
  Object.send(:remove_const, :CLASSES) if Object.const_defined?(:CLASSES)
  # More than there are structs: each has a brace.
  classes = Array.new(source.count("{")) do
    Class.new do
      include Thrift::Struct, Thrift::Struct_Union
      def struct_fields = self.class::FIELDS
      def validate = nil
    end
  end
  Object.const_set(:CLASSES, classes)
  eval(source).zip(classes) do |fields, klass| # rubocop:disable Security/Eval -- gem.rs writes it
    klass.const_set(:FIELDS, fields)
    Thrift::Struct.generate_accessors(klass)
  end
end

def show(value)
  case value
  when nil, true, false, Integer then value.inspect
  when Float then "d" + [value].pack("G").unpack1("H*")
  when String then (value.encoding == Encoding::BINARY ? "b" : "s") + value.unpack1("H*")
  when Array then "[" + value.map { |element| show(element) }.join(" ") + "]"
  when Set then "<" + value.map { |element| show(element) }.sort.uniq.join(" ") + ">"
  when Hash
    "(" + value.map { |key, element| [show(key), show(element)] }.to_h.sort.map { |pair| pair.join("=>") }.join(" ") + ")"
  else
    set = value.struct_fields.values.map { |field| field[:name] }
    set = set.to_h { |name| [name.delete_prefix("field").to_i, value.instance_variable_get("@#{name}")] }
    "{" + set.compact.sort.map { |number, element| "#{number}:#{show(element)}" }.join(" ") + "}"
  end
end

FACTORIES = {
  "binary" => Thrift::BinaryProtocolAcceleratedFactory.new,
  "compact" => Thrift::CompactProtocolFactory.new
}.freeze

$stdout.sync = true
while (line = $stdin.gets)
  word, rest = line.chomp.split(" ", 2)
  next define(rest) if word == "schema"

  number, hex = rest.split(" ")
  begin
    read = Thrift::Deserializer.new(FACTORIES[word]).deserialize(CLASSES[number.to_i].new, [hex].pack("H*"))
    puts show(read)
  rescue StandardError => error
    puts "! #{error.inspect}"
  end
  begin
    puts Thrift::Serializer.new(FACTORIES[word]).serialize(read).unpack1("H*")
  rescue StandardError => error
    puts "! #{error.inspect.lines.first}"
  end
end
