# frozen_string_literal: true

require_relative "table_case"

# Goal: whoever makes the changes since a position to a copy of a table has the table as it is now, whoever changed it.
class TableChangesTest < TableCase
  def follow(table, copy, position)
    changes = table.changes_since(position)
    changes.each do |change, key, value|
      case change
      when :clear then copy.clear
      when :put then copy[key] = value
      when :delete then copy.delete(key)
      end
    end
    changes.position
  end

  def test_changes_begin_with_all_entries_and_go_on_from_a_position
    Bytewright::HashTable.open(path("t.bwh")) do |table|
      table.update("a" => "1", "b" => "2")
      first = table.changes_since
      assert_equal([[:clear, nil, nil], [:put, "a", "1"], [:put, "b", "2"]], first.to_a)
      assert_empty(first.to_a)
      assert_empty(table.changes_since(first.position).to_a)
      table.delete("a")
      table["c"] = "3"
      assert_equal([[:delete, "a", nil], [:put, "c", "3"]], table.changes_since(first.position).each.to_a)
    end
  end

  def test_a_copy_follows_what_other_handles_and_processes_do
    Bytewright::HashTable.open(path("t.bwh"), values: :json) do |table|
      copy, position = {}, nil
      20.times do |round|
        table["own"] = { "round" => round }
        Bytewright::HashTable.open(path("t.bwh"), values: :json) { |other| other["other #{round % 3}"] = [round] }
        in_child { table.delete("other #{(round + 1) % 3}") }
        table.compact if round == 10
        table.clear if round == 15
        position = follow(table, copy, position)
        assert_equal(table.to_h, copy)
      end
    end
  end

  def test_a_transaction_is_a_change_when_it_has_ended
    Bytewright::HashTable.open(path("t.bwh")) do |table|
      position = table.changes_since.position
      table.transaction do
        table["a"] = "1"
        assert_empty(table.changes_since(position).to_a)
      end
      assert_equal([[:put, "a", "1"]], table.changes_since(position).to_a)
    end
  end

  def test_tables_without_a_log_and_positions_of_others_are_refused
    Bytewright::HashTable.open(path("other.bwh")) do |other|
      Bytewright::HashTable.open(path("t.bwh")) do |table|
        error = assert_raises(ArgumentError) { table.changes_since(other.changes_since.position) }
        assert_match(/expected a position of this table, found one of another/, error.message)
        assert_match(/expected a position .*found x/, assert_raises(ArgumentError) { table.changes_since("x") }.message)
        assert_raises(TypeError) { table.changes_since(7) }
      end
    end
    Bytewright::TreeTable.open(path("t.bwt")) { |table| assert_raises(ArgumentError) { table.changes_since } }
    assert_match(/a HashTable in a file/, assert_raises(ArgumentError) { Bytewright::HashTable.new.changes_since }.message)
  end

  def test_changes_outlive_the_table_and_end_where_they_are_closed
    table = Bytewright::HashTable.open(path("t.bwh")).update("a" => "1", "b" => "2")
    changes = table.changes_since
    changes.each { table.close }
    changes.close
    assert_predicate(changes, :closed?)
    assert_raises(Bytewright::ClosedError) { changes.to_a }
    assert_raises(Bytewright::ClosedError) { table.changes_since }
    assert_raises(TypeError) { Marshal.dump(changes) }
  end

  def test_a_block_that_raises_leaves_the_rest_for_later
    Bytewright::HashTable.open(path("t.bwh")) do |table|
      table.update("a" => "1", "b" => "2")
      changes = table.changes_since
      assert_raises(IOError) { changes.each { |_, key| raise IOError if key == "a" } }
      assert_equal([[:put, "b", "2"]], changes.to_a)
    end
  end
end
