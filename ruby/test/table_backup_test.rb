# frozen_string_literal: true

require "pathname"
require_relative "table_case"

# Goal: a backup holds the entries of one moment, whatever other threads do to the table meanwhile.
# Method: threads write pairs of entries in transactions while backups are made; each backup has both of a pair or none.
class TableBackupTest < TableCase
  def copy_of(store)
    path("copy.#{store.start_with?("tree") ? "bwt" : "bwh"}")
  end

  test_each("a_backup_is_a_table_with_the_same_entries") do |store|
    t = make(store, { "a" => "1", "b" => "\xFF" })
    copy = copy_of(store)
    assert_same(t, t.backup(copy))
    t["c"] = "3"
    t.class.open(copy, read_only: true) { |opened| assert_equal({ "a" => "1", "b" => "\xFF" }, opened.to_h) }
    assert_match(/a file that exists/, assert_raises(ArgumentError) { t.backup(copy) }.message)
    t.backup(Pathname(copy), replace: true)
    t.class.open(copy) { |opened| assert_equal(3, opened.size) }
    assert_raises(Errno::ENOENT) { t.backup(path("missing/copy")) }
    assert_raises(ArgumentError) { t.transaction { t.backup(path("other")) } }
    assert_raises(TypeError) { t.backup(nil) }
    File.write(path("text"), "text" * 100)
    assert_raises(Bytewright::FormatError) { t.backup(path("text"), replace: true) }
    assert_raises(Bytewright::LockError) { t.backup(t.path, replace: true) } if t.path
    t.close
    assert_raises(Bytewright::ClosedError) { t.backup(path("other")) }
    assert_equal([File.basename(copy), "text"], Dir.children(@folder).grep(/copy|text|other|part/).grep_v(/idx/).sort)
  end

  test_each("a_backup_beside_writers_holds_whole_transactions") do |store|
    t = make(store, (0...20_000).to_h { |number| ["entry #{number}", "x" * 20] })
    done = false
    numbers = [0, 0]
    writers = Array.new(2) do |writer|
      Thread.new do
        until done
          t.transaction { %w[left right].each { |side| t["#{side} #{writer} #{numbers[writer]}"] = "x" } }
          t.delete("entry #{numbers[writer] += 1}")
          # If every thread computes, Ruby changes threads ten times a second.
          Thread.pass
        end
      end
    end
    # A copy is made sooner than a transaction while the collector runs all the time.
    Thread.pass until numbers.sum > 10 || writers.none?(&:alive?)
    copies = Array.new(3) do |number|
      path("#{number}.copy").tap { |copy| t.backup(copy) }
    end
    done = true
    writers.each(&:join)
    copies.each do |copy|
      Bytewright::Table.open(copy) do |opened|
        assert_equal(opened.keys.grep(/left/).map { |key| key.delete_prefix("left") }.sort,
                     opened.keys.grep(/right/).map { |key| key.delete_prefix("right") }.sort)
        assert_equal(opened.size, opened.to_a.size)
      end
    end
  end

  test_each("a_backup_that_is_interrupted_leaves_nothing") do |store|
    t = make(store, (0...60_000).to_h { |number| ["entry #{number}", "x" * 100] })
    thread = Thread.new { t.backup(path("copy")) }
    thread.report_on_exception = false
    eventually { !Dir.glob(path("copy*")).empty? }
    thread.kill.join
    assert_empty(Dir.glob(path("copy*"))) unless File.exist?(path("copy"))
    t["a"] = "1"
    assert_equal("1", t["a"])
  end

  test_each("a_forked_child_backs_up_its_copy") do |store|
    t = make(store, { "a" => "1" })
    t.sync
    in_child { t.backup(path("copy")) }
    t.class.open(path("copy")) { |opened| assert_equal({ "a" => "1" }, opened.to_h) }
  end
end
