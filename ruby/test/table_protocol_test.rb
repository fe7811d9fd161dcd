# frozen_string_literal: true

require_relative "table_case"
require "json"
require "yaml"

# Goal: a table answers as a Hash of Strings does, to every method that a Hash has for it.
# Method: the same cases are run with a Hash and with tables of each kind. The entries go in in the order
# of their keys, so that insertion, last write and the keys themselves give the same order.
class TableProtocolTest < TableCase
  ENTRIES = { "a" => "1", "b" => "2", "c" => "3" }.freeze

  # A case: a test for each store, which is given a store with three entries.
  def self.protocol(name, &block)
    test_each(name, STORES.keys) { |store| instance_exec(make(store, ENTRIES), &block) }
  end

  def sized(enumerator, size = 3)
    assert_instance_of(Enumerator, enumerator)
    assert_equal(size, enumerator.size)
    enumerator
  end

  # Asserts the entries: for a Hash of a Hash, a table gives a table or a Hash.
  def assert_entries(expected, actual)
    assert_equal(expected, actual.to_h)
    assert_equal(expected.to_a, actual.to_a)
  end

  protocol "elements_are_found_and_set" do |t|
    assert_equal("1", t["a"])
    assert_nil(t["z"])
    assert_equal("4", t["d"] = "4")
    assert_equal("5", t.store("d", "5"))
    assert_equal("5", t["d"])
    assert_equal(4, t.size)
    assert_equal("", t[""] = "")
    assert_equal("", t[""])
  end

  protocol "what_is_no_string_is_refused" do |t|
    unless t.is_a?(Hash)
      [nil, 1, :a, [], Object.new].each do |wrong|
        [-> { t[wrong] }, -> { t[wrong] = "1" }, -> { t["a"] = wrong }, -> { t.key?(wrong) }, -> { t.delete(wrong) },
         -> { t.fetch(wrong) }, -> { t.values_at("a", wrong) }, -> { t.update({ "x" => wrong }) },
         -> { t.update({ wrong => "x" }) }, -> { t.update(wrong) }, -> { t.merge(wrong) }].each do |attempt|
          assert_match(/\Ano implicit conversion of /, assert_raises(TypeError, &attempt).message)
        end
      end
    end
    assert_entries(ENTRIES, t)
  end

  protocol "to_str_is_enough" do |t|
    unless t.is_a?(Hash)
      key = Object.new.tap { |object| def object.to_str = "a" }
      assert_equal("1", t[key])
      t[key] = key
      assert_equal("a", t["a"])
      assert_equal(["a"], t.values_at(key))
      t.update({ "q" => key })
      assert_equal("a", t["q"])
    end
  end

  protocol "fetch" do |t|
    assert_equal("1", t.fetch("a"))
    assert_equal("x", t.fetch("z", "x"))
    assert_nil(t.fetch("z", nil))
    assert_equal("zz", t.fetch("z") { |key| key * 2 })
    error = assert_raises(KeyError) { t.fetch("z") }
    assert_equal(['key not found: "z"', "z"], [error.message, error.key])
    assert_same(t, error.receiver)
    assert_raises(ArgumentError) { t.fetch }
    assert_raises(ArgumentError) { t.fetch("a", "b", "c") }
    assert_output(nil, /block supersedes default value argument/) { t.fetch("z", "x") { "y" } }
  end

  protocol "many_at_once" do |t|
    assert_equal(["3", nil, "1"], t.values_at("c", "z", "a"))
    assert_equal([], t.values_at)
    assert_equal(%w[3 1], t.fetch_values("c", "a"))
    assert_equal([], t.fetch_values)
    assert_equal(%w[3 zz], t.fetch_values("c", "z") { |key| key * 2 })
    error = assert_raises(KeyError) { t.fetch_values("a", "y", "z") }
    assert_equal("y", error.key)
    assert_same(t, error.receiver)
    many = (0..200).map { |number| "key #{number}" }
    t.update(many.to_h { |key| [key, key * 2] })
    assert_equal(many.map { |key| key * 2 } + [nil], t.values_at(*many, "none"))
  end

  protocol "membership" do |t|
    %i[key? has_key? include? member?].each do |name|
      assert_equal([true, false], [t.public_send(name, "a"), t.public_send(name, "z")])
    end
    %i[value? has_value?].each do |name|
      assert_equal([true, false, false], [t.public_send(name, "1"), t.public_send(name, "z"), t.public_send(name, 1)])
    end
    assert_equal(["b", nil, nil], [t.key("2"), t.key("z"), t.key(2)])
    assert_equal([%w[b 2], nil], [t.assoc("b"), t.assoc("z")])
    assert_equal([%w[b 2], nil], [t.rassoc("2"), t.rassoc("z")])
    assert_equal(["2", nil], [t.dig("b"), t.dig("z", "y")])
    assert_raises(TypeError) { t.dig("b", "c") }
    assert_nil(t.default)
    assert_equal(["1", nil], %w[a z].map(&t))
    assert_predicate(t.to_proc, :lambda?)
  end

  protocol "size" do |t|
    assert_equal([3, 3, 3, false], [t.size, t.length, t.count, t.empty?])
    assert_equal([1, 1], [t.count(%w[a 1]), t.count { |_, value| value == "1" }])
    assert_equal([true, true, false], [t.any?, t.any? { |key, _| key == "c" }, t.any? { |_, value| value == "9" }])
    assert_equal([true, false], [t.any?(%w[a 1]), t.none?])
    assert_equal([true, false], [t.all? { |_, value| value.size == 1 }, t.all?(%w[a 1])])
    assert_same(t, t.clear)
    assert_equal([0, true, false, []], [t.size, t.empty?, t.any?, t.to_a])
  end

  protocol "each_and_its_kin" do |t|
    seen = []
    assert_same(t, t.each { |key, value| seen << [key, value] })
    assert_same(t, t.each_pair { |pair| seen << pair })
    assert_same(t, t.each_key { |key| seen << key })
    assert_same(t, t.each_value { |value| seen << value })
    assert_equal(ENTRIES.to_a * 2 + %w[a b c 1 2 3], seen)
    assert_equal(ENTRIES.to_a, sized(t.each).to_a)
    assert_equal(ENTRIES.to_a, sized(t.each_pair).to_a)
    assert_equal(%w[a b c], sized(t.each_key).to_a)
    assert_equal(%w[1 2 3], sized(t.each_value).to_a)
    assert_equal([%w[a 1], %w[b 2]], [t.each.next, t.each.tap(&:next).next])
    assert_equal([[%w[a 1], 0], [%w[b 2], 1], [%w[c 3], 2]], t.each_with_index.to_a)
    assert_raises(ArgumentError) { t.each(&->(key, value) { [key, value] }) }
    assert_equal(%w[a b c], t.each.with_object([]) { |(key, _), keys| keys << key })
    assert_equal("a", t.each { |key, _| break key })
  end

  protocol "conversions" do |t|
    assert_equal(ENTRIES, t.to_h)
    assert_equal(ENTRIES, t.to_hash)
    assert_instance_of(Hash, t.to_h)
    assert_equal({ "1" => :a, "2" => :b, "3" => :c }, t.to_h { |key, value| [value, key.to_sym] })
    assert_raises(TypeError) { t.to_h { 1 } }
    assert_equal(ENTRIES.to_a, t.to_a)
    assert_equal(ENTRIES.to_a, t.entries)
    assert_equal([%w[a b c], %w[1 2 3]], [t.keys, t.values])
    assert_equal({ "x" => "0", **ENTRIES }, { "x" => "0" }.merge(t))
    assert_equal(ENTRIES, { **t })
  end

  protocol "enumerable" do |t|
    assert_equal(%w[a1 b2 c3], t.map { |key, value| key + value })
    assert_equal(%w[a 1 b 2 c 3], t.flat_map { |pair| pair })
    assert_equal(%w[A C], t.filter_map { |key, value| key.upcase if value != "2" })
    assert_equal(%w[b 2], t.find { |key, _| key == "b" })
    assert_equal(%w[b 2], t.detect { |_, value| value == "2" })
    assert_equal([%w[c 3], %w[a 1]], [t.max_by { |_, value| value }, t.min_by { |key, _| key }])
    assert_equal(6, t.sum { |_, value| value.to_i })
    assert_equal(%w[c 3], t.sort { |a, b| b <=> a }.first)
    assert_equal(%w[c b a], t.sort_by { |_, value| -value.to_i }.map(&:first))
    assert_equal([[%w[a 1]], [%w[b 2], %w[c 3]]], t.partition { |key, _| key == "a" })
    assert_equal({ true => [%w[a 1], %w[c 3]], false => [%w[b 2]] }, t.group_by { |_, value| value.to_i.odd? })
    assert_equal({ "a" => 1 }, t.each_with_object({}) { |(key, value), memo| memo[key] = value.to_i if value == "1" })
    assert_equal("abc", t.reduce("") { |sum, (key, _)| sum + key })
    assert_equal([%w[a 1], [%w[a 1], %w[b 2]]], [t.first, t.first(2)])
    assert_equal([[%w[a 1], 7]], t.zip([7]).first(1))
    assert_equal([[%w[a 1], %w[b 2]], [%w[c 3]]], t.each_slice(2).to_a)
    assert_equal(["a"], t.lazy.map(&:first).first(1))
    assert_equal([%w[a 1]], t.take_while { |key, _| key == "a" })
    assert_equal([%w[a 1], %w[c 3]], t.minmax)
    assert_equal([[%w[b 2]], 1], [t.find_all { |key, _| key == "b" }, t.find_index(%w[b 2])])
    assert_equal(3, sized(t.map).size)
    assert_equal(3, sized(t.flat_map).size)
  end

  protocol "choosing_entries" do |t|
    assert_entries({ "b" => "2" }, t.select { |_, value| value == "2" })
    assert_entries({ "b" => "2" }, t.filter { |key, _| key == "b" })
    assert_entries({ "a" => "1", "c" => "3" }, t.reject { |key, _| key == "b" })
    assert_entries({ "a" => "1", "c" => "3" }, t.slice("a", "z", "c"))
    assert_entries({ "b" => "2" }, t.except("a", "z", "c"))
    assert_entries({}, t.slice)
    assert_entries(ENTRIES, t.except)
    assert_entries({ "1" => "a", "2" => "b", "3" => "c" }, t.invert)
    %i[select filter reject].each { |name| sized(t.public_send(name)) }
    assert_entries({ "b" => "2" }, t.select.with_index { |_, at| at == 1 })
    assert_entries({ "a" => "1" }, t.select { |key| key == "a" })
    assert_entries(ENTRIES, t)
  end

  protocol "transforming_values" do |t|
    assert_equal({ "a" => 1, "b" => 2, "c" => 3 }, t.transform_values(&:to_i))
    assert_equal({ "A" => "1", "B" => "2", "C" => "3" }, t.transform_keys(&:upcase))
    assert_equal({ "x" => "1", "b" => "2", "c" => "3" }, t.transform_keys({ "a" => "x" }))
    sized(t.transform_values)
    sized(t.transform_values!)
    assert_same(t, t.transform_values! { |value| value * 2 })
    assert_entries({ "a" => "11", "b" => "22", "c" => "33" }, t)
  end

  protocol "transforming_keys" do |t|
    sized(t.transform_keys!)
    assert_same(t, t.transform_keys!(&:upcase))
    assert_entries({ "A" => "1", "B" => "2", "C" => "3" }, t)
    assert_same(t, t.transform_keys!({ "A" => "D" }))
    assert_equal({ "B" => "2", "C" => "3", "D" => "1" }, t.to_h)
    assert_same(t, t.transform_keys!({ "D" => "E" }, &:downcase))
    assert_equal({ "b" => "2", "c" => "3", "E" => "1" }, t.to_h)
    assert_same(t, t.transform_keys!(&:succ))
    assert_equal({ "c" => "2", "d" => "3", "F" => "1" }, t.to_h)
    assert_same(t, t.transform_keys! { "one" })
    assert_equal(["one"], t.keys)
    assert_raises(TypeError) { t.transform_keys!(1) }
    assert_raises(ArgumentError) { t.transform_keys!({}, {}) }
  end

  protocol "flattening" do |t|
    assert_equal([%w[a 1 b 2 c 3], ENTRIES.to_a, %w[a 1 b 2 c 3]], [t.flatten, t.flatten(0), t.flatten(2)])
    assert_raises(TypeError) { t.flatten(nil) }
  end

  protocol "what_has_nothing_to_do" do |t|
    assert_nil(t.compact!)
    assert_same(t, t.rehash)
    assert_entries(ENTRIES, t)
  end

  protocol "pattern_matching" do |t|
    # Keys of a Hash in patterns are Symbols.
    t = t.transform_keys(&:to_sym) if t.is_a?(Hash)
    case t
    in { a: "1", b: second } then assert_equal("2", second)
    end
    case t
    in { z: _ } | {} then flunk
    in { a: "1", **rest } then nil
    end
    assert_equal({ b: "2", c: "3" }, rest)
    assert_equal({ a: "1" }, t.deconstruct_keys([:a]).slice(:a))
    assert_raises(ArgumentError) { t.deconstruct_keys }
  end

  protocol "deleting" do |t|
    assert_equal("1", t.delete("a"))
    assert_nil(t.delete("a"))
    assert_equal("aa", t.delete("a") { |key| key * 2 })
    assert_equal("2", t.delete("b") { flunk })
    assert_entries({ "c" => "3" }, t)
    assert_equal(%w[c 3], t.shift)
    assert_nil(t.shift)
    assert_empty(t)
  end

  protocol "deleting_by_a_block" do |t|
    %i[delete_if keep_if reject! select! filter!].each { |name| sized(t.public_send(name)) }
    assert_same(t, t.delete_if { |key, _| key == "z" })
    assert_nil(t.reject! { |key, _| key == "z" })
    assert_nil(t.select! { true })
    assert_same(t, t.reject! { |key, _| key == "a" })
    assert_entries({ "b" => "2", "c" => "3" }, t)
    assert_same(t, t.select! { |_, value| value == "3" })
    assert_same(t, t.keep_if { true })
    assert_entries({ "c" => "3" }, t)
    assert_same(t, t.filter! { false })
    assert_empty(t)
  end

  protocol "a_block_that_raises_leaves_what_was_done" do |t|
    assert_raises(RuntimeError) { t.delete_if { |key, _| key == "b" ? raise("no") : true } }
    assert_entries({ "b" => "2", "c" => "3" }, t)
    t["d"] = "4"
    assert_equal(3, t.size)
  end

  protocol "merging" do |t|
    assert_entries({ **ENTRIES, "d" => "4" }, t.merge({ "d" => "4" }))
    assert_entries({ "a" => "1", "b" => "2", "c" => "33" }, t.merge({ "c" => "3" }) { |_, old, new| old + new })
    assert_entries({ **ENTRIES, "d" => "4", "e" => "5" }, t.merge({ "d" => "4" }, { "e" => "5" }))
    assert_entries(ENTRIES, t.merge)
    assert_entries(ENTRIES, t)
    assert_same(t, t.update({ "c" => "4" }, { "d" => "5" }))
    assert_same(t, t.merge!({ "d" => "6", "e" => "7" }) { |key, old, new| key + old + new })
    assert_entries({ "a" => "1", "b" => "2", "c" => "4", "d" => "d56", "e" => "7" }, t)
    assert_same(t, t.update)
    assert_same(t, t.replace({ "x" => "y" }))
    assert_entries({ "x" => "y" }, t)
    assert_same(t, t.replace(t))
    assert_entries({ "x" => "y" }, t)
  end

  protocol "comparing" do |t|
    same = { "c" => "3", "b" => "2", "a" => "1" }
    less, more, other = ENTRIES.slice("a"), ENTRIES.merge("d" => "4"), { "a" => "2", "b" => "2", "c" => "3" }
    assert_equal(t, same)
    assert_equal(same, t)
    [less, more, other, [], nil, "a", { 1 => "1", "b" => "2", "c" => "3" }, { "a" => 1, "b" => "2", "c" => "3" }].each do |different|
      refute_equal(t, different)
      refute_equal(different, t)
    end
    assert_equal([false, true, true, false], [t > more, t < more, t <= more, t >= more])
    assert_equal([true, false, false, true], [t > less, t < less, t <= less, t >= less])
    assert_equal([false, false, true, true], [t > same, t < same, t <= same, t >= same])
    assert_equal([false] * 4, [t > other, t < other, t <= other, t >= other])
    assert_raises(TypeError) { t > 1 }
    assert_raises(TypeError) { t <= nil }
  end

  protocol "the_same_entries_are_the_same_key" do |t|
    same = t.is_a?(Hash) ? { **t } : t.class[t.to_a.reverse.to_h]
    assert_equal([true, true, true], [t.eql?(same), same.eql?(t), t.hash == same.hash])
    assert_equal([1, [], [t]], [[t, same].uniq.size, [t] - [same], [t] & [same]])
    assert_equal("found", { t => "found" }[same])
    same["a"] = "2"
    assert_equal([false, false, 2], [t.eql?(same), t.hash == same.hash, [t, same].uniq.size])
    refute_equal(t.hash, t.invert.hash)
    refute(t.eql?(1))
    assert_kind_of(Integer, t.hash)
    assert_equal(t.clear.hash, t.class.new.hash) unless t.is_a?(Bytewright::Table) && t.path
  end

  protocol "comparing_with_tables" do |t|
    [HashTable, TreeTable].each do |kind|
      same, more = kind[ENTRIES], kind[ENTRIES.merge("d" => "4")]
      other = kind[{ "a" => "2", "b" => "2", "c" => "3" }]
      assert_equal([true, true, false, false], [t == same, same == t, t == more, t == other])
      assert_equal([true, true, false], [t < more, more > t, t > more]) unless t.is_a?(Hash)
      assert_equal([true, true, true, true], [t == same.snapshot, same <= t.to_h, same.snapshot == t, same >= t.to_h])
    end
  end

  protocol "inspect" do |t|
    shown = ->(entries) { t.is_a?(Hash) || t.path.nil? ? entries.inspect : "#<#{t.class} #{t.path.inspect} #{entries.inspect}>" }
    assert_equal(shown[ENTRIES], t.inspect)
    assert_equal(shown[ENTRIES], t.to_s)
    assert_equal(shown[{}], t.clear.inspect)
  end

  protocol "json_has_the_entries" do |t|
    assert_equal('{"a":"1","b":"2","c":"3"}', t.to_json)
    assert_equal('[{"in":{"a":"1","b":"2","c":"3"}}]', JSON.generate([{ in: t }]))
    assert_equal(JSON.pretty_generate({ "in" => ENTRIES }), JSON.pretty_generate({ "in" => t }))
    assert_equal(ENTRIES, JSON.parse(JSON.dump(t)))
    t["bytes"] = "\xFF"
    assert_raises(JSON::GeneratorError) { t.to_json }
  end

  protocol "yaml_has_the_entries" do |t|
    assert_equal(ENTRIES.to_yaml, t.to_yaml)
    assert_equal({ "in" => [ENTRIES, 1] }.to_yaml, { "in" => [t, 1] }.to_yaml)
    assert_equal(ENTRIES, YAML.safe_load(YAML.dump(t)))
    assert_equal("--- {}\n", t.clear.to_yaml)
  end

  protocol "a_frozen_one_refuses_every_change" do |t|
    t.freeze
    assert_predicate(t, :frozen?)
    [-> { t["a"] = "2" }, -> { t.store("a", "2") }, -> { t.delete("a") }, -> { t.clear }, -> { t.update({ "d" => "4" }) },
     -> { t.merge!({ "d" => "4" }) }, -> { t.replace({}) }, -> { t.shift }, -> { t.delete_if { true } }, -> { t.reject! { true } },
     -> { t.keep_if { false } }, -> { t.select! { false } }, -> { t.transform_values!(&:upcase) }, -> { t.transform_keys!(&:upcase) },
     -> { t.compact! }, -> { t.rehash }].each do |attempt|
      error = assert_raises(FrozenError, &attempt)
      assert_same(t, error.receiver)
      assert_equal("can't modify frozen #{t.class}: #{t.inspect}".b, error.message.b)
    end
    assert_entries(ENTRIES, t)
    assert_entries({ "a" => "1" }, t.select { |key, _| key == "a" })
  end

  protocol "a_string_given_is_not_kept" do |t|
    key, value = +"key", +"value"
    t[key] = value
    key << "!"
    value << "!" unless t.is_a?(Hash)
    assert_equal("value", t["key"])
    refute_same(t["key"], t["key"]) unless t.is_a?(Hash)
    t["key"] << "x" unless t.is_a?(Hash)
    assert_equal("value", t["key"])
  end
end
