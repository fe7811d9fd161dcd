# frozen_string_literal: true

require "zlib"
require_relative "pstore_case"

# Goal: a store that keeps each root by itself behaves as one that keeps them together, but for what it
# says it does not: the order of roots, and objects that roots share.
#
# Method: random transactions beside a Hash, over both kinds of files, with the file left and opened
# again; processes beside each other, and killed.
class PStoreRootsTest < StoreCase
  ROUNDS = Integer(ENV.fetch("BYTEWRIGHT_CASES", "200"))

  def open_store(path, **options)
    OURS.new(path, format: :roots, **options)
  end

  def with_both_kinds
    %w[store.bwh store.bwt].each { |name| with_store_path(name) { |path| yield path } }
  end

  def value(random)
    case random.rand(7)
    when 0 then random.rand(-5..5)
    when 1 then "text" * random.rand(50)
    when 2 then [1, nil, { "a" => random.rand }]
    when 3 then Pair.new(random.rand(9), :sym)
    when 4 then nil
    when 5 then 2**random.rand(90)
    else Named.new(name: "n", size: random.rand(3))
    end
  end

  def key(random)
    number = random.rand(20)
    [number, "key#{number}", :"key#{number}", [number], 1.5 + number].sample(random: random)
  end

  # Changes or reads both in one way; `table` is the store, or the Hash beside it.
  def change(table, random)
    key = key(random)
    case random.rand(6)
    when 0, 1 then table[key] = value(random)
    when 2 then table.delete(key)
    when 3 then table[key]
    when 4 then table[key].is_a?(String) ? table[key] << "!" : table[key]
    else table.key?(key)
    end
  end

  # The value of a root is a stream of Marshal, whose format Ruby keeps.
  FROZEN = { :list => [1, nil, 2.5, "text"], "text" => { nested: [true] }, 7 => 2**70, nil => "of nil" }.freeze

  # BYTEWRIGHT_WRITE_SAMPLE=1 writes the files where they are missing, to be compressed by gzip.
  def test_stores_of_the_first_release_are_read_and_added_to
    samples = File.expand_path("../../core/tests/samples", __dir__)
    with_both_kinds do |path|
      sample = File.join(samples, "store_roots_1#{File.extname(path)}.gz")
      write_sample(sample.delete_suffix(".gz")) if ENV["BYTEWRIGHT_WRITE_SAMPLE"] && !File.exist?(sample)
      File.binwrite(path, Zlib::GzipReader.open(sample, &:read))
      store = open_store(path)
      store.transaction do
        assert_equal(FROZEN, store.keys.to_h { |key| [key, store[key]] })
        store[:more] = "2"
      end
      assert_equal("2", open_store(path).transaction(true) { |it| it[:more] })
    end
  end

  def write_sample(path)
    store = open_store(path)
    store.transaction { FROZEN.each { |key, value| store[key] = value } }
    store.close
  end

  def test_a_read_only_transaction_sees_one_commit_of_another_process
    with_both_kinds do |path|
      writer, reader = Array.new(2) { open_store(path) }
      commit = lambda do |number|
        writer.transaction { writer[:one] = writer[:two] = number }
        # Then the commit is in the file.
        writer.close
      end
      commit.call(0)
      3.times do |number|
        reader.transaction(true) do
          seen = [reader[:one]]
          commit.call(number + 1)
          seen << reader[:two] << reader.fetch(:one) << reader.keys.size
          assert_equal([number, number, number, 2], seen)
        end
      end
      assert_equal(3, reader.transaction(true) { reader[:one] })
    end
  end

  # Promise (pstore-journal): A store with `format: :roots` has the same methods.
  def test_random_transactions_are_those_of_a_hash
    with_both_kinds do |path|
      with_seeds(1) do |random|
        store, table = open_store(path), {}
        ROUNDS.times do
          seed, ending = random.rand(2**32), random.rand(8)
          attempt = Marshal.load(Marshal.dump(table))
          twins = Array.new(2) { Random.new(seed) }
          count = random.rand(1..5)
          store.transaction(ending == 0) do
            count.times do
              next if ending == 0 && twins.each { |twin| key(twin) }

              assert_equal([change(attempt, twins[0])], [change(store, twins[1])])
            end
            store.abort if ending == 1
          end
          table = attempt if ending > 1
          store.close if ending == 2
          store = open_store(path) if ending == 2
          store.transaction(true) do
            assert_equal(table.keys.map(&:inspect).sort, store.keys.map(&:inspect).sort)
            table.each { |key, expected| assert_equal([expected], [store[key]]) }
          end
        end
      end
    end
  end

  def test_a_store_that_is_told_no_format_takes_that_of_the_file
    with_both_kinds do |path|
      store = open_store(path)
      store.transaction { store["a"] = [1] }
      store.close
      found = OURS.new(path)
      assert_equal([:roots, [1]], [OURS.format_of(path), found.transaction(true) { found["a"] }])
      found.transaction { found["b"] = 2 }
      found.close
      Bytewright::Table.open(path, read_only: true) { |table| assert_equal(2, table.size) }
    end
    with_store_path("new") do |path|
      store = OURS.new(path)
      store.transaction(true) { assert_empty(store.keys) }
      store.transaction { store["a"] = 1 }
      assert_equal([:marshal, { "a" => 1 }], [OURS.format_of(path), Marshal.load(File.binread(path))])
      assert_raises(Errno::ENOENT) { OURS.format_of("#{path}.missing") }
    end
    # A file that is neither is the original's matter.
    with_store_path("other") do |path|
      File.write(path, "text")
      assert_raises(TypeError) { OURS.new(path).transaction { flunk } }
    end
  end

  # Promise (pstore-journal): The command reads both formats.
  def test_the_command_reads_what_the_store_wrote
    with_both_kinds do |path|
      store = open_store(path)
      store.transaction { store["users"] = [{ name: "Zoë", "tags" => %i[a b a] }] }
      store.close
      output = IO.popen(command("store", "get", path, "users.0.name", "users.0.tags.-1"), &:read)
      assert_equal("\"Zoë\"\n:a\n", output.force_encoding("UTF-8"))
    end
  end

  # Promise (pstore-journal): also A store with `format: :roots`
  def test_the_rules_of_transactions_are_those_of_the_original
    with_both_kinds do |path|
      store = open_store(path)
      assert_nil(store.transaction(true) { store["a"] })
      refute_path_exists(path)
      assert_equal("not in transaction", assert_raises(OURS::Error) { store["a"] }.message)
      store.transaction { store["a"] = [1] }
      store.transaction(true) do
        assert_equal("in read-only transaction", assert_raises(OURS::Error) { store["a"] = 1 }.message)
        assert_same(store["a"], store["a"])
        assert_equal("undefined key 'b'", assert_raises(OURS::Error) { store.fetch("b") }.message)
      end
      assert_raises(RuntimeError) { store.transaction { store["a"] << 2 and raise "no" } }
      assert_equal([1], store.transaction(true) { store["a"] })
      store.transaction { store["a"] << 2 }
      assert_equal([1, 2], store.transaction(true) { store["a"] })
      store.ultra_safe = true
      store.transaction { store["a"] << 3 }
      assert_equal("nested transaction", assert_raises(OURS::Error) { store.transaction { store.close } }.message)
      assert_equal({ "a" => [1, 2, 3] }, store.transaction { store.instance_variable_get(:@table).to_h })
    end
  end

  def test_strings_that_are_equal_are_one_key_whatever_their_encodings
    with_both_kinds do |path|
      store = open_store(path)
      store.transaction { store["a".b] = 1 }
      store.transaction { assert_equal([1, true], [store["a"], store.key?("a".encode("US-ASCII"))]) }
    end
  end

  # Promise (pstore-journal): A conversion is complete, or leaves no file.
  def test_a_conversion_that_fails_leaves_no_file
    %i[roots marshal].each do |format|
      with_folder do |folder|
        old, new = File.join(folder, "old.pstore"), File.join(folder, "new.bwh")
        File.binwrite(old, Marshal.dump({ "a" => 1, "b" => Pair.new(1, 2) }).sub("StoreCase::Pair", "StoreCase::Gone"))
        2.times { assert_raises(ArgumentError) { OURS.convert(old, new, format: format) } }
        assert_equal(["old.pstore"], Dir.children(folder))
      end
    end
  end

  def test_a_conversion_follows_no_planted_link_and_removes_nothing_of_the_users
    with_folder do |folder|
      old, secret = %w[old.pstore secret].map { |name| File.join(folder, name) }
      write_table(old, { "a" => 1 })
      File.write(secret, "root's")
      parts = %w[new.bwt new.pstore].product(["", ".log", ".idx", ".journal"]).map do |name, ending|
        [".#{Process.pid}.part.#{name}#{ending}", "#{name}.new", "#{name}.part"]
      end
      planted = parts.flatten.uniq.map { |name| File.join(folder, name) }
      planted.each { |link| File.symlink(secret, link) }
      OURS.convert(old, File.join(folder, "new.bwt"), format: :roots)
      OURS.convert(old, File.join(folder, "new.pstore"), format: :marshal)
      assert_equal({ "a" => 1 }, read_table(File.join(folder, "new.pstore")))
      assert_equal("root's", File.read(secret))
      assert(planted.all? { |link| File.symlink?(link) })
      left = Dir.children(folder) - planted.map { |link| File.basename(link) }
      assert_equal(%w[new.bwt new.pstore old.pstore secret], left.sort)
    end
  end

  # Promise (pstore-journal): also A conversion is complete
  def test_stores_are_converted_both_ways
    with_folder do |folder|
      old, by_root, again = %w[a b.bwt c].map { |name| File.join(folder, name) }
      table = { "a" => [1, 2], b: Pair.new(1, 2.5), 3 => nil }
      write_table(old, table)
      assert_equal(3, OURS.convert(old, by_root, format: :roots))
      assert_equal(%i[marshal roots], [OURS.format_of(old), OURS.format_of(by_root)])
      assert_equal(3, OURS.convert(by_root, again, format: :marshal))
      assert_equal(table, read_table(again))
      assert_raises(Errno::EEXIST) { OURS.convert(old, again, format: :roots) }
      assert_raises(Errno::ENOENT) { OURS.convert("#{old}.none", "#{old}.new", format: :roots) }
    end
  end

  # Promise (pstore-journal): One process writes a store with `format: :roots` while others read.
  def test_only_one_process_writes_while_others_read
    with_both_kinds do |path|
      store = open_store(path)
      store.transaction { store["a"] = 1 }
      script = <<~RUBY
        require "bytewright"
        store = Bytewright::PStore.new(ARGV[0], format: :roots)
        begin
          store.transaction { store["a"] = 2 }
        rescue Bytewright::LockError
          print "locked"
        end
      RUBY
      assert_equal("locked", ruby(script, path))
      store.close
      assert_equal("", ruby(script, path))
      assert_equal(2, store.transaction(true) { store["a"] })
    end
  end

  # Promise (pstore-journal): A killed process loses no transaction with `format: :roots`.
  def test_a_store_that_is_killed_has_whole_transactions
    with_store_path("store.bwh") do |path|
      script = <<~RUBY
        require "bytewright"
        store = Bytewright::PStore.new(ARGV[0], format: :roots)
        $stdout.sync = true
        (1..).each do |number|
          store.transaction { store["a"] = store["b"] = number }
          puts number
        end
      RUBY
      reported = 0
      3.times do
        IO.popen([RbConfig.ruby, "-I#{$LOAD_PATH.join(":")}", "-e", script, path]) do |process|
          20.times { reported = Integer(process.gets) }
          Process.kill(:KILL, process.pid)
        end
        open_store(path).then do |store|
          a, b = store.transaction(true) { [store["a"], store["b"]] }
          assert_equal(a, b)
          assert_operator(a, :>=, reported)
          store.close
        end
      end
    end
  end

  def test_what_cannot_be_is_said
    with_store_path do |path|
      error = assert_raises(ArgumentError) { OURS.new(path, format: :yaml) }
      assert_equal("format: expected :marshal or :roots, found :yaml", error.message)
      hooked = Class.new(OURS) { private def dump(table) = super }
      assert_raises(OURS::Error) { hooked.new(path, format: :roots).transaction { nil } }
      write_table(path, { "a" => 1 })
      assert_raises(Bytewright::FormatError) { open_store(path).transaction { nil } }
    end
  end
end
