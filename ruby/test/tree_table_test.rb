# frozen_string_literal: true

require_relative "table_case"

# Goal: an ordered table can be walked by any range of keys, from either end, and step by step.
class TreeTableTest < TableCase
  TREES = %w[tree_table tree_table_file].freeze
  ENTRIES = %w[a b ba bb c é].to_h { |key| [key, key * 2] }.freeze

  # A case for a tree in memory, one in a file, and a snapshot of each.
  def self.ordered(name, &block)
    test_each(name, TREES) { |store| instance_exec(make(store, ENTRIES), &block) }
    test_each("#{name}_in_a_snapshot", TREES) { |store| instance_exec(make(store, ENTRIES).snapshot, &block) }
  end

  def key_of(entry)
    entry&.first
  end

  ordered "ranges" do |t|
    assert_equal(%w[b ba bb c], t.keys(from: "b", to: "c"))
    assert_equal(%w[c bb ba b], t.keys(from: "b", to: "c", reverse: true))
    assert_equal(%w[b ba bb], t.keys(prefix: "b"))
    assert_equal(%w[ba bb], t.keys(prefix: "b", from: "ba"))
    assert_equal(%w[b ba], t.keys(prefix: "b", from: "a", to: "ba"))
    assert_equal([], t.keys(from: "c", to: "b"))
    assert_equal([], t.keys(prefix: "x"))
    assert_equal(%w[bbbb], t.values(from: "bb", to: "bz"))
    assert_equal([%w[c cc]], t.to_a(from: "c", to: "d"))
    assert_equal({ "c" => "cc" }, t.to_h(from: "bc", to: "d"))
    assert_equal(ENTRIES.keys.last, t.each_key(reverse: true).first)
    assert_equal(%w[a b], t.each(to: "b").map(&:first))
    assert_equal(%w[aa bb], t.each_value(to: "b").to_a)
    seen = []
    assert_same(t, t.each(prefix: "b") { |key, value| seen << key + value })
    assert_equal(%w[bbb bababa bbbbbb], seen)
    assert_equal([6, nil], [t.each.size, t.each(from: "b").size])
    assert_raises(ArgumentError) { t.each(below: "b") { flunk } }
    assert_raises(TypeError) { t.keys(from: 1) }
  end

  ordered "both_ends" do |t|
    assert_equal(["a", ENTRIES.keys.last], [key_of(t.first), key_of(t.last)])
    assert_equal([%w[a b], ["c", ENTRIES.keys.last], []], [t.first(2).map(&:first), t.last(2).map(&:first), t.last(0)])
    assert_equal(ENTRIES.keys.reverse, t.reverse_each.map(&:first))
    assert_equal(6, t.reverse_each.size)
    assert_equal(%w[bb ba b], t.reverse_each(prefix: "b").map(&:first))
    assert_same(t, t.reverse_each { nil })
  end

  ordered "neighbours" do |t|
    assert_equal(["b", "b", nil, "c"], [t.floor("b"), t.floor("b\0"), t.floor(""), t.floor("d")].map { |entry| key_of(entry) })
    assert_equal(["b", "ba", "a", nil], [t.ceiling("b"), t.ceiling("b\0"), t.ceiling(""), t.ceiling("\xFF")].map { |entry| key_of(entry) })
    assert_raises(TypeError) { t.floor(nil) } if t.is_a?(Bytewright::Table)
  end

  test_each("nothing_is_found_in_an_empty_one", TREES) do |store|
    t = make(store)
    assert_equal([nil, nil, nil, nil, [], []], [t.first, t.last, t.floor("a"), t.ceiling("a"), t.first(2), t.last(2)])
    assert_nil(t.cursor.first)
  end

  test_each("a_cursor_moves_both_ways", TREES) do |store|
    t = make(store, ENTRIES)
    cursor = t.cursor
    assert_equal([nil, nil, nil], [cursor.key, cursor.value, cursor.prev])
    assert_equal(%w[a aa], cursor.next)
    assert_equal(%w[a aa], [cursor.key, cursor.value])
    assert_equal(%w[b ba b a], [cursor.next, cursor.next, cursor.prev, cursor.prev].map { |entry| key_of(entry) })
    assert_nil(cursor.prev)
    assert_nil(cursor.key)
    assert_equal("a", key_of(cursor.next))
    assert_equal(%w[bb ba], [cursor.seek("bab"), cursor.prev].map { |entry| key_of(entry) })
    assert_equal([ENTRIES.keys.last, nil, nil, ENTRIES.keys.last], [cursor.last, cursor.next, cursor.next, cursor.prev].map { |entry| key_of(entry) })
    assert_nil(cursor.seek("\xFF"))
    assert_equal(ENTRIES.keys.last, key_of(cursor.prev))
    t.clear
    assert_equal("a", key_of(cursor.first))
    assert_nil(cursor.close)
    assert_predicate(cursor, :closed?)
    assert_raises(Bytewright::ClosedError) { cursor.next }
  end

  test_each("ranges_are_those_of_a_sorted_array", TREES) do |store|
    with_seeds(10) do |random|
      key = -> { random.bytes(random.rand(4)).gsub(/[^\x00\x01\xFE\xFF]/n) { |byte| [0, 1, 254, 255][byte.ord % 4].chr }.b }
      keys = Array.new(200) { key.call }.uniq.sort
      t = make(store, keys.to_h { |one| [one, one] })
      30.times do
        from, to, prefix = [key, key, key].map { |one| one.call if random.rand(2).zero? }
        expected = keys.select { |one| (!from || one >= from) && (!to || one <= to) && (!prefix || one.start_with?(prefix)) }
        assert_equal(expected, t.keys(from: from, to: to, prefix: prefix).map(&:b))
        assert_equal(expected.reverse, t.keys(from: from, to: to, prefix: prefix, reverse: true).map(&:b))
        one = key.call
        assert_equal([keys.reverse.find { |other| other <= one }, keys.find { |other| other >= one }],
                     [t.floor(one), t.ceiling(one)].map { |entry| key_of(entry)&.b })
      end
    end
  end

  def test_a_hashed_table_has_no_ranges
    t = HashTable["a", "1"]
    assert_raises(ArgumentError) { t.each(from: "a") { flunk } }
    assert_raises(ArgumentError) { t.keys(prefix: "a") }
    refute_respond_to(t, :floor)
  end

  # Opens the table in a forked process, which says how many entries it was told are there, and is killed.
  def killed_writer(path, sync)
    from_writer, to_parent = IO.pipe
    writer = fork do
      table = Bytewright::TreeTable.open(path, sync: sync)
      1.step do |number|
        table[format("%06d", number)] = "value"
        to_parent.syswrite([number].pack("N"))
      end
    end
    to_parent.close
    from_writer.binmode
    told = from_writer.read(rand(1..300) * 4)
    Process.kill(:KILL, writer)
    (told + from_writer.read).unpack("N*").last
  ensure
    Process.wait(writer)
  end

  def test_a_process_that_is_killed_loses_nothing_that_was_put_in_any_mode
    Dir.mktmpdir do |folder|
      %i[commit interval never].product([1, 2]) do |sync, round|
        path = File.join(folder, "#{sync}#{round}.bwt")
        count = killed_writer(path, sync)
        Bytewright::TreeTable.open(path, read_only: true) do |reader|
          assert_operator(reader.size, :>=, count)
          Bytewright::TreeTable.open(path) { |table| assert_equal(table.to_h, reader.to_h, "a writer beside a reader") }
        end
        assert_equal([path], Dir[File.join(folder, "#{sync}#{round}*")], "its log is gone")
      end
    end
  end

  def test_another_value_never_comes_out_of_a_damaged_file
    Dir.mktmpdir do |folder|
      path = File.join(folder, "prices.bwt")
      prices = (1..2000).to_h { |number| ["key%04d" % number, "#{number} pounds"] }
      Bytewright::TreeTable.open(path) { |table| table.update(prices) }
      bytes = File.binread(path)
      bytes.setbyte(bytes.index("1000 pounds"), "9".ord)
      File.binwrite(path, bytes)
      Bytewright::TreeTable.open(path, read_only: true) do |table|
        assert_raises(Bytewright::CorruptError) { table["key1000"] }
        assert_equal("1 pounds", table["key0001"])
        assert_raises(Bytewright::CorruptError) { table.to_h }
      end
    end
  end
end
