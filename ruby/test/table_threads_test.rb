# frozen_string_literal: true

require_relative "table_case"
require "timeout"

# Goal: threads, fibers and processes that share a table see whole transactions, wait for each other where
# they must, and nothing that goes wrong leaves it locked.
class TableThreadsTest < TableCase
  # Asserts that another thread can use the table at once.
  def assert_free(table)
    assert_equal("free", Thread.new { table["is it"] = "free" }.value)
  end

  test_each("threads_add_up") do |store|
    t = make(store)
    4.times.map { |thread| Thread.new { 200.times { |count| t.increment("n") && t["#{thread} #{count}"] = "x" } } }.each(&:join)
    assert_equal(["800", 801], [t["n"], t.size])
  end

  test_each("others_wait_for_the_end_of_a_transaction") do |store|
    t = make(store, { "a" => "1" })
    in_transaction, go_on = Queue.new, Queue.new
    changing = Thread.new do
      t.transaction do
        t["a"] = "2"
        in_transaction << true
        go_on.pop
        t["b"] = "2"
      end
    end
    in_transaction.pop
    uses = [-> { t["a"] }, -> { t.size }, -> { t.to_h }, -> { t["c"] = "3" }, -> { t.values_at("a", "b") }, -> { t.transaction { t.key?("b") } },
            -> { t.snapshot(&:to_h) }, -> { t.stat[:records] > 1 }]
    waiting = uses.map { |use| Thread.new(&use) }
    waiting.each { |thread| Thread.pass until thread.stop? }
    assert(waiting.all?(&:alive?))
    go_on << true
    changing.join
    results = waiting.map(&:value)
    assert_equal(["2", "3", %w[2 2], true, true], results.values_at(0, 3, 4, 5, 7))
    assert_equal(%w[2 2], results[2].values_at("a", "b"))
    assert_free(t)
  end

  test_each("who_waits_can_be_interrupted") do |store|
    t = make(store)
    t.transaction do
      waiting = Thread.new { t["a"] }
      Thread.pass until waiting.stop?
      waiting.kill
      assert(waiting.join(60))
    end
    assert_free(t)
  end

  test_each("a_thread_that_ends_in_a_transaction_takes_it_back") do |store|
    t = make(store, { "a" => "1" })
    inside = Queue.new
    thread = Thread.new do
      t.transaction do
        t.clear
        inside << true
        sleep
      end
    end
    inside.pop
    thread.kill.join
    assert_equal({ "a" => "1" }, t.to_h)
    assert_free(t)
  end

  test_each("another_fiber_of_the_thread_reads_within_a_transaction_and_changes_nothing") do |store|
    t = make(store, { "a" => "1" })
    t.transaction do
      t["a"] = "2"
      reading = [-> { t["a"] }, -> { t.fetch("a") }, -> { t.values_at("a").first }, -> { t.values.first }, -> { t.snapshot["a"] },
                 -> { t.to_h["a"] }]
      assert_equal(["2"] * reading.size, reading.map { |read| Fiber.new(&read).resume })
      changing = [-> { t["a"] = "3" }, -> { t.delete("a") }, -> { t.clear }, -> { t.update({ "b" => "3" }) }, -> { t.increment("a") },
                  -> { t.transaction { flunk } }, -> { t.delete_if { true } }, -> { t.sync }, -> { t.compact }]
      changing.each do |change|
        assert_match(/fiber/, assert_raises(Bytewright::LockError) { Fiber.new(&change).resume }.message)
      end
      assert_equal({ "a" => "2" }, t.to_h)
    end
    assert_equal("2", Fiber.new { t["a"] }.resume)
    assert_equal(%w[a 2], t.each.next)
    assert_free(t)
  end

  test_each("an_external_enumerator_goes_on_within_a_transaction") do |store|
    t = make(store, { "a" => "1", "b" => "2", "c" => "3" })
    before = t.each
    assert_equal(%w[a 1], before.next)
    t.transaction do
      inside = t.each_key
      assert_equal(["a", "b", %w[b 2]], [inside.next, inside.next, before.next])
      t.delete("a")
      assert_equal([%w[b c], "b"], [t.keys, t.each_key.next])
      pairs = Enumerator.new { |found| %w[b c].each { |key| found << t[key] } }
      assert_equal(%w[2 3], [pairs.next, pairs.next])
      assert_equal("c", inside.next)
    end
    assert_free(t)
  end

  test_each("errors_of_every_kind_leave_it_free") do |store|
    t = make(store, { "a" => "1", "n" => "x" })
    [-> { t[nil] }, -> { t["a"] = nil }, -> { t.fetch("z") }, -> { t.increment("n") }, -> { t.update({ 1 => 2 }) }, -> { t.each { raise "no" } },
     -> { t.transaction { raise "no" } }, -> { t.transaction { t.transaction { t[1] } } }, -> { t.delete("z") { raise "no" } },
     -> { t.view("a") { raise "no" } }, -> { t.snapshot { raise "no" } }, -> { t.delete_if { raise "no" } },
     -> { Timeout.timeout(0.01) { t.transaction { sleep } } }].each do |attempt|
      assert_raises(StandardError, &attempt)
      assert_free(t)
      t.delete("is it")
    end
    t.each { break }
    t.transaction { break }
    catch(:out) { t.each { t.transaction { throw :out } } }
    assert_free(t)
  end

  test_each("work_without_rubys_lock_is_waited_for") do |store|
    t = make(store)
    entries = (0...3000).to_h { |number| ["key #{number}", "value #{number}" * 50] }
    writers = 3.times.map { Thread.new { t.update(entries) && t.compact } }
    readers = 3.times.map { Thread.new { 300.times.map { |number| t["key #{number * 10}"] }.compact.uniq.all? { |value| value.start_with?("value ") } } }
    assert_equal([true] * 3, readers.map(&:value))
    writers.each { |writer| raised_by(writer) }
    assert_equal(entries, t.to_h)
  end

  # A file cannot be compacted while somebody has a snapshot of it.
  def raised_by(thread)
    thread.report_on_exception = false
    thread.join
  rescue Bytewright::LockError
    nil
  end

  test_each("a_forked_child_has_a_copy_or_reads_a_file_that_its_parent_has_for_itself") do |store|
    t = make(store, { "a" => "1" })
    if t.path
      t.close
      @opened << t = t.class.open(t.path, exclusive: true)
    end
    in_child do
      raise "not read" unless t["a"] == "1" && t.to_h == { "a" => "1" }

      begin
        t["b"] = "2"
        raise "written" if t.path
      rescue Bytewright::ClosedError => e
        raise unless t.path && e.message.match?(/fork/)
      end
      t.close
    end
    t["c"] = "3"
    assert_equal({ "a" => "1", "c" => "3" }, t.to_h)
  end

  test_each("a_forked_child_in_another_folder_reads_the_file", %w[hash_table tree_table]) do |store|
    kind = STORES.fetch(store).call(nil, {}).class
    t = Dir.chdir(@folder) { kind.open("new.#{store == "hash_table" ? "bwh" : "bwt"}") }
    t["a"] = "1"
    t.sync
    in_child { raise "not read" unless t.to_h == { "a" => "1" } }
    t.close
  end

  test_each("a_child_takes_back_a_transaction_of_a_thread_it_has_not", IN_MEMORY) do |store|
    t = make(store, { "a" => "1" })
    inside, go_on = Queue.new, Queue.new
    thread = Thread.new { t.transaction { t.clear && inside << true && go_on.pop } }
    inside.pop
    in_child { raise "not taken back" unless t.to_h == { "a" => "1" } && (t["b"] = "2") }
    go_on << true
    thread.join
    assert_empty(t)
  end

  test_each("a_signal_handler_is_refused_while_another_thread_has_a_transaction") do |store|
    t = make(store, { "a" => "1" })
    uses = { get: -> { t["a"] }, put: -> { t["a"] = "2" }, transaction: -> { t.transaction { nil } }, each: -> { t.each { nil } },
             keys: -> { t.keys }, size: -> { t.size }, snapshot: -> { t.snapshot }, clear: -> { t.clear }, sync: -> { t.sync } }
    inside, go_on = Queue.new, Queue.new
    thread = Thread.new { t.transaction { inside << true && go_on.pop } }
    inside.pop
    found = nil
    in_handler(-> { sleep(0.001) until found }) { found = uses.transform_values { |use| outcome(use) } }
    go_on << true
    thread.join
    assert_equal([Bytewright::LockError], found.values.uniq, found)
    assert_equal({ "a" => "1" }, t.to_h)
  end
end
