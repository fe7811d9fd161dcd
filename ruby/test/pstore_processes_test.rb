# frozen_string_literal: true

require_relative "pstore_case"

# Goal: processes and threads that share a store lose nothing of each other's, whichever class they use.
# Method: each adds to a count as often as BYTEWRIGHT_INCREMENTS says, or 100 times.
class PStoreProcessesTest < StoreCase
  INCREMENTS = Integer(ENV.fetch("BYTEWRIGHT_INCREMENTS", 100))

  def increment(store_class, path, ultra_safe: false)
    store = store_class.new(path)
    store.ultra_safe = ultra_safe
    INCREMENTS.times do |count|
      store.transaction do
        store["count"] = store.fetch("count", 0) + 1
        store["text"] = "x" * (count % 100)
        (store["list"] ||= []) << count if count % 10 == 0
      end
    end
  end

  def run_children(*blocks)
    children = blocks.map do |block|
      fork do
        block.call
        exit!(0)
      rescue Exception => error # rubocop:disable Lint/RescueException -- it is printed, and the child ends
        warn error.full_message
        exit!(1)
      end
    end
    children.each { |child| assert_predicate(Process.wait2(child).last, :success?) }
  end

  def assert_counted(path, count)
    table = read_table(path)
    assert_equal([count, count / 10], [table["count"], table["list"].size])
  end

  # Promise (pstore-journal): also Programs with either class use a file
  def test_ours_and_the_original_lose_no_change_of_each_other
    stock
    with_store_path do |path|
      run_children(*[STOCK, OURS].cycle(4).map { |store_class| -> { increment(store_class, path) } })
      assert_counted(path, 8 * INCREMENTS)
    end
  end

  # Promise (pstore-journal): also A store that is `ultra_safe`
  def test_stores_that_are_ultra_safe_lose_no_change_of_each_other
    with_store_path do |path|
      run_children(*Array.new(8) { -> { increment(OURS, path, ultra_safe: true) } })
      assert_counted(path, 8 * INCREMENTS)
    end
  end

  # The original puts another file in the place of the store then.
  # Promise (pstore-journal): also Programs with either class use a file
  def test_ours_lose_nothing_of_an_original_that_is_ultra_safe
    stock
    with_store_path do |path|
      # It warns of a method that it defines anew.
      original = -> { ($VERBOSE = nil) || increment(STOCK, path, ultra_safe: true) }
      run_children(original, -> { increment(OURS, path) }, -> { increment(OURS, path) })
      found = read_table(path)["count"]
      # It is the original that may not see what ours wrote while it waited.
      assert_operator(found, :>=, INCREMENTS)
    end
  end

  def test_stores_through_hooks_lose_nothing_where_they_are_ultra_safe
    derived = Class.new(OURS) { def dump(table) = Marshal.dump(table) }
    with_store_path do |path|
      File.write(path, "")
      File.chmod(0o600, path)
      File.symlink(path, "#{path}-link")
      run_children(*Array.new(3) { -> { increment(derived, "#{path}-link", ultra_safe: true) } })
      assert_counted(path, 3 * INCREMENTS)
      assert_equal([0o600, true], [File.stat(path).mode & 0o777, File.symlink?("#{path}-link")])
    end
  end

  def test_threads_lose_nothing_of_each_other
    with_store_path do |path|
      shared = OURS.new(path, true)
      own = Array.new(3) { OURS.new(path) }
      threads = [*Array.new(3) { shared }, *own].map do |store|
        Thread.new { INCREMENTS.times { store.transaction { store["count"] = store.fetch("count", 0) + 1 } } }
      end
      threads.each(&:join)
      assert_equal({ "count" => 6 * INCREMENTS }, read_table(path))
    end
  end

  def locked?(path)
    File.open(path) { |file| !file.flock(File::LOCK_EX | File::LOCK_NB) }
  end

  def test_a_child_that_is_forked_in_the_middle_leaves_its_parents_lock
    with_store_path do |path|
      store = OURS.new(path)
      store.transaction { store[:a] = 1 }
      store.transaction do
        store[:a] = 2
        Process.wait(fork { store[:a] })
        assert(locked?(path))
        Process.wait(fork { exit!(0) })
        assert(locked?(path))
      end
      refute(locked?(path))
      store.transaction { assert_equal(2, store[:a]) }
    end
  end

  # The parent and the child both come back from the fork, each with a transaction. The original lets
  # both write, the one over the other.
  # Promise (pstore-journal): A child cannot write in the transaction of its parent.
  def test_a_child_cannot_end_its_parents_transaction
    with_store_path do |path|
      store = OURS.new(path)
      child = nil
      answer = begin
        store.transaction do
          store[:a] = 1
          child = fork
          next if child.nil?

          assert_predicate(Process.wait2(child).last, :success?)
          assert(locked?(path))
        end
      rescue Bytewright::ClosedError => error
        error.message
      end
      exit!(answer == "expected a transaction of this process, found its parent's") if child.nil?
      refute(locked?(path))
      assert_equal({ a: 1 }, read_table(path))
    end
  end

  def test_a_child_uses_the_store_of_its_parent
    with_store_path do |path|
      store = OURS.new(path)
      store.transaction { store[:n] = 1 }
      3.times { run_children(-> { store.transaction { store[:n] += 1 } }) }
      run_children(*Array.new(3) { -> { 20.times { store.transaction { store[:n] += 1 } } } })
      store.transaction { assert_equal(64, store[:n]) }
    end
  end

  def test_no_lock_outlives_a_transaction_that_is_left
    with_store_path do |path|
      store = OURS.new(path)
      [-> { store.transaction { raise "no" } }, -> { store.transaction { throw :out } }, -> { store.transaction { exit } },
       -> { store.transaction { store[:a] = proc {} } }, -> { Thread.new { store.transaction { Thread.current.kill } }.join }].each do |leave|
        catch(:out) { leave.call }
      rescue RuntimeError, SystemExit, TypeError
        nil
      ensure
        refute(locked?(path))
      end
    end
  end
end
