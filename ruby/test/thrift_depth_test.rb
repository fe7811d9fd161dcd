# frozen_string_literal: true

require_relative "thrift_case"
require "stringio"

# Goal: what is written can be read: structs may be nested as deep when they are written as when they are read, and
# what a reader skips has a limit of its own.
class ThriftDepthTest < ThriftCase
  T = Bytewright::Thrift
  DEPTH_MAX = 64

  if defined?(::Thrift)
    Chain = Class.new
    define(Chain, :struct, f1: ["child", Chain])
    Tree = Class.new(::Thrift::Union)
    define(Tree, :union, f1: ["leaf", :i32], f2: ["children", [:list, Tree]])
    Trouble = Class.new(::Thrift::Exception)
    define(Trouble, :exception, f1: ["cause_of_it", Trouble], f2: ["others", [:map, :string, Trouble]])
    # Six levels for each struct.
    Boxes = Class.new
    define(Boxes, :struct, f1: ["boxes", [:list, [:list, [:list, [:list, [:list, Boxes]]]]]])
  end

  # By the name of what is nested: how an object is made around another, and how many there may be.
  NESTED = {
    struct: [->(inside) { Chain.new(inside ? { "child" => inside } : {}) }, DEPTH_MAX],
    list: [->(inside) { Node.new({ "children" => [inside].compact }) }, DEPTH_MAX],
    map: [->(inside) { Node.new({ "by_name" => { "a" => inside }.compact }) }, DEPTH_MAX],
    union: [->(inside) { inside ? Tree.new(:children, [inside]) : Tree.new(:leaf, 1) }, DEPTH_MAX],
    exception: [->(inside) { Trouble.new.tap { |made| made.cause_of_it = inside } }, DEPTH_MAX],
    exceptions: [->(inside) { Trouble.new.tap { |made| made.others = { "a" => inside } if inside } }, DEPTH_MAX],
    containers: [->(inside) { Boxes.new(inside ? { "boxes" => [[[[[inside]]]]] } : {}) }, 43]
  }.freeze

  def nested(name, depth)
    (1..depth).reduce(nil) { |inside, _| NESTED.fetch(name).first.call(inside) }
  end

  NESTED.each do |name, (_, deepest)|
    define_method(:"test_nothing_is_written_deeper_than_it_is_read_in_nested_#{name}") do
      PROTOCOLS.each do |protocol, factory|
        object = nested(name, deepest)
        bytes = T.encode(object, protocol: protocol)
        assert_equal(object, T.decode(object.class, bytes, protocol: protocol))
        assert_equal(bytes, ::Thrift::Serializer.new(factory.new).serialize(object))
        assert_equal(object, ::Thrift::Deserializer.new(factory.new).deserialize(object.class.new, bytes.dup))

        deeper = nested(name, deepest + 1)
        assert_raises(Bytewright::LimitError) { T.encode(deeper, protocol: protocol) }
        refuses_depth { ::Thrift::Serializer.new(factory.new).serialize(deeper) }
        transport = ::Thrift::MemoryBufferTransport.new
        refuses_depth { deeper.write(factory.new.get_protocol(transport)) }
        assert_equal(0, transport.available)
      end
    end
  end

  # An object of a derived class is left to the gem with all around it, and gems before 0.25 have no limit.
  def test_what_is_left_to_the_gem_is_refused_as_deep
    special = Class.new(Node).new({ "value" => 1 })
    [[DEPTH_MAX - 1, :written], [DEPTH_MAX, :refused], [5000, :refused]].each do |depth, expected|
      object = (1..depth).reduce(special) { |inside, number| Node.new(number.odd? ? { "children" => [inside] } : { "by_name" => { "a" => inside } }) }
      PROTOCOLS.each do |protocol, factory|
        writes = [-> { T.encode(object, protocol: protocol) }, -> { ::Thrift::Serializer.new(factory.new).serialize(object) },
                  -> { object.write(factory.new.get_protocol(::Thrift::MemoryBufferTransport.new)) }]
        next writes.each(&:call) if expected == :written

        assert_raises(Bytewright::LimitError, ::Thrift::ProtocolException, &writes.shift)
        writes.each { |write| refuses_depth(&write) }
      end
    end
    special.by_name = { "around" => Node.new({ "children" => [special] }) }
    refuses_depth { ::Thrift::Serializer.new(ACCELERATED.new).serialize(special.by_name["around"]) }
  end

  def test_what_is_skipped_has_a_limit_of_its_own
    none = self.class.generated(f9: ["a", :i32])
    PROTOCOLS.each do |protocol, factory|
      [[DEPTH_MAX, :read], [DEPTH_MAX + 1, :refused]].each do |depth, expected|
        bytes = T.encode(nested(:struct, DEPTH_MAX), protocol: protocol)
        header, ending = { binary: ["\x0c\0\1", "\0"], compact: ["\x1c", "\0"] }.fetch(protocol).map(&:b)
        # A known chain of 64, the innermost of which has an unknown one of `depth`.
        unknown = { binary: "\x0c\0\2", compact: "\x2c" }.fetch(protocol).b + (header * (depth - 1)) + (ending * depth)
        bytes = bytes.byteslice(0, header.bytesize * (DEPTH_MAX - 1)) + unknown + (ending * DEPTH_MAX)
        [[Chain, bytes], [none, unknown + ending]].each do |klass, message|
          reads = [-> { T.decode(klass, message, protocol: protocol) },
                   -> { ::Thrift::Deserializer.new(factory.new).deserialize(klass.new, message.dup) },
                   -> { klass.new.read(factory.new.get_protocol(::Thrift::BufferedTransport.new(::Thrift::IOStreamTransport.new(StringIO.new(message), StringIO.new)))) }]
          assert_raises(Bytewright::LimitError, &reads.shift) if expected == :refused
          reads.each { |read| expected == :read ? read.call : refuses_depth(&read) }
        end
      end
    end
  end

  def test_the_depth_is_an_argument_where_it_is_one_of_the_gems
    takes = ::Thrift::Struct.instance_method(:read_without_bytewright).arity != 1
    chain = nested(:struct, 3)
    write = lambda do |depth|
      transport = ::Thrift::MemoryBufferTransport.new
      chain.write(ACCELERATED.new.get_protocol(transport), depth)
      transport.read(transport.available)
    end
    read = ->(bytes, depth) { Chain.new.tap { |made| made.read(ACCELERATED.new.get_protocol(::Thrift::MemoryBufferTransport.new(bytes.dup)), depth) } }
    bytes = T.encode(chain)
    unless takes
      assert_raises(ArgumentError) { write.call(3) }
      assert_raises(ArgumentError) { read.call(bytes, 3) }
      return
    end

    assert_equal([bytes, chain], [write.call(3), read.call(bytes, 3)])
    [0, -1, 2].each do |depth|
      refuses_depth { write.call(depth) }
      refuses_depth { read.call(bytes, depth) }
    end
    chain = nested(:struct, DEPTH_MAX + 1)
    assert_equal(chain, read.call(write.call(DEPTH_MAX + 1), DEPTH_MAX + 1))
  end

  private

  def refuses_depth(&block)
    error = assert_raises(::Thrift::ProtocolException, &block)
    assert_equal(::Thrift::ProtocolException::DEPTH_LIMIT, error.type)
  end
end
