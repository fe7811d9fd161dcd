# frozen_string_literal: true

require_relative "test_case"
require "json"
require "stringio"
require "yaml"

# Goal: an object is dumped and copied whole, or not at all.
class DumpTest < TestCase
  # Objects of every class that stands for something outside of Ruby.
  def objects(folder)
    hash, tree = Bytewright::HashTable.new({ "a" => "1" }), Bytewright::TreeTable.new({ "a" => "1" })
    file = Bytewright::HashTable.open(File.join(folder, "h.bwh"))
    file["a"] = "1"
    adb = Bytewright::ADB.new
    adb.open("*")
    [hash, tree, file, hash.snapshot, tree.snapshot, tree.cursor, hash.view("a"), Bytewright::StringSet["a"], adb,
     Bytewright::PStore.new(File.join(folder, "p")), open_capture(VLAN), open_capture(VLAN).first, open_capture(VLAN).each_batch.first,
     Bytewright::Capture.flows(VLAN).first, Bytewright::FlowStore.open(File.join(folder, "f.bwt")), Bytewright::Reader.open(VLAN),
     Bytewright::Reader.open(StringIO.new("a")), Bytewright::Writer.open(File.join(folder, "w")), Bytewright::Writer.open(StringIO.new),
     Bytewright::CaptureWriter.open(File.join(folder, "c.pcap"))]
  end

  def each_object
    with_folder do |folder|
      objects(folder).each do |object|
        yield object
      ensure
        object.is_a?(Bytewright::CaptureWriter) ? object.discard : (object.close if object.respond_to?(:close))
      end
    end
  end

  # Tables and sets in memory, and packets and flows, which are values.
  def dumpable?(object)
    return true if object.is_a?(Bytewright::Packet) || object.is_a?(Bytewright::Flow)

    (object.is_a?(Bytewright::Table) || object.is_a?(Bytewright::StringSet)) && object.path.nil?
  end

  def test_marshal_dumps_values_and_tables_in_memory_and_says_what_to_dump_of_all_else
    each_object do |object|
      next assert_equal(object, Marshal.load(Marshal.dump(object))) if dumpable?(object)

      error = assert_raises(TypeError) { Marshal.dump(object) }
      assert_match(/\Aexpected an object that can be dumped, found a Bytewright::\w+; dump \w+/, error.message)
      assert_raises(TypeError) { Marshal.dump([object]) }
    end
  end

  def test_a_table_is_loaded_as_it_was
    derived = Class.new(Bytewright::TreeTable) { attr_accessor :note }
    self.class.const_set(:Derived, derived)
    entries = { "b" => [1, nil], "a" => { "x" => 1.5 } }
    %i[json marshal].product([Bytewright::HashTable, derived]).each do |values, klass|
      table = klass.new(entries, values: values, encoding: Encoding::BINARY)
      table.note = ["n"] if klass == derived
      loaded = Marshal.load(Marshal.dump([table, table]))
      assert_same(*loaded)
      assert_equal([klass, Encoding::BINARY, table.to_a], [loaded[0].class, loaded[0].encoding, loaded[0].to_a])
      assert_equal(["n"], loaded[0].note) if klass == derived
      loaded[0]["c"] = [2]
      refute_includes(table, "c")
    end
  ensure
    self.class.send(:remove_const, :Derived)
  end

  def test_objects_that_dump_values_are_dumped_by_their_names
    table = Bytewright::HashTable.new({ "a" => [1] }, values: { "yaml" => YAML })
    assert_equal([1], Marshal.load(Marshal.dump(table))["a"])
    nameless = Module.new { def self.dump(value) = value.to_s; def self.load(string) = string }
    assert_raises(TypeError) { Marshal.dump(Bytewright::HashTable.new({ "a" => 1 }, values: { "x" => nameless })) }
  end

  def test_yaml_dumps_entries_and_fields_and_refuses_all_else
    each_object do |object|
      case object
      when Bytewright::Entries then assert_equal({ "a" => "1" }, YAML.safe_load(YAML.dump(object)))
      when Bytewright::StringSet then assert_equal(["a"], YAML.safe_load(YAML.dump(object)))
      when Bytewright::Packet, Bytewright::Flow then assert_equal(object.to_h.transform_keys(&:to_s), YAML.safe_load(YAML.dump(object)))
      else assert_raises(TypeError) { YAML.dump(object) }
      end
    end
  end

  def test_json_of_entries_has_them
    each_object do |object|
      found = JSON.parse(JSON.generate(object))
      case object
      when Bytewright::Entries then assert_equal({ "a" => "1" }, found)
      when Bytewright::StringSet then assert_equal(["a"], found)
      else refute_includes([{}, [], nil], found)
      end
    end
  end

  def test_a_copy_has_all_or_is_refused
    each_object do |object|
      %i[dup clone].each do |way|
        copy = object.public_send(way)
        assert_equal(object.to_a, copy.to_a) if object.is_a?(Enumerable)
        assert_equal(object.path, copy.path) if object.is_a?(Bytewright::PStore)
      rescue TypeError
        pass
      end
    end
    adb = Bytewright::ADB.new
    assert_raises(TypeError) { adb.dup }
  end

  def test_a_copy_of_a_table_is_a_table_of_its_own
    [Bytewright::HashTable, Bytewright::TreeTable].each do |klass|
      table = klass.new({ "a" => "1" })
      copy = table.dup
      copy["b"] = "2"
      assert_equal([{ "a" => "1" }, { "a" => "1", "b" => "2" }], [table.to_h, copy.to_h])
    end
  end
end
