# frozen_string_literal: true

require_relative "table_case"

# Goal: a call that reads more than one entry of a table that another process may write reads those of one commit.
# Method: a second handle commits while the call runs, from what the call itself asks; and a process that commits all the
# time, beside calls for so many keys that some would see two commits.
class TableMomentTest < TableCase
  KINDS = { "hash_table" => [HashTable, "t.bwh"], "tree_table" => [TreeTable, "t.bwt"] }.freeze

  # Calls a block with what it gives, between two elements.
  class Between
    include Enumerable

    def initialize(elements, &block)
      @elements, @block = elements, block
    end

    def each
      return to_enum unless block_given?

      @elements.each do |element|
        yield element
        @block.call(element)
      end
    end
  end

  # Calls a block with itself, between two pairs of a Hash.
  class HashBetween < Hash
    attr_accessor :block

    def each
      super do |key, value|
        yield key, value
        block.call(key)
      end
    end
  end

  # A test for each kind of table: it is given one that writes and one that reads the same file.
  def self.beside_a_writer(name, &block)
    KINDS.each do |kind, (table, file)|
      define_method("test_#{kind}_#{name}") do
        writer = table.open(path(file), sync: :commit)
        @opened << writer
        writer.update({ "a" => "1", "b" => "1" })
        reader = table.open(path(file), read_only: true)
        @opened << reader
        instance_exec(writer, reader, &block)
      end
    end
  end

  beside_a_writer "comparisons_see_one_commit" do |writer, reader|
    other = HashBetween["a" => "1", "b" => "1"]
    other.block = ->(_key) { writer.update({ "a" => "2", "b" => "2" }) }
    %i[== >=].each do |name|
      writer.update({ "a" => "1", "b" => "1" })
      assert(reader.public_send(name, other), name)
    end
    writer.update({ "a" => "1", "b" => "1" })
    other.delete("b")
    assert_operator(reader, :>, other)
    assert_equal("2", reader["b"])
  end

  beside_a_writer "fetch_values_asks_the_block_for_all_that_were_missing" do |writer, reader|
    asked = reader.fetch_values("a", "x", "y") do |key|
      writer.update({ "x" => "late", "y" => "late" })
      "no #{key}"
    end
    assert_equal(["1", "no x", "no y"], asked)
    writer.delete("y")
    error = assert_raises(KeyError) { reader.fetch_values("x", "y") }
    assert_equal(["y", "key not found: \"y\""], [error.key, error.message])
  end

  beside_a_writer "operations_of_sets_see_one_commit" do |writer, reader|
    set = Bytewright::StringSet.new(table: reader)
    change = ->(_element) { writer.replace({ "c" => "" }) }
    back = -> { writer.replace({ "a" => "", "b" => "" }) }
    back.call
    assert_equal(%w[a b], (set & Between.new(%w[a b], &change)).sort)
    back.call
    refute(set.intersect?(Between.new(%w[x c], &change)))
    assert_equal(["c"], set.to_a)
  end

  beside_a_writer "many_values_are_those_of_one_commit" do |writer, reader|
    writer.close
    keys = Array.new(200) { |number| "key#{number}" }
    writing = fork do
      reader.class.open(reader.path, sync: :commit) do |table|
        1.step { |round| table.update(keys.to_h { |key| [key, round.to_s] }) }
      end
    end
    sleep(0.001) until reader.key?("key0")
    150.times do
      assert_equal(1, reader.values_at(*keys).uniq.size)
      assert_equal(1, reader.fetch_values(*keys).uniq.size)
      assert_equal(1, reader.slice(*keys).values.uniq.size)
    end
  ensure
    Process.kill(:KILL, writing)
    Process.wait(writing)
  end
end
