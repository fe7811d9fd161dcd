# frozen_string_literal: true

require_relative "table_case"
require "set"

# Goal: a range of keys means the same to every method that walks entries, and no method takes one for something
# else.
# Method: each method is called on a table with a range, and on a Hash of the entries that are in it.
class TableRangeTest < TableCase
  ENTRIES = %w[a a1 a2 b ba bb c ca d].to_h { |key| [key, key.size.to_s] }.freeze
  ORDERED = %w[tree_table tree_table_file].freeze
  HASHED = %w[hash_table hash_table_file].freeze

  # Ranges, and the keys that they select.
  RANGES = {
    { prefix: "a" } => %w[a a1 a2],
    { from: "b", to: "c" } => %w[b ba bb c],
    { range: "b".."c" } => %w[b ba bb c],
    { range: "b"..."c" } => %w[b ba bb],
    { range: "c".. } => %w[c ca d],
    { range: ..."a2" } => %w[a a1],
    { range: nil.., limit: 2 } => %w[a a1],
    { range: "c".."a" } => [],
    { range: "b"..."b" } => [],
    { prefix: "b", range: "ba".."z" } => %w[ba bb],
    { prefix: "b", range: ..."bb", from: "b" } => %w[b ba],
    { from: "b", range: "a".."ba", to: nil } => %w[b ba],
    { to: "ba", range: "b"..."ba" } => %w[b],
    { reverse: true, limit: 3 } => %w[d ca c],
    { prefix: "a", reverse: true } => %w[a2 a1 a],
    { prefix: "a", limit: 0 } => [],
    { prefix: "a", limit: 9 } => %w[a a1 a2],
    { prefix: "x" } => []
  }.freeze

  EVEN = ->((_key, value)) { value.to_i.even? }
  EVEN_VALUE = ->(_key, value) { value.to_i.even? }

  # Methods that take a range, with their arguments and block.
  WALKING = {
    all?: [[], EVEN], any?: [[], EVEN], chain: [[[1]]], chunk: [[], EVEN], chunk_while: [[], ->(a, b) { a.last == b.last }],
    collect: [[], EVEN], collect_concat: [[], ->(pair) { pair }], count: [[]], cycle: [[2]], detect: [[], EVEN], drop: [[1]],
    drop_while: [[], EVEN], each_cons: [[2]], each_entry: [[]], each_slice: [[2]], each_with_index: [[]],
    each_with_object: [[""], ->((key, _), memo) { memo << key }], filter_map: [[], ->((key, _)) { key if key > "a" }],
    find: [[], EVEN], find_all: [[], EVEN], find_index: [[], EVEN], first: [[2]], flat_map: [[], ->(pair) { pair }],
    grep: [[Array]], grep_v: [[String]], group_by: [[], EVEN], inject: [[[]], ->(sum, pair) { sum + pair }], lazy: [[]],
    map: [[], ->((key, _)) { key }], max: [[]], max_by: [[], ->((key, _)) { key }], min: [[]], min_by: [[], ->((key, _)) { key }],
    minmax: [[]], minmax_by: [[], ->((key, _)) { key }], none?: [[], EVEN], one?: [[], EVEN], partition: [[], EVEN],
    reduce: [[[]], ->(sum, pair) { sum + pair }], reverse_each: [[]], slice_after: [[], EVEN], slice_before: [[], EVEN],
    slice_when: [[], ->(a, b) { a.last != b.last }], sort: [[]], sort_by: [[], ->((key, value)) { [value, key] }],
    sum: [[], ->((_, value)) { value.to_i }], take: [[2]], take_while: [[], EVEN], tally: [[]], to_set: [[]],
    uniq: [[], ->((_, value)) { value }], zip: [[[1, 2]]],
    each: [[]], each_pair: [[]], each_key: [[]], each_value: [[]], keys: [[]], values: [[]], to_a: [[]], entries: [[]], to_h: [[]],
    key: [["2"]], value?: [["2"]], has_value?: [["1"]], rassoc: [["2"]], select: [[], EVEN_VALUE], filter: [[], EVEN_VALUE],
    reject: [[], EVEN_VALUE], invert: [[]], transform_values: [[], ->(value) { value * 2 }], flatten: [[]]
  }.freeze

  # Methods that change the entries of a range, with what is left of a Hash of them.
  CHANGING = {
    delete_if: EVEN_VALUE, keep_if: EVEN_VALUE, reject!: EVEN_VALUE, select!: EVEN_VALUE, filter!: EVEN_VALUE,
    transform_values!: ->(value) { "#{value}!" }
  }.freeze

  # Methods that take a range, and are none of a Hash.
  WITHOUT_HASH = %i[last delete_range].freeze

  # Methods that take no range, with arguments that they do take.
  WITHOUT_RANGE = {
    "[]": %w[a], "[]=": %w[a b], store: %w[a b], key?: %w[a], has_key?: %w[a], include?: %w[a], member?: %w[a], delete: %w[a],
    values_at: %w[a], fetch_values: %w[a], assoc: %w[a], dig: %w[a], slice: %w[a], except: %w[a], size: [], length: [],
    empty?: [], clear: [], shift: [], create: %w[a b], append: %w[a b], increment: %w[n], view: %w[a], snapshot: [],
    transaction: [], sync: [], compact: [], compact!: [], rehash: [], stat: [], to_hash: [], transform_keys: [],
    transform_keys!: [], floor: %w[a], ceiling: %w[a], default: [], deconstruct_keys: [[]], inspect: [], to_s: [], hash: [],
    eql?: [1], "==": [1], "<": [{}], "<=": [{}], ">": [{}], ">=": [{}], close: [], closed?: [], encoding: [], path: [],
    cursor: [], to_proc: [], load: %w[none], changes_since: []
  }.freeze

  # Methods that take a Hash of their own, which keywords become: of entries, of names, or the json library's options.
  WITH_HASH = %i[update merge! merge replace fetch to_json as_json encode_with backup dump].freeze

  def plain(result)
    case result
    when Enumerator, Enumerator::Lazy then result.to_a
    when Bytewright::Entries then result.to_h
    else result
    end
  end

  # Arguments that a block may change.
  def copies(arguments)
    arguments.map { |argument| argument.is_a?(Module) ? argument : argument.dup }
  end

  ORDERED.each do |store|
    WALKING.each do |name, (arguments, block)|
      define_method("test_#{store}_#{name}_takes_a_range") do
        t = make(store, ENTRIES)
        [t, t.snapshot].each do |entries|
          RANGES.each do |range, keys|
            # It has a direction and an end of its own, which another test looks at.
            next if name == :reverse_each && (range.key?(:limit) || range.key?(:reverse))

            found = plain(entries.public_send(name, *copies(arguments), **range, &block))
            expected = plain(ENTRIES.slice(*keys).public_send(name, *copies(arguments), &block))
            assert(expected == found, "#{name} #{range}: expected #{expected.inspect}, found #{found.inspect}")
          end
        end
      end
    end

    CHANGING.each do |name, block|
      define_method("test_#{store}_#{name}_changes_a_range_and_nothing_else") do
        t = make(store)
        RANGES.each do |range, keys|
          t.replace(ENTRIES)
          chosen = ENTRIES.slice(*keys)
          result = chosen.public_send(name, &block)
          assert_equal(result.nil?, t.public_send(name, **range, &block).nil?)
          assert_equal(ENTRIES.except(*keys).merge(chosen).sort, t.to_a, "#{name} #{range}")
        end
      end
    end
  end

  test_each("delete_range_takes_what_a_range_selects_and_nothing_else", ORDERED) do |store|
    t = make(store)
    RANGES.each do |range, keys|
      t.replace(ENTRIES)
      t.transaction do
        assert_equal(keys.size, t.delete_range(**range), range.to_s)
        assert_equal(ENTRIES.except(*keys).sort, t.to_a, range.to_s)
        break
      end
      assert_equal(ENTRIES.size, t.size)
      assert_equal(keys.size, t.delete_range(**range), range.to_s)
      assert_equal(ENTRIES.except(*keys).sort, t.to_a, range.to_s)
    end
    t.replace(ENTRIES)
    assert_equal(ENTRIES.size, t.delete_range)
    assert_empty(t)
    assert_raises(FrozenError) { t.freeze.delete_range(prefix: "a") }
  end

  test_each("a_range_of_a_hashed_table_is_refused", HASHED) do |store|
    t = make(store, ENTRIES)
    assert_match(/expected an ordered table .*found a hashed one/, assert_raises(ArgumentError) { t.delete_range(prefix: "a") }.message)
    { **WALKING, **CHANGING.transform_values { |block| [[], block] } }.each do |name, (arguments, block)|
      [{ prefix: "a" }, { limit: 1 }, { range: "a".. }].each do |range|
        receivers = CHANGING.key?(name) ? [t] : [t, t.snapshot]
        receivers.product([block, nil]).each do |receiver, given|
          error = assert_raises(ArgumentError, "#{name} #{range}") { receiver.public_send(name, *arguments, **range, &given) }
          assert_match(/expected an ordered table .*found a hashed one/, error.message)
        end
      end
    end
    assert_equal(ENTRIES, t.to_h)
  end

  test_each("a_method_that_takes_no_range_refuses_the_keyword") do |store|
    t = make(store, ENTRIES)
    t["n"] = "1"
    snapshot = t.snapshot
    WITHOUT_RANGE.each do |name, arguments|
      [t, snapshot].each do |entries|
        # A snapshot has the compact of Enumerable.
        next if !entries.respond_to?(name) || (name == :compact && entries.equal?(snapshot))

        assert_raises(ArgumentError, "#{name} of #{entries.class}") { entries.public_send(name, *arguments, prefix: "a") }
      end
    end
    assert_equal(ENTRIES.merge("n" => "1"), t.to_h)
    [-> { t[prefix: "a"] }, -> { t.key?(prefix: "a") }, -> { t.delete(prefix: "a") }, -> { t.fetch(prefix: "a") }].each do |use|
      assert_match(/expected no keywords, found \{.*prefix/, assert_raises(ArgumentError, &use).message)
    end
    assert_raises(TypeError) { t.update(prefix: "a") }
    assert_raises(TypeError) { t.replace(prefix: "a") }
  end

  # Those of Ruby itself: a test may have loaded ActiveSupport, which adds some.
  def enumerable_methods
    Enumerable.public_instance_methods(false).select do |name|
      (Enumerable.instance_method(name).source_location || ["<internal:"]).first.start_with?("<internal:")
    end
  end

  def test_every_method_is_one_of_those_that_take_a_range_and_those_that_do_not
    named = WALKING.keys + CHANGING.keys + WITHOUT_RANGE.keys + WITH_HASH + WITHOUT_HASH
    places = [Bytewright::Entries, Bytewright::OrderedEntries, Bytewright::Table, Bytewright::TreeTable, Bytewright::Snapshot,
              *Bytewright::Entries.ancestors - [Enumerable, Bytewright::Entries]]
    methods = places.flat_map { |place| place.public_instance_methods(false) } + enumerable_methods
    assert_empty(methods.uniq - named)
  end

  test_each("both_ends_of_a_range", ORDERED) do |store|
    t = make(store, ENTRIES)
    [t, t.snapshot].each do |entries|
      assert_equal([%w[b 1], %w[bb 2]], [entries.first(prefix: "b"), entries.last(prefix: "b")])
      assert_equal([%w[bb 2], %w[b 1]], [entries.first(prefix: "b", reverse: true), entries.last(prefix: "b", reverse: true)])
      assert_equal([%w[ba 2], %w[bb 2]], entries.last(2, range: "a"..."c"))
      assert_equal([nil, nil, []], [entries.first(prefix: "x"), entries.last(prefix: "x"), entries.last(2, prefix: "x")])
      assert_equal(%w[d ca], entries.reverse_each(limit: 2).map(&:first))
      assert_equal(%w[bb ba b], entries.reverse_each(prefix: "b").map(&:first))
    end
  end

  test_each("what_is_no_range_is_refused", ORDERED) do |store|
    t = make(store, ENTRIES)
    { ArgumentError => [{ below: "b" }, { limit: -1 }], TypeError => [{ from: 1 }, { range: "a" }, { range: 1..2 }, { limit: "1" }] }
      .each do |error, ranges|
        ranges.each do |range|
          [-> { t.each(**range) { flunk } }, -> { t.each(**range) }, -> { t.count(**range) }, -> { t.map(**range) }, -> { t.delete_range(**range) }].each do |use|
            assert_raises(error, range.to_s, &use)
          end
        end
      end
    assert_match(/limit of 0 entries or more, found -1/, assert_raises(ArgumentError) { t.keys(limit: -1) }.message)
    assert_match(/a Range of Strings as range:, found 1/, assert_raises(TypeError) { t.keys(range: 1) }.message)
  end

  test_each("random_ranges_select_what_they_say", ORDERED) do |store|
    with_seeds(60) do |random|
      key = -> { Array.new(random.rand(4)) { %w[a b c].sample(random: random) }.join }
      entries = Array.new(random.rand(40)) { [key.call, random.rand(3).to_s] }.to_h
      low, high = Array.new(2) { key.call unless random.rand(5).zero? }
      range = Range.new(low, high, random.rand(2).zero?)
      limit = random.rand(5) if random.rand(2).zero?
      chosen = entries.sort.select { |name, _| range.cover?(name) }
      chosen = chosen.first(limit) if limit
      t = make(store, entries)
      assert_equal(chosen, t.to_a(range: range, limit: limit))
      assert_equal(chosen.size, t.count(range: range, limit: limit))
      assert_equal([chosen.find { |_, value| value == "1" }&.first], [t.key("1", range: range, limit: limit)])
    end
  end
end
