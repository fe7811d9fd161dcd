# frozen_string_literal: false

require_relative "pstore_case"
require "set"

# Goal: after each transaction the file is, byte for byte, what the original writes: the dump of the
# whole table.
# Method: random transactions on a store and the same on a twin, a Hash that is dumped and loaded for each
# transaction as the original does it. BYTEWRIGHT_TRANSACTIONS sets how many there are.
#
# Strings that a program wrote as frozen literals are not among the values: one that is the key of a Hash
# elsewhere is that very key for the original while the program runs, and another object when it loads
# the file. docs/pstore.md has more of it.
class PStoreRandomTest < StoreCase
  TRANSACTIONS = Integer(ENV.fetch("BYTEWRIGHT_TRANSACTIONS", 3000))
  # Transactions of one store.
  HISTORY = 30

  # The names that version 0.2 of the original gave two methods.
  module NewNames
    def keys = roots
    def key?(key) = root?(key)
  end

  module Loud; end
  class Text < String; end
  class List < Array; end

  class Record
    attr_accessor :name, :parts

    def initialize(name, parts)
      @name = name
      @parts = parts
    end
  end

  # Dumps itself by code of its own, which sends the whole table to Ruby.
  class Packed
    def initialize(text) = @text = text
    def _dump(_limit) = @text.dup
    def self._load(text) = new(text)
  end

  # Values, made alike for the same state of the random numbers.
  class Maker
    Pair = StoreCase::Pair
    Named = StoreCase::Named
    WORDS = %w[a b name zone E encoding value é 日本].push("x" * 130).freeze
    FLOATS = [0.0, -0.0, 1.0, 1.5, 0.1, 1e100, -1e-100, Float::INFINITY, 123456.789, 5e-324].freeze
    INTEGERS = [0, -1, 122, 123, -124, 65_536, 2**30, -2**30 - 1, 2**62 - 1, 2**62, -2**70].freeze

    # Of simple kinds only, or of all.
    def initialize(random, kinds)
      @random = random
      @kinds = kinds
    end

    def pick(from) = from[@random.rand(from.size)]
    def once_in(count) = @random.rand(count).zero?

    def text
      text = pick(WORDS).dup
      text << @random.rand(30).to_s if once_in(2)
      return text if @kinds < 2 || !once_in(4)

      pick([text.b, text.encode("EUC-JP", undef: :replace), text.encode("UTF-16LE"), text.encode("US-ASCII", undef: :replace)])
    end

    def key
      return "key#{@random.rand(40)}" if @kinds.zero? || once_in(2)

      case @random.rand(@kinds == 3 ? 9 : 6)
      when 0, 1 then :"sym#{@random.rand(9)}"
      when 2 then pick(INTEGERS)
      when 3 then pick([nil, true, false, 1.5, 2.5])
      when 4, 5 then text
      when 6 then [text, @random.rand(3)]
      when 7 then pick([String, Comparable, -0.0, 0.0])
      else Text.new(text)
      end
    end

    def scalar
      case @random.rand(8)
      when 0, 1, 2 then text
      when 3 then pick([nil, true, false, :name, :"é"])
      when 4, 5 then once_in(2) ? @random.rand(100) / 8.0 : pick(FLOATS)
      else once_in(2) ? pick(INTEGERS) : @random.rand(1000)
      end
    end

    def value(depth = 3)
      return scalar if depth.zero? || once_in(3)

      case @random.rand(@kinds < 2 ? 4 : 12)
      when 0 then Array.new(@random.rand(4)) { value(depth - 1) }
      when 1 then { "name".dup => text, :size => scalar, "price".dup => 1.5 }
      when 2 then Array.new(@random.rand(4)) { [key, value(depth - 1)] }.to_h
      when 3 then scalar
      when 4 then Pair.new(value(depth - 1), text)
      when 5 then Named.new(name: text, size: value(depth - 1))
      when 6 then Record.new(text, value(depth - 1))
      when 7 then Hash.new(scalar).merge!("k".dup => value(depth - 1))
      when 8 then pick([Time.at(@random.rand(1000), 5, :nsec).utc, Rational(1, 3), 1..5, /a\/b/i, String, Set[1, text]])
      when 9 then pick([Text.new(text), List.new([text]), [scalar].extend(Loud)])
      when 10 then text.tap { |text| text.instance_variable_set(:@note, scalar) }
      else @kinds == 3 ? Packed.new(text) : scalar
      end
    end

    def change(value)
      case value
      when String then value.frozen? ? value : value.replace(once_in(2) ? value.b.tr("a-y", "b-z") : "changed").force_encoding(value.encoding)
      when Hash then value.frozen? ? value : value[key] = self.value(1)
      when Array then once_in(3) ? value.pop : value << self.value(1)
      when Pair then value.left = self.value(1)
      when Record then value.name = self.value(1)
      end
    end
  end

  # Does something to a table, or to the store that stands for it; the same for the same random numbers.
  def operate(table, maker, random)
    key = random.rand(3).zero? ? maker.key : table.keys.then { |keys| keys[random.rand(keys.size + 1)] }
    case random.rand(12)
    when 0, 1 then table[key] = maker.value
    when 2 then table[key] = maker.scalar
    when 3, 4 then maker.change(table[key])
    when 5 then table[maker.key] = table[key]
    when 6 then table[key] = [table[maker.key], maker.value(1), table[key]]
    when 7 then table.delete(key)
    when 8 then table.delete(key).then { |value| table[key] = value }
    when 9 then table[key] = table[key]
    when 10 then maker.change(table[key]) if table.key?(key)
    else [table[key], table.key?(maker.key)]
    end
  end

  def operate_on_all(table, maker, random)
    share = random.rand(3)
    table.keys.each { |key| random.rand(3) < share ? maker.change(table[key]) : table[key] }
  end

  def transaction(table, seed, kinds)
    random = Random.new(seed)
    maker = Maker.new(random, kinds)
    return operate_on_all(table, maker, random) if random.rand(20).zero?

    (random.rand(4) + (random.rand(8).zero? ? 20 : 0)).times { operate(table, maker, random) }
  end

  # A table to begin with, as a program may have left it.
  def first_table(random, kinds)
    maker = Maker.new(random, kinds)
    table = random.rand(8).zero? ? Hash.new(maker.value(1)) : {}
    (random.rand(6).zero? ? 200 : random.rand(12)).times { table[maker.key] = maker.value }
    table
  end

  # Promise (pstore-journal): also Methods, errors and files are the original's
  def test_the_file_is_what_dumping_the_table_writes
    with_seeds([TRANSACTIONS / HISTORY, 1].max) { |random| with_store_path { |path| run_history(random, path) } }
  end

  private

  def run_history(random, path)
    kinds = random.rand(4)
    write_table(path, first_table(random, kinds)) if random.rand(5) > 0
    # The original would leave what dumping once writes otherwise.
    store = OURS.new(path)
    others = [store, store, store, OURS.new(path)]
    others << STOCK.new(path).extend(NewNames) if STOCK && random.rand(3).zero?
    HISTORY.times { run_transaction(others[random.rand(others.size)], path, random.rand(2**32), random, kinds) }
  end

  # Ruby 3.1 may intern a String a second time when the first is swept at that moment, and then dumps both
  # in full; so nothing is swept during a transaction.
  def run_transaction(store, path, seed, random, kinds)
    GC.start if random.rand(100).zero?
    GC.disable
    before = File.exist?(path) ? File.binread(path) : ""
    twin = before.empty? ? {} : Marshal.load(before)
    how = %i[keep keep keep keep keep keep abort read][random.rand(8)]
    if how == :read
      store.transaction(true) { |s| s.keys.sample(3, random: Random.new(seed)).each { |key| assert_equal(dumped(twin[key]), dumped(s[key])) } }
    else
      transaction(twin, seed, kinds)
      store.transaction { transaction(store, seed, kinds); store.abort if how == :abort }
    end
    expected = how == :keep ? Marshal.dump(twin) : before
    expected = "" if before.empty? && twin.empty?
    assert_same_bytes(expected, File.binread(path)) unless expected.empty? && !File.exist?(path)
  ensure
    GC.enable
  end

  def dumped(object)
    Marshal.dump(object)
  end

  def assert_same_bytes(expected, found)
    return pass if expected.b == found

    at = (0..).find { |index| expected.getbyte(index) != found.getbyte(index) }
    flunk("byte #{at}\n  expected #{expected.b[[at - 60, 0].max, 120].inspect}\n  found    #{found[[at - 60, 0].max, 120].inspect}")
  end
end
