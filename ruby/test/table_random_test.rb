# frozen_string_literal: true

require_relative "table_case"

# Goal: whatever is done to a table, it holds and answers what a Hash does, in its own order.
# Method: random operations on a table and on a twin, a Hash that is kept in the order of last write, or
# sorted where it is asked for. BYTEWRIGHT_OPERATIONS sets how many operations each seed does.
class TableRandomTest < TableCase
  OPERATIONS = Integer(ENV.fetch("BYTEWRIGHT_OPERATIONS", 1000))

  test_each("is_a_hash_with_an_order_of_its_own") do |store|
    with_seeds(3) do |random|
      table = make(store)
      twin = {}
      OPERATIONS.times { |count| operate(random, table, twin, count) }
      check(table, twin)
      table.clear
    end
  end

  private

  # Large contents would make large messages.
  def same(expected, actual)
    assert(expected == actual, "expected #{expected.inspect.slice(0, 300)}, found #{actual.inspect.slice(0, 300)}")
  end

  def key(random)
    number = random.rand(300)
    number % 7 == 0 ? ([number].pack("N") * 3).force_encoding("UTF-8") : "key #{number}"
  end

  def value(random)
    length = random.rand(50).zero? ? random.rand(20_000) : random.rand(20)
    random.bytes(length).force_encoding("UTF-8")
  end

  # Writes an entry as HashTable orders it: the last write comes last.
  def write(twin, key, value)
    twin.delete(key)
    twin[key] = value
  end

  def ordered(table, twin)
    table.is_a?(TreeTable) ? twin.sort_by { |key, _| key.b }.to_h : twin
  end

  def operate(random, table, twin, count)
    key = key(random)
    case random.rand(25)
    when 0..8 then value(random).then { |value| write(twin, key, table[key] = value) }
    when 9..11 then same(twin.delete(key), table.delete(key))
    when 12..14 then same([twin[key], twin.key?(key)], [table[key], table.key?(key)])
    when 15 then many(Array.new(random.rand(200)) { key(random) }, table, twin)
    when 16 then more(random, table, twin)
    when 17 then transaction(random, table, twin)
    when 18 then same(twin.size, table.size)
    when 19 then same(ordered(table, twin).first, table.first)
    when 20 then shift(table, twin)
    when 21 then created(random, table, twin, key)
    when 22 then appended(random, table, twin, key)
    when 23 then count % 7 == 0 ? check(table, twin) : nil
    when 24 then count % 20 == 0 ? thin_out(table, twin) : (table.sync if count % 20 == 1)
    end
  end

  def many(keys, table, twin)
    same(twin.values_at(*keys), table.values_at(*keys))
  end

  def more(random, table, twin)
    entries = Array.new(random.rand(30)) { [key(random), value(random)] }.to_h
    entries.each { |key, value| write(twin, key, value) }
    table.update(entries)
  end

  # A transaction with another inside; each is kept or not.
  def transaction(random, table, twin)
    kept = twin.dup
    outer = attempt(table, random.rand(2).zero?) do
      more(random, table, kept)
      inner = kept.dup
      kept = inner if attempt(table, random.rand(2).zero?) { more(random, table, inner) }
    end
    twin.replace(kept) if outer
  end

  def attempt(table, is_kept)
    table.transaction do
      yield
      throw :taken_back unless is_kept
      true
    end
  rescue UncaughtThrowError
    false
  end

  def shift(table, twin)
    first = ordered(table, twin).first
    same(first, table.shift)
    twin.delete(first.first) if first
  end

  def created(random, table, twin, key)
    value = value(random)
    same(!twin.key?(key), table.create(key, value))
    twin[key] ||= value
  end

  def appended(random, table, twin, key)
    bytes = value(random)
    write(twin, key, (twin[key] || "").b.concat(bytes.b).force_encoding("UTF-8"))
    table.append(key, bytes)
  end

  def thin_out(table, twin)
    test = ->(key, value) { (key.sum ^ value.bytesize).odd? }
    twin.delete_if(&test)
    table.delete_if { |key, value| test.call(key, value) }
    table.compact
  end

  def check(table, twin)
    expected = ordered(table, twin)
    same(expected.to_a, table.to_a)
    same([expected.keys, expected.values, expected], [table.keys, table.values, table.to_h])
    same(twin, table)
    assert_operator(table, :<=, twin)
    same(expected.to_a, table.snapshot(&:to_a))
    same(twin.size, table.stat[:records])
  end
end
