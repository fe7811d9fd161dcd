# frozen_string_literal: true

require "pathname"
require "set"
require_relative "test_case"
require_relative "interruptions"

# Goal: a cache gives what was set, unchanged, for as long as it is to, and nothing else; threads, processes and objects share it.
# Method: each kind of cache, in memory and in a file; values of every class, also hostile ones; clocks of seconds that have passed
# long ago or do not come.
class CacheTest < TestCase
  KINDS = %w[memory file].freeze
  KEY = "a key that is long enough"

  def setup
    @folder = Dir.mktmpdir
    @opened = []
  end

  def teardown
    @opened.each(&:close)
    FileUtils.rm_rf(@folder)
  end

  def self.test_each(name, &block)
    KINDS.each { |kind| define_method("test_a_cache_in_#{kind}_#{name}") { instance_exec(kind, &block) } }
  end

  def file
    File.join(@folder, "cache.bwc")
  end

  def cache(kind = "file", **options)
    Bytewright::Cache.new(kind == "file" ? file : nil, **options).tap { |cache| @opened << cache }
  end

  VALUES = ["", "text", "tëxt\0", "\xff\x00".b, "bytes".b, 0, 1, -1, 2**62, -2**62 - 1, 2**63 - 1, -2**63, 2**63, 2**64 - 1, 2**64, -2**63 - 1,
            -2**200, 3**300, 0.0, -0.0, 1.5, 1e-320, 1e308, Float::INFINITY, nil, true, false, :symbol, :"sÿmbol with spaces", [], {}, [nil, [[]]],
            { "a" => 1, :a => 2, 1 => 3, 1.0 => 4, nil => 5, [1] => 6 }, { deep: [{ deeper: "bytes".b, "text" => [1.5, -2**70, :b] }] }, Set[],
            Set[1, "a", :b, [Set[2]]]].freeze

  test_each("gives_values_of_each_class_back_as_they_were") do |kind|
    cache = cache(kind)
    VALUES.each do |value|
      cache["key"] = value
      found = cache["key"]
      assert_equal([value.class, value], [found.class, found]) if value
      assert_equal([value], [found])
      assert_equal(value.encoding, found.encoding) if value.is_a?(String)
      assert_equal(1 / value, 1 / found) if value.is_a?(Float)
      refute_predicate(found, :frozen?) if [String, Array, Hash, Set].include?(value.class)
    end
    cache["key"] = Float::NAN
    assert_predicate(cache["key"], :nan?)
  end

  test_each("keeps_values_of_each_class_apart_as_keys") do |kind|
    cache = cache(kind)
    keys = VALUES.reject { |value| value.is_a?(Float) && value.zero? } + ["text".b]
    keys.each_with_index { |key, index| cache[key] = index }
    keys.each_with_index { |key, index| assert_equal([true, index], [cache.key?(key), cache.get(key)], key.inspect) }
    assert_equal(keys.size, cache.size)
    assert_equal(keys, cache.keys)
    assert_equal(keys.each_with_index.to_a, cache.to_a)
  end

  def test_a_string_of_ascii_comes_back_in_utf8_in_which_it_is_equal
    cache = cache("memory")
    cache["ascii"] = "text".encode(Encoding::US_ASCII)
    assert_equal(["text", Encoding::UTF_8], [cache["ascii"], cache["ascii"].encoding])
    cache["text".encode(Encoding::US_ASCII)] = 1
    assert_equal(1, cache["text"])
  end

  class Text < String; end
  class List < Array; end
  class Table < Hash; end

  UNFIT = {
    "value is Object" => Object.new, "value is CacheTest::Text" => Text.new("a"), "value is CacheTest::List" => List.new, "value is CacheTest::Table" => Table.new,
    "value is Range 1..2" => 1..2, "value is Time" => Time.at(0), "value is Rational (1/2)" => 1r / 2, "value is Class Object" => Object,
    "value is a Hash with a default" => Hash.new(1), "value[0] is a Hash with a default" => [Hash.new { nil }],
    "value is a Hash that compares by identity" => {}.compare_by_identity,
    "value is a String in UTF-8 that is no valid text in UTF-8" => "\xff", "value is a String in ISO-8859-1" => "\xe9".dup.force_encoding(Encoding::ISO_8859_1),
    "value is a String in UTF-16LE" => "a".encode(Encoding::UTF_16LE), "value is a String in US-ASCII" => "\xc3\xa9".dup.force_encoding(Encoding::US_ASCII),
    "value[1][:b][\"c\"] is Object" => [1, { b: { "c" => Object.new } }], "value[0][:a] is a String" => [{ a: "\xff" }],
    "is 100 objects deep" => 101.times.inject(1) { |inner, _| [inner] }
  }.freeze

  def test_what_a_cache_does_not_keep_is_a_type_error_that_says_where_it_is
    cache = cache("memory")
    UNFIT.each do |text, value|
      error = assert_raises(TypeError, text) { cache["key"] = value }
      assert_includes(error.message, text)
      assert_includes(error.message, "marshal_key")
    end
    assert_match(/: key is Object/, assert_raises(TypeError) { cache.get(Object.new) }.message)
    assert_match(/: tag is Object/, assert_raises(TypeError) { cache.set(1, 1, tag: Object.new) }.message)
    assert_empty(cache)
    around = []
    around << around
    assert_raises(TypeError) { cache["key"] = around }
    cache["deep"] = 100.times.inject(1) { |inner, _| [inner] }
    assert_equal(100, cache["deep"].flatten.size + 99)
  end

  def test_an_object_that_changes_while_it_is_set_is_refused
    cache = cache("memory")
    [[1, hash = { 1 => 2 }, 3], { 1 => hash, 2 => 3 }].each do |around|
      # While the Hash within is asked for its default, as another thread may.
      trace = TracePoint.new(:c_call) { |point| around.delete(around.is_a?(Hash) ? 2 : 3) if point.method_id == :default && point.self.equal?(hash) }
      assert_match(/found it changed/, assert_raises(RuntimeError) { trace.enable { cache["key"] = around } }.message)
    end
    refute(cache.key?("key"))
  end

  test_each("never_gives_what_has_expired") do |kind|
    cache = cache(kind)
    cache.set("past", 1, expires_in: -1)
    cache.set("now", 1, expires_in: 0)
    cache.set("later", 1, expires_in: 3600)
    cache.set("never", 1)
    assert_equal([nil, nil, 1, 1], %w[past now later never].map { |key| cache[key] })
    assert_equal([:none, :none], [cache.get("past", :none), cache.take("now", :none)])
    assert_equal([%w[later never], [["later", 1], ["never", 1]], 2], [cache.keys, cache.to_a, cache.count])
    assert_equal([false, true], [cache.key?("past"), cache.key?("later")])
    assert_equal([1, 2], [cache.expire, cache.size])
    assert(cache.touch("never", expires_in: -1))
    refute(cache.touch("never", expires_in: 10))
    assert_equal([true, 5], [cache.add("never", 5), cache["never"]])
    assert(cache.touch("later", expires_in: nil))
  end

  def test_seconds_may_be_any_number_and_nothing_else
    cache = cache("memory")
    duration = Object.new
    def duration.to_f
      3600.0
    end
    [1, 1.5, 1r, 2**70, Float::INFINITY, duration].each { |seconds| assert_equal(seconds, cache.set("a", seconds.is_a?(Numeric) ? 1 : 2, expires_in: seconds) && seconds) }
    assert_equal(2, cache["a"])
    assert_raises(ArgumentError) { cache.set("a", 1, expires_in: Float::NAN) }
    ["5", :a, Object.new].each { |seconds| assert_raises(TypeError) { cache.set("a", 1, expires_in: seconds) } }
    assert_equal(2, cache["a"])
  end

  test_each("fetches_what_it_has_and_else_what_the_block_returns") do |kind|
    cache = cache(kind)
    assert_nil(cache.fetch("nil", tag: :t) { nil })
    assert_nil(cache.fetch("nil") { flunk })
    assert_equal("key a", cache.fetch("a", expires_in: 3600) { |key| "key #{key}" })
    assert_equal("key a", cache.fetch("a"))
    assert_equal([:key, cache], assert_raises(KeyError) { cache.fetch(:key) }.then { |error| [error.key, error.receiver] })
    assert_equal(1, cache.fetch("gone", expires_in: -1) { 1 })
    refute(cache.key?("gone"))
    assert_equal(1, cache.evict(:t))
    assert_raises(RuntimeError) { cache.fetch("raised") { raise "from the block" } }
    refute(cache.key?("raised"))
  end

  test_each("sets_adds_counts_and_takes") do |kind|
    cache = cache(kind)
    value = %w[a]
    assert_same(value, cache.set("a", value))
    assert_same(value, cache.store("a", value))
    assert_equal([false, true, %w[a], 2], [cache.add("a", 1), cache.add("b", 2), cache["a"], cache["b"]])
    assert_equal([1, 6, 4, 14, -3], [cache.increment("n"), cache.increment("n", 5), cache.decrement("n", 2), cache.increment("m", 4, default: 10), cache.decrement("o", 3)])
    assert_raises(KeyError) { cache.increment("none", default: nil) }
    assert_raises(ArgumentError) { cache.increment("a") }
    cache["max"] = 2**63 - 1
    assert_raises(ArgumentError) { cache.increment("max") }
    assert_raises(RangeError) { cache.increment("n", 2**64) }
    assert_equal([%w[a], nil, false, true], [cache.take("a"), cache.take("a"), cache.delete("a"), cache.delete("b")])
    assert_equal([4, 0, true], [cache.clear, cache.size, cache.empty?])
  end

  test_each("evicts_the_entries_of_a_tag") do |kind|
    cache = cache(kind)
    tags = ["tag", "tag".b, :tag, 1, 1.0, [1], nil]
    tags.each_with_index { |tag, index| 2.times { |number| cache.set([index, number], 1, tag: tag) } }
    tags.compact.each_with_index { |tag, index| assert_equal([2, false], [cache.evict(tag), cache.key?([index, 0])], tag.inspect) }
    assert_equal([0, 2], [cache.evict("tag"), cache.size])
  end

  def test_a_sum_keeps_the_expiry_and_the_tag_of_its_entry
    cache = cache("memory")
    cache.set("gone", 5, expires_in: 0)
    cache.set("tagged", 5, tag: :t)
    assert_equal([1, 6, 1], [cache.increment("gone"), cache.increment("tagged"), cache.evict(:t)])
  end

  test_each("counts_the_look_ups_of_an_object") do |kind|
    cache = cache(kind)
    cache["a"] = 1
    3.times { cache["a"] }
    cache.get("none")
    cache.fetch("none") { 1 }
    assert_equal({ hits: 3, misses: 2 }, cache.stats)
    assert_equal({ hits: 3, misses: 2 }, cache.stats(reset: true))
    assert_equal({ hits: 0, misses: 0 }, cache.stats)
  end

  test_each("stays_below_its_limits") do |kind|
    cache = cache(kind, size_limit: 2_000_000, count_limit: 50)
    200.times { |number| cache[number] = "v" }
    assert_operator(cache.size, :<=, 50)
    assert_equal("v", cache[199])
    cache.close
    cache = cache(kind, size_limit: 2_000_000)
    400.times { |number| cache[number] = "x" * 20_000 }
    assert_operator(cache.volume, :<=, 2_000_000)
    assert_operator(File.stat(file).blocks * 512, :<=, 2_000_000) if kind == "file"
    assert_equal(2_000_000, cache.size_limit)
    assert_raises(Bytewright::LimitError) { cache["large"] = "x" * 600_000 }
    assert_operator(cache.cull, :>=, 0)
    [{ size_limit: 5 }, { count_limit: 0 }, { size: 5 }, { on_damage: :keep }].each { |options| assert_raises(ArgumentError) { cache("memory", **options) } }
  end

  test_each("keeps_all_changes_of_a_transaction_or_none") do |kind|
    cache = cache(kind)
    cache["a"] = 1
    assert_equal(:result, cache.transaction { |itself| itself["a"] += 1 and :result })
    assert_nil(cache.transaction { cache["a"] = 5 and break })
    assert_raises(RuntimeError) { cache.transaction { cache.delete("a") and raise "taken back" } }
    catch(:out) { cache.transaction { cache.clear and throw(:out) } }
    assert_equal(2, cache["a"])
  end

  test_each("walks_the_entries_that_there_were_when_it_began") do |kind|
    cache = cache(kind)
    3.times { |number| cache[number] = number.to_s }
    seen = []
    assert_same(cache, cache.each { |key, value| seen << [key, value] and cache[key + 10] = value })
    assert_equal([[0, "0"], [1, "1"], [2, "2"]], seen)
    assert_same(cache, cache.each_key { |key| cache.delete(key) })
    assert_equal([[0, "0"], [0, "0"]], [seen.first, cache.each_pair.first || [0, "0"]])
    assert_equal([], cache.each_key.to_a)
    cache["a"] = 1
    assert_equal([["a", 1]], cache.each.to_a)
    assert_equal("a", cache.each_key.next)
  end

  test_each("says_what_it_is_and_closes") do |kind|
    cache = cache(kind)
    cache["secret"] = 1
    assert_equal("#<Bytewright::Cache #{"#{file.inspect} " if kind == "file"}of 1 entries>", cache.inspect)
    assert_equal([kind == "file" ? file : nil, false], [cache.path, cache.closed?])
    assert_same(cache, cache.sync)
    2.times { assert_nil(cache.close) }
    assert_predicate(cache, :closed?)
    refute_includes(cache.inspect, "entries")
    USES.each { |use| assert_raises(Bytewright::ClosedError) { use.call(cache) } }
  end

  USES = [->(cache) { cache["a"] }, ->(cache) { cache["a"] = 1 }, ->(cache) { cache.take("a") }, ->(cache) { cache.increment("a") }, :size.to_proc,
          :clear.to_proc, :expire.to_proc, :cull.to_proc, ->(cache) { cache.evict(1) }, ->(cache) { cache.touch("a") }, :to_a.to_proc, :keys.to_proc,
          ->(cache) { cache.transaction { flunk } }, :volume.to_proc, ->(cache) { cache.key?("a") }, ->(cache) { cache.delete("a") },
          ->(cache) { cache.add("a", 1) }].freeze

  def test_a_cache_that_was_never_opened_says_so
    cache = Bytewright::Cache.allocate
    assert_predicate(cache, :closed?)
    assert_nil(cache.close)
    (USES + [:size_limit.to_proc, :sync.to_proc]).each { |use| assert_raises(Bytewright::ClosedError) { use.call(cache) } }
    assert_match(/closed/, cache.inspect)
  end

  def test_a_cache_is_opened_once_and_copied_never
    cache = cache("memory")
    assert_raises(ArgumentError) { cache.send(:initialize) }
    [:dup, :clone].each { |copy| assert_raises(TypeError) { cache.public_send(copy) } }
    assert_raises(TypeError) { Marshal.dump(cache) }
    cache["a"] = 1
    assert_equal(1, cache["a"])
  end

  def test_a_frozen_cache_is_read_and_not_changed
    cache = cache("memory")
    cache["a"] = 1
    cache.freeze
    assert_equal([1, [["a", 1]], 1], [cache["a"], cache.to_a, cache.stats[:hits]])
    [->(one) { one["a"] = 2 }, ->(one) { one.set("a", 2) }, ->(one) { one.add("b", 2) }, ->(one) { one.delete("a") }, ->(one) { one.take("a") },
     ->(one) { one.increment("a") }, ->(one) { one.touch("a") }, ->(one) { one.evict("a") }, :clear.to_proc, :expire.to_proc, :cull.to_proc].each do |change|
      assert_raises(FrozenError) { change.call(cache) }
    end
    assert_equal(1, cache["a"])
  end

  def test_a_block_has_the_cache_until_it_ends
    kept = nil
    assert_equal(:result, Bytewright::Cache.open(file) { |cache| (kept = cache)["a"] = 1 and :result })
    assert_predicate(kept, :closed?)
    assert_equal(1, Bytewright::Cache.open(file) { |cache| cache["a"] })
    assert_raises(RuntimeError) { Bytewright::Cache.open { |cache| (kept = cache) && raise("within") } }
    assert_predicate(kept, :closed?)
    @opened << Bytewright::Cache.open(file)
    assert_equal(1, @opened.last["a"])
  end

  # Until the collector comes, a cache that nobody has keeps its file.
  def test_a_block_leaves_its_file_to_others_wherever_an_interrupt_comes
    GC.disable
    number = 0
    while interrupted_at?(number += 1) { Bytewright::Cache.open(file, exclusive: true) { |cache| cache["n"] = number } }
      Bytewright::Cache.open(file, timeout: 0, exclusive: true) { |cache| cache["m"] = number }
    end
    assert_operator(number, :>=, 3)
  ensure
    GC.enable
  end

  def test_an_interrupt_leaves_a_cache_whole
    cache = cache(size_limit: 2_000_000)
    with_seeds(2) do |random|
      Interruptions.with_interruptions(random.seed) do |interrupt|
        20.times do |round|
          interrupt.call(lambda {
            cache.transaction { cache["a"] = cache["b"] = [round, "x" * 10_000] }
            cache.fetch(random.rand(1000)) { { list: ["y" * 20_000] } }
            cache.each { |_, value| value }
          })
          assert_equal(cache["a"], cache["b"])
          assert_equal([true, round], [cache.set("own", round) && true, cache["own"]])
        end
      end
    end
  end

  def test_a_folder_is_made_for_the_file
    path = File.join(@folder, "one/two/cache.bwc")
    Bytewright::Cache.open(Pathname.new(path)) { |cache| assert_equal(path, cache.path) }
    assert_path_exists(path)
    File.write(File.join(@folder, "plain"), "")
    assert_raises(SystemCallError) { Bytewright::Cache.new(File.join(@folder, "plain/cache.bwc")) }
    refute_path_exists(File.join(@folder, "none").tap { |folder| assert_raises(ArgumentError) { Bytewright::Cache.new(File.join(folder, "a"), sync: :sometimes) } })
  end

  def test_a_file_of_something_else_is_refused_and_stays
    Bytewright::HashTable.open(file) { |table| table["a"] = "1" }
    assert_raises(Bytewright::FormatError) { cache(on_damage: :clear) }
    assert_equal("1", Bytewright::HashTable.open(file) { |table| table["a"] })
    File.unlink(file)
    cache["a"] = 1
    @opened.pop.close
    assert_raises(Bytewright::FormatError) { Bytewright::HashTable.open(file) }
  end

  def test_a_damaged_file_is_an_error_or_an_empty_cache_with_a_warning
    cache(sync: :commit).tap { |cache| 100.times { |number| cache[number] = "x" * 1000 } }.close
    bytes = File.binread(file)
    bytes[20_000, 60_000] = "\xaa".b * 60_000
    File.binwrite(file, bytes)
    read = -> { Bytewright::Cache.open(file, verify: true, &:to_a) }
    assert_raises(Bytewright::CorruptError, &read)
    out, said = capture_io { Bytewright::Cache.open(file, verify: true, on_damage: :clear) { |cache| assert_empty(cache) and cache["a"] = 1 } }
    assert_equal(["", true], [out, said.include?("a damaged cache was cleared")])
    assert_equal([["a", 1]], read.call)
  end

  # Frames and records are behind it in a file.
  LOG_START = 69_632

  # Fills a cache, and changes bytes of all its entries below those who have it open.
  def spoiled(**options)
    cache(sync: :commit, **options).tap do |cache|
      100.times { |number| cache[number] = "x" * 1000 }
      yield if block_given?
      (LOG_START...File.size(file)).step(64) { |at| File.binwrite(file, "\xaa", at) }
    end
  end

  DAMAGED = { "get" => ->(cache) { cache[5] }, "set" => ->(cache) { 10.times { |number| cache[number] = 1 and cache[number] } },
              "each" => ->(cache) { cache.each { |key| key } }, "take" => ->(cache) { cache.take(7) } }.freeze

  DAMAGED.each do |name, use|
    define_method("test_#{name}_that_meets_damage_is_an_error_that_says_what_to_do") do
      cache = spoiled
      assert_match(/on_damage "clear"/, assert_raises(Bytewright::CorruptError) { use.call(cache) }.message)
      assert_raises(Bytewright::CorruptError) { @opened.pop.close }
      assert_predicate(cache, :closed?)
    end

    define_method("test_#{name}_that_meets_damage_goes_on_with_an_empty_cache") do
      cache = spoiled(on_damage: :clear)
      _, said = capture_io { use.call(cache) }
      assert_equal(1, said.scan("a damaged cache was cleared").size, said)
      assert_operator(cache.size, :<=, 10)
      cache["after"] = 1
      assert_equal(1, Bytewright::Cache.open(file) { |other| other["after"] })
    end
  end

  def test_damage_in_a_transaction_is_an_error_and_is_cleared_behind_it
    cache = spoiled(on_damage: :clear)
    assert_raises(Bytewright::CorruptError) { cache.transaction { cache[5] } }
    capture_io { assert_nil(cache[5]) }
    assert_equal(0, cache.size)
  end

  def test_processes_that_meet_damage_go_on_with_one_file
    told, tells = IO.pipe
    starts = Array.new(3) { IO.pipe }
    children = nil
    cache = spoiled(on_damage: :clear) do
      children = starts.each_with_index.map do |(start, _), number|
        fork do
          own = Bytewright::Cache.new(file, on_damage: :clear)
          own[5]
          tells.write("r")
          start.read(1)
          $stderr.reopen(File::NULL)
          own.each { |key| key }
          own["child #{number}"] = 1
          exit!(0)
        end
      end
      assert_equal("rrr", told.read(3))
    end
    starts.each { |_, start| start.write("g") }
    children.each { |child| assert_predicate(Process.wait2(child).last, :success?) }
    capture_io { assert_equal(["child 0", "child 1", "child 2"], cache.keys.sort) }
    [told, tells, *starts.flatten].each(&:close)
  end

  Point = Struct.new(:x, :y)

  test_each("marshals_other_objects_with_a_key_alone") do |kind|
    cache = cache(kind, marshal_key: KEY)
    objects = [Point.new(1, [2]), 1..2, "\xff", Hash.new(3), Object]
    objects.each do |object|
      cache[:value] = object
      assert_equal(object, cache[:value])
      cache.set(object, 1, tag: object)
      assert_equal([1, true, 1], [cache[object], cache.keys.include?(object), cache.evict(object)])
    end
    assert_raises(TypeError) { cache[:value] = Object.new.tap { |object| def object.own; end } }
    assert_equal(Object, cache[:value])
  end

  def test_what_is_marshalled_is_read_with_its_key_alone
    cache(marshal_key: KEY).set("a", Point.new(1, 2))
    other = cache(marshal_key: "another key of sixteen")
    assert_match(/nothing of it was read/, assert_raises(Bytewright::CorruptError) { other["a"] }.message)
    assert_match(/marshal_key/, assert_raises(ArgumentError) { cache["a"] }.message)
    assert_equal(true, cache.key?("a"))
    [nil.to_s, "short", 5, :a_symbol_of_sixteen].each { |key| assert_raises(ArgumentError) { cache("memory", marshal_key: key) } }
  end

  def test_nothing_is_unmarshalled_that_does_not_have_the_check
    cache = cache(marshal_key: KEY)
    cache["a"] = Point.new(1, 2)
    sealed = cache.send(:table).send(:scan, nil, &:values).first
    loaded = false
    trace = TracePoint.new(:c_call) { |point| loaded ||= point.method_id == :load && point.self == Marshal }
    (sealed.bytesize - 1).times do |at|
      changed = sealed.b
      changed.setbyte(at + 1, changed.getbyte(at + 1) ^ 1)
      cache.send(:table)["a"] = changed
      trace.enable { assert_raises(Bytewright::CorruptError) { cache["a"] } }
    end
    refute(loaded)
    41.times { |length| cache.send(:table)["a"] = sealed.byteslice(0, length) and assert_raises(Bytewright::Error) { cache["a"] } }
  end

  # The value of a nested object whose bytes are these.
  def nested(bytes)
    cache = cache("memory")
    cache.send(:table)["a"] = "\x04".b + bytes
    cache["a"]
  end

  def test_nested_bytes_that_no_cache_wrote_are_refused
    assert_equal([[1, 2], { 1 => :a }, 2**64, -2**64 - 1, Set[1], "é"],
                 ["\x82\x01\x02", "\xa1\x01\xd8\x27\x61a", "\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\xc3\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00",
                  "\xd9\x01\x02\x81\x01", "\x62é"].map { |bytes| nested(bytes.b) })
    assert_equal([true, [1]], nested("\xda\x74\x75\x70\x6c\x81\x01".b).then { |tuple| [tuple.frozen?, tuple] })
    assert_equal([true, Set[1]], nested("\xda\x66\x73\x65\x74\x81\x01".b).then { |set| [set.frozen?, set] })
    others = ["", "\x81", "\x01\x01", "\xc1\x01", "\xc2\x01", "\xd8\x27\x01", "\xd8\x27\x41\xff", "\xd9\x01\x02\x01", "\xd9\x01\x02\xd9\x01\x02\x80",
              "\xd9\x01\x02" * 1_000_000, "\x81" * 1_000_000, "\x9b#{"\xff" * 8}", "\xf7", "\x61\xff"]
    others.each { |bytes| assert_raises(Bytewright::FormatError, bytes.b[0, 9]) { nested(bytes.b) } }
  end

  def test_threads_share_a_cache
    cache = cache()
    threads = Array.new(4) do |thread|
      Thread.new do
        200.times do |round|
          cache.increment("n")
          cache["own #{thread}"] = { round: round, list: ["x" * 100] }
          assert_equal(round, cache["own #{thread}"][:round])
          cache.transaction { cache["pair"] = [thread, thread] }
          assert_equal(*cache["pair"])
        end
      end
    end
    threads.each(&:join)
    assert_equal(800, cache["n"])
  end

  def test_processes_share_a_cache_also_one_that_a_child_inherits
    cache = cache()
    cache["n"] = 0
    children = Array.new(3) do |number|
      fork do
        own = number.zero? ? cache : Bytewright::Cache.new(file)
        200.times { own.increment("n") and own.set([number, "list"], [number]) }
        exit!(own["n"] > 0 && own[[number, "list"]] == [number])
      end
    end
    200.times { cache.increment("n") }
    assert(children.all? { |child| Process.wait(child) && $?.success? })
    assert_equal([800, [1]], [cache["n"], cache[[1, "list"]]])
  end

  def test_a_writer_that_does_not_end_is_a_lock_error_and_readers_go_on
    cache = cache()
    cache["a"] = 1
    other = cache(timeout: 0)
    cache.transaction do
      cache["a"] = 2
      assert_raises(Bytewright::LockError) { other["b"] = 1 }
      assert_equal(1, other["a"])
    end
    assert_equal([2, 1], [other["a"], other.set("b", 1)])
  end

  def test_keys_that_marshal_reaches_into_the_cache_itself
    cache = cache("memory", marshal_key: KEY)
    own = Object.new
    own.define_singleton_method(:cache) { nil }
    assert_raises(TypeError) { cache[own] = 1 }
    klass = Class.new { define_method(:marshal_dump) { cache["within"] = cache.fetch("within") { 1 } } }
    Object.const_set(:CacheTestReaching, klass)
    cache["a"] = klass.new
    assert_equal(1, cache["within"])
  ensure
    Object.send(:remove_const, :CacheTestReaching)
  end

  def test_a_large_value_is_set_without_stopping_other_threads
    cache = cache()
    cache["large"] = "x" * 5_000_000
    assert_equal(5_000_000, cache["large"].bytesize)
    assert_equal([true, 5_000_000], [cache.touch("large", expires_in: 60), cache.take("large").bytesize])
  end

  def test_objects_stay_alive_and_move_with_their_cache
    cache = cache(marshal_key: KEY.dup)
    cache["a"] = Point.new(1, { b: ["c"] })
    GC.start
    move_all_objects
    assert_equal(Point.new(1, { b: ["c"] }), cache["a"])
    assert_equal(1, cache.size)
  end
end
