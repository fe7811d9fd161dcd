# frozen_string_literal: true

require_relative "adb_case"
require "open3"

# Goal: a program that was written for TokyoCabinet::ADB does the same with Bytewright::ADB.
# Method: scripts/adb_script.rb, which calls every method, is run with the one and with the other, and
# prints what it gets. What it printed with Tokyo Cabinet is kept in scripts/adb_output/ for machines that
# have none; on those that have, the record is checked too. BYTEWRIGHT_RECORD=1 writes it anew. Random
# operations on both follow.
class AdbSameScriptTest < AdbCase
  SCRIPT = File.join(__dir__, "scripts/adb_script.rb")
  STORES = {
    "hash_in_memory" => %w[* *], "tree_in_memory" => %w[+ +],
    "hash_file" => %w[casket.tch casket.bwh], "tree_file" => %w[casket.tcb casket.bwt]
  }.freeze
  OPERATIONS = Integer(ENV.fetch("BYTEWRIGHT_OPERATIONS", 2000))

  STORES.each do |store, (theirs, ours)|
    define_method("test_a_script_prints_the_same_with_a_#{store}") do
      assert_equal(recorded(store), run_script("bytewright", "Bytewright::ADB", ours))
    end

    define_method("test_tokyo_cabinet_prints_what_was_recorded_with_a_#{store}") do
      next unless tokyo_cabinet("the script with a #{store}")

      printed = run_script("tokyocabinet", "TokyoCabinet::ADB", theirs)
      File.write(record(store), printed) if ENV["BYTEWRIGHT_RECORD"]
      assert_equal(recorded(store), printed)
    end
  end

  def test_the_script_calls_every_method
    source = File.read(SCRIPT, encoding: Encoding::UTF_8)
    (Bytewright::ADB.public_instance_methods(false) - %i[error inspect]).each do |name|
      assert_match(/\.#{Regexp.escape(name)}(?!\w)|:?\b#{Regexp.escape(name)}\b|adb\[/, source, name)
    end
  end

  def test_every_method_of_tokyo_cabinet_is_there
    next_of_kin = tokyo_cabinet("the methods") or return

    assert_equal(next_of_kin.public_instance_methods(false).sort, Bytewright::ADB.public_instance_methods(false).sort - %i[error inspect])
  end

  STORES.each do |store, (theirs, ours)|
    define_method("test_random_operations_do_the_same_with_a_#{store}") do
      their_class = tokyo_cabinet("random operations with a #{store}") or return

      seeds = ENV["BYTEWRIGHT_SEED"] ? [Integer(ENV["BYTEWRIGHT_SEED"])] : [1, 2, 3]
      seeds.each do |seed|
        compare(Random.new(seed), open_adb(place(ours, seed)), open_adb(place(theirs, seed), their_class))
      rescue Minitest::Assertion
        warn "failed with BYTEWRIGHT_SEED=#{seed}"
        raise
      end
    end
  end

  private

  def record(store)
    File.join(__dir__, "scripts/adb_output/#{store}.txt")
  end

  def recorded(store)
    File.read(record(store), encoding: Encoding::UTF_8)
  end

  def run_script(library, class_name, name)
    folder = File.join(@folder, library)
    Dir.mkdir(folder)
    environment = { "ADB_LOAD_PATH" => $LOAD_PATH.join(File::PATH_SEPARATOR), "LANG" => "C.UTF-8" }
    output, status = Open3.capture2(environment, RbConfig.ruby, "-W", SCRIPT, library, class_name, name, chdir: folder)
    assert_predicate(status, :success?, output)
    output.force_encoding(Encoding::UTF_8)
  end

  # A name in memory as it is, or a new file.
  def place(name, seed)
    name.include?(".") ? path("#{seed} #{name}") : name
  end

  def compare(random, ours, theirs)
    OPERATIONS.times do |count|
      operation = operation(random)
      found, expected = [ours, theirs].map { |adb| answer(adb, *operation) }
      assert(expected == found, "#{operation.inspect.slice(0, 200)}: expected #{expected.inspect.slice(0, 200)}, found #{found.inspect.slice(0, 200)}")
      assert(entries(theirs) == entries(ours), "after #{count} operations") if (count % 200).zero?
    end
    assert(entries(theirs) == entries(ours), "at the end")
  end

  def operation(random)
    key = [random.rand(100), "key #{random.rand(100)}", random.bytes(2), nil, true].sample(random: random)
    value = [random.bytes(random.rand(30)), random.rand(-9..9), [random.rand(1000)].pack("l"), [random.rand].pack("d")].sample(random: random)
    keys = Array.new(random.rand(4)) { "key #{random.rand(100)}" }
    number = random.rand(-2**31...2**31)
    [[:put, key, value], [:put, key, value], [:put, key, value], [:putkeep, key, value], [:putcat, key, value], [:out, key],
     [:get, key], [:vsiz, key], [:key?, key], [:value?, value], [:addint, key, number], [:adddouble, key, number / 3.0],
     [:fwmkeys, "k"], [:fwmkeys, key], [:rnum], [:misc, "putlist", keys], [:misc, "getlist", keys], [:misc, "outlist", keys],
     [:transaction], [:reopen], [:sync], [:iterate],
     [:misc, "getpart", [key, random.rand(9), random.rand(9)]], [:misc, "out", [key]], [:misc, "putkeep", [key, value]]]
      .sample(random: random)
  end

  # Keys come in an order of the table's own. What is in memory ends with its object.
  def answer(adb, name, *arguments)
    return adb.path.then { |path| path.length == 1 || (adb.close && adb.open(path)) } if name == :reopen

    # In a tree file, putlist adds a second value to a key, which ours have not.
    adb.misc("outlist", arguments.last) if arguments.first == "putlist"
    # To begin inside of a transaction is to wait for ever, with Tokyo Cabinet.
    return (adb.rnum % 3).zero? ? [adb.tranabort, adb.tranbegin] : [adb.trancommit, adb.tranbegin] if name == :transaction
    return (adb.iterinit && Array.new(adb.rnum + 1) { adb.iternext }.tap { |keys| keys.compact!&.sort! }) if name == :iterate

    given = adb.send(name, *arguments)
    name == :fwmkeys ? given.sort : given
  end

  def entries(adb)
    adb.keys.zip(adb.values).sort
  end
end
