# frozen_string_literal: true

require_relative "thrift_case"
require_relative "thrift_schemas"

# Goal: of any bytes, the native methods make the object that the gem makes, or both raise; of any object, the
# same bytes; and no bytes make them take more time or memory than those bytes are worth.
# Method: random schemas (structs, unions, exceptions, defaults) with random values, whose messages are cut,
# changed and put together, and read in one of the ways that there are. Where the gem would take what is no
# message, that is a rule below.
class ThriftDifferentialTest < ThriftCase
  include ThriftSchemas

  T = Bytewright::Thrift
  # Messages for each run; the whole run that was meant is BYTEWRIGHT_MESSAGES=1000000.
  MESSAGES = Integer(ENV.fetch("BYTEWRIGHT_MESSAGES", "6000"))

  def test_random_objects_of_random_schemas_go_round
    with_seeds(30) do |random|
      classes = invent(random)
      10.times do
        object = value(classes.last, random, 3)
        PROTOCOLS.each_key do |protocol|
          expected = gem_write(object, protocol)
          assert_equal(expected, T.encode(object, protocol: protocol))
          read = T.decode(object.class, expected, protocol: protocol)
          assert_equal(picture(gem_read(object.class.new, expected, protocol)), picture(read))
          assert_equal(object.equal_without_bytewright(read), object == read)
          assert_equal(object.hash, read.hash) if object == read
          assert_equal(object.hash_without_bytewright, object.hash)
        end
      end
    end
  end

  def test_mutated_messages_become_the_same_object_or_both_raise
    done = 0
    seeds = ENV["BYTEWRIGHT_SEED"] ? 1 : MESSAGES / 60
    with_seeds(seeds) do |random|
      classes = invent(random)
      source = value(classes.last, random, 3)
      PROTOCOLS.each_key do |protocol|
        bytes = gem_write(source, protocol)
        30.times { done += compare(source.class, mutate(bytes, random), protocol, random) }
      end
    end
    assert_operator(done, :>=, seeds * 55)
  end

  def test_what_claims_more_than_it_has_is_refused_at_once
    hostile.each do |name, klass, protocol, bytes|
      memory = memory_of { assert_raises(EOFError, ::Thrift::ProtocolException, name) { deserialize(klass, bytes, protocol) } }
      assert_operator(memory, :<, 1 << 20, name)
      assert_raises(Bytewright::Error, name) { T.decode(klass, bytes, protocol: protocol) }
      framed = [bytes.bytesize].pack("N") + bytes
      [::Thrift::FramedTransport.new(::Thrift::MemoryBufferTransport.new(framed)),
       ::Thrift::BufferedTransport.new(::Thrift::IOStreamTransport.new(StringIO.new(bytes), StringIO.new))].each do |transport|
        protocol_object = PROTOCOLS.fetch(protocol).new.get_protocol(transport)
        assert_raises(EOFError, ::Thrift::ProtocolException, name) { klass.new.read(protocol_object) }
      end
    end
  end

  private

  def mutate(bytes, random)
    mutated = bytes.dup
    (1 + random.rand(3)).times do
      at = random.rand(mutated.bytesize + 1)
      case random.rand(6)
      when 0 then mutated = mutated.byteslice(0, at)
      when 1 then mutated.setbyte(at, random.rand(256)) if at < mutated.bytesize
      when 2 then mutated.setbyte(at, mutated.getbyte(at) ^ (1 << random.rand(8))) if at < mutated.bytesize
      when 3 then mutated.insert(at, random.bytes(1 + random.rand(4)))
      when 4 then mutated = mutated.byteslice(0, at) + (mutated.byteslice((at + 1 + random.rand(4))..) || "")
      when 5 then mutated = mutated.byteslice(0, at) + bytes.byteslice(random.rand(bytes.bytesize), 20).to_s + mutated.byteslice(at..)
      end
    end
    mutated
  end

  # Answers 1 where both did the same.
  def compare(klass, bytes, protocol, random)
    way = WAYS.sample(random: random)
    ours = attempt { send(way, klass, bytes, protocol, random) }
    theirs = attempt { gem_read(klass.new, bytes, protocol) }
    return 1 if theirs.is_a?(::Exception) && ours.is_a?(::Exception) && !ours.is_a?(klass)

    pictures = [theirs, ours].map { |object| object.instance_of?(klass) ? picture(object) : object }
    return 1 if pictures[0] == pictures[1]
    return 0 if explained?(ours, theirs, bytes, protocol)

    assert_equal(*pictures, "#{way} #{protocol} #{bytes.unpack1("H*")} #{klass::FIELDS}")
  end

  # The ways to read an object.
  WAYS = %i[decoded deserialized from_memory from_frame from_pieces].freeze

  def decoded(klass, bytes, protocol, _random)
    T.decode(klass, bytes, protocol: protocol)
  end

  def deserialized(klass, bytes, protocol, _random)
    deserialize(klass, bytes, protocol)
  end

  def from_memory(klass, bytes, protocol, random)
    before = random.bytes(random.rand(5000))
    transport = ::Thrift::MemoryBufferTransport.new(before + bytes)
    transport.read(before.bytesize)
    read(klass, transport, protocol)
  end

  def from_frame(klass, bytes, protocol, _random)
    read(klass, ::Thrift::FramedTransport.new(::Thrift::MemoryBufferTransport.new([bytes.bytesize].pack("N") + bytes)), protocol)
  end

  def from_pieces(klass, bytes, protocol, random)
    read(klass, ::Thrift::BufferedTransport.new(Trickle.new(bytes, random)), protocol)
  end

  def read(klass, transport, protocol)
    klass.new.tap { |object| object.read(PROTOCOLS.fetch(protocol).new.get_protocol(transport)) }
  end

  # A transport that gives a few bytes at a time, and none at the end.
  class Trickle
    def initialize(bytes, random)
      @bytes = bytes
      @random = random
    end

    def read(size)
      piece = @bytes.byteslice(0, [size, 1 + @random.rand(40)].min)
      @bytes = @bytes.byteslice(piece.bytesize..)
      piece
    end
  end

  def attempt
    yield
  rescue StandardError, NoMemoryError => error
    error
  end

  # Returns true if the two may differ, as one is not as the other on purpose.
  def explained?(ours, theirs, bytes, protocol)
    return true if ours.is_a?(::Exception) && taken_by_the_gem?(ours)
    return true if theirs.is_a?(::Exception) && theirs.message.match?(/(don't know what|Unknown compact) type: (0|13|14|15)/)

    # Before 0.23, Binary's type of a uuid is passed as if it had no bytes, and Compact's is no type.
    protocol == :binary && !defined?(::Thrift::Types::UUID) && bytes.include?("\x10")
  end

  # Returns true if the gem takes what we refuse: elements of a type that there is not, numbers longer than any, sizes
  # below 0 or above 2^31-1, and a union without a field, of which it takes the end for a field.
  def taken_by_the_gem?(error)
    error.message.match?(/the type of an element|a varint of at most|, found -\d|of at most \d+, found|Union fields are not set/)
  end

  def deserialize(klass, bytes, protocol)
    ::Thrift::Deserializer.new(PROTOCOLS.fetch(protocol).new).deserialize(klass.new, bytes.dup)
  end

  def memory_of
    GC.start
    GC.disable
    before = GC.stat(:malloc_increase_bytes)
    objects = GC.stat(:total_allocated_objects)
    yield
    GC.stat(:malloc_increase_bytes) - before + (GC.stat(:total_allocated_objects) - objects) * 40
  ensure
    GC.enable
  end

  # Names, classes, protocols and bytes of messages that claim much.
  def hostile
    ints = ThriftCase.generated(f1: ["ints", [:list, :i32]])
    text = ThriftCase.generated(f1: ["text", :string])
    inners = ThriftCase.generated(f1: ["inners", [:list, Inner]])
    none = ThriftCase.generated
    huge = "\x7f\xff\xff\xff".b
    varint = "\xff\xff\xff\xff\x07".b
    [
      ["a list of 2^31-1", ints, :binary, "\x0f\0\1\x08".b + huge], ["a list of 2^31-1", ints, :compact, "\x19\xf5".b + varint],
      ["a list of -1", ints, :binary, "\x0f\0\1\x08\xff\xff\xff\xff".b], ["a list of -1", ints, :compact, "\x19\xf5\xff\xff\xff\xff\x0f".b],
      ["a string of 2^31-1", text, :binary, "\x0b\0\1".b + huge], ["a string of 2^31-1", text, :compact, "\x18".b + varint],
      ["a string of -1", text, :binary, "\x0b\0\1\xff\xff\xff\xff".b], ["a string of -1", text, :compact, "\x18\xff\xff\xff\xff\x0f".b],
      ["nested structs that are known", Node, :binary, "\x0f\0\2\x0c\0\0\0\1".b * 300_000],
      ["nested structs that are known", Node, :compact, "\x29\x1c".b * 300_000],
      ["nested structs that are unknown", none, :binary, "\x0c\0\1".b * 1_000_000],
      ["nested structs that are unknown", none, :compact, "\x1c".b * 1_000_000],
      ["a varint without an end", text, :compact, "\x18".b + "\xff".b * 1_000_000],
      ["structs without fields, 2^31-1 of them", inners, :binary, "\x0f\0\1\x0c".b + huge + "\0" * 3_000_000],
      ["structs without fields, 2^31-1 of them", inners, :compact, "\x19\xfc".b + varint + "\0" * 3_000_000]
    ]
  end
end
