# frozen_string_literal: true

require "pathname"
require_relative "table_case"

# Goal: what a table dumps is loaded by any other one, and by other programs; where something is wrong, nothing is changed.
class TableDumpTest < TableCase
  ENTRIES = { "" => "empty", "a" => "", "b\0\n'" => "\xff\\".b.force_encoding("UTF-8"), "k" => "x" * 300_000 }.freeze

  test_each("a_dump_is_loaded_again_in_every_format") do |store|
    t = make(store, ENTRIES)
    { db: /\AVERSION=3\nformat=bytevalue\ntype=(?:btree|hash)\nHEADER=END\n /, lmdb: /^type=btree\nmapsize=\d+\n/,
      "sql" => /^INSERT INTO entries VALUES\(X'61',X''\);$/ }.each do |format, text|
      path = path("#{format}.dump")
      assert_equal(ENTRIES.size, t.dump(path, format: format))
      assert_match(text, File.binread(path))
      [Bytewright::HashTable.new, Bytewright::TreeTable.new].each do |other|
        other["a"] = "old"
        assert_equal(ENTRIES.size, other.load(Pathname(path)))
        assert_equal(ENTRIES, other.to_h)
      end
    end
    assert_equal(ENTRIES.size, t.dump(path("plain")))
    assert_match(/\AVERSION=3/, File.binread(path("plain")))
  end

  test_each("what_is_no_dump_changes_nothing") do |store|
    t = make(store, "a" => "1")
    header = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n"
    { "#{header} a\n 2\n" => [Bytewright::TruncatedError, /found the end of the input in line 7/],
      "#{header} a\n 2\n b\n \\x\n" => [Bytewright::FormatError, /expected two hexadecimal digits .*found "x" in line 8/],
      "{}" => [Bytewright::FormatError, /expected a dump of db_dump, mdb_dump or sqlite3/] }.each do |text, (error, message)|
      File.binwrite(path("wrong"), text)
      assert_match(message, assert_raises(error) { t.load(path("wrong")) }.message)
      t.transaction do
        t["b"] = "2"
        assert_raises(error) { t.load(path("wrong")) }
        assert_equal(2, t.size)
        break
      end
      assert_equal({ "a" => "1" }, t.to_h)
    end
    assert_raises(Errno::ENOENT) { t.load(path("missing")) }
    assert_raises(TypeError) { t.load(nil) }
    assert_raises(FrozenError) { t.dup.freeze.load(path("wrong")) } unless t.path
  end

  test_each("no_table_is_replaced_by_its_dump") do |store|
    t = make(store, ENTRIES)
    Bytewright::HashTable.open(path("other.bwh")) { |other| other["a"] = "1" }
    assert_match(/found a hashed table/, assert_raises(ArgumentError) { t.dump(path("other.bwh")) }.message)
    if t.path
      [false, true].each { |force| assert_raises(ArgumentError) { t.dump(t.path, force: force) } }
      Dir.chdir("/") { assert_raises(ArgumentError) { t.dump(t.path, force: true) } }
    end
    t.dump(path("other.bwh"), force: true)
    t.dump(path("other.bwh"))
    assert_raises(ArgumentError) { t.dump(path("new"), format: :csv) }
    assert_raises(ArgumentError) { t.transaction { t.dump(path("new")) } }
    assert_raises(Errno::ENOENT) { t.dump(path("missing/new")) }
    refute_path_exists(path("new"))
    t.close
    assert_raises(Bytewright::ClosedError) { t.dump(path("new")) }
    assert_raises(Bytewright::ClosedError) { t.load(path("other.bwh")) }
  end

  test_each("a_dump_goes_through_a_pipe_and_reading_one_can_be_interrupted") do |store|
    t = make(store, ENTRIES)
    File.mkfifo(path("pipe"))
    writer = Thread.new { t.dump(path("pipe"), format: :sql) }
    other = Bytewright::TreeTable.new
    assert_equal(ENTRIES.size, other.load(path("pipe")))
    assert_equal(ENTRIES.size, writer.value)
    reader = Thread.new { other.load(path("pipe")) }
    sleep(0.01) until reader.stop?
    reader.kill.join
    assert_equal(ENTRIES, other.to_h)
    other["still"] = "usable"
  end

  test_each("values_that_are_objects_are_dumped_as_they_are_stored") do |store|
    next if store.end_with?("file")

    t = Bytewright::TreeTable.new(values: :integer)
    t["n"] = -1
    t.dump(path("integers"))
    assert_match(/^ 6e\n ffffffffffffffff$/, File.read(path("integers")))
    again = Bytewright::HashTable.new(values: :integer)
    again.load(path("integers"))
    assert_equal({ "n" => -1 }, again.to_h)
    Bytewright::TreeTable["n", "text"].dump(path("strings"))
    assert_match(/expected a value of 8 bytes/, assert_raises(Bytewright::FormatError) { again.load(path("strings")) }.message)
  end
end
