# frozen_string_literal: true

# Tasks for every PStore of the benches, and how they are measured. The engines stand in
# ours/stores.rb and peers/stores.rb.

require "digest"
require "fileutils"

require_relative "program"

# Class of an object in the records of generator/stores.rb.
Place = Struct.new(:town, :distance)

module StoreWorkload
  # Work of a transaction on the root of a key, of a store or of the Hash that says what is right.
  #
  # read_only:: whether it is a read-only transaction
  # work::      (table, key, number of the transaction) -> anything
  # all::       whether it is done to all roots in one transaction
  Action = Struct.new(:read_only, :work, :all, keyword_init: true) do
    def initialize(read_only: false, all: false, **rest)
      super
    end

    def run(table, keys, number)
      if all
        keys.each { |key| work.call(table, key, number) }
      else
        # A stride that is coprime with all counts, so that the roots come in no order of the file's.
        work.call(table, keys[number * 7919 % keys.size], number)
      end
    end
  end

  READ = ->(table, key, _number) { table[key] }
  CHANGE = ->(table, key, number) { table[key] = format("value-%08d", 99_999_999 - number) }

  ACTIONS = {
    "append" => Action.new(work: ->(table, key, _) { table[key] += key }),
    "nothing" => Action.new(work: ->(*) {}),
    "read" => Action.new(read_only: true, work: READ),
    "change" => Action.new(work: CHANGE),
    "grow" => Action.new(work: ->(table, key, _) { table[key] += "+" }),
    "read_all" => Action.new(read_only: true, all: true, work: READ),
    "change_all" => Action.new(all: true, work: CHANGE),
    "change_field" => Action.new(work: ->(table, key, number) { table[key]["state"] = format("%08d", number) }),
    "grow_field" => Action.new(work: ->(table, key, _) { table[key]["name"] << "+" })
  }.freeze

  # A copy of the input for one process, and what is right for it.
  class Copy
    attr_reader :path, :keys

    def initialize(input)
      @folder = "#{input}.#{Process.pid}.store"
      @path = File.join(@folder, "store")
      FileUtils.mkdir_p(@folder)
      FileUtils.cp(input, @path)
      @keys = table.keys.map(&:dup)
      @keys = ["key0"] if @keys.empty?
    end

    # Returns the contents of the store.
    def table
      bytes = File.binread(@path)
      bytes.empty? ? {} : Marshal.load(bytes)
    end

    def bytes
      File.binread(@path)
    end

    def remove
      FileUtils.rm_rf(@folder)
    end
  end

  # Each task gives its answer, with what it measured under :figures.
  class Tasks
    NAMES = [*ACTIONS.keys, "first_read", "first_change", "memory"].freeze

    # Transactions whose outcome is the answer; more follow while they are timed.
    ANSWERED_COUNT = 5
    # Seconds for which the transactions of an action are timed, and the least number of them.
    TIMED_S = 0.25
    TIMED_COUNT_MIN = 5
    # The benchmark of 2011 makes what it measures longer, so all sides make as many transactions: by
    # the file's length in bytes up to which it holds. The smallest are those of check mode.
    APPEND_COUNTS = { 1_000 => 50, 100_000 => 2000, Float::INFINITY => 400 }.freeze

    # open:: path -> a store, loading what it is made of
    def initialize(open, input)
      @open = open
      @input = input
    end

    def run(name)
      return memory if name == "memory"

      @copy = Copy.new(@input)
      name.start_with?("first_") ? first(ACTIONS.fetch(name.delete_prefix("first_"))) : many(name)
    ensure
      @copy&.remove
    end

    private

    def many(name)
      action = ACTIONS.fetch(name)
      @expected = @copy.table
      store = @open.call(@copy.path)
      ANSWERED_COUNT.times { |number| transact(store, action, number) }
      answer = right(action, ANSWERED_COUNT)
      figures = name == "append" ? append(store, action) : timed(store, action)
      { **answer, figures: figures }
    end

    # The file is what dumping a Hash gives that had the same done to it.
    def right(action, count)
      keys = @copy.keys
      ((@done || 0)...count).each { |number| action.run(@expected, keys, number) } unless action.read_only
      @done = count
      file = @copy.bytes
      unless file == Marshal.dump(@expected) || (file.empty? && @expected.empty?)
        raise "the file is not what it should be after #{count} transactions"
      end

      { roots: @expected.size, sha256: Digest::SHA256.hexdigest(file) }
    end

    def transact(store, action, number)
      store.transaction(action.read_only) { action.run(store, @copy.keys, number) }
    end

    def append(store, action)
      count = APPEND_COUNTS.find { |bytes_max, _| @copy.bytes.size < bytes_max }.last
      seconds = clocked { count.times { |number| transact(store, action, number) } }
      right(action, @done + count)
      { transaction_s: seconds / count }
    end

    def timed(store, action)
      count = 0
      seconds = clocked do
        ending = now + TIMED_S
        while count < TIMED_COUNT_MIN || now < ending
          transact(store, action, @done + count)
          count += 1
        end
      end
      right(action, @done + count)
      { transaction_s: seconds / count }
    end

    # The first transaction of a process, and loading what does it.
    def first(action)
      value = nil
      seconds = clocked do
        @open.call(@copy.path).transaction(action.read_only) { |store| value = action.run(store, @copy.keys, 1) }
      end
      { value: value, sha256: Digest::SHA256.hexdigest(@copy.bytes), figures: { transaction_s: seconds } }
    end

    # Measures the peak memory of reading one root. The store is not copied, since nothing is written.
    def memory
      key = "key1"
      store = @open.call(@input)
      GC.start
      before = status("VmRSS")
      File.write("/proc/self/clear_refs", "5")
      value = store.transaction(true) { store[key] }
      { value: Digest::SHA256.hexdigest(value),
        figures: { peak_bytes: status("VmHWM") - before, payload_bytes: File.size(@input) } }
    end

    def status(name)
      Integer(File.read("/proc/self/status")[/^#{name}:\s*(\d+) kB/, 1], 10) * 1024
    end

    # Wall time, because a store waits for the disk. Garbage of before is collected first.
    def clocked
      GC.start
      start = now
      yield
      now - start
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # The program of `engines`, a Hash of name to what opens a store.
  def self.main(engines, arguments)
    WorkloadProgram.run(Tasks, engines, arguments, "STORE")
  end
end
