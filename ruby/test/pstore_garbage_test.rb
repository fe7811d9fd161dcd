# frozen_string_literal: true

require_relative "pstore_case"

# Goal: the garbage collector may run and move objects at any time.
class PStoreGarbageTest < StoreCase
  def history(path)
    store = OURS.new(path)
    store.transaction { store["a"] = "text"; store[:b] = [1, { "k" => 2.5 }]; store[1] = Pair.new("x", :y) }
    store.transaction { store["a"] += "!"; store[:b] << store["a"]; store["c"] = store[:b] }
    store.transaction(true) { store.roots.map { |key| store[key] } }
    store.transaction { store.delete(1); store["c"] << 3; store["d"] = "d"; store.roots }
    read_table(path)
  end

  def expected
    shared = [1, { "k" => 2.5 }, "text!", 3]
    { "a" => "text!", :b => shared, "c" => shared, "d" => "d" }
  end

  def test_collecting_at_every_allocation_changes_nothing
    with_store_path do |path|
      history("#{path}2")
      GC.stress = true
      table = history(path)
      GC.stress = false
      assert_equal(expected, table)
    ensure
      GC.stress = false
    end
  end

  def test_moving_all_objects_changes_nothing
    skip("this Ruby does not move objects") unless GC.respond_to?(:compact)
    with_store_path do |path|
      old = GC.auto_compact
      GC.auto_compact = true
      GC.compact
      5.times { |round| GC.compact && assert_equal(expected, history("#{path}#{round}")) }
    ensure
      GC.auto_compact = old unless old.nil?
    end
  end

  def test_a_store_in_use_keeps_its_objects
    with_store_path do |path|
      write_table(path, Array.new(100) { |root| ["key#{root}", "value #{root}"] }.to_h)
      store = OURS.new(path)
      store.transaction do
        values = store.roots.map { |key| store[key] }
        GC.start
        assert(store.roots.each_with_index.all? { |key, at| store[key].equal?(values[at]) && values[at] == "value #{at}" })
      end
    end
  end

  def test_stores_that_are_gone_leave_no_files_open
    with_store_path do |path|
      before = Dir.children("/proc/self/fd").size
      100.times { OURS.new(path).then { |store| store.transaction { store[:a] = 1 } } }
      GC.start
      assert_operator(Dir.children("/proc/self/fd").size, :<, before + 50)
    end
  end
end
