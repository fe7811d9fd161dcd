# frozen_string_literal: true

require_relative "table_case"

# Goal: a file that another program cuts, moves or removes under open ordered tables is an error of Ruby or changes nothing.
# Method: one handle reads and another writes, in this process or another one, while the file is cut to half or to nothing.
class TableCutsTest < TableCase
  ENTRIES = (0...3000).to_h { |number| [format("key%05d", number), "#{number}." * ((number % 20) + 1)] }
                      .merge({ "long" => "l" * 50_000, "longer" => "m" * 300_000 }).freeze
  CUTS = { "half" => ->(len) { len / 2 }, "half_a_page" => ->(len) { (len / 2 / 4096 * 4096) + 1000 }, "nothing" => ->(_len) { 0 } }.freeze

  def setup
    super
    @path = path("t.bwt")
    writer = open_table(sync: :never)
    writer.update(ENTRIES)
    writer.close
  end

  def open_table(**options)
    table = TreeTable.open(@path, **options)
    @opened << table
    table
  end

  def cut(how)
    File.truncate(@path, CUTS.fetch(how).call(File.size(@path)))
  end

  # Counts the keys whose value can be read; all others are to be errors.
  def answers(table, entries = ENTRIES)
    entries.count do |key, value|
      assert_equal(value, table[key])
      true
    rescue Bytewright::CorruptError, SystemCallError
      false
    end
  end

  # Returns what the block does, or nil if the file is damaged.
  def told
    yield
  rescue Bytewright::CorruptError, Bytewright::FormatError, SystemCallError
    nil
  end

  # Cuts the file under both, and asks for everything.
  def check_cut(how, reader, writer)
    cut(how)
    [reader, writer].each do |table|
      assert_operator(answers(table), :<, ENTRIES.size)
      assert_includes([nil, ENTRIES], told { table.to_h })
      assert_includes([nil, ENTRIES.size], told { table.size })
    end
    100.times { |number| told { writer["new#{number}"] = "n" * number * 100 } }
    told { writer.transaction { writer.update({ "new1" => "1", "new2" => "2" }) } }
    assert_operator(answers(reader), :<, ENTRIES.size)
  end

  CUTS.each_key do |how|
    [true, false].each do |is_read|
      define_method("test_a_file_cut_to_#{how}_is_an_error_#{is_read ? 'after' : 'before'}_it_was_read") do
        reader = open_table(read_only: true)
        writer = open_table
        assert_equal([ENTRIES.size] * 2, [reader, writer].map { |table| answers(table) }) if is_read
        check_cut(how, reader, writer)
        [reader, writer].each { |table| told { table.close } }
        assert_includes([nil, ENTRIES], told { open_table(read_only: true).to_h })
      end
    end

    define_method("test_a_file_cut_to_#{how}_ends_no_process_that_reads_or_writes_it") do
      reader = open_table(read_only: true)
      assert_equal(ENTRIES.size, answers(reader))
      told_child, parent = IO.pipe
      child, told_parent = IO.pipe
      writing = fork do
        writer = TreeTable.open(@path, sync: :interval)
        told_parent.puts("open")
        told_child.gets
        200.times { |number| told { writer["new#{number}"] = "n" * number * 100 } }
        answers(writer)
        told { writer.close }
        told_parent.puts("done")
        exit!(true)
      end
      child.gets
      cut(how)
      parent.puts("cut")
      assert_operator(answers(reader), :<, ENTRIES.size)
      assert_equal("done\n", child.gets)
      assert_operator(answers(reader), :<, ENTRIES.size)
      _, status = Process.wait2(writing)
      assert_predicate(status, :success?)
    end
  end

  def test_a_walk_and_a_snapshot_end_with_an_error_where_the_file_is_cut
    reader = open_table(read_only: true)
    snapshot = reader.snapshot
    walked = {}
    assert_raises(Bytewright::CorruptError) do
      reader.each do |key, value|
        cut("half") if walked.size == 10
        walked[key] = value
      end
    end
    assert_equal(ENTRIES.first(walked.size).to_h, walked)
    assert_operator(answers(snapshot), :<, ENTRIES.size)
    assert_nil(told { snapshot.to_h })
  end

  def test_threads_that_read_while_the_file_is_cut_go_on
    reader = open_table(read_only: true)
    threads = Array.new(3) { Thread.new { 5.times.map { answers(reader) }.last } }
    len = File.size(@path)
    40.times do |step|
      File.truncate(@path, len - (len * step / 40))
      sleep(0.002)
    end
    File.truncate(@path, 0)
    threads.each(&:value)
    assert_equal(0, answers(reader))
  end

  def test_a_file_that_is_moved_and_removed_goes_on
    reader = open_table(read_only: true)
    writer = open_table
    moved = path("moved.bwt")
    File.rename(@path, moved)
    writer["moved"] = "1"
    assert_equal("1", reader["moved"])
    File.delete(moved)
    writer.update({ "removed" => "2" * 10_000 })
    writer.compact
    assert_equal(ENTRIES.merge({ "moved" => "1", "removed" => "2" * 10_000 }), reader.to_h)
    assert_equal(reader.to_h, writer.to_h)
    [writer, reader].each(&:close)
    refute_path_exists(moved)
    refute_path_exists(@path)
  end
end
