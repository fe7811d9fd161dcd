# frozen_string_literal: true

require_relative "pstore_case"

# Goal: a store is one whole state of its history, however its writers die and whatever the disk refuses.
# Method: children that run transactions are killed after a random time, 40 in all; BYTEWRIGHT_KILLS sets
# another number, and then the original dies as often for comparison, and what became of its files is
# printed. A limit of file sizes stands for a disk that is full.
class PStoreCrashTest < StoreCase
  KILLS = Integer(ENV.fetch("BYTEWRIGHT_KILLS", 40))
  LENGTH = 2 << 20

  # Work of a child in its transaction number +count+: each leaves a store of which one can tell that it is
  # whole.
  HISTORIES = {
    same_length: ->(store, count) { store["value"] = digit(count) * LENGTH },
    growing: ->(store, count) { store["value"] = digit(count) * (LENGTH + (count % 50) * 9973) },
    shrinking: ->(store, count) { store["value"] = digit(count) * (LENGTH - (count % 50) * 9973) },
    many_roots: ->(store, count) { 10.times { |root| store["root#{root}"] = digit(count) * (LENGTH / 20 + count % 7) } },
    records: ->(store, count) { store["record"] = Array.new(3000) { { "count" => count, "text" => digit(count) * 500 } } }
  }.freeze

  def self.digit(count)
    (count % 10).to_s
  end

  # Returns true if all that a table holds is of one transaction.
  def whole?(table)
    text = table.values.flatten.map { |value| value.is_a?(Hash) ? value["text"] : value }.join
    text.empty? || text == text[0] * text.length
  end

  # Returns the state of the file of a child that was killed: :whole, :mixed or :broken.
  def killed_state(store_class, history, ultra_safe, random)
    with_store_path do |path|
      child = fork { run_for_ever(store_class, path, history, ultra_safe) }
      Thread.pass until File.size?(path)
      sleep(random.rand * 0.08)
      Process.kill(:KILL, child)
      Process.wait(child)
      store = store_class.new(path)
      state = begin
        whole?(store.transaction(true) { store.roots.to_h { |key| [key, store[key]] } }) ? :whole : :mixed
      rescue ArgumentError, TypeError, EOFError, PStore::Error
        :broken
      end
      store.transaction { store["after"] = "0" } if state == :whole
      assert_equal("0", store_class.new(path).then { |s| s.transaction(true) { s["after"] } }) if state == :whole
      state
    end
  end

  def run_for_ever(store_class, path, history, ultra_safe)
    # The original warns of a method that it defines anew.
    $VERBOSE = nil
    store = store_class.new(path)
    store.ultra_safe = ultra_safe
    (0..).each { |count| store.transaction { history.call(store, count) } }
  ensure
    exit!(1)
  end

  def kill_many(store_class, count, random)
    Array.new(count) do |number|
      history = HISTORIES.values[number % HISTORIES.size]
      killed_state(store_class, history, number % 4 == 3, random)
    end.tally
  end

  # Promise (pstore-journal): also A killed program leaves the store
  def test_a_writer_that_is_killed_leaves_a_whole_state
    with_seeds(1) do |random|
      assert_equal({ whole: KILLS }, kill_many(OURS, KILLS, random))
      next unless ENV["BYTEWRIGHT_KILLS"] && STOCK

      warn "killed #{KILLS} times, ours: #{KILLS} whole; the original: #{kill_many(STOCK, KILLS, random)}"
    end
  end

  # A child that may not write beyond +limit+ bytes; what it says of what it tried.
  def limited(limit, path, &block)
    read, write = IO.pipe
    child = fork do
      read.close
      Signal.trap(:XFSZ, "IGNORE")
      Process.setrlimit(Process::RLIMIT_FSIZE, limit)
      store = OURS.new(path)
      begin
        block.call(store)
        write.write("done")
      rescue SystemCallError => error
        write.write(error.class.name)
      end
      write.close
      exit!(0)
    end
    write.close
    read.read.tap { Process.wait(child) }
  ensure
    read.close
  end

  # Promise (pstore-journal): also A full disk leaves the store
  def test_a_disk_that_is_full_keeps_the_old_state
    [false, true].each do |ultra_safe|
      with_store_path do |path|
        store = OURS.new(path)
        store.transaction { store["a"] = "a" * 1000; store["b"] = [1, 2] }
        before = File.binread(path)
        answers = [
          limited(100_000, path) { |s| s.ultra_safe = ultra_safe; s.transaction { s["a"] = "x" * 600_000 } },
          limited(100_000, path) { |s| s.ultra_safe = ultra_safe; s.transaction { s["b"] = Array.new(100_000) { |i| i } } }
        ]
        assert_equal(["Errno::EFBIG"] * 2, answers)
        assert_equal(before, File.binread(path))
        store.transaction { assert_equal([["a", "b"], "a" * 1000, [1, 2]], [store.roots, store["a"], store["b"]]) }
      end
    end
  end

  def test_a_store_goes_on_after_a_disk_was_full
    with_store_path do |path|
      OURS.new(path).then { |s| s.transaction { s["n"] = 0 } }
      answer = limited(100_000, path) do |s|
        s.transaction { s["n"] += 1 }
        begin
          s.transaction { s["big"] = "x" * 200_000; s["n"] = 99 }
        rescue Errno::EFBIG
          s.transaction { s["n"] += 1 }
        end
      end
      assert_equal("done", answer)
      assert_equal({ "n" => 2 }, read_table(path))
    end
  end
end
