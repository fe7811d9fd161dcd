# frozen_string_literal: true

require_relative "adb_case"

# Goal: ADB does what the script that it shares with Tokyo Cabinet cannot show: files between objects and
# processes, why something failed, bounds, iterators while entries change.
class AdbTest < AdbCase
  def test_a_file_keeps_the_entries_for_the_next_object
    %w[casket.bwh casket.bwt].each do |name|
      open_adb(path(name)).then { |adb| adb.put("a", 1) && adb.close }
      assert_equal("1", open_adb(path(name))["a"])
    end
  end

  def test_its_files_are_tables
    open_adb(path("casket.bwt")).then { |adb| adb.put("a", 1) && adb.close }
    Bytewright::TreeTable.open(path("casket.bwt")) { |table| assert_equal({ "a" => "1" }, table.to_h) }
  end

  def test_the_name_of_a_tokyo_cabinet_file_is_refused_with_the_command_that_converts_it
    adb = Bytewright::ADB.new
    { "old.tch" => "old.bwh", "old.TCB" => "old.bwt" }.each do |name, converted|
      _, warning = capture_io { refute(adb.open(path("#{name}#bnum=1"))) }
      command = "bytewright table convert #{path(name)} #{path(converted)}"
      assert_includes(warning, command)
      assert_match(/\A#{Regexp.escape(__FILE__)}:\d+: warning: /, warning)
      assert_includes(adb.error.message, command)
      assert_instance_of(Bytewright::FormatError, adb.error)
    end
    refute_path_exists(path("old.tch"))
  end

  def test_error_says_why_a_method_failed
    adb = Bytewright::ADB.new
    assert_nil(adb.error)
    { "casket" => ArgumentError, "missing/casket.bwh" => Errno::ENOENT, "new.bwh#mode=w" => Errno::ENOENT,
      "a.bwh#sync=often" => ArgumentError }.each do |name, error|
      refute(adb.open(path(name)), name)
      assert_instance_of(error, adb.error, name)
    end
    refute(adb.open("a\0.bwh"))
    assert_instance_of(ArgumentError, adb.error)
    File.write(path("text.bwh"), "text" * 1000)
    refute(adb.open(path("text.bwh#mode=wct")))
    assert_instance_of(Bytewright::FormatError, adb.error)
    assert_equal("text" * 1000, File.read(path("text.bwh")))
  end

  def test_one_process_has_a_file_open_once
    first = open_adb(path("casket.bwh"))
    second = Bytewright::ADB.new
    refute(second.open(path("./casket.bwh#mode=r")))
    assert_instance_of(Bytewright::LockError, second.error)
    first.close
    assert(second.open(path("casket.bwh")))
    second.close
  end

  def test_an_object_that_is_forgotten_does_not_keep_the_file
    Thread.new { Bytewright::ADB.new.open(path("casket.bwh")) }.join
    adb = Bytewright::ADB.new
    eventually { GC.start || adb.open(path("casket.bwh#mode=wcf")) }
    adb.close
  end

  # In a process of its own: Ruby's weak maps, which crash it before 3.3, would end this one.
  def test_objects_with_files_may_be_forgotten_while_objects_are_moved
    return unless GC.respond_to?(:verify_compaction_references)

    assert(run_other(<<~RUBY))
      kept = []
      12.times do |round|
        100.times do |number|
          opened = Bytewright::ADB.new
          opened.open(File.join(File.dirname(name), "\#{round}-\#{number}.bwh")) or abort(opened.error.message)
          kept << opened if number.even?
          opened.close if number % 3 == 0
          Bytewright::ADB.new.open(name)
        end
        kept.shift(40)
        GC.compact
        #{MOVE_ALL_OBJECTS}
      end
      exit(!Bytewright::ADB.new.open(kept.find { |one| one.path }.path))
    RUBY
  end

  def test_another_process_waits_for_the_writer_or_does_not
    adb = open_adb(path("casket.bwh"))
    adb.put("a", "1")
    waits = start("exit(adb.open(name) && adb['a'] == '1')")
    refute(run_other("exit(adb.open(\"\#{name}#mode=wcf\"))"))
    assert(run_other("exit(adb.open(\"\#{name}#mode=r\") && adb['a'] == '1')"), "a reader does not wait")
    assert_nil(Process.waitpid(waits, Process::WNOHANG))
    adb.close
    Process.waitpid(waits)
    assert_predicate($?, :success?)
  end

  def test_a_process_that_dies_in_a_transaction_has_changed_nothing
    open_adb(path("casket.bwt")).then { |adb| adb.put("a", "1") && adb.close }
    run_other("adb.open(name); adb.put('b', '1'); adb.tranbegin; adb.put('a', '2'); adb.sync; Process.kill(:KILL, $$)", "casket.bwt")
    adb = open_adb(path("casket.bwt"))
    assert_equal("1", adb["a"])
  end

  def test_other_threads_wait_for_the_end_of_a_transaction
    adb = open_adb(path("casket.bwh"))
    assert(adb.tranbegin)
    adb.put("a", "1")
    other = Thread.new { adb.get("a") }
    eventually { other.status == "sleep" }
    assert(adb.tranabort)
    assert_nil(other.value)
  end

  def test_threads_add_to_one_number
    adb = open_adb("*")
    Array.new(4) { Thread.new { 500.times { adb.addint("n", 1) } } }.each(&:join)
    assert_equal(2000, adb.addint("n", 0))
  end

  def test_a_loop_may_change_what_it_walks
    %w[* + casket.bwh casket.bwt].each do |name|
      adb = open_adb(name.length == 1 ? name : path(name))
      20.times { |number| adb.put(number, number) }
      seen = []
      adb.iterinit
      while (key = adb.iternext)
        seen << key
        adb.out(key)
        adb.put("z", key) if seen.size == 3
      end
      assert_equal((0...20).map(&:to_s).sort, (seen - ["z"]).sort)
      assert_equal(adb.rnum, seen.include?("z") ? 0 : 1)
      adb.each { |each, _| adb.out(each) && adb.put("#{each}x", "") }
      assert_equal(["zx"].first(adb.rnum), adb.keys)
      adb.close
    end
  end

  def test_looking_for_a_value_does_not_move_the_iterator
    adb = open_adb("+")
    %w[a b c].each { |key| adb.put(key, key) }
    adb.iterinit
    assert_equal("a", adb.iternext)
    assert(adb.value?("c"))
    adb.each {}
    assert_equal("b", adb.iternext)
  end

  def test_capsiz_bounds_the_bytes_that_are_kept_in_memory
    adb = open_adb("+#capsiz=100000")
    5000.times { |number| adb.put("%06d" % number, "x" * 100) }
    assert_operator(adb.rnum, :<, 1500)
    assert(adb.key?("004999"))
  end

  def test_copy_puts_the_entries_in_the_place_of_those_of_another_file
    adb = open_adb(path("casket.bwh"))
    100.times { |number| adb.put(number, "x" * 100) }
    assert(adb.copy(path("copy.bwh")))
    adb.clear
    adb.put("a", "b")
    assert(adb.copy(path("copy.bwh")))
    Bytewright::HashTable.open(path("copy.bwh")) { |table| assert_equal({ "a" => "b" }, table.to_h) }
    refute(adb.copy(path("casket.bwh")), "onto itself")
    assert_equal("b", adb["a"])
    adb.tranbegin
    refute(adb.copy(path("other.bwh")), "in a transaction")
    adb.tranabort
    File.write(path("text.bwh"), "text" * 1000)
    refute(adb.copy(path("text.bwh")), "over what is no table")
    assert_equal("text" * 1000, File.read(path("text.bwh")))
  end

  def test_copy_of_a_table_in_memory_puts_its_entries_into_a_file
    %w[* +].product(%w[copy.bwh copy.bwt]).each do |name, file|
      adb = open_adb(name)
      adb.put("a", name)
      assert(adb.copy(path(file)), adb.error)
      Bytewright::Table.open(path(file)) { |table| assert_equal({ "a" => name }, table.to_h) }
      refute(adb.copy(path("copy.tch")))
      assert_match(/table convert/, adb.error.message)
    end
  end

  def test_copy_with_an_at_runs_a_command_while_the_file_has_all_changes_and_gets_no_others
    script = path("copy.sh")
    File.write(script, "#!/bin/sh\ncp \"$1\" \"$1.copy\" && sleep 0.1 && cmp -s \"$1\" \"$1.copy\" && echo $2 > \"$1.time\"\n")
    File.chmod(0o755, script)
    %w[casket.bwh casket.bwt].each do |name|
      adb = open_adb(path(name))
      1000.times { |number| adb.put(number, "x") }
      other = Thread.new { 200.times { |number| adb.put("later #{number}", "x") && sleep(0.001) } }
      sleep(0.01)
      assert(adb.copy("@#{script}"), name)
      other.join
      assert_match(/\A\d{16}\n\z/, File.read(path("#{name}.time")))
      Bytewright::Table.open(path("#{name}.copy")) { |table| assert_operator(table.size, :>=, 1000) }
      assert_equal(1200, adb.rnum)
      refute(adb.copy("@#{script} no shell is asked"))
      refute(adb.copy("@false"))
    end
  end

  def test_a_child_reads_and_does_not_write
    adb = open_adb(path("casket.bwh"))
    adb.put("a", "1")
    Process.waitpid(fork { exit!(adb["a"] == "1" && !adb.put("a", "2") && !adb.error.nil?) })
    assert_predicate($?, :success?)
    assert(adb.put("a", "3"))
  end

  private

  # Starts another process, which has +adb+ and +name+.
  def start(code, name = "casket.bwh")
    program = "require 'bytewright'; adb = Bytewright::ADB.new; name = #{path(name).inspect}; #{code}"
    Process.spawn(RbConfig.ruby, "-W", "-I#{$LOAD_PATH.join(File::PATH_SEPARATOR)}", "-e", program)
  end

  def run_other(...)
    Process.waitpid(start(...))
    $?.success?
  end
end
