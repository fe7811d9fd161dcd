# frozen_string_literal: true

require "json"
require "set"
require "yaml"
require_relative "table_case"

# Goal: a StringSet answers as a Set of Strings does, over a table of any kind.
# Method: the same cases are run with a Set and with sets over each kind of table. Elements are added in their order, so
# that all of them give the same order.
class StringSetTest < TableCase
  StringSet = Bytewright::StringSet
  SETS = %w[set] + TABLES

  def set_of(store, *elements)
    return Set.new(elements) if store == "set"

    StringSet.new(elements, table: make(store))
  end

  def self.protocol(name, &block)
    test_each(name, SETS) { |store| instance_exec(set_of(store, "a", "b", "c"), store, &block) }
  end

  protocol "adding_and_deleting" do |s|
    assert_same(s, s.add("d"))
    assert_same(s, s << "d")
    assert_same(s, s.add?("e"))
    assert_nil(s.add?("e"))
    assert_equal(%w[a b c d e], s.to_a)
    assert_same(s, s.delete("z"))
    assert_same(s, s.delete?("a"))
    assert_nil(s.delete?("a"))
    assert_equal([%w[b c d e], 4, 4, 4, false], [s.to_a, s.size, s.length, s.count, s.empty?])
    assert_same(s, s.delete_if { |element| element > "c" })
    assert_same(s, s.subtract(%w[b z]))
    assert_equal(["c"], s.to_a)
    assert_same(s, s.merge(%w[d e]).merge(Set["f"]))
    assert_equal(%w[c d e f], s.to_a)
    assert_same(s, s.clear)
    assert_equal([[], true], [s.to_a, s.empty?])
  end

  protocol "membership" do |s|
    %i[include? member? ===].each do |name|
      assert_equal([true, false, false], ["a", "z", 1].map { |element| s.public_send(name, element) })
    end
    assert_equal([true, false, false, true], [s.intersect?(Set["a"]), s.intersect?(Set["z"]), s.disjoint?(Set["a"]), s.disjoint?(Set["z"])])
    assert_equal([1, 2], [s.count("a"), s.count { |element| element > "a" }])
  end

  protocol "walking" do |s|
    seen = []
    assert_same(s, s.each { |element| seen << element })
    assert_equal(%w[a b c], seen)
    assert_equal([3, "a"], [s.each.size, s.each.next])
    assert_equal([%w[A B C], %w[a b], "c"], [s.map(&:upcase), s.first(2), s.max])
    assert_equal(Set["a", "b", "c"], s.to_set)
  end

  protocol "operators" do |s|
    assert_equal(%w[a b c d], (s | %w[b d]).to_a)
    assert_equal(%w[a b c d], (s + Set["d"]).to_a)
    assert_equal(%w[b c], (s & %w[z b c]).to_a)
    assert_equal(["a"], (s - %w[b c z]).to_a)
    assert_equal(%w[a d], (s ^ %w[b c d]).to_a.sort)
    assert_equal([%w[a b c]] * 3, [s.union([]), s.difference([]), s.intersection(s)].map(&:to_a))
    assert_equal(%w[a b c], s.to_a)
  end

  protocol "comparing" do |s, store|
    less, more = Set["a"], Set["a", "b", "c", "d"]
    assert_equal([true, false, true, true], [s.subset?(more), s.subset?(less), s <= s, s <= more])
    assert_equal([false, true, true, true], [s.superset?(more), s.superset?(less), s >= s, s >= less])
    assert_raises(ArgumentError) { s.subset?(1) }
    assert_equal([true, false, false, false], [s == Set["c", "b", "a"], s == less, s == more, s == 1])
    same = store == "set" ? Set["c", "b", "a"] : StringSet["c", "b", "a"]
    assert_equal([true, true, true, 1], [s == same, s.eql?(same), s.hash == same.hash, [s, same].uniq.size])
    assert_equal([false, false], [s.eql?(same.delete("a")), s.hash == same.hash])
  end

  protocol "a_frozen_set_refuses_changes" do |s|
    s.freeze
    [-> { s.add("d") }, -> { s.add?("d") }, -> { s.delete("a") }, -> { s.clear }, -> { s.merge(["d"]) }].each do |change|
      assert_raises(FrozenError, &change)
    end
    assert_equal(%w[a b c], s.to_a)
    assert_equal(%w[a b c d], (s | ["d"]).to_a)
  end

  test_each("what_is_no_string_changes_nothing") do |store|
    s = set_of(store, "a")
    [1, nil, :b].each do |wrong|
      [-> { s.add(wrong) }, -> { s.merge(["b", wrong]) }, -> { s | [wrong] }].each { |use| assert_raises(TypeError, &use) }
    end
    assert_equal(["a"], s.to_a)
  end

  test_each("a_set_in_a_file_is_kept", %w[hash_table_file tree_table_file]) do |store|
    file = path(store == "hash_table_file" ? "s.bwh" : "s.bwt")
    StringSet.open(file) { |s| s.merge(%w[a b]) }
    s = StringSet.open(file)
    assert_equal([%w[a b], file], [s.to_a, s.path])
    s.transaction { s.add("c") && break }
    assert_equal(2, s.size)
    assert_equal("#<Bytewright::StringSet #{file.inspect} {\"a\", \"b\"}>", s.inspect)
    assert_raises(TypeError) { s.dup }
    s.close
    assert_equal([true, "#<Bytewright::StringSet #{file.inspect} (closed)>"], [s.closed?, s.inspect])
  end

  test_each("elements_are_written_as_a_list") do |store|
    s = set_of(store, "a", "b")
    assert_equal(['["a","b"]', '{"in":["a","b"]}'], [s.to_json, JSON.generate({ in: s })])
    assert_equal(%w[a b], YAML.safe_load(s.to_yaml))
  end

  def test_a_set_over_an_ordered_table_takes_ranges
    s = StringSet.new(%w[ab b a], table: TreeTable.new)
    assert_equal([%w[a ab], %w[ab b], 2, "ab"], [s.to_a(prefix: "a"), s.to_a(range: "a1"..), s.count(prefix: "a"), s.max(prefix: "a")])
    assert_same(s, s.delete_if(prefix: "a") { true })
    assert_equal(["b"], s.to_a)
    assert_raises(ArgumentError) { StringSet["a"].to_a(prefix: "a") }
  end

  def test_a_set_in_memory_can_be_copied_and_shown
    s = StringSet["a", "b"]
    copy = s.dup.add("c")
    assert_equal([%w[a b], %w[a b c]], [s.to_a, copy.to_a])
    assert_equal('#<Bytewright::StringSet {"a", "b"}>', s.inspect)
    assert_equal("... 80 more}>", StringSet.new(("00".."99")).inspect[-13..])
  end
end
