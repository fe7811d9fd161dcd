# frozen_string_literal: true

require_relative "thrift_case"

# Goal: where releases of the gem differ, the native methods do what the loaded one does.
# Method: each case is done by the gem's own methods and by the native ones, on objects that are alike. The tests
# are run with one gem after the other by ruby/test/with_thrift.sh.
class ThriftReleasesTest < ThriftCase
  T = Bytewright::Thrift

  if defined?(::Thrift)
    WithDefaults = generated(f1: ["number", :i32, { default: 53 }], f2: ["text", :string], f3: ["list", [:list, :i32], { default: [1, 2] }])
    Required = generated(f1: ["number", :i32]) { |klass| klass.define_method(:validate) { raise "number is unset" if @number.nil? } }
    # An accessor that is called as a method for the reset could be.
    Named = generated(f1: ["reset_fields", :string], f2: ["reset", :i32])
    NamedUnion = generated(:union, f1: ["reset_fields", :string], f2: ["reset", :i32]) do |klass|
      klass.define_method(:validate) { raise(StandardError, "Union fields are not set.") if get_set_field.nil? || get_value.nil? }
    end
  end

  UNKNOWN = "\x08\0\x63\0\0\0\1\0".b
  CUT = "\x0b\0\2\0\0\0\5ab".b
  # Objects that are read into, and the bytes they are read from.
  READS = {
    "fields that the message lacks" => [-> { WithDefaults.new({ "number" => 1, "text" => "old", "list" => [9] }) }, "\0"],
    "a message that ends too early" => [-> { WithDefaults.new({ "number" => 1, "text" => "old", "list" => [9] }) }, CUT],
    "a default that was changed in place" => [-> { WithDefaults.new.tap { |made| made.list << 9 } }, "\0"],
    "an object without variables" => [-> { WithDefaults.allocate }, "\0"],
    "a field that is required" => [-> { Required.new({ "number" => 1 }) }, "\0"],
    "accessors called as the reset" => [-> { Named.new({ "reset_fields" => "old", "reset" => 5 }) }, UNKNOWN],
    "a union with a field that is unknown" => [-> { Choice.new(:text, "old") }, UNKNOWN],
    "a union that ends too early" => [-> { Choice.new(:text, "old") }, CUT],
    "a union with accessors called as the reset" => [-> { NamedUnion.new(:reset_fields, "old") }, UNKNOWN],
    "a frozen object" => [-> { WithDefaults.new({ "number" => 1 }).freeze }, "\x08\0\1\0\0\0\2\0".b],
    "a frozen union" => [-> { Choice.new(:text, "old").freeze }, UNKNOWN]
  }.freeze

  READS.each do |name, (make, bytes)|
    define_method(:"test_reading_again_is_as_with_the_gem_for_#{name.tr(" ", "_")}") do
      theirs = outcome(make.call) { |object| gem_read(object, bytes, :binary) }
      ours = outcome(make.call) { |object| ::Thrift::Deserializer.new(ACCELERATED.new).deserialize(object, bytes.dup) }
      from_memory = outcome(make.call) { |object| object.read(ACCELERATED.new.get_protocol(::Thrift::MemoryBufferTransport.new(bytes.dup))) }
      framed = [bytes.bytesize].pack("N") + bytes
      from_frame = outcome(make.call) { |object| object.read(ACCELERATED.new.get_protocol(::Thrift::FramedTransport.new(::Thrift::MemoryBufferTransport.new(framed)))) }
      assert_equal([theirs] * 3, [ours, from_memory, from_frame])
    end
  end

  def test_nothing_of_the_value_before_is_left_where_the_gem_leaves_nothing
    return unless gem_read(WithDefaults.new({ "text" => "old" }), "\0", :binary).text.nil?

    object = WithDefaults.new({ "number" => 99, "text" => "old" })
    error = assert_raises(EOFError) { ::Thrift::Deserializer.new.deserialize(object, CUT.dup) }
    assert_match(/found/, error.message)
    assert_equal([53, nil, [1, 2]], [object.number, object.text, object.list])
    [UNKNOWN, CUT].each do |bytes|
      union = Choice.new(:text, "old")
      assert_raises(EOFError, StandardError) { ::Thrift::Deserializer.new.deserialize(union, bytes.dup) }
      assert_equal([nil, nil], [union.get_set_field, union.get_value]) if resets_unions?
    end
  end

  # Compact has i16, i32, ids, lengths and counts as varints of 32 bits.
  def test_varints_are_read_as_by_the_gem
    # Bytes after the first one: a number in 2 bytes, in 5, in 5 with a bit beyond 32, in 6, and in 9.
    ends = ["\0", "\x80\x80\x80\0", "\x80\x80\x80\x10", "\x80\x80\x80\x80\0", "\x80\x80\x80\x80\x80\x80\x80\0"].map(&:b)
    klass = self.class.generated(f1: ["small", :i16], f2: ["medium", :i32], f3: ["large", :i64], f4: ["text", :string], f5: ["list", [:list, :bool]], f6: ["map", [:map, :byte, :byte]])
    messages = ends.flat_map do |rest|
      numbers = ["\x14", "\x25", "\x36", "\x95", "\x96"].map { |head| head.b + "\x82".b + rest }
      sizes = { "\x48" => "a", "\x59\xf1" => "\1", "\x6b" => "\x33\1\2" }.map { |head, content| head.b + "\x81".b + rest + content.b }
      (numbers + sizes).map { |bytes| bytes + "\0".b }
    end
    messages.each do |bytes|
      theirs = read_or_refused { gem_read(klass.new, bytes, :compact) }
      reads = [-> { T.decode(klass, bytes, protocol: :compact) }, -> { ::Thrift::Deserializer.new(COMPACT.new).deserialize(klass.new, bytes.dup) },
               -> { T.decode_many(klass, [bytes.bytesize].pack("N") + bytes, protocol: :compact).first }]
      reads.each do |read|
        ours = read_or_refused(&read)
        # A length or a count beyond 32 bits, of which old gems take the low ones.
        next if ours == :refused && bytes.include?("\x10") && [0x48, 0x59, 0x6b].include?(bytes.getbyte(0))

        assert_equal(theirs, ours, bytes.inspect)
      end
    end
  end

  def test_a_long_field_id_of_a_column_is_read_as_by_the_gem
    klass = self.class.generated(f1: ["number", :i32])
    bytes = "\x15\x82\x80\x80\x80\x80\0\0".b
    theirs = read_or_refused { gem_read(klass.new, bytes, :compact).number }
    assert_equal(theirs, read_or_refused { T.columns(klass, [bytes.bytesize].pack("N") + bytes, :number, protocol: :compact).values(:number).first })
    assert_equal(theirs, read_or_refused { T.pluck(klass, bytes, :number, protocol: :compact).first })
  end

  private

  def resets_unions?
    gem_read(Choice.new(:text, "old"), UNKNOWN, :binary).nil?
  rescue StandardError
    true
  end

  # Returns what is left of an object that is read into, and the class of what was raised.
  def outcome(object)
    raised = nil
    begin
      yield object
    rescue StandardError => error
      raised = error.class
    end
    [picture(object), raised]
  end

  def read_or_refused
    made = yield
    made.respond_to?(:struct_fields) ? picture(made).drop(1) : made
  rescue ::Thrift::ProtocolException, ::EOFError, ::RangeError, Bytewright::Error
    :refused
  end
end
