# frozen_string_literal: true

require_relative "test_case"
require_relative "interruptions"
require "stringio"
require "bytewright/pstore"

# Goal: wherever an interrupt comes, what it ended can be used again, nothing that was committed is lost, and no file stays
# locked.
#
# Method: a process beside this one sends signals at random moments, fractions of a millisecond apart, and the handler raises
# in the thread of the test, as Timeout does. So it comes at every place where Ruby looks for interrupts. Each round repeats an
# operation until it is interrupted, and looks at what is left. BYTEWRIGHT_INTERRUPTS is how many rounds there are of each
# (4,000 have been run); BYTEWRIGHT_SEED is the seed. The collector does not run meanwhile, so that it closes nothing.
class InterruptsTest < TestCase
  ROUNDS = Integer(ENV.fetch("BYTEWRIGHT_INTERRUPTS", "120"))

  # A store that goes through the steps of the original.
  class DerivedStore < Bytewright::PStore
    def dump(table)
      super
    end
  end

  # Interrupts the operation, and runs the block, which raises where what is left cannot be used.
  def interrupted(operation)
    # Loads all that Ruby loads on first use: RubyGems is not made for interrupts.
    operation.call
    was_disabled = GC.disable
    seed = Integer(ENV.fetch("BYTEWRIGHT_SEED") { Random.new_seed % 2**32 })
    Interruptions.with_interruptions(seed) do |interrupt|
      ROUNDS.times do |round|
        interrupt.call(operation)
        yield
      rescue Minitest::Assertion, StandardError, fatal => error
        flunk("BYTEWRIGHT_SEED=#{seed}, round #{round}: #{error.full_message(highlight: false)}")
      end
      GC.start if (GC.count % 8).zero?
    end
  ensure
    GC.enable unless was_disabled
  end

  # Returns the class of the error that Ruby raises if all threads wait for each other.
  def fatal
    ObjectSpace.each_object(Class).find { |each| each.name == "fatal" }
  end

  # Runs the block in a thread of its own, which has none of what the test's thread holds.
  def elsewhere(&block)
    thread = Thread.new(&block)
    thread.report_on_exception = false
    thread.value
  end

  def self.stores
    { "marshal" => [Bytewright::PStore, {}], "roots" => [Bytewright::PStore, { format: :roots }], "derived" => [DerivedStore, {}] }
  end

  stores.each do |name, (klass, options)|
    [false, true].each do |thread_safe|
      define_method("test_a_store_goes_on_after_any_interrupt: #{name}, #{thread_safe}") do
        with_new_file("a.pstore") do |path|
          store = klass.new(path, thread_safe, **options)
          store.transaction { store[:both] = [0, 0] }
          committed = 0
          interrupted(-> { store.transaction { store[:both] = store[:both].map { |count| count + 1 } } && committed += 1 }) do
            found = elsewhere { store.transaction { store[:both] } }
            assert_equal(1, found.uniq.size)
            assert_operator(found[0], :>=, committed)
            committed = found[0]
          end
        end
      end
    end
  end

  def test_a_store_that_is_closed_opens_its_file_again_after_any_interrupt
    with_new_file("a.pstore") do |path|
      store = Bytewright::PStore.new(path, format: :roots)
      interrupted(-> { store.transaction { store[:n] = 1 } && store.close }) { assert_equal(1, store.transaction { store[:n] }) }
    end
  end

  TABLES = %w[HashTable TreeTable].product([nil, :interval, :commit])

  # Defines a test for each kind of table, in memory and in a file.
  def self.test_tables(name, &test)
    TABLES.each do |kind, sync|
      define_method("test_#{name}: #{kind}, #{sync || "in memory"}") do
        klass = Bytewright.const_get(kind)
        with_new_file(kind == "HashTable" ? "t.bwh" : "t.bwt") do |path|
          table = sync ? klass.open(path, sync: sync) : klass.new
          instance_exec(table, &test)
        ensure
          table&.close
        end
      end
    end
  end

  test_tables("a_transaction_ends_with_any_interrupt") do |table|
    table.update("a" => "0", "b" => "0")
    interrupted(-> { table.transaction { %w[a b].each { |key| table.transaction { table.increment(key) } } } }) do
      found = elsewhere { table["beside"] = "1" and table.values_at("a", "b") }
      assert_equal([1, 0], [found.uniq.size, table.send(:transaction_depth)])
    end
  end

  test_tables("changes_of_many_entries_are_whole_after_any_interrupt") do |table|
    operation = lambda do
      text = rand(1000).to_s
      table.update("a" => text, "b" => text)
      table.replace("a" => text, "b" => text)
      table.transform_values!(&:succ)
      table.delete_if { |key, _| key == "c" }
      table.sync
    end
    interrupted(operation) { elsewhere { table["beside"] = "1" } }
  end

  test_tables("reading_holds_nothing_after_any_interrupt") do |table|
    table.update("a" => "1", "b" => "2")
    operation = lambda do
      table.snapshot(&:to_a)
      table.each { |_, _| nil }
      table.find { |key, _| key == "b" }
      table.any? { |_, value| value == "2" }
    end
    # A hashed file is not compacted while somebody reads it.
    interrupted(operation) { elsewhere { table.delete("beside") || table["beside"] = "1" and table.compact } }
  end

  # Returns the ways to lend a block an object of a file that others wait for, by class.
  def self.lent
    { "HashTable" => ->(path, &block) { Bytewright::HashTable.open("#{path}.bwh", &block) },
      "TreeTable" => ->(path, &block) { Bytewright::TreeTable.open("#{path}.bwt", &block) },
      "Table" => ->(path, &block) { Bytewright::Table.open("#{path}.bwt", &block) },
      "StringSet" => ->(path, &block) { Bytewright::StringSet.open("#{path}.bwh", &block) },
      "FlowStore" => ->(path, &block) { Bytewright::FlowStore.open("#{path}.bwt", &block) } }
  end

  lent.each do |name, open|
    define_method("test_a_block_form_leaves_its_file_to_others_after_any_interrupt: #{name}") do
      with_new_file("t") do |path|
        interrupted(-> { open.call(path, &:size) }) { elsewhere { open.call(path, &:size) } }
      end
    end
  end

  def test_a_database_that_was_not_opened_leaves_its_file_to_others
    with_new_file("a.bwh") do |path|
      opened = nil
      operation = lambda do
        opened = Bytewright::ADB.new
        opened.open(path) && opened.put("a", "1")
        opened.close
      end
      interrupted(operation) do
        opened&.close
        adb = Bytewright::ADB.new
        assert(adb.open(path))
        assert(adb.close)
      end
    end
  end

  # Files that this process has open.
  def open_files(path)
    Dir.children("/proc/self/fd").count { |number| File.readlink("/proc/self/fd/#{number}") == path rescue false } # rubocop:disable Style/RescueModifier
  end

  def test_a_block_form_closes_what_it_reads_after_any_interrupt
    { VLAN => -> { open_capture(VLAN) { |capture| capture.name } },
      TUNNELS => -> { Bytewright::Reader.open(TUNNELS, &:u8) } }.each do |path, operation|
      # Another test may have left one to the collector, which does not run meanwhile.
      before = open_files(path)
      interrupted(operation) { assert_equal(before, open_files(path)) }
    end
  end

  # Its class is asked for its name, which takes calls of Ruby's.
  def test_an_interrupt_while_an_object_is_opened_is_raised
    bytes = File.binread(VLAN)
    interrupted(-> { Bytewright::Capture.open(StringIO.new(bytes), &:name) }) { nil }
  end

  # Runs the block in a forked child, where there is no other thread: then Ruby starts one for each wait, which could wake this
  # one, and interrupts come while it waits for the end of that.
  def alone
    reader, writer = IO.pipe
    child = fork do
      yield
      writer.write("done")
    rescue Exception => error # rubocop:disable Lint/RescueException -- it is told
      writer.write(error.full_message(highlight: false))
    ensure
      exit!
    end
    writer.close
    assert_equal("done", reader.read)
  ensure
    reader&.close
    Process.wait(child) if child
  end

  # A file that the system has to read from its disk is waited for without Ruby's lock.
  def test_a_reader_that_waits_for_a_disk_goes_on_after_any_interrupt
    with_new_file("large.bin") do |path|
      bytes = Random.bytes(4 << 20)
      File.binwrite(path, bytes)
      File.open(path) do |file|
        file.fdatasync
        reader = Bytewright::Reader.open(path)
        operation = lambda do
          file.advise(:dontneed)
          reader.seek(0)
          reader.read
        end
        alone do
          interrupted(operation) do
            reader.seek(0)
            assert(reader.read.b == bytes, "other bytes")
          end
        end
      end
    end
  end

  def test_a_pass_of_a_program_without_other_threads_ends_with_any_interrupt
    alone do
      interrupted(-> { open_capture(WEB) { |capture| capture.each_batch(&:size) } }) do
        assert_equal(316, Bytewright::Capture.open(VLAN, &:count))
      end
    end
  end

  def test_a_writer_leaves_the_old_file_or_the_new_one_after_any_interrupt
    with_new_file("a.bin") do |path|
      File.binwrite(path, "old" * 1000)
      operation = -> { Bytewright::Writer.replace(path) { |writer| 1000.times { writer << "new" } } }
      interrupted(operation) do
        assert_includes(["old" * 1000, "new" * 1000], File.binread(path))
        assert_equal(["a.bin"], Dir.children(File.dirname(path)))
      end
    end
    with_new_file("a.pcap") do |path|
      operation = -> { Bytewright::CaptureWriter.open(path, force: true) { |writer| 20.times { writer.write(udp_frame(1), time: 0) } } }
      interrupted(operation) do
        assert_includes([nil, 20], File.exist?(path) ? open_capture(path, &:count) : nil)
        assert_empty(Dir.children(File.dirname(path)) - ["a.pcap"])
      end
    end
  end

  def test_flows_are_counted_once_and_whole_after_any_interrupt
    with_new_file("flows.bwt") do |path|
      operation = lambda do
        Bytewright::Capture.flows(VLAN, into: path)
        File.unlink(path)
      end
      whole = Bytewright::Capture.flows(VLAN).count
      interrupted(operation) do
        assert_includes([0, whole], Bytewright::FlowStore.open(path, &:size))
        File.unlink(path)
      end
    end
  end
end
