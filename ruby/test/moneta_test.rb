# frozen_string_literal: true

require_relative "test_case"

# Goal: Moneta's contract for adapters that create, increment, list keys, and are used by many threads,
# objects and processes at once; of caches, entries that expire, too.
# Method: the contract, case by case, on the adapter and on the store that Moneta builds around it, over
# each kind of table. Where Moneta is not installed, that is printed.
begin
  require "bytewright/moneta"
rescue LoadError => error
  raise unless error.path == "moneta"

  warn "gap: the adapter of Moneta is not tested: Moneta is not installed (apt-get install ruby-moneta)"
end

class MonetaTest < TestCase
  FILES = { "hash_file" => "store.bwh", "tree_file" => "store.bwt", "cache_file" => "store.bwc" }.freeze
  KINDS = %w[hash_file tree_file cache_file hash_in_memory tree_in_memory cache_in_memory].product(%w[built bare]).freeze

  def setup
    @folder = Dir.mktmpdir
    @opened = []
  end

  def teardown
    @opened.each(&:close)
    FileUtils.rm_rf(@folder)
  end

  def self.test_each(name, kinds = KINDS, &block)
    kinds.each { |kind, how| define_method("test_a_#{how}_#{kind}_#{name}") { instance_exec(kind, how, &block) } }
  end

  def self.test_files(name, &block)
    test_each(name, KINDS.select { |kind, _| FILES.key?(kind) }, &block)
  end

  def open_store(kind, how, **options)
    name = kind.start_with?("cache") ? :BytewrightCache : :Bytewright
    place = { file: FILES[kind] && File.join(@folder, FILES[kind]), type: (kind[/\A[a-z]+/].to_sym if name == :Bytewright && !FILES[kind]) }.compact
    store = how == "built" ? Moneta.new(name, place.merge(options)) : Moneta::Adapters.const_get(name).new(place.merge(options))
    @opened << store if Thread.current == Thread.main
    store
  end

  test_each("stores_loads_and_deletes") do |kind, how|
    store = open_store(kind, how)
    value = "value".dup.freeze
    assert_same(value, store.store("a", value))
    assert_equal(["value", "value", "value"], [store["a"], store.load("a"), store.fetch("a", "other")])
    assert_equal([nil, "other", "a block"], [store["b"], store.fetch("b", "other"), store.fetch("b") { "a block" }])
    assert_equal([true, false], [store.key?("a"), store.key?("b")])
    store["a"] = "new"
    store["a"] << " and changed"
    assert_equal("new", store["a"])
    assert_equal(["new", nil, false], [store.delete("a"), store.delete("a"), store.key?("a")])
  end

  # Until the collector comes, a table that nobody has keeps its file.
  test_files("leaves_its_file_to_others_wherever_an_interrupt_comes") do |kind, how|
    GC.disable
    store = open_store(kind, how)
    number = 0
    while interrupted_at?(number += 1) { store["n"] = number.to_s }
      value = how == "built" ? Marshal.dump(number.to_s) : number.to_s
      path = File.join(@folder, FILES[kind])
      if kind == "cache_file"
        Bytewright::Cache.open(path, timeout: 10) { |cache| cache["m".b] = value.b }
      else
        Bytewright::Table.open(path, timeout: 10) { |table| table["m"] = value }
      end
      assert_equal(number.to_s, store["m"], "after return #{number}")
    end
    assert_operator(number, :>=, 2)
  ensure
    GC.enable
  end

  CACHES = KINDS.select { |kind, _| kind.start_with?("cache") }.freeze

  test_each("lets_entries_expire_by_itself", CACHES) do |kind, how|
    store = open_store(kind, how, expires: 3600)
    store.store("gone", "1", expires: 0.001)
    store.store("never", "2", expires: false)
    store["default"] = "3"
    store.create("created", "4", expires: 0.001)
    store.increment("n", 1, expires: 0.001)
    sleep(0.01)
    assert_equal([nil, "2", "3", nil, nil], %w[gone never default created].map { |key| store[key] } << store.load("n", raw: true))
    assert_equal([false, true], [store.key?("gone"), store.key?("never")])
    assert_equal(%w[default never], store.each_key.sort)
    assert_equal([true, 2, "4"], [store.create("gone", "4"), store.increment("n", 2), store.load("gone", expires: 0.001)])
    assert(store.key?("default", expires: 0.001))
    store.increment("n", 1, expires: 0.001)
    sleep(0.01)
    assert_equal([nil, nil, nil], [store["gone"], store["default"], store.load("n", raw: true)])
    assert_raises(ArgumentError) { store.store("a", "1", expires: -1) }
  end

  test_each("adds_to_what_expires_meanwhile_with_an_expiry", CACHES) do |kind, how|
    store = open_store(kind, how, expires: 3600)
    backend = store
    backend = backend.adapter until backend.is_a?(Moneta::Adapters::BytewrightCache)
    cache = backend.backend
    # As if it expired between two steps.
    cache.define_singleton_method(:touch) { |*, **| false }
    cache.define_singleton_method(:increment) { |key, *, **| raise KeyError, key }
    assert_equal(5, store.increment("n", 5, expires: 0.001))
    cache.singleton_class.remove_method(:increment)
    assert_operator(store.increment("m", 1, expires: 0.001), :>, 0)
    sleep(0.01)
    assert_equal([nil, nil], [store.load("n", raw: true), store.load("m", raw: true)])
  end

  test_each("keeps_texts_of_numbers_as_they_are", CACHES) do |kind, how|
    store = open_store(kind, how)
    ["007", "-0", "1\n", " 1", "+1", "12345678901234567890", "1.5", "", "0", "-42", "999999999999999999"].each do |text|
      store.store("n", text, raw: true)
      assert_equal(text, store.load("n", raw: true))
    end
    assert_raises(TypeError) { Moneta::Adapters::BytewrightCache.new.store("a", 1) }
    assert_raises(TypeError) { Moneta::Adapters::BytewrightCache.new[:a] }
  end

  def test_the_options_of_a_cache_are_handed_on
    @opened << store = Moneta.new(:BytewrightCache, file: File.join(@folder, "store.bwc"), count_limit: 5, size_limit: 2_000_000, expires: true)
    20.times { |number| store[number.to_s] = "v" }
    assert_operator(store.each_key.count, :<=, 5)
    assert_raises(ArgumentError) { Moneta.new(:BytewrightCache, count: 5) }
    cache = Bytewright::Cache.new
    @opened << bare = Moneta::Adapters::BytewrightCache.new(backend: cache)
    assert_same(cache, bare.backend)
  end

  def test_a_number_of_seconds_after_which_entries_expire_is_taken
    [{ file: File.join(@folder, "store.bwh") }, { type: :tree }, { backend: Bytewright::HashTable.new }].each do |place|
      [[3600, "1"], [0.001, nil]].each do |seconds, expected|
        store = Moneta.new(:Bytewright, expires: seconds, **place)
        @opened << store
        store["a"] = "1"
        sleep(0.01)
        assert_equal([expected], [store["a"]])
      end
    end
  end

  test_each("clears_and_gives_itself") do |kind, how|
    store = open_store(kind, how)
    store["a"] = "1"
    assert_same(store, store.clear)
    assert_equal([], store.each_key.to_a)
    store["b"] = "2"
    assert_equal(["b"], store.each_key.to_a)
  end

  test_each("loads_many_and_stores_many") do |kind, how|
    store = open_store(kind, how)
    assert_same(store, store.merge!({ "a" => "1", "b" => "2" }))
    assert_equal(["2", nil, "1"], store.values_at("b", "c", "a"))
    assert_equal(["1", "no c"], store.fetch_values("a", "c") { |key| "no #{key}" })
    assert_equal([%w[a 1]], store.slice("a", "c").to_a)
    store.update([%w[a 3], %w[c 4]].each.lazy) { |_, old, new| old + new }
    assert_equal(%w[13 2 4], store.values_at("a", "b", "c"))
    assert_raises(RuntimeError) { store.merge!("a" => "x") { raise "from the block" } }
    assert_equal("13", store["a"])
  end

  test_each("creates_what_there_is_not") do |kind, how|
    store = open_store(kind, how)
    assert_equal([true, false, "first"], [store.create("a", "first"), store.create("a", "second"), store["a"]])
    mutexes = Array.new(2) { Moneta::Mutex.new(store, "mutex") }
    assert_equal([true, false, nil, true], [mutexes[0].lock, mutexes[1].try_lock, mutexes[0].unlock, mutexes[1].try_lock])
  end

  test_each("increments_and_decrements") do |kind, how|
    store = open_store(kind, how)
    assert_equal([1, 43, 42, 42, -8], [store.increment("n"), store.increment("n", 42), store.decrement("n"), store.increment("n", 0), store.decrement("n", 50)])
    assert_equal("-8", store.load("n", raw: true))
    assert_equal("-8", store.delete("n", raw: true))
    store.store("n", "41", raw: true)
    assert_equal(42, store.increment("n"))
    store["text"] = "value"
    assert_raises(ArgumentError) { store.increment("text") }
  end

  test_each("walks_the_keys") do |kind, how|
    store = open_store(kind, how)
    assert_equal(0, store.each_key.size)
    store["a"] = "1"
    2.times { store["b"] = "2" }
    assert_equal([%w[a b], 2], [store.each_key.sort, store.each_key.size])
    assert_same(store, store.each_key { |key| store.delete(key) })
    assert_equal(0, store.each_key.count)
  end

  test_each("keeps_its_features_and_closes_once_more") do |kind, how|
    store = open_store(kind, how)
    assert_equal(%i[create increment each_key], store.features - [:expires])
    assert_equal(kind.start_with?("cache"), store.supports?(:expires))
    @opened.pop
    assert_nil(store.close)
  end

  test_files("keeps_entries_for_the_next") do |kind, how|
    open_store(kind, how).store("a", "1")
    @opened.pop.close
    assert_equal("1", open_store(kind, how)["a"])
  end

  test_files("is_seen_by_another_object_at_once") do |kind, how|
    store, other = open_store(kind, how), open_store(kind, how)
    store["a"] = "1"
    assert_equal("1", other["a"])
    other["a"] = "2"
    @opened.delete(other).close
    assert_equal("2", store["a"])
  end

  test_files("is_seen_by_other_processes_and_sees_them") do |kind, how|
    store = open_store(kind, how)
    store["a"] = "1"
    5.times do |round|
      Process.waitpid(fork { exit!(reported { change_as_a_child(kind, how, round) }) })
      assert_predicate($?, :success?)
      assert_equal((round + 2).to_s, store["a"], "what another process stored")
      store["b"] = round.to_s
    end
  end

  test_files("counts_for_threads_and_processes") do |kind, how|
    store = open_store(kind, how)
    children = Array.new(3) { fork { exit!(reported { count_up(kind, how) }) } }
    count_up(kind, how)
    assert(children.all? { |child| Process.waitpid(child) && $?.success? })
    assert_equal([(4 * 3 * 100).to_s] * 10, Array.new(10) { |number| store.load("n#{number}", raw: true) })
  end

  test_files("lets_one_thread_of_all_processes_create_a_key") do |kind, how|
    store = open_store(kind, how)
    results = Array.new(3) { |number| File.join(@folder, "created #{number}") }
    results.each_with_index do |file, number|
      fork { exit!(reported { File.write(file, created(kind, how, "child #{number}").join("\n")) }) }
    end
    assert(Process.waitall.all? { |_, status| status.success? })
    created = results.map { |file| File.readlines(file, chomp: true) }
    assert_equal(500, created.flatten.size)
    assert_equal(500, created.flatten.uniq.size)
    created.each_with_index { |keys, number| assert_empty(keys.reject { |key| store[key] == "child #{number}" }) }
  end

  def test_a_wrong_type_is_refused
    error = assert_raises(ArgumentError) { Moneta.new(:Bytewright, type: :list) }
    assert_equal("expected type to be :hash or :tree, found :list", error.message)
  end

  def test_options_that_would_be_ignored_are_refused
    path = File.join(@folder, "shared.bwh")
    adapter = ->(**options) { Moneta::Adapters::Bytewright.new(**options).tap { |made| @opened << made } }
    adapter.call(file: path, sync: :interval)
    adapter.call(file: path)
    assert_raises(Bytewright::FormatError) { adapter.call(file: path, type: :tree) }
    table = Bytewright::HashTable.new
    [{ file: path }, { sync: :commit }, { type: :hash }, { timeout: 1 }].each do |other|
      assert_match(/found backend and #{other.keys.first}\z/, assert_raises(ArgumentError) { adapter.call(backend: table, **other) }.message)
    end
    assert_match(/found tree: true and type: :hash/, assert_raises(ArgumentError) { adapter.call(tree: true, type: :hash) }.message)
    assert_same(table, adapter.call(backend: table).backend)
  end

  def test_another_writer_that_does_not_end_is_a_lock_error
    table = Bytewright::HashTable.open(File.join(@folder, "store.bwh"))
    store = Moneta.new(:Bytewright, file: table.path, timeout: 0)
    table["a"] = "1"
    table.transaction do
      @opened << other = Moneta::Adapters::Bytewright.new(file: table.path)
      assert_equal("1", other["a"])
      assert_raises(Bytewright::LockError) { store["b"] = "2" }
    end
    table.close
    store["b"] = "2"
    store.close
  end

  private

  # Returns true if the block of a child came to its end; a child has nobody else to tell what went wrong.
  def reported
    yield
    true
  rescue StandardError, Minitest::Assertion => error
    warn error.full_message
    false
  end

  def change_as_a_child(kind, how, round)
    store = open_store(kind, how)
    # A tree shows what another process did at the end of its turn.
    eventually { store["a"] == (round + 1).to_s }
    store["a"] = (round + 2).to_s
    store.close
  end

  def count_up(kind, how)
    threads = Array.new(3) do
      Thread.new do
        store = open_store(kind, how)
        100.times { 10.times { |number| store.increment("n#{number}") } }
        store.close
      end
    end
    threads.each(&:join)
  end

  # The keys that this process created.
  def created(kind, how, value)
    store = open_store(kind, how)
    created = Array.new(500, &:to_s).shuffle.select { |key| store.create(key, value) }
    store.close
    created
  end

  # Without Moneta there is nothing to test.
  instance_methods(false).grep(/\Atest_/).each { |name| remove_method(name) } unless defined?(Moneta)
end
