# frozen_string_literal: true

require_relative "table_case"

# Goal: what a table has beyond a Hash does what it says, and what cannot be done fails with words.
class TableTest < TableCase
  test_each("order_is_that_of_the_last_write_or_of_the_keys") do |store|
    t = make(store, { "b" => "1", "a" => "2", "c" => "3" })
    t["b"] = "4"
    assert_equal(t.is_a?(TreeTable) ? %w[a b c] : %w[a c b], t.keys)
  end

  test_each("a_walk_does_not_see_what_changes_meanwhile") do |store|
    t = make(store, { "a" => "1", "b" => "2" })
    seen = []
    t.each do |key, value|
      seen << [key, value]
      t["#{key}#{key}"] = "new"
      t.delete("b")
      t["a"] = "changed"
    end
    assert_equal([%w[a 1], %w[b 2]], seen)
    assert_equal({ "a" => "changed", "aa" => "new", "bb" => "new" }, t.to_h)
    t.each { |key, _| t.delete(key) && t.clear }
    assert_empty(t)
  end

  test_each("increments") do |store|
    t = make(store)
    assert_equal([1, 6, 4, 4], [t.increment("n"), t.increment("n", 5), t.increment("n", -2), t.increment("n", 0)])
    assert_equal("4", t["n"])
    t["n"] = "four"
    error = assert_raises(ArgumentError) { t.increment("n") }
    assert_match(/expected a whole number to increment, found "four"/, error.message)
    t["n"] = (2**63 - 1).to_s
    assert_raises(ArgumentError) { t.increment("n") }
    assert_raises(RangeError) { t.increment("m", 2**64) }
    assert_raises(TypeError) { t.increment("m", "1") }
    [1.5, -0.1, 1r / 3, Float::NAN, Float::INFINITY].each { |by| assert_raises(ArgumentError) { t.increment("m", by) } }
    assert_equal([2, 5, nil], [t.increment("whole", 2.0), t.increment("whole", 3r), t["m"]])
    assert_raises(TypeError) { t.increment(nil) }
    assert_equal([(2**63 - 1).to_s, nil], t.values_at("n", "m"))
  end

  test_each("creates_and_appends") do |store|
    t = make(store, { "a" => "1" })
    assert_equal([false, true], [t.create("a", "2"), t.create("b", "2")])
    assert_same(t, t.append("a", "0").append("c", "3"))
    assert_equal({ "a" => "10", "b" => "2", "c" => "3" }, t.to_h)
    assert_raises(TypeError) { t.create("x", nil) }
    assert_raises(TypeError) { t.append("x", nil) }
  end

  test_each("strings_come_in_the_tables_encoding") do |store|
    t = make(store)
    t["schlüssel".encode("ISO-8859-1")] = "größe"
    assert_equal([Encoding::UTF_8] * 2, t.first.map(&:encoding))
    assert_equal("schl\xFCssel".b, t.keys.first.b)
    assert_equal(["größe"], t.values)
    assert_equal(Encoding::UTF_8, t.encoding)
    assert_equal("größe", t["schl\xFCssel"])
    binary = t.class.new(t, encoding: Encoding::BINARY)
    assert_equal("größe".b, binary["schl\xFCssel"])
    [binary.keys, binary.values, binary.to_h.flatten, binary.snapshot.to_a.flatten, binary.shift].each do |strings|
      assert_equal([Encoding::BINARY], strings.map(&:encoding).uniq)
    end
    latin = t.class.new({ "a" => "\xFC" }, encoding: "ISO-8859-1")
    assert_equal("ü", latin["a"].encode("UTF-8"))
    assert_raises(ArgumentError) { t.class.new(encoding: "nonsense") }
  end

  test_each("a_transaction_is_kept_whole_or_not_at_all") do |store|
    t = make(store, { "a" => "1" })
    assert_equal(:result, t.transaction { |inside| inside["b"] = "2"; :result })
    assert_equal(:early, t.transaction { t["c"] = "3"; next :early })
    assert_raises(RuntimeError) { t.transaction { t.clear && raise("no") } }
    catch(:out) { t.transaction { t.delete("a") && throw(:out) } }
    t.transaction { t["x"] = "y"; break }
    assert_equal(:here, returning(t))
    assert_equal({ "a" => "1", "b" => "2", "c" => "3" }, t.to_h)
    t["d"] = "4"
    assert_equal(4, t.size)
  end

  def returning(table)
    table.transaction { table["x"] = "y"; return :here }
  end

  test_each("a_transaction_inside_of_another_is_taken_back_by_itself") do |store|
    t = make(store, { "a" => "1" })
    t.transaction do
      t["b"] = "2"
      t.transaction { t["c"] = "3" }
      assert_raises(RuntimeError) { t.transaction { t.transaction { t.clear } && raise("no") } }
      assert_equal({ "a" => "1", "b" => "2", "c" => "3" }, t.to_h)
    end
    t.transaction { t.transaction { t["d"] = "4" } && break }
    assert_equal({ "a" => "1", "b" => "2", "c" => "3" }, t.to_h)
  end

  test_each("an_update_that_fails_changes_nothing") do |store|
    t = make(store, { "a" => "1" })
    assert_raises(TypeError) { t.update({ "b" => "2", "c" => 3 }) }
    assert_raises(TypeError) { t.replace({ "b" => "2", "c" => 3 }) }
    assert_raises(TypeError) { t.replace(nil) }
    assert_equal({ "a" => "1" }, t.to_h)
  end

  test_each("a_snapshot_stays_as_it_was") do |store|
    t = make(store, { "a" => "1", "b" => "2" })
    snapshot = t.snapshot
    t["a"] = "9"
    t.delete("b")
    assert_equal({ "a" => "1", "b" => "2" }, snapshot.to_h)
    assert_equal(["1", nil, 2, true], [snapshot["a"], snapshot["c"], snapshot.size, snapshot.key?("b")])
    assert_equal([["2", "1"], "x", "cc"], [snapshot.values_at("b", "a"), snapshot.fetch("c", "x"), snapshot.fetch("c") { |key| key * 2 }])
    error = assert_raises(KeyError) { snapshot.fetch("c") }
    assert_equal(["c", 'key not found: "c"'], [error.key, error.message])
    assert_same(snapshot, error.receiver)
    assert_equal([%w[a], { "a" => "1" }], [snapshot.select { |key, _| key == "a" }.keys, snapshot.slice("a").to_h])
    assert_equal({ "a" => "9" }, t.to_h)
    assert_equal({ "a" => "1", "b" => "2" }.inspect, snapshot.inspect)
    assert_nil(snapshot.close)
    assert_predicate(snapshot, :closed?)
    assert_raises(Bytewright::ClosedError) { snapshot["a"] }
    assert_raises(Bytewright::ClosedError) { snapshot.each { flunk } }
    assert_match(/closed/, snapshot.inspect)
    assert_equal(1, t.snapshot(&:size))
  end

  test_each("a_view_shows_bytes_that_stay") do |store|
    long = "0123456789" * 10_000
    t = make(store, { "a" => "hello", "long" => long })
    kept = nil
    result = t.view("a") do |view|
      kept = view
      t["a"] = "changed"
      t.delete("a")
      t.compact if store.end_with?("table")
      GC.start
      assert_equal([5, "hello", "ell", 104, 111], [view.bytesize, view.to_s, view.byteslice(1, 3), view.getbyte(0), view.getbyte(-1)])
      assert_equal(["", nil, nil, "lo"], [view.byteslice(5, 1), view.byteslice(6, 1), view.getbyte(5), view.byteslice(-2, 9)])
      assert_equal([true, false, true], [view == "hello", view == "hellO", "x#{view}" == "xhello"])
      :result
    end
    assert_equal(:result, result)
    assert_predicate(kept, :closed?)
    [-> { kept.to_s }, -> { kept.bytesize }, -> { kept.byteslice(0, 1) }, -> { kept.getbyte(0) }].each do |use|
      assert_raises(Bytewright::ClosedError, &use)
    end
    assert_nil(t.view("none") { flunk })
    view = t.view("long")
    t.clear
    assert_equal(long, view.to_s)
    assert_nil(view.close)
  end

  test_each("stat_counts") do |store|
    t = make(store, (0...1000).to_h { |number| ["key #{number}", "value"] })
    stat = t.sync.stat
    assert_equal(%i[records live_bytes dead_bytes pinned_bytes index_bytes memory_bytes file_bytes], stat.keys)
    assert_equal(1000, stat[:records])
    assert_operator(stat[:live_bytes], :>=, 1000 * 11)
    assert_same(t, t.compact)
    assert_same(t, t.sync)
    assert_equal(1000, t.size)
    assert_operator(t.stat[store.end_with?("file") ? :file_bytes : :memory_bytes], :>, 1000)
  end

  test_each("a_closed_table_says_so") do |store|
    t = make(store, { "a" => "1" })
    refute_predicate(t, :closed?)
    assert_nil(t.close)
    assert_nil(t.close)
    assert_predicate(t, :closed?)
    [-> { t["a"] }, -> { t["a"] = "1" }, -> { t.key?("a") }, -> { t.delete("a") }, -> { t.fetch("a") }, -> { t.size },
     -> { t.each { flunk } }, -> { t.values_at("a") }, -> { t.keys }, -> { t.update({ "a" => "1" }) }, -> { t.transaction { flunk } },
     -> { t.snapshot }, -> { t.view("a") }, -> { t.stat }, -> { t.sync }, -> { t.clear }, -> { t == {} },
     -> { t.shift }, -> { t.increment("a") }].each do |use|
      assert_match(/expected an open table/, assert_raises(Bytewright::ClosedError, &use).message)
    end
    assert_equal("#<#{[t.class, t.path&.inspect, "(closed)"].compact.join(" ")}>", t.inspect)
  end

  test_each("closing_inside_a_transaction_takes_it_back_and_says_so") do |store|
    t = make(store, { "a" => "1" })
    error = assert_raises(Bytewright::ClosedError) { t.transaction { t["b"] = "2"; t.close } }
    assert_match(/which took the changes back; close it after the transaction/, error.message)
    assert_predicate(t, :closed?)
    t = make(store, { "a" => "1" })
    assert_raises(IOError, "leaves") { t.transaction { t.close; raise IOError } }
  end

  test_each("inspect_shows_the_beginning_of_many_or_long_entries") do |store|
    t = make(store, (10...60).to_h { |number| [number.to_s, "v"] })
    shown = (10...30).to_h { |number| [number.to_s, "v"] }.inspect.chop
    assert_includes(t.inspect, "#{shown}, ... 30 more}")
    t.replace({ "long" => "ä" * 1000 })
    assert_includes(t.inspect, { "long" => "#{"ä" * 100}..." }.inspect)
  end

  def test_a_derived_class_is_made_of_entries_without_its_initialize
    derived = Class.new(HashTable) { def initialize(_one, _two) = flunk }
    made = derived["a", "1", "b", "2"]
    assert_instance_of(derived, made)
    assert_equal({ "a" => "1", "b" => "2" }, made.to_h)
    assert_equal([{ "a" => "1" }, Encoding::UTF_8], [derived[[%w[a 1]]].to_h, made.encoding])
    assert_raises(TypeError) { derived["a", 1] }
    assert_raises(ArgumentError) { derived["a"] }
  end

  def test_a_frozen_table_is_not_initialized_again
    assert_raises(FrozenError) { HashTable.new.freeze.send(:initialize, encoding: "BINARY") }
  end

  test_each("copies_are_of_tables_in_memory") do |store|
    t = make(store, { "a" => "1" })
    if store.end_with?("file")
      assert_match(/in the file #{t.path}/, assert_raises(TypeError) { t.dup }.message)
    else
      copy = t.freeze.dup
      copy["a"] = "2"
      assert_equal([{ "a" => "1" }, { "a" => "2" }], [t.to_h, copy.to_h])
      assert_instance_of(t.class, copy)
      assert_predicate(t.clone, :frozen?)
      refute_predicate(t.clone(freeze: false), :frozen?)
    end
  end

  def test_new_takes_entries_and_nothing_else
    [HashTable, TreeTable].each do |kind|
      assert_equal({ "a" => "1" }, kind.new({ "a" => "1" }).to_h)
      assert_equal({ "a" => "1" }, kind[{ "a" => "1" }].to_h)
      assert_equal({ "a" => "1", "b" => "2" }, kind["a", "1", "b", "2"].to_h)
      assert_equal({ "a" => "1" }, kind[[%w[a 1]]].to_h)
      assert_raises(TypeError) { kind.new("default") }
      assert_raises(ArgumentError) { kind.new { |table, key| table[key] = "1" } }
      assert_nil(kind.new.path)
    end
    assert_raises(TypeError) { Bytewright::Table.new }
  end

  def test_classes_of_ones_own_may_have_state_of_their_own
    counting = Class.new(HashTable) do
      attr_reader :count_of_reads

      def initialize(*, **)
        super
        @count_of_reads = 0
      end

      def [](key)
        @count_of_reads += 1
        super
      end
    end
    t = counting.new({ "a" => "1" })
    assert_equal(["1", 1], [t["a"], t.count_of_reads])
    assert_instance_of(HashTable, t.select { true })
    forgetful = Class.new(TreeTable) { def initialize(*) = nil }
    assert_equal("1", forgetful.new["a"] = "1")
  end

  test_each("a_file_keeps_its_entries", TABLES - IN_MEMORY) do |store|
    t = make(store, { "a" => "1", "b" => "2" })
    file = t.path
    t.close
    value = t.class.open(file) do |again|
      assert_equal({ "a" => "1", "b" => "2" }, again.to_h)
      assert_equal(file, again.path)
      again["c"] = "3"
      :value
    end
    assert_equal(:value, value)
    again = t.class.open(Struct.new(:to_path).new(file), read_only: true, encoding: Encoding::BINARY)
    assert_equal([%w[a b c], Encoding::BINARY], [again.keys, again["a"].encoding])
    assert_match(/read_only/, assert_raises(ArgumentError) { again["d"] = "4" }.message)
    assert_nil(again["d"])
    again.close
    Bytewright::Table.open(file, encoding: "BINARY") do |any|
      assert_instance_of(t.class, any)
      assert_equal([Encoding::BINARY, file], [any["a"].encoding, any.path])
    end
  end

  # The table again, for itself.
  def open_exclusively(table)
    table.close
    table.class.open(table.path, exclusive: true).tap { |again| @opened << again }
  end

  test_each("a_second_writer_of_an_exclusive_table_is_refused_or_waits", TABLES - IN_MEMORY) do |store|
    t = open_exclusively(make(store, { "a" => "1" }))
    error = assert_raises(Bytewright::LockError) { t.class.open(t.path, timeout: 0) }
    assert_equal(t.path, error.file)
    assert_raises(Bytewright::LockError) { t.class.open(t.path, timeout: 0.05) }
    assert_raises(ArgumentError) { t.class.open(t.path, read_only: true, exclusive: true) }
    opening = Thread.new { t.class.open(t.path, timeout: 60) { |second| second["a"] } }
    Thread.pass until opening.stop?
    t.close
    assert_equal("1", opening.value)
  end

  test_each("waiting_for_a_writer_can_be_interrupted", TABLES - IN_MEMORY) do |store|
    t = open_exclusively(make(store))
    opening = Thread.new { t.class.open(t.path, timeout: 600) }
    Thread.pass until opening.stop?
    opening.kill
    assert(opening.join(60))
  end

  def test_wrong_options_and_files_are_refused_with_words
    assert_raises(Errno::ENOENT) { TreeTable.open(path("none.bwt"), create: false) }
    assert_raises(Errno::ENOENT) { TreeTable.open(path("none.bwt"), read_only: true) }
    assert_raises(Errno::ENOENT) { TreeTable.open(path("none/none.bwt")) }
    error = assert_raises(ArgumentError) { TreeTable.open(path("x.bwt"), sync: :now) }
    assert_equal('expected sync to be interval, commit or never, found "now"', error.message)
    assert_raises(ArgumentError) { TreeTable.open(path("x.bwt"), timeout: -1) }
    assert_raises(TypeError) { TreeTable.open(path("x.bwt"), timeout: "1") }
    assert_raises(TypeError) { TreeTable.open(nil) }
    File.binwrite(path("text.bwt"), "no table at all " * 100)
    error = assert_raises(Bytewright::FormatError) { TreeTable.open(path("text.bwt")) }
    assert_equal(path("text.bwt"), error.file)
    assert_raises(Bytewright::FormatError) { Bytewright::Table.open(path("text.bwt")) }
    assert_match(/\.bwh .*\.bwt/, assert_raises(ArgumentError) { Bytewright::Table.open(path("new")) }.message)
    TreeTable.open(path("tree")) { |tree| tree["a"] = "1" }
    assert_raises(Bytewright::FormatError) { HashTable.open(path("tree")) }
  end

  test_each("sync_modes_are_taken", TABLES - IN_MEMORY) do |store|
    %i[commit interval never].each do |mode|
      t = make(store)
      file = t.path
      t.close
      t.class.open(file, sync: mode, verify: true) do |open|
        open["a"] = "1"
        open.transaction { open["b"] = "2" }
        open.update({ "c" => "3" })
        open.delete("a")
        assert_equal({ "b" => "2", "c" => "3" }, open.to_h)
        assert_raises(RuntimeError) { open.transaction { open.clear && raise("no") } }
      end
      t.class.open(file, read_only: true) { |open| assert_equal({ "b" => "2", "c" => "3" }, open.to_h) }
    end
  end

  test_each("a_change_of_many_entries_that_fails_keeps_what_the_page_says") do |store|
    t = make(store, { "a" => "1", "b" => "2", "c" => "3" })
    assert_raises(TypeError) { t.update({ "d" => "4" }, { "e" => "5", "f" => 6 }) }
    assert_equal(%w[a b c d], t.keys.sort)
    assert_raises(RuntimeError) { t.delete_if { |key, _| key == "b" ? raise : key == "a" } }
    assert_equal(%w[b c d], t.keys.sort)
    assert_raises(RuntimeError) { t.transaction { t.delete_if { |key, _| key == "c" ? raise : true } } }
    assert_equal(%w[b c d], t.keys.sort)
  end

  test_each("a_child_reads_the_exclusive_file_of_its_parent_but_not_what_the_parent_has_open_of_it", TABLES - IN_MEMORY) do |store|
    t = open_exclusively(make(store, { "a" => "1" }))
    snapshot, cursor = t.snapshot, t.is_a?(TreeTable) ? t.cursor : nil
    in_child do
      assert_equal("1", t["a"])
      refused = [-> { t["b"] = "2" }, -> { t.transaction { nil } }, -> { snapshot["a"] }, -> { snapshot.to_a }]
      refused << -> { cursor.first } if cursor
      refused.each { |call| assert_raises(Bytewright::ClosedError, &call) }
    end
    assert_equal("1", snapshot["a"])
  end
end
