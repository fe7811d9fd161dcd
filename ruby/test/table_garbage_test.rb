# frozen_string_literal: true

require_relative "table_case"
require "objspace"

# Goal: no table, and nothing that comes from one, is collected or moved from under its user; Ruby knows
# how large tables are, and does not look through them.
class TableGarbageTest < TableCase
  def under_stress
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  def use_all(table)
    table["a"] = "1" * 300
    table.update({ "b" => "2", "c" => "3" })
    assert_equal(["1" * 300, nil, "2"], [table["a"], table["z"], table.fetch("b")])
    assert_equal(["3", nil], table.values_at("c", "z"))
    assert_equal(%w[a b c], table.keys.sort)
    assert_equal(3, table.map { |key, value| key + value }.size)
    assert_equal(table.to_h, table.to_a.to_h)
    assert_equal("2", table.delete("b"))
    assert_equal("3", table.transaction { table["c"] })
    assert_raises(KeyError) { table.fetch("b") }
    assert_equal(300, table.view("a", &:bytesize))
    assert_equal({ "c" => "3" }, table.snapshot { |snapshot| snapshot.select { |key, _| key == "c" }.to_h })
    assert_equal(4, table.increment("c"))
    assert_equal(2, table.values.size)
    table.clear
  end

  test_each("every_use_works_under_gc_stress") do |store|
    table = make(store)
    under_stress { use_all(table) }
  end

  test_each("compaction_moves_nothing_that_we_hold") do |store|
    table = make(store, (0...50).to_h { |number| ["key #{number}", "value #{number}"] })
    snapshot, view, enumerator = table.snapshot, table.view("key 1"), table.each
    first = enumerator.next
    table.transaction do
      table.each do |key, _|
        GC.compact if key.end_with?("7")
        table["new #{key}"] = key
      end
      move_all_objects
      table["after"] = "compaction"
    end
    GC.compact
    assert_equal(["value 1", 50, first], [view.to_s, snapshot.size, snapshot.to_a.first])
    assert_equal(49, snapshot.to_a.drop(1).count { |entry| entry == enumerator.next })
    assert_equal([101, "key 7"], [table.size, table["new key 7"]])
  end

  def test_ruby_is_told_how_large_tables_are
    IN_MEMORY.each do |store|
      table = make(store)
      assert_operator(ObjectSpace.memsize_of(table), :<, 10_000)
      20_000.times { |number| table[number.to_s] = "x" * 100 }
      assert_in_delta(table.stat[:memory_bytes], ObjectSpace.memsize_of(table), 10_000)
      assert_operator(ObjectSpace.memsize_of(table), :>, 20_000 * 100)
      table.clear
      assert_operator(ObjectSpace.memsize_of(table), :<, 100_000)
    end
  end

  def test_tables_that_nobody_has_any_more_are_collected
    resident = -> { File.read("/proc/self/statm").split[1].to_i * 4096 }
    fill = proc { IN_MEMORY.each { |store| STORES[store].call(nil, { "a" => "x" * 2_000_000 }) } }
    10.times(&fill)
    before = resident.call
    200.times(&fill)
    # Ruby decides when; 800 MB were made, and Ruby knows it.
    assert_operator(resident.call - before, :<, 300 << 20)
  end

  def test_a_walk_that_is_broken_off_keeps_nothing
    table = HashTable.new
    table["a"] = "x" * 1_000_000
    table["b"] = "y"
    table.each { break }
    table.first
    table.any?
    table.find { true }
    table.delete("a")
    table.compact
    assert_equal(0, table.stat[:pinned_bytes])
  end
end
