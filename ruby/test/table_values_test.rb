# frozen_string_literal: true

require_relative "table_case"
require "json"

# Goal: a table of values that are not Strings gives back what it was given, whichever method is asked, and a file of one
# kind is not opened for another.
# Method: each kind of values in each kind of table, beside a Hash.
class TableValuesTest < TableCase
  # Serializer with dump and load, and without a name.
  class Pairs
    def dump(value) = value.join("=")
    def load(string) = string.split("=")
  end

  module Reversed
    def self.dump(value) = value.reverse
    def self.load(string) = string.reverse
  end

  TABLES = { "hash_table" => [HashTable, nil], "tree_table" => [TreeTable, nil],
             "hash_table_file" => [HashTable, "t.bwh"], "tree_table_file" => [TreeTable, "t.bwt"] }.freeze
  # Option on opening, and three values in order.
  KINDS = {
    "integer" => [:integer, [-2**63, 0, 2**63 - 1]],
    "json" => [:json, [[1, "ü", nil], { "a" => { "b" => 1.5 } }, false]],
    "marshal" => [:marshal, [[1, :two], { 1 => 2r }, "\xFF".b]],
    "reversed" => [{ reversed: Reversed }, %w[abc é x]],
    "pairs" => [{ "pairs" => Pairs.new }, [%w[a b], %w[c d], %w[e f]]]
  }.freeze

  def self.test_values(name, kinds = KINDS.keys, &block)
    TABLES.each_key do |table|
      kinds.each { |kind| define_method("test_a_#{table}_of_#{kind}_#{name}") { instance_exec(table, kind, &block) } }
    end
  end

  # An open table, and the Hash of its entries.
  def filled(table, kind)
    values, objects = KINDS.fetch(kind)
    entries = %w[a b c].zip(objects).to_h
    [opened(table, values).update(entries), entries]
  end

  def opened(table, values, **options)
    klass, file = TABLES.fetch(table)
    made = file ? klass.open(path(file), values: values, **options) : klass.new(values: values)
    @opened << made
    made
  end

  test_values("gives_what_it_was_given") do |table, kind|
    t, expected = filled(table, kind)
    assert_equal(expected, t.to_h)
    assert_equal(expected.values, %w[a b c].map { |key| t[key] })
    assert_equal([expected["b"], :none, "z!"], [t.fetch("b"), t.fetch("z", :none), t.fetch("z") { |key| "#{key}!" }])
    assert_equal(expected.values_at("c", "z", "a"), t.values_at("c", "z", "a"))
    assert_equal(expected.values_at("c", "a"), t.fetch_values("c", "a"))
    assert_raises(KeyError) { t.fetch_values("c", "z") }
    assert_equal([expected.to_a, expected.values, expected.keys], [t.to_a, t.values, t.keys])
    assert_equal([expected.to_a, expected.to_a, expected.values], [[].tap { |all| t.each { |pair| all << pair } },
                                                                   [].tap { |all| t.each { |key, value| all << [key, value] } },
                                                                   [].tap { |all| t.each_value { |value| all << value } }])
    assert_equal(["b", expected["b"]], t.assoc("b"))
    assert_equal(expected.to_a.first(2), t.first(2))
    assert_equal([[expected["b"], expected["a"]], nil], [[t.delete("b"), t.shift.last], t["b"]])
    assert_equal({ "c" => expected["c"] }, t.to_h)
  end

  test_values("finds_and_compares_values") do |table, kind|
    t, expected = filled(table, kind)
    expected.each { |key, value| assert_equal([key, [key, value], true], [t.key(value), t.rassoc(value), t.value?(value)]) }
    assert_equal([nil, nil, false], [t.key(Object.new), t.rassoc(nil), t.value?("no such value")])
    assert_equal(expected, t)
    assert_equal(t, t.dup)
    refute_equal(expected.merge("a" => expected["b"]), t)
    assert_operator(t, :>=, expected.slice("a"))
    assert_includes(t.inspect, expected["b"].inspect)
  rescue TypeError
    # A table in a file cannot be copied.
    raise unless t.path
  end

  test_values("chooses_and_changes") do |table, kind|
    t, expected = filled(table, kind)
    chosen = t.select { |key, value| key > "a" && value == expected[key] }
    assert_equal(expected.slice("b", "c"), chosen.to_h)
    assert_equal(expected.slice("a", "c"), t.slice("a", "c", "z").to_h)
    assert_equal(expected.except("a"), t.except("a").to_h)
    assert_equal(expected.merge("d" => expected["a"]), t.merge({ "d" => expected["a"] }).to_h)
    seen = []
    t.update({ "a" => expected["b"], "z" => expected["c"] }) { |key, old, new| seen << [key, old, new] && old }
    assert_equal([["a", expected["a"], expected["b"]]], seen)
    assert_equal(expected.merge("z" => expected["c"]), t.to_h)
    t.transform_values! { |value| value == expected["a"] ? expected["b"] : value }
    assert_equal(expected["b"], t["a"])
    t.delete_if { |_, value| value == expected["c"] }
    assert_equal(%w[a b], t.keys.sort)
    assert_equal([true, false], [t.create("n", expected["a"]), t.create("n", expected["b"])])
    assert_equal(expected["a"], t["n"])
  end

  test_values("has_transactions_snapshots_and_backups") do |table, kind|
    t, expected = filled(table, kind)
    t.transaction do
      t["a"] = expected["c"]
      break
    end
    assert_equal(expected, t.to_h)
    before = t.snapshot
    t.transaction { t.replace({ "a" => expected["b"] }) }
    assert_equal([expected, expected["a"], expected["a"], :none], [before.to_h, before["a"], before.fetch("a"), before.fetch("z", :none)])
    assert_equal({ "a" => expected["b"] }, t.to_h)
    t.replace(before)
    assert_equal(expected, t.to_h)
    name = path("copy.#{t.is_a?(TreeTable) ? "bwt" : "bwh"}")
    t.backup(name)
    t.class.open(name, values: KINDS.fetch(kind).first) { |copy| assert_equal(expected, copy.to_h) }
    assert_raises(Bytewright::FormatError) { t.class.open(name) }
  end

  test_values("is_used_under_gc_stress") do |table, kind|
    t, expected = filled(table, kind)
    GC.stress = true
    assert_equal([expected, expected["a"]], [t.to_h, t["a"]])
    t["d"] = expected["b"]
    snapshot = t.snapshot
    assert_equal([expected["b"], expected["b"]], [snapshot["d"], t.delete("d")])
  ensure
    GC.stress = false
  end

  KINDS.each_key do |kind|
    define_method("test_ranges_and_cursors_of_#{kind}_give_what_was_put") do
      %w[tree_table tree_table_file].each do |table|
        t, expected = filled(table, kind)
        assert_equal(expected.slice("b", "c").to_a.reverse, t.each(from: "b", reverse: true).to_a)
        assert_equal([["b", expected["b"]], ["a", expected["a"]], ["c", expected["c"]]], [t.ceiling("aa"), t.floor("aa"), t.last])
        cursor = t.cursor
        assert_equal([["b", expected["b"]], expected["b"], ["c", expected["c"]]], [cursor.seek("aa"), cursor.value, cursor.next])
        assert_equal([["a", expected["a"]]], t.snapshot { |snapshot| snapshot.to_a(to: "a") })
      end
    end
  end

  test_values("counts", ["integer"]) do |table, _kind|
    t = opened(table, :integer)
    assert_equal([1, 43, 42], [t.increment("n"), t.increment("n", 42), t.increment("n", -1)])
    assert_equal(42, t["n"])
    t["max"] = 2**63 - 1
    assert_raises(ArgumentError) { t.increment("max") }
    assert_equal(2**63 - 1, t["max"])
    4.times.map { Thread.new { 100.times { t.increment("threads") } } }.each(&:join)
    assert_equal(400, t["threads"])
    assert_equal(["max", 2**63 - 1], t.max_by { |_, count| count })
    assert_equal(%w[n threads max], t.sort_by { |_, count| count }.map(&:first))
  end

  test_values("refuses_others", ["integer"]) do |table, _kind|
    t = opened(table, :integer)
    { "x" => [TypeError, 'String "x"'], nil => [TypeError, "nil"], 1.0 => [TypeError, "Float 1.0"],
      2**63 => [RangeError, "Integer 9223372036854775808"], (-2**63 - 1) => [RangeError, "Integer -9223372036854775809"] }.each do |value, (klass, shown)|
      puts = [-> { t["a"] = value }, -> { t.store("a", value) }, -> { t.update({ "a" => value }) }, -> { t.create("a", value) }]
      puts.each do |put|
        error = assert_raises(klass, &put)
        assert_equal("a table of integers keeps Integers from -2**63 to 2**63-1: value is #{shown}", error.message)
      end
    end
    assert_empty(t)
    assert_match(/values: integer/, assert_raises(ArgumentError) { t.append("a", "x") }.message)
  end

  test_values("refuses_nil_and_to_count", %w[json marshal]) do |table, kind|
    t, = filled(table, kind)
    assert_match(/delete/, assert_raises(TypeError) { t["a"] = nil }.message)
    assert_match(/values: #{kind}/, assert_raises(ArgumentError) { t.increment("n") }.message)
    assert_match(/values: #{kind}/, assert_raises(ArgumentError) { t.append("n", "x") }.message)
  end

  test_values("leaves_no_turn_where_dumping_or_loading_raises", ["json"]) do |table, _kind|
    breaking = Module.new do
      def self.dump(value) = value == :raise ? raise("not dumped") : value
      def self.load(string) = string == "bad" ? raise("not loaded") : string
    end
    t = opened(table, { breaking: breaking })
    t.update({ "a" => "good", "b" => "bad" })
    [-> { t["c"] = :raise }, -> { t["c"] = 1 }, -> { t.update({ "c" => :raise }) }, -> { t["b"] }, -> { t.to_a }, -> { t.values_at("a", "b") },
     -> { t.each {} }, -> { t.transaction { t["b"] } }].each { |attempt| assert_raises(StandardError, &attempt) }
    assert_equal("good", Thread.new { t["a"] }.value)
    assert_equal([2, true], [t.size, t.key?("b")])
  end

  def test_a_dumper_may_use_the_table_and_others_meanwhile
    t = nil
    nested = Module.new
    nested.define_singleton_method(:dump) { |value| t["inner"] = value.drop(1) unless value.size < 2; Marshal.dump(value) }
    nested.define_singleton_method(:load) { |string| t.size && Marshal.load(string) }
    %w[hash_table tree_table].each do |table|
      t = opened(table, { nested: nested })
      t["a"] = [1, 2]
      assert_equal({ "a" => [1, 2], "inner" => [2] }, t.to_h)
      assert_equal([[1, 2], [2]], t.values_at("a", "inner"))
      t.each_value { t.clear }
      assert_empty(t)
    end
  end

  def test_a_file_is_opened_for_the_values_that_it_has
    %w[t.bwh t.bwt].each do |file|
      Bytewright::Table.open(path(file), values: :integer) { |t| t["a"] = 1 }
      [{}, { values: :json }, { values: { other: Reversed } }].each do |options|
        error = assert_raises(Bytewright::FormatError) { Bytewright::Table.open(path(file), **options) }
        assert_match(/open it with values: integer/, error.message)
        assert_equal(path(file), error.file)
      end
      Bytewright::Table.open(path(file), values: :integer, read_only: true) { |t| assert_equal(1, t["a"]) }
    end
  end

  def test_tables_of_different_values_give_each_other_objects
    counts = HashTable.new({ "a" => 1, "b" => 2 }, values: :integer)
    objects = TreeTable.new(counts, values: :json)
    assert_equal({ "a" => 1, "b" => 2 }, objects.to_h)
    assert_equal(counts, objects)
    assert_raises(TypeError) { HashTable.new.update(counts) }
    objects["c"] = "text"
    assert_raises(TypeError) { counts.update(objects) }
    assert_equal({ "a" => 1, "b" => 2 }, counts.to_h)
    assert_equal({ 1 => "a" }, HashTable.new({ "a" => 1 }, values: :integer).to_h.invert)
  end

  def test_what_values_can_be_is_said
    ["text", :yaml, 1, { a: Reversed, b: Reversed }, { a: 1 }, {}].each do |values|
      error = assert_raises(ArgumentError) { HashTable.new(values: values) }
      assert_match(/expected values to be :string, :integer, :json, :marshal or/, error.message)
    end
    { "integer" => /a name other than integer/, "a_name_too_long" => /shorter name/, "" => /name/ }.each do |name, message|
      assert_match(message, assert_raises(ArgumentError) { HashTable.new(values: { name => Reversed }) }.message)
    end
    assert_match(/shorter name.*|name of 1 to 12/, assert_raises(ArgumentError) { HashTable.new(values: Reversed) }.message)
  end
end
