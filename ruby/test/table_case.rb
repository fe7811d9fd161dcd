# frozen_string_literal: true

require_relative "test_case"

# Common part of the tests of tables: a table of each kind, in memory and in a file, and a Hash beside them.
class TableCase < TestCase
  HashTable = Bytewright::HashTable
  TreeTable = Bytewright::TreeTable

  # Constructors of a store of Strings, by name. A file goes with the test.
  STORES = {
    "hash" => ->(_folder, entries) { entries.dup },
    "hash_table" => ->(_folder, entries) { HashTable[entries] },
    "tree_table" => ->(_folder, entries) { TreeTable[entries] },
    "hash_table_file" => ->(folder, entries) { HashTable.open(File.join(folder, "#{rand}.bwh"), sync: :never).update(entries) },
    "tree_table_file" => ->(folder, entries) { TreeTable.open(File.join(folder, "#{rand}.bwt"), sync: :never).update(entries) }
  }.freeze

  TABLES = STORES.keys.drop(1).freeze
  IN_MEMORY = %w[hash_table tree_table].freeze

  # Defines a test for each store; the block is given the name.
  def self.test_each(name, stores = TABLES, &block)
    stores.each do |store|
      define_method("test_#{store}_#{name}") { instance_exec(store, &block) }
    end
  end

  def setup
    @folder = Dir.mktmpdir
    @opened = []
  end

  def teardown
    @opened.each { |table| table.close if table.respond_to?(:close) && !table.closed? }
    FileUtils.rm_rf(@folder)
  end

  # A store of that name with these entries.
  def make(store, entries = {})
    made = STORES.fetch(store).call(@folder, entries)
    @opened << made
    made
  end

  def path(name)
    File.join(@folder, name)
  end

  # Runs the block in a child, and fails where it raises.
  def in_child
    reader, writer = IO.pipe
    child = fork do
      reader.close
      yield
      writer.write("done")
    rescue Exception => e # rubocop:disable Lint/RescueException -- the parent is told, and the child ends
      writer.write(e.full_message)
    ensure
      writer.close
      # Not the tests of the parent.
      exit!(true)
    end
    writer.close
    said = reader.read
    Process.wait(child)
    assert_equal("done", said)
  end
end
