# frozen_string_literal: true

require "timeout"
require_relative "table_case"

# Tables in files that several handles, threads and processes write by turns.
class TableTurnsTest < TableCase
  BY_TURNS = (TABLES - IN_MEMORY).freeze

  # Two handles of one file, of which the second waits for the first so many seconds.
  def two_of(store, entries = {}, timeout: 60)
    one = make(store, entries)
    @opened << other = one.class.open(one.path, timeout: timeout)
    [one, other]
  end

  # A thread that has a transaction open until something is put into the queue that is returned with it.
  def hold(table)
    began, go_on = Queue.new, Queue.new
    thread = Thread.new { table.transaction { (table["held"] = "1") && began.push(true) && go_on.pop } }
    began.pop
    [thread, go_on]
  end

  test_each("handles_see_each_others_changes_at_once", BY_TURNS) do |store|
    one, other = two_of(store, { "a" => "1" })
    other["b"] = "2"
    one.delete("a")
    assert_equal([{ "b" => "2" }] * 2, [one.to_h, other.to_h])
    one.transaction { one["c"] = "3" }
    assert_equal("3", other.delete("c"))
    assert_nil(one.delete("c"))
    assert_equal([1, 3], [one.increment("n"), other.increment("n", 2)])
  end

  test_each("a_change_waits_for_a_transaction_of_another_handle_while_other_threads_run", BY_TURNS) do |store|
    one, other = two_of(store, { "a" => "1" })
    thread, go_on = hold(one)
    waiting = Thread.new { other["b"] = "2" }
    Thread.pass until waiting.stop?
    assert_equal("1", other.class.open(one.path, read_only: true) { |reader| reader["a"] })
    assert_nil(waiting.join(0.05))
    go_on << true
    [thread, waiting].each(&:join)
    assert_equal({ "a" => "1", "held" => "1", "b" => "2" }, one.to_h)
  end

  changes = {
    put: ->(t) { t["a"] = "2" }, delete: ->(t) { t.delete("a") }, shift: ->(t) { t.shift }, clear: ->(t) { t.clear },
    update: ->(t) { t.update("a" => "2") }, increment: ->(t) { t.increment("n") }, create: ->(t) { t.create("c", "1") },
    append: ->(t) { t.append("a", "2") }, transaction: ->(t) { t.transaction { t["a"] = "2" } }, compact: ->(t) { t.compact }
  }
  changes.each do |name, change|
    test_each("#{name}_that_cannot_be_made_in_time_changes_nothing_and_says_who_writes", BY_TURNS) do |store|
      one, other = two_of(store, { "a" => "1" }, timeout: 0.02)
      one.transaction do
        one["a"] = "held"
        error = assert_raises(Bytewright::LockError) { change.call(other) }
        assert_match(/another object of this process has it.*timeout/, error.message)
        assert_equal(one.path, error.file)
        assert_equal({ "a" => "1" }, other.to_h)
      end
      change.call(other)
    end

    test_each("#{name}_that_waits_can_be_interrupted", BY_TURNS) do |store|
      one, other = two_of(store, { "a" => "1" })
      thread, go_on = hold(one)
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { change.call(other) } }
      waiting = Thread.new { change.call(other) }
      Thread.pass until waiting.stop?
      waiting.kill
      assert(waiting.join(60))
      go_on << true
      thread.join
      assert_equal({ "a" => "1", "held" => "1" }, other.to_h)
      change.call(other)
      one["z"] = "1"
    end
  end

  test_each("a_block_that_raises_gives_the_turn_back", BY_TURNS) do |store|
    one, other = two_of(store, { "a" => "1" }, timeout: 0)
    assert_raises(RuntimeError) { one.transaction { (one["a"] = "2") && raise("enough") } }
    assert_raises(TypeError) { one.update("a" => "3") { raise TypeError } }
    catch(:out) { one.transaction { throw(:out) } }
    other["b"] = "2"
    assert_equal({ "a" => "1", "b" => "2" }, one.to_h)
  end

  test_each("a_handle_that_is_closed_in_its_transaction_gives_the_turn_back", BY_TURNS) do |store|
    one, other = two_of(store, { "a" => "1" }, timeout: 0)
    assert_raises(Bytewright::ClosedError) do
      one.transaction do
        one["a"] = "2"
        one.close
      end
    end
    other["b"] = "2"
    assert_equal({ "a" => "1", "b" => "2" }, other.to_h)
  end

  test_each("a_forked_child_and_its_parent_write_by_turns", BY_TURNS) do |store|
    t = make(store, { "a" => "1" })
    t.transaction do
      t["b"] = "of the parent"
      in_child do
        raise "not as it was committed" unless t.to_h == { "a" => "1" }

        begin
          Timeout.timeout(0.05) { t["c"] = "too early" }
        rescue Timeout::Error
          t.close
        end
      end
    end
    children = Array.new(3) { fork { exit!(200.times { t.increment("n") } && t.transaction { t.increment("n") } && true) } }
    200.times { t.increment("n") }
    children.each { |child| assert(Process.wait2(child).last.success?) }
    assert_equal({ "a" => "1", "b" => "of the parent", "n" => "803" }, t.to_h)
  end

  test_each("processes_that_read_and_write_back_in_a_transaction_lose_nothing", BY_TURNS) do |store|
    t = make(store, { "n" => "0" })
    children = Array.new(4) do
      fork { exit!(t.class.open(t.path) { |own| 100.times { own.transaction { own["n"] = (own["n"].to_i + 1).to_s } } } && true) }
    end
    children.each { |child| assert(Process.wait2(child).last.success?) }
    assert_equal("400", t["n"])
  end
end
