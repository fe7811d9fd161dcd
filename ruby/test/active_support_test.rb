# frozen_string_literal: true

require_relative "test_case"

# Goal: ActiveSupport's contract for stores, over a file that processes share; entries that have expired make room, and what is no
# entry of ActiveSupport's is never unmarshalled.
# Method: the contract, case by case, with and without a local cache. Where ActiveSupport is not installed, that is printed. Its own
# shared behaviours are run by hand: CONTRIBUTING.md says how.
begin
  require "logger"
  require "active_support"
  require "active_support/cache"
  require "active_support/core_ext/numeric/time"
  require "active_support/testing/time_helpers"
rescue LoadError => error
  raise unless error.path == "active_support"

  warn "gap: the store of ActiveSupport is not tested: ActiveSupport is not installed (apt-get install ruby-activesupport)"
end

class ActiveSupportTest < TestCase
  include ActiveSupport::Testing::TimeHelpers if defined?(ActiveSupport::Cache)

  def setup
    @folder = Dir.mktmpdir
    @stores = []
  end

  def teardown
    @stores.each { |store| store.cache.close }
    FileUtils.rm_rf(@folder)
  end

  def store(**options)
    ActiveSupport::Cache.lookup_store(:bytewright_store, file, options).tap { |store| @stores << store }
  end

  def file
    File.join(@folder, "tmp/cache.bwc")
  end

  # Defines a test that runs with a local cache around it, too.
  def self.test_each(name, &block)
    define_method("test_a_store_#{name}") { instance_exec(store, &block) }
    define_method("test_a_store_with_a_local_cache_#{name}") { store.then { |own| own.with_local_cache { instance_exec(own, &block) } } }
  end

  # Moves the time that ActiveSupport asks for by seconds; the cache has the system's.
  def at(time)
    travel(time) { yield }
  end

  test_each("is_found_by_its_name") do |store|
    assert_instance_of(ActiveSupport::Cache::BytewrightStore, store)
    @stores << ActiveSupport::Cache.lookup_store(:bytewright, File.join(@folder, "other.bwc"))
    assert_instance_of(ActiveSupport::Cache::BytewrightStore, @stores.last)
    assert_predicate(ActiveSupport::Cache::BytewrightStore, :supports_cache_versioning?)
    assert_equal(file, store.cache.path)
    assert_includes(store.inspect, file)
  end

  Point = Struct.new(:x, :y)

  test_each("gives_values_of_any_class_back") do |store|
    [nil, false, 1, 1.5, "text", "bytes\xff".b, :symbol, [1, { "a" => nil }], Point.new(1, 2), Time.at(0), "x" * 100_000].each do |value|
      assert(store.write("key", value))
      assert_equal([value, true], [store.read("key"), store.exist?("key")])
    end
    assert_equal([true, nil, false, false], [store.delete("key"), store.read("key"), store.exist?("key"), store.delete("key")])
  end

  test_each("fetches_and_keeps_what_the_block_returns") do |store|
    assert_equal([1, 1, 2], [store.fetch("a") { 1 }, store.fetch("a") { flunk }, store.fetch("a", force: true) { 2 }])
    assert_nil(store.fetch("nil") { nil })
    assert_nil(store.fetch("nil") { flunk })
    assert_equal({ "a" => 2, "b" => "b!" }, store.fetch_multi("a", "b") { |name| "#{name}!" })
    store.write_multi({ "c" => 3, "d" => 4 })
    assert_equal({ "a" => 2, "d" => 4 }, store.read_multi("a", "none", "d"))
  end

  test_each("lets_entries_expire") do |store|
    store.write("a", 1, expires_in: 100)
    store.write("b", 2)
    at(99) { assert_equal(1, store.read("a")) }
    at(101) { assert_equal([nil, 2], [store.read("a"), store.read("b")]) }
    store.write("gone", 1, expires_in: 0.001)
    sleep(0.01)
    assert_equal([nil, :new], [store.read("gone"), store.fetch("gone") { :new }])
  end

  def test_what_has_expired_is_deleted_by_the_cache_itself
    store = store()
    store.write("gone", 1, expires_in: 0.001)
    store.write("raced", 1, expires_in: 0.001, race_condition_ttl: 10)
    store.write("default", 1)
    sleep(0.01)
    assert_equal([3, 1, 2], [store.cache.size, store.cleanup, store.cache.size])
    assert_equal([nil, 1], [store.read("raced"), store.read("default")])
    store(expires_in: 0.001).write("by default", 1)
    sleep(0.01)
    assert_equal(1, store.cache.expire)
  end

  test_each("gives_an_entry_a_little_longer_while_another_makes_it_anew") do |store|
    store.write("a", "old", expires_in: 60, race_condition_ttl: 10)
    at(61) do
      inner = nil
      assert_equal("new", store.fetch("a", race_condition_ttl: 10, expires_in: 60) { (inner = store.fetch("a") { flunk }) && "new" })
      assert_equal(["old", "new"], [inner, store.read("a")])
    end
    at(75) { assert_equal("new", store.read("a")) }
  end

  test_each("writes_what_there_is_not") do |store|
    assert_equal([true, false, 1], [store.write("a", 1, unless_exist: true), store.write("a", 2, unless_exist: true), store.read("a")])
    store.write("b", 1, expires_in: 60, race_condition_ttl: 10)
    at(61) { assert_equal([true, 2], [store.write("b", 2, unless_exist: true), store.read("b")]) }
  end

  test_each("tells_versions_apart") do |store|
    store.write("a", 1, version: 1)
    assert_equal([1, nil, 1], [store.read("a", version: 1), store.read("a", version: 2), store.read("a")])
    assert_equal(2, store.fetch("a", version: 2) { 2 })
  end

  test_each("adds_and_subtracts") do |store|
    assert_equal([1, 5, 3, 3], [store.increment("n"), store.increment("n", 4), store.decrement("n", 2), store.read("n")])
    assert_equal([-2, 41], [store.decrement("m", 2), store.write("text", "40") && store.increment("text")])
    store.write("n", 7, expires_in: 100, version: "1")
    assert_equal(8, store.increment("n", 1, version: "1"))
    # A local cache of ActiveSupport's forgets the expiry.
    at(101) { assert_nil(own_store.read("n")) }
    assert_equal([true, 6, "6"], [store.write("raw", 5, raw: true), store.increment("raw"), store.read("raw", raw: true).to_s])
    assert_raises(ArgumentError) { store.increment("n", "x") }
  end

  def test_sums_of_processes_are_not_lost
    children = Array.new(3) { fork { exit!(100.times { own_store.increment("n") && own_store.increment("raw", 1, raw: true) } && true) } }
    assert(children.all? { |child| Process.wait(child) && $?.success? })
    assert_equal([300, 300], [store.read("n"), store.read("raw")])
  end

  def own_store
    @own_store ||= store
  end

  test_each("keeps_raw_values_as_they_are_and_never_unmarshals_them") do |store|
    hostile = Marshal.dump(Point.new(1, 2))
    ["text", "bytes\xff".b, "", hostile, 7].each do |value|
      assert(store.write("key", value, raw: true))
      assert_equal([value, value, { "key" => value }], [store.read("key", raw: true), store.read("key"), store.read_multi("key")])
    end
    store.write("text", "tëxt", raw: true)
    assert_equal("tëxt", store.cache["text"])
    store.read("text", raw: true) << " changed"
    assert_equal("tëxt", store.read("text"))
    assert_equal([1.5], store.write("float", 1.5, raw: true) && [store.read("float")])
  end

  def test_a_payload_is_whole_for_who_keeps_it
    kept = Class.new do
      attr_reader :loaded

      def dump(entry, *) = Marshal.dump(entry)

      def load(payload)
        Marshal.load(@loaded = payload)
      end
    end.new
    value = "a" * 100_000
    store = store(coder: kept)
    store.write("large", value)
    2.times do
      assert_equal value, store.read("large")
      assert_equal Marshal.load(kept.loaded).value, value
    end
    store = store()
    store.write("large", value)
    store.with_local_cache { 3.times { assert_equal value, store.read("large") } }
    3.times { assert_equal [value, { "large" => value }], [store.read("large"), store.read_multi("large")] }
  end

  def test_only_what_a_coder_wrote_is_given_to_a_coder
    coder = Module.new do
      def self.dump(entry)
        "coded".b << Marshal.dump(entry)
      end

      def self.load(bytes)
        raise "expected what this coder wrote" unless bytes.start_with?("coded")

        Marshal.load(bytes.delete_prefix("coded"))
      end
    end
    store = store(coder: coder)
    assert_equal(Point.new(1, 2), store.write("a", Point.new(1, 2)) && store.read("a"))
    store.write("raw", "x".b, raw: true)
    [["x", "x"], [5, 5], [["y".b], "y"]].each { |stored, value| assert_equal(value, (store.cache["own"] = stored) && store.read("own")) }
    assert_equal("x", store.read("raw"))
  end

  test_each("deletes_what_matches") do |store|
    names = ["views/1", "views/2", "view/3", "häuser", "views"]
    write = -> { names.each { |name| store.write(name, 1) } }
    left = -> { names.select { |name| store.exist?(name) } }
    { /^views\// => ["view/3", "häuser", "views"], /s\/?/ => ["view/3"], "views/*" => ["view/3", "häuser", "views"], "view*" => ["häuser"],
      "*" => [], "view" => names, "h?user" => names - ["häuser"], "views/[1]" => names - ["views/1"] }.each do |matcher, expected|
      write.call
      store.delete_matched(matcher)
      assert_equal(expected, left.call, matcher.inspect)
    end
    write.call
    assert_equal(2, store.delete_multi(["views/1", "views/2", "none"]))
    store.clear
    assert_equal([], left.call)
  end

  test_each("has_namespaces") do |store|
    other = store(namespace: "other")
    other.write("a", 1)
    store.write("a", 2)
    store.write("other", 3, namespace: -> { "made" })
    assert_equal([1, 2, 1, 3], [other.read("a"), store.read("a"), store.read("other:a"), store.read("made:other")])
    other.write("b", 1)
    other.delete_matched(/a/)
    other.delete_matched("b*")
    assert_equal([nil, nil, 2], [other.read("a"), other.read("b"), store.read("a")])
  end

  test_each("takes_keys_of_any_kind") do |store|
    keys = ["ümläut", "bytes\xff".b, "\xff", "\0", "x" * 5000, :symbol, ["a", 1], { b: 2 }, 5, "a/b%c", "text".encode(Encoding::UTF_16LE)]
    keys.each_with_index { |key, index| store.write(key, index) }
    keys.each_with_index { |key, index| assert_equal(key == "\xff" ? keys.index("\xff") : index, store.read(key), key.inspect) }
    text = Class.new(String).new("of its own")
    assert_equal(1, store.write(text, 1) && store.read("of its own"))
    assert_equal(text, store.write("text", text, raw: true) && store.read("text"))
  end

  def test_another_store_and_another_process_see_it_at_once
    store = store()
    store.write("a", [1])
    assert_equal([1], own_store.read("a"))
    Process.wait(fork { exit!(store.read("a") == [1] && store.write("b", 2)) })
    assert_predicate($?, :success?)
    assert_equal(2, store.read("b"))
  end

  def test_options_of_the_cache_are_those_of_the_store_and_unknown_ones_are_activesupports
    store = store(size_limit: 2_000_000, count_limit: 10, timeout: 1, expires_in: 60, own: 1)
    100.times { |number| store.write(number, "v") }
    assert_operator(store.cache.size, :<=, 10)
    assert_equal([2_000_000, 60, 1], [store.cache.size_limit, store.options[:expires_in], store.options[:own]])
    assert_empty(store.options.keys & %i[size_limit count_limit timeout])
    assert_raises(ArgumentError) { store(size_limit: 1) }
    assert_nil(ActiveSupport::Cache::BytewrightStore.new.cache.path)
  end

  def test_what_the_cache_refuses_is_logged_and_is_a_miss
    store, log = store(timeout: 0, size_limit: 2_000_000), StringIO.new
    store.logger = Logger.new(log)
    store.write("a", 1)
    own_store.cache.transaction do
      assert_equal([false, false, nil, 1], [store.write("a", 2), store.write("a", 2, unless_exist: true), store.increment("a"), store.read("a")])
      refute(store.delete("a"))
    end
    assert_equal(false, store.write("large", Random.bytes(1_000_000)))
    assert_equal(4, log.string.scan(/BytewrightStoreError \((?:write|increment|delete)\): .*(?:another|wait|writ)/).size, log.string)
    assert_match(/BytewrightStoreError \(write\): .*limit|BytewrightStoreError \(write\): .*at most/, log.string)
    store.cache.close
    assert_raises(Bytewright::ClosedError) { store.read("a") }
  end

  def test_a_damaged_file_is_cleared_with_a_warning
    store(sync: :commit).tap { |store| 100.times { |number| store.write(number, Random.bytes(1000)) } }.cache.close
    File.binwrite(file, File.binread(file).tap { |bytes| bytes[20_000, 60_000] = "\xaa".b * 60_000 })
    _, said = capture_io { assert_nil(store(verify: true).read(1)) }
    assert_match(/a damaged cache was cleared/, said)
  end

  def test_subscribers_are_told
    told = []
    subscription = ActiveSupport::Notifications.subscribe(/cache_.*\.active_support/) { |name, *, payload| told << [name[/\Acache_(\w+)/, 1], payload[:hit]] }
    store, log = store(), StringIO.new
    store.logger = Logger.new(log)
    store.fetch("a") { 1 }
    store.read("a")
    store.increment("n", 2)
    store.delete_matched(/x/)
    store.cleanup
    assert_equal(%w[read generate write increment delete_matched cleanup], log.string.scan(/Cache (\w+)/).flatten.uniq - ["fetch_hit"])
    assert_equal([["read", false], ["read", true]], told.select { |name, _| name == "read" })
    assert_empty(%w[read generate write increment delete_matched cleanup] - told.map(&:first))
  ensure
    ActiveSupport::Notifications.unsubscribe(subscription)
  end

  # Without ActiveSupport there is nothing to test.
  instance_methods(false).grep(/\Atest_/).each { |name| remove_method(name) } unless defined?(ActiveSupport::Cache)
end
