# frozen_string_literal: true

require "set"
require "thrift"

# Classes as the compiler generates them, and objects of them, for which only the gem is needed.
module ThriftClasses
  TYPES = { bool: 2, byte: 3, double: 4, i16: 6, i32: 8, i64: 10, string: 11, binary: 11 }.freeze

  class << self
    # A class as the compiler generates it: of fields by id, each [name, type, options].
    def generated(kind = :struct, **fields)
      superclass = { struct: Object, union: ::Thrift::Union, exception: ::Thrift::Exception }.fetch(kind)
      klass = Class.new(superclass)
      yield klass if block_given?
      define(klass, kind, fields)
    end

    def define(klass, kind, fields)
      klass.include(kind == :union ? ::Thrift::Struct_Union : ::Thrift::Struct, ::Thrift::Struct_Union)
      described = fields.to_h { |key, (name, type, options)| [key.to_s.delete_prefix("f").to_i, field(type).merge(name: name, **options.to_h)] }
      klass.const_set(:FIELDS, described)
      klass.define_method(:struct_fields) { klass::FIELDS }
      klass.class_eval("def validate\nend", __FILE__, __LINE__) unless klass.method_defined?(:validate)
      (kind == :union ? ::Thrift::Union : ::Thrift::Struct).generate_accessors(klass)
      klass
    end

    # A type as generated classes say it: :i32, [:list, :i32], [:map, :string, klass], a class.
    def field(type)
      case type
      when Symbol then { type: TYPES.fetch(type) }.merge(type == :binary ? { binary: true } : {})
      when Class then { type: 12, class: type }
      else
        inside = type.drop(1).map { |element| field(element) }
        case type.first
        when :list then { type: 15, element: inside[0] }
        when :set then { type: 14, element: inside[0] }
        when :map then { type: 13, key: inside[0], value: inside[1] }
        end
      end
    end
  end

  Inner = generated(f1: ["id", :i32], f2: ["name", :string], f3: ["numbers", [:list, :i32]])
  Choice = generated(:union, f1: ["number", :i32], f2: ["text", :string], f3: ["inner", Inner]) do |klass|
    klass.define_method(:validate) { raise(StandardError, "Union fields are not set.") if get_set_field.nil? || get_value.nil? }
  end
  Failure = generated(:exception, f1: ["message", :string], f2: ["code", :i32]) do |klass|
    klass.define_method(:initialize) do |message = nil|
      super()
      self.message = message
    end
  end
  Node = Class.new
  define(Node, :struct, f1: ["value", :i32], f2: ["children", [:list, Node]], f3: ["by_name", [:map, :string, Node]])
  Rich = generated(
    f1: ["flag", :bool], f2: ["tiny", :byte], f3: ["small", :i16], f4: ["medium", :i32], f5: ["large", :i64],
    f6: ["real", :double], f7: ["text", :string], f8: ["blob", :binary], f9: ["kind", :i32], f10: ["inner", Inner],
    f11: ["ints", [:list, :i32]], f12: ["strings", [:list, :string]], f13: ["inners", [:list, Inner]],
    f14: ["tags", [:set, :string]], f15: ["numbers", [:set, :i32]], f16: ["attributes", [:map, :string, :string]],
    f17: ["by_id", [:map, :i32, Inner]], f18: ["series", [:map, :string, [:list, :i64]]],
    f19: ["greeting", :string, { default: "hello" }], f20: ["unset", :string], f21: ["choice", Choice], f22: ["failure", Failure],
    f23: ["node", Node], f24: ["reals", [:list, :double]], f25: ["truths", [:list, :bool]], f26: ["by_inner", [:map, Inner, :bool]]
  ) do |klass|
    klass.define_method(:validate) do
      raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::UNKNOWN, "Invalid value") unless @kind.nil? || [1, 2, 5].include?(@kind)
    end
  end

  def inner(number)
    Inner.new({ "id" => number, "name" => "inner #{number}", "numbers" => [1, 2, number] })
  end

  def rich
    Rich.new({
      "flag" => true, "tiny" => -3, "small" => 300, "medium" => 70_000, "large" => 1 << 40, "real" => 3.25, "text" => "héllo wörld",
      "blob" => "\xff\x00".b * 20, "kind" => 2, "inner" => inner(1), "ints" => (1..140).to_a, "strings" => %w[alpha beta],
      "inners" => [inner(2), inner(3)], "tags" => Set["x", "y"], "numbers" => Set[1, 5], "attributes" => { "k" => "v", "l" => "w" },
      "by_id" => { 7 => inner(7) }, "series" => { "s" => [1, 1 << 62, -(1 << 63)] }, "choice" => Choice.new(:text, "chosen"),
      "failure" => Failure.new("failed").tap { |failure| failure.code = 7 }, "node" => tree(2),
      "reals" => [0.5, -1e300], "truths" => [true, false], "by_inner" => { inner(9) => true }
    })
  end

  def tree(depth)
    node = Node.new("value" => depth)
    node.children = [tree(depth - 1), tree(depth - 1)] if depth.positive?
    node.by_name = { "only" => tree(depth - 1) } if depth.positive?
    node
  end
end
