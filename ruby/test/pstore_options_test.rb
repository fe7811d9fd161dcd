# frozen_string_literal: true

require_relative "pstore_case"
require "set"
require "socket"
require "stringio"

# Goal: what our stores can do beyond the original.
class PStoreOptionsTest < StoreCase
  # Says that it was loaded.
  class Spy
    class << self
      attr_accessor :loaded
    end

    def initialize(value) = @value = value
    def marshal_dump = @value
    def marshal_load(value) = (Spy.loaded = true) && @value = value
  end

  def test_options_do_not_take_the_place_of_the_originals_arguments
    with_store_path do |path|
      assert(OURS.new(path, true, verify: true).instance_variable_get(:@thread_safe))
      assert(OURS.new(path, thread_safe: true).instance_variable_get(:@thread_safe))
      assert_equal({ verify: true }, OURS.new(path, { verify: true }).instance_variable_get(:@thread_safe))
      error = assert_raises(ArgumentError) { OURS.new(path, permited_classes: []) }
      assert_equal("unknown keyword: :permited_classes", error.message)
    end
  end

  # Promise (pstore-journal): A store with `permitted_classes:` loads no other class.
  def test_only_permitted_classes_are_loaded
    with_store_path do |path|
      write_table(path, { "plain" => [1, 2.5, nil, true, :sym, { "a" => "b" }], "pair" => Pair.new(1, Point.new), "text" => "x" })
      store = OURS.new(path, permitted_classes: [Pair])
      store.transaction(true) { assert_equal([[1, 2.5, nil, true, :sym, { "a" => "b" }], "x"], [store["plain"], store["text"]]) }
      error = assert_raises(OURS::DisallowedClass) { store.transaction(true) { store["pair"] } }
      assert_equal(["expected objects of permitted classes, found one of StoreCase::Point", "StoreCase::Point"],
                   [error.message, error.class_name])
      assert_kind_of(OURS::Error, error)
      named = OURS.new(path, permitted_classes: ["StoreCase::Pair", Point])
      assert_equal(1, named.transaction(true) { named["pair"].left })
    end
  end

  # Also where all of it is loaded at once, and where it is damaged.
  # Promise (pstore-journal): also A store with `permitted_classes:`
  def test_a_whole_table_is_loaded_only_of_permitted_classes
    with_store_path do |path|
      [{ [1] => Spy.new(1) }, Spy.new(1), { a: Spy.new(1), b: 2 }.compare_by_identity].each do |object|
        write_table(path, object)
        Spy.loaded = nil
        [true, false].each do |read_only|
          store = OURS.new(path, permitted_classes: [])
          assert_raises(OURS::DisallowedClass) { store.transaction(read_only) { store[[1]] } }
        end
        assert_nil(Spy.loaded)
      end
      whole = Marshal.dump([Spy.new(1)] * 2)
      (3...whole.bytesize).each do |length|
        File.binwrite(path, whole[0, length])
        store = OURS.new(path, permitted_classes: [])
        error = assert_raises(OURS::Error) { store.transaction { store.roots } }
        assert_match(/corrupted|permitted/, error.message)
      end
      assert_nil(Spy.loaded)
    end
  end

  def test_a_derived_class_loads_only_permitted_classes_unless_it_loads_itself
    derived = Class.new(OURS) { def dump(table) = Marshal.dump(table) }
    with_store_path do |path|
      store = derived.new(path, permitted_classes: [Set])
      store.transaction { store[:a] = Set[1] }
      store.transaction(true) { assert_equal(Set[1], store[:a]) }
      write_table(path, { a: Spy.new(1) })
      [true, false].each { |read_only| assert_raises(OURS::DisallowedClass) { store.transaction(read_only) { 1 } } }
    end
  end

  # Writers that leave no trace in what a file's status says.
  # Promise (pstore-journal): A store with `verify: true` trusts no times.
  def test_a_store_that_verifies_trusts_no_times
    with_store_path do |path|
      store = OURS.new(path, verify: true)
      store.transaction { store[:a] = 1 }
      time = File.mtime(path)
      File.binwrite(path, File.binread(path).sub("i\x06", "i\x07"))
      File.utime(time, time, path)
      store.transaction { assert_equal(2, store[:a]) }
    end
  end

  # Promise (pstore-journal): A store that is `ultra_safe` loses no update of another process, and
  # keeps the file, its mode and a link.
  def test_ultra_safe_keeps_file_mode_and_link
    with_store_path do |path|
      write_table("#{path}-target", { a: 1 })
      File.chmod(0o600, "#{path}-target")
      File.symlink("#{path}-target", path)
      inode = File.stat(path).ino
      store = OURS.new(path)
      store.ultra_safe = true
      3.times { store.transaction { store[:a] += 1; store[:b] = [store[:a]] } }
      assert_equal([inode, 0o600, true], [File.stat(path).ino, File.stat(path).mode & 0o777, File.symlink?(path)])
      assert_equal({ a: 4, b: [4] }, read_table("#{path}-target"))
    end
  end

  # Promise (pstore-journal): also A transaction reads and writes what it touches
  def test_a_root_that_nobody_touches_is_not_loaded
    with_store_path do |path|
      File.binwrite(path, "\x04\x08{\x07:\x06ao:\x0bNoneXx\x00:\x06bi\x06")
      store = OURS.new(path)
      store.transaction { store[:b] += 1 }
      assert_equal("\x04\x08{\x07:\x06ao:\x0bNoneXx\x00:\x06bi\x07".b, File.binread(path))
    end
  end

  def test_inspect_shows_the_path_and_loads_nothing
    with_store_path do |path|
      store = OURS.new(path)
      assert_equal("#<Bytewright::PStore #{path.inspect}>", store.inspect)
      store.transaction { store[:a] = 1; assert_equal("#<Bytewright::PStore #{path.inspect}>", store.inspect) }
    end
  end

  # Promise (pstore-journal): A missing class is an error of the transaction that touches it.
  def test_a_root_that_cannot_be_loaded_fails_alone_also_where_all_are_loaded_at_once
    with_store_path do |path|
      roots = Array.new(100) { |root| ["key#{root}", [root]] }.to_h
      File.binwrite(path, Marshal.dump(roots.merge("bad" => Point.new)).sub("StoreCase::Point", "StoreCase::Faint"))
      store = OURS.new(path)
      3.times do
        [true, false].each do |read_only|
          store.transaction(read_only) do
            roots.each { |key, value| assert_equal(value, store[key]) }
            assert_raises(ArgumentError) { store["bad"] }
          end
        end
      end
    end
  end

  class Late < StandardError; end

  # A key of a Hash: when that is loaded, another thread raises in the one that loads, as Timeout does.
  class Disturbed
    class << self
      attr_accessor :is_loaded
    end

    def hash
      Thread.new(Thread.current) { |loading| loading.raise(Late, "too late") }.join if Disturbed.is_loaded
      1
    end
  end

  # A few roots, which are loaded at once, and many, of which that is so after a transaction that used most.
  { "few" => [2, 0], "many" => [100, 1] }.each do |kind, (count, transactions)|
    { "read" => true, "write" => false }.each do |purpose, read_only|
      define_method("test_what_another_thread_raises_while_#{kind}_roots_are_loaded_to_#{purpose}_is_not_lost") do
        with_store_path do |path|
          roots = Array.new(count) { |root| ["key#{root}", [root]] }.to_h
          write_table(path, roots.merge("disturbed" => { Disturbed.new => 1 }))
          store = OURS.new(path)
          transactions.times { store.transaction(read_only) { roots.each_key { |key| store[key] } } }
          Disturbed.is_loaded = true
          error = assert_raises(Late) { store.transaction(read_only) { store["key0"] } }
          assert_equal("too late", error.message)
        ensure
          Disturbed.is_loaded = false
        end
      end
    end
  end

  # One transaction in which most roots are loaded is followed by some that load all at once.
  def test_habits_change_nothing
    with_store_path do |path|
      twin = Array.new(100) { |root| ["key#{root}", [root, "text"]] }.to_h
      write_table(path, twin)
      store = OURS.new(path)
      60.times do |count|
        key = "key#{count * 7 % 100}"
        store.transaction do
          twin.each_key { |each| assert_equal(twin[each], store[each]) } if count % 25 == 0
          store[key] << count
        end
        twin[key] << count
        assert_equal(Marshal.dump(Marshal.load(Marshal.dump(twin))), File.binread(path))
      end
    end
  end

  class Interrupt < StandardError; end

  [false, true].each do |thread_safe|
    %i[marshal roots].each do |format|
      # Promise (pstore-journal): An interrupt leaves no lock held and no file open.
      define_method("test_an_interrupt_at_any_return_leaves_nothing_taken_#{format}_#{thread_safe}") do
        with_store_path do |path|
          store = OURS.new(path, thread_safe, format: format)
          store.transaction { store["n"] = 0 }
          number = 0
          while interrupted_at?(number += 1) { store.transaction { store["n"] += 1 } }
            assert_kind_of(Integer, store.transaction(true) { store["n"] }, "after return #{number}")
            store.transaction { store["m"] = number }
          end
          assert_operator(number, :>, 5)
        ensure
          store&.close
        end
      end
    end
  end

  # Until the collector comes, a table that nobody has keeps its file.
  %w[store.bwh store.bwt].each do |name|
    # Promise (pstore-journal): also An interrupt leaves no lock held
    define_method("test_an_interrupt_at_any_return_while_a_file_is_opened_leaves_it_to_others_#{name.tr(".", "_")}") do
      with_store_path(name) do |path|
        GC.disable
        number = 0
        store = OURS.new(path, format: :roots)
        while interrupted_at?(number += 1) { store.transaction { store["n"] = number } }
          store.close
          Bytewright::Table.open(path) { |table| assert_predicate(table, :in_file?, "after return #{number}") }
          store = OURS.new(path, format: :roots)
        end
        assert_operator(number, :>, 5)
      ensure
        GC.enable
        store&.close
      end
    end
  end

  def test_an_interrupt_at_any_return_while_a_table_is_opened_for_a_block_closes_it
    with_store_path("table.bwh") do |path|
      GC.disable
      [Bytewright::Table, Bytewright::HashTable, Bytewright::StringSet].each do |opener|
        number = 0
        nil while interrupted_at?(number += 1) { opener.open(path) { nil } }
        assert_operator(number, :>, 2)
        Bytewright::Table.open(path, &:itself)
      end
    ensure
      GC.enable
    end
  end

  # Its class takes the steps of the original.
  class Hooked < OURS
    private

    def load(content)
      super
    end
  end

  def test_what_is_no_regular_file_is_refused_at_once
    with_store_path("fifo") do |fifo|
      File.mkfifo(fifo)
      socket = UNIXServer.new("#{fifo}.socket")
      { "/dev/null" => "a device", fifo => "a FIFO", "#{fifo}.socket" => "a socket" }.each do |path, found|
        [OURS.new(path), OURS.new(path, format: :roots), Hooked.new(path)].each do |store|
          [true, false].each do |read_only|
            error = assert_raises(Bytewright::FormatError) { store.transaction(read_only) { store["a"] = 1 unless read_only } }
            assert_match(/expected a regular file, found #{found}/, error.message)
          end
        end
      end
    ensure
      socket&.close
    end
  end
end
