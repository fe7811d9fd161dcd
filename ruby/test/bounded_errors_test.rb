# frozen_string_literal: true

require "stringio"
require_relative "thrift_case"
require "bytewright/pstore"

# Goal: an error repeats an argument as far as people read it, and what the argument raises while an error is worded is not lost.
#
# Method: a megabyte, as each kind of argument, is given to each method that refuses one. What is shown of an object is asked of
# its own +inspect+, which may raise, as an interrupt does in it.
class BoundedErrorsTest < TestCase
  LONG = ("x" * (1 << 20)).freeze
  # Bytes of a message at most.
  MESSAGE_MAX = 1000

  # Raised by interrupts: no StandardError.
  class Raised < Exception; end # rubocop:disable Lint/InheritException -- no rescue in between takes it

  # A String, a Symbol, an Integer and an Array of a megabyte, and an object that shows itself so.
  def self.long_objects
    shown = Object.new.tap { |object| object.define_singleton_method(:inspect) { LONG } }
    { "String" => LONG, "Symbol" => LONG.to_sym, "Integer" => 1 << (1 << 20), "Array" => [LONG], "object" => shown }
  end

  # Calls that refuse whatever they are given, with the classes of what they raise.
  def self.refusals
    hash, tree, integers = Bytewright::HashTable.new, Bytewright::TreeTable.new, Bytewright::HashTable.new(values: :integer)
    writer = Bytewright::Writer.open(StringIO.new)
    {
      "each with a range" => ->(long) { tree.each(range: long) { nil } },
      "each with a keyword" => ->(long) { tree.each(**{ long => 1 }) { nil } },
      "integers []=" => ->(long) { integers["a"] = long },
      "values:" => ->(long) { Bytewright::HashTable.new(values: long) },
      "values: that dump no String" => ->(long) { Bytewright::HashTable.new(values: { "x" => dumper(long) })["a"] = 1 },
      "increment" => ->(long) { hash.increment("a", long.is_a?(Integer) ? Rational(1, long) : long) },
      "Writer#u8" => ->(long) { writer.u8(long) },
      "Writer#seek" => ->(long) { Bytewright::Reader.open(VLAN) { |reader| reader.seek(0, long) } },
      "Reader.open compressed:" => ->(long) { Bytewright::Reader.open(VLAN, compressed: long) },
      "Capture.open filter:" => ->(long) { Bytewright::Capture.open(VLAN, filter: long, damage: long) },
      "Capture#write_to from:" => ->(long) { Bytewright::Capture.open(VLAN) { |capture| capture.write_to("/none/none", from: long) } },
      "Capture#count_by" => ->(long) { Bytewright::Capture.open(VLAN) { |capture| capture.count_by(long) } },
      "Capture#each_row" => ->(long) { Bytewright::Capture.open(VLAN) { |capture| capture.each_row(long) { nil } } },
      "Packet#values_at" => ->(long) { Bytewright::Capture.open(VLAN) { |capture| capture.first.values_at(long) } },
      "PStore.new format:" => ->(long) { Bytewright::PStore.new("none", format: long) },
      "transform_keys" => ->(long) { hash.transform_keys({ long => 1 }) },
      "Thrift.encode" => ->(long) { Bytewright::Thrift.encode(long) },
      "Thrift.decode" => ->(long) { Bytewright::Thrift.decode(long, "") }
    }
  end

  def self.dumper(dumped)
    Module.new.tap { |made| made.define_singleton_method(:dump) { |_| dumped } && made.define_singleton_method(:load) { |bytes| bytes } }
  end

  def assert_bounded(name)
    yield
    nil
  rescue StandardError => error
    assert_operator(error.message.bytesize, :<, MESSAGE_MAX, name)
    error
  end

  refusals.each do |name, refusal|
    next if name.start_with?("Thrift") && !defined?(::Thrift)

    define_method("test_the_error_is_short: #{name}") do
      errors = self.class.long_objects.map { |kind, long| assert_bounded("#{name}: #{kind}") { refusal.call(long) } }
      refute_empty(errors.compact)
    end
  end

  # Methods that repeat Strings, which have to be theirs.
  def test_the_error_is_short_for_keys_and_names
    [Bytewright::HashTable.new, Bytewright::TreeTable.new].each do |table|
      [table, table.snapshot].each do |entries|
        error = assert_bounded("fetch") { entries.fetch(LONG) }
        assert_kind_of(KeyError, error)
        assert_same(LONG, error.key)
        assert_match(/\Akey not found: "x+…x+"\z/, error.message)
        assert_bounded("fetch_values") { entries.fetch_values(LONG) }
      end
      assert_bounded("fetch_values") { table.fetch_values(LONG) }
      assert_bounded("frozen") { Bytewright::TreeTable.new({ LONG => LONG }).freeze["a"] = "b" }
    end
    Dir.mktmpdir do |folder|
      store = Bytewright::PStore.new(File.join(folder, "a.pstore"))
      error = assert_bounded("PStore#fetch") { store.transaction { store.fetch(LONG) } }
      assert_match(/\Aundefined key 'x+…x+'\z/, error.message)
    end
    assert_instance_of(Bytewright::PStore::Error, assert_bounded("PStore.new") { Bytewright::PStore.new("#{LONG}/a") })
    assert_bounded("PStore.new") { Bytewright::PStore.new("a", LONG.to_sym => 1) }
    assert_bounded("DisallowedClass") { raise Bytewright::PStore::DisallowedClass, LONG }
    %w[Reader Writer Capture FlowStore TreeTable].each do |name|
      assert_instance_of(Errno::ENAMETOOLONG, assert_bounded(name) { Bytewright.const_get(name).open(LONG) })
    end
    columns = Bytewright::Capture.open(VLAN) { |capture| capture.each_batch(:length).first }
    assert_bounded("Columns#[]") { columns[LONG.to_sym] }
    assert_bounded("Columns#null?") { columns.null?(:length, 1 << (1 << 20)) }
  end

  def test_an_object_without_inspect_is_shown_by_its_class
    table = Bytewright::HashTable.new(values: :integer)
    assert_match(/value is BasicObject #<BasicObject>\z/, assert_raises(TypeError) { table["a"] = BasicObject.new }.message)
  end

  # Classes that raise where their object is asked for its inspect.
  def raising(superclass, *arguments, method: :inspect)
    superclass.new(*arguments).tap { |object| object.define_singleton_method(method) { |*| raise Raised } }
  end

  def test_what_is_raised_while_an_error_is_worded_comes_instead
    table, integers = Bytewright::TreeTable.new, Bytewright::HashTable.new({ "a" => 1 }, values: :integer)
    assert_raises(Raised) { table.fetch(raising(String, "a")) }
    assert_raises(Raised) { table.each(range: raising(Object)) { nil } }
    assert_raises(Raised) { integers["a"] = raising(Object) }
    assert_raises(Raised) { integers["a"] = raising(Array) }
    assert_raises(Raised) { Bytewright::HashTable.new(values: { "x" => self.class.dumper(raising(Object)) })["a"] = 1 }
    if defined?(::Thrift)
      assert_raises(Raised) { Bytewright::Thrift.decode(raising(Object), "") }
      assert_raises(Raised) { Bytewright::Thrift.encode(raising(Object)) }
    end
    Bytewright::Capture.open(VLAN) do |capture|
      assert_raises(Raised) { capture.sum(:length, by: raising(Object, method: :to_ary)) }
    end
  end

  def test_what_is_raised_while_damage_is_made_an_exception_comes_instead
    cut = File.binread(VLAN).byteslice(0, 5000)
    [Bytewright::TruncatedError, Bytewright::FormatError].each do |klass|
      klass.define_singleton_method(:new) { |*, **| raise Raised }
    end
    Bytewright::Capture.open(StringIO.new(cut), damage: "keep") { |capture| assert_raises(Raised) { capture.info } }
    Bytewright::Capture.open(StringIO.new(cut), damage: "keep") do |capture|
      assert_raises(Raised) { capture.count_by(:proto) }
      assert_raises(Raised) { capture.damage }
    end
  ensure
    [Bytewright::TruncatedError, Bytewright::FormatError].each { |klass| klass.singleton_class.send(:remove_method, :new) }
  end

  # A number is looked for, and nothing that only becomes one.
  def test_what_is_looked_for_in_a_table_of_integers_is_asked_for_nothing
    table = Bytewright::HashTable.new({ "a" => 1 }, values: :integer)
    assert_nil(table.key(raising(Object, method: :to_int)))
    assert_equal([nil, "a", nil], [table.key(1.0), table.key(1), table.key(1 << 70)])
  end
end
