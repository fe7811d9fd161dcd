# frozen_string_literal: true

begin
  require "pstore"
rescue LoadError
  warn "gap: Ruby's own PStore is not installed, so ours is not compared with it (gem install pstore)"
end
require_relative "test_case"

# Common part of the tests of stores: the original beside ours, values to store, and oracles.
class StoreCase < TestCase
  OURS = Bytewright::PStore
  STOCK = (::PStore if defined?(::PStore))

  Pair = Struct.new(:left, :right)
  Named = Struct.new(:name, :size, keyword_init: true)
  Point = Class.new { attr_accessor :x, :y }

  # Yields the path of a store that is not there yet.
  def with_store_path(name = "store")
    with_folder { |folder| yield File.join(folder, name) }
  end

  def stock
    STOCK || skip("Ruby's own PStore is not installed")
  end

  # Writes a table as any program with PStore would.
  def write_table(path, table)
    File.binwrite(path, Marshal.dump(table))
  end

  def read_table(path)
    Marshal.load(File.binread(path))
  end

  # Runs another Ruby with the load path of these tests; what it prints.
  def ruby(script, *arguments, expect: true)
    load_path = $LOAD_PATH.join(File::PATH_SEPARATOR)
    read, write = IO.pipe
    process = spawn(RbConfig.ruby, "-W", "-I#{load_path}", "-e", script, *arguments, out: write, err: write)
    write.close
    output = read.read
    status = Process.wait2(process).last
    assert_equal(expect, status.success?, output) unless expect.nil?
    output
  ensure
    read&.close
  end
end
