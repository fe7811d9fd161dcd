# frozen_string_literal: true

require_relative "pstore_case"
require "delegate"
require "pathname"
require "timeout"

# Goal: a program that uses PStore finds no difference.
# Method: each case is run with Ruby's own PStore and with ours, in folders of their own. What it answers or
# raises must be the same, as must be the bytes of the file then. What version 0.2 of the original changed
# is in DIFFERENCES, for Rubies that come with an older one.
# Promise (pstore-journal): Methods, errors and files are the original's.
class PStoreContractTest < StoreCase
  # Messages of the older original, and those of the newer one and ours.
  DIFFERENCES = { /undefined (?:root name|key) `(.*)'/ => "undefined key '\\1'" }.freeze
  IS_OLD = STOCK && Gem::Version.new(STOCK::VERSION) < Gem::Version.new("0.2")

  # A case is a block that is given a class and a path.
  def self.same(name, &block)
    define_method("test_#{name}") do
      expected = outcome(stock, &block)
      expected[1] = DIFFERENCES.reduce(expected[1]) { |text, (old, new)| text.gsub(old, new) } if IS_OLD && expected[0] == :raised
      assert_equal(expected, outcome(OURS, &block))
    end
  end

  # Returns what a case returns or raises, and what is in its folder then.
  def outcome(store_class, &block)
    with_folder do |folder|
      path = File.join(folder, "store")
      answer = begin
        [:answer, instance_exec(store_class, path, &block)]
      rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is the outcome
        raise if error.is_a?(Minitest::Assertion)

        [:raised, "#{error.class.name.sub("Bytewright::", "")}: #{error.message.gsub(folder, "FOLDER")}"]
      end
      files = Dir.children(folder).reject { |name| name.include?("journal") }.sort
      answer << files.to_h { |name| [name, contents(File.join(folder, name))] }
    end
  end

  def contents(path)
    File.directory?(path) ? :folder : [File.binread(path), File.stat(path).mode]
  end

  # A store with these roots.
  def store(store_class, path, **roots)
    write_table(path, roots) unless roots.empty?
    store_class.new(path)
  end

  # The class and message of what the block raises, to go on with the case.
  def error
    yield
  rescue Exception => error # rubocop:disable Lint/RescueException -- as above
    text = "#{error.class.name.sub("Bytewright::", "")}: #{error.message}"
    IS_OLD ? DIFFERENCES.reduce(text) { |old, (pattern, new)| old.gsub(pattern, new) } : text
  end

  # --- roots ---

  same("roots_are_written_and_read") do |klass, path|
    s = klass.new(path)
    s.transaction { s["a"] = 1; s[:b] = "two"; s[nil] = [3.5, { "x" => :y }] }
    s.transaction(true) { [s["a"], s[:b], s[nil], s["c"], s.root?("a"), s.root?("c"), s.roots] }
  end

  same("values_keep_their_types_and_encodings") do |klass, path|
    values = ["é", "é".encode("ISO-8859-1"), "é".b, "a".encode("US-ASCII"), "x".encode("UTF-16LE"), :é, :"a b", 2**30, -2**30,
              2**62, 2**64, 1.5, -0.0, 1e300, Float::INFINITY, nil, true, false, (1..2), /x/i, String, Comparable,
              Time.at(0, 5, :nsec).utc, Rational(1, 2), Pair.new(1, "x"), Named.new(name: 1, size: 2)]
    s = klass.new(path)
    s.transaction { values.each_with_index { |value, at| s[at] = value } }
    s.transaction do
      read = values.each_index.map { |at| s[at] }
      [read == values, read.map(&:class), read.grep(String).map { |text| [text, text.encoding, text.frozen?] }]
    end
  end

  same("any_object_is_a_key") do |klass, path|
    keys = ["a", :a, 1, 1.0, 2**70, nil, true, [1, "x"], { 1 => 2 }, String, Pair.new(1, 2), 1.5, "é", "é".encode("ISO-8859-1"), -0.0, 0.0]
    s = klass.new(path)
    s.transaction { keys.each_with_index { |key, at| s[key] = at } }
    s.transaction { s[[1, "x"]] += 100; s[1.0] += 100; s["é"] += 100 }
    s.transaction { [s.roots, keys.map { |key| s[key] }, keys.map { |key| s.root?(key) }, s[[1, "y"]], s["é".b]] }
  end

  same("string_keys_are_copied_and_frozen") do |klass, path|
    s = klass.new(path)
    key = +"key"
    s.transaction { s[key] = 1; key << "!"; s.roots.map { |each| [each, each.frozen?] } }
    s.transaction { [s["key"], s["key!"], s.roots.first.frozen?] }
  end

  same("equal_keys_of_other_encodings_are_one_root") do |klass, path|
    s = store(klass, path, **{})
    s.transaction { s["abc"] = 1 }
    s.transaction { s["abc".b] += 1; s["abc".encode("US-ASCII")] += 1; s["abc".encode("Shift_JIS")] += 1 }
    s.transaction { [s["abc"], s.roots.map(&:encoding)] }
  end

  same("strings_of_derived_classes_are_keys_too") do |klass, path|
    s = klass.new(path)
    s.transaction { s["a"] = 1; s[Class.new(String).new("a")] += 1; s["b".dup.tap { |key| key.instance_variable_set(:@x, 1) }] = 2 }
    s.transaction { [s["a"], s["b"], s.roots.map(&:class)] }
  end

  same("fetch_answers_raises_or_takes_the_default") do |klass, path|
    s = store(klass, path, a: nil)
    s.transaction(true) { [s.fetch(:a), s.fetch(:a, 1), s.fetch(:b, 2), s.fetch(:b, nil), error { s.fetch(:b) }, error { s.fetch("b") }] }
  end

  same("delete_answers_the_value") do |klass, path|
    s = store(klass, path, a: [1], b: 2)
    s.transaction { [s.delete(:a), s.delete(:a), s.delete(:c), s.roots, s[:a], s.root?(:a)] }
  end

  same("roots_are_in_the_order_of_a_hash") do |klass, path|
    s = store(klass, path, a: 1, b: 2, c: 3)
    s.transaction { s[:b] = 20; s.delete(:a); s[:d] = 4; s[:a] = 10; s.delete(:d); s[:d] = 40; s.roots }
    s.transaction { [s.roots, s.roots.map { |key| s[key] }] }
  end

  same("roots_answers_an_array_of_its_own") do |klass, path|
    s = store(klass, path, a: 1)
    s.transaction { s.roots.clear; s.roots }
  end

  same("the_default_value_of_the_table_answers") do |klass, path|
    table = Hash.new([7])
    table[:a] = 1
    write_table(path, table)
    s = klass.new(path)
    first = s.transaction { [s[:zz], s[:a], s.root?(:zz), error { s.fetch(:zz) }, s.delete(:zz), s[:zz].equal?(s[:zz])] }
    s.transaction { s[:zz] << 8; s[:b] = s[:zz] }
    [first, s.transaction { [s[:y], s[:b], s.roots] }]
  end

  same("a_table_that_is_no_plain_hash_stays_what_it_is") do |klass, path|
    by_identity = {}.compare_by_identity
    by_identity["a"] = 1
    by_identity["a".dup] = 2
    write_table(path, by_identity)
    s = klass.new(path)
    s.transaction { s[:b] = 3 }
    s.transaction { [s.roots, s["a"]] }
  end

  # --- objects ---

  same("a_root_is_one_object_within_a_transaction_and_another_in_the_next") do |klass, path|
    s = store(klass, path, a: "x", b: [1], c: { "k" => "v" })
    kept = nil
    first = s.transaction { kept = [s[:a], s[:b], s[:c]]; [s[:a].equal?(s[:a]), s[:b].equal?(s[:b])] }
    kept[0] << "!"
    kept[1] << 2
    kept[2]["k"] << "!"
    [first, s.transaction { [s[:a], s[:b], s[:c], s[:a].equal?(kept[0])] }]
  end

  same("changes_in_place_are_kept") do |klass, path|
    s = store(klass, path, a: +"x", b: [1], c: { "k" => +"v" }, d: Pair.new(1, 2))
    s.transaction { s[:a] << "y"; s[:b] << 2; s[:c]["k"] << "w"; s[:c]["n"] = 1.5; s[:d].left = 9 }
    s.transaction(true) { [s[:a], s[:b], s[:c], s[:d]] }
  end

  same("changes_in_place_are_lost_where_it_is_only_read") do |klass, path|
    s = store(klass, path, a: +"x", b: [1])
    s.transaction(true) { s[:a] << "y"; s[:b] << 2 }
    s.transaction(true) { [s[:a], s[:b]] }
  end

  # Promise (pstore-journal): Roots that share an object change together.
  same("shared_objects_stay_shared") do |klass, path|
    s = klass.new(path)
    s.transaction { s[:a] = s[:b] = [1]; s[:c] = { x: s[:a] }; s[:d] = 1.5; s[:e] = [1.5]; text = +"t"; s[:f] = text; s[:g] = text }
    first = s.transaction { s[:a] << 2; [s[:b], s[:c], s[:a].equal?(s[:b]), s[:f].equal?(s[:g])] }
    s.transaction { s[:b] = [0] }
    s.transaction { s.delete(:a) }
    s.transaction { s[:f] << "!" }
    [first, s.transaction { [s[:a], s[:b], s[:c], s[:f], s[:g], s[:f].equal?(s[:g])] }]
  end

  # Promise (pstore-journal): also Roots that share an object
  same("objects_that_are_shared_later_are_shared") do |klass, path|
    s = store(klass, path, a: +"x", b: +"x", c: [+"y"], d: 2**70, e: 2**70)
    s.transaction { s[:b] = s[:a] }
    s.transaction { s[:c] << s[:a] }
    s.transaction { s[:e] = s[:d] }
    s.transaction { s[:a] << "!"; [s[:b], s[:c], s[:a].equal?(s[:c].last)] }
  end

  same("a_value_may_hold_itself") do |klass, path|
    s = klass.new(path)
    s.transaction { list = [1]; list << list; s[:a] = list }
    s.transaction { s[:a] << 2; s[:a][1].equal?(s[:a]) }
  end

  # --- errors ---

  same("a_store_wants_a_folder") { |klass, path| klass.new(File.join(path, "none", "store")) }
  same("a_store_wants_a_path") { |klass, _path| klass.new(nil) }
  same("a_path_has_no_null") { |klass, path| klass.new("#{path}\0x") }
  same("a_folder_is_no_store_to_write") { |klass, path| Dir.mkdir(path) && klass.new(path).transaction { 1 } }
  same("a_folder_is_no_store_to_read") { |klass, path| Dir.mkdir(path) && klass.new(path).transaction(true) { 1 } }

  same("a_folder_may_go_after_new") do |klass, path|
    Dir.mkdir(path)
    s = klass.new(File.join(path, "store"))
    Dir.rmdir(path)
    [s.transaction(true) { s[:a] }, error { s.transaction { s[:a] } }.sub(/ - .*/, "")]
  end

  same("nothing_is_done_outside_of_a_transaction") do |klass, path|
    s = klass.new(path)
    [error { s[:a] }, error { s[:a] = 1 }, error { s.delete(:a) }, error { s.fetch(:a) }, error { s.roots }, error { s.root?(:a) },
     error { s.commit }, error { s.abort }]
  end

  same("nothing_is_changed_where_it_is_only_read") do |klass, path|
    s = store(klass, path, a: 1)
    s.transaction(true) { [error { s[:a] = 1 }, error { s.delete(:a) }, s[:a]] }
  end

  same("transactions_do_not_nest") do |klass, path|
    s = klass.new(path)
    t = klass.new("#{path}2", true)
    [s.transaction { [error { s.transaction { 1 } }, error { s.transaction(true) { 1 } }] }, t.transaction { error { t.transaction { 1 } } }]
  end

  same("a_transaction_wants_a_block") do |klass, path|
    s = store(klass, path, a: 1)
    first = error { s.transaction }
    [first, s.transaction { s[:a] }]
  end

  [nil, 1, "x", [1], Pair.new(1, 2)].each do |object|
    same("a_file_with_#{object.class}_is_corrupted") do |klass, path|
      write_table(path, object)
      s = klass.new(path)
      [error { s.transaction { 1 } }, error { s.transaction(true) { 1 } }]
    end
  end

  same("a_file_of_something_else_is_an_error") do |klass, path|
    ["hello world", "\x04\x09{\x00", "\x03\x08{\x00", "\x04\x08", "\x04\x08{\x06", "\x04", "\x04\x08{\x06:\x06a", "\x04\x08o:\x09NoneI\x00"].map do |bytes|
      File.binwrite(path, bytes)
      s = klass.new(path)
      old_verbose, $VERBOSE = $VERBOSE, nil
      [error { s.transaction { s.roots } }, error { s.transaction(true) { s.roots } }]
    ensure
      $VERBOSE = old_verbose
    end
  end

  same("a_file_that_is_cut_is_the_error_that_it_was") do |klass, path|
    whole = Marshal.dump({ "a" => ["x" * 10, 1.5, :sym], :b => { 1 => "é" } })
    (0...whole.bytesize).map do |length|
      File.binwrite(path, whole[0, length])
      s = klass.new(path)
      [length, error { s.transaction(true) { break s.roots } }, error { s.transaction { break s.roots } }]
    end
  end

  same("a_class_that_is_not_there_is_an_error") do |klass, path|
    File.binwrite(path, "\x04\x08{\x06:\x06ao:\x0bNoneXx\x00")
    s = klass.new(path)
    [error { s.transaction { s[:a] } }, error { s.transaction(true) { s[:a] } }]
  end

  same("what_cannot_be_dumped_is_an_error_and_changes_nothing") do |klass, path|
    s = store(klass, path, a: 1)
    [proc {}, Hash.new { 1 }, $stdout, Class.new.new, Object.new.tap { |each| each.define_singleton_method(:x) { 1 } }, [Thread::Mutex.new]].map do |value|
      error { s.transaction { s[:a] = 2; s[:b] = value } }.sub(/0x\h+/, "")
    end + s.transaction { [s[:a], s.roots] }
  end

  # --- control flow ---

  same("the_value_is_the_blocks") do |klass, path|
    s = klass.new(path)
    [s.transaction { 5 }, s.transaction(true) { 6 }, s.transaction { |given| given.equal?(s) }, s.transaction { next 7 }]
  end

  same("commit_keeps_and_abort_drops") do |klass, path|
    s = klass.new(path)
    [s.transaction { s[:a] = 1; s.commit; s[:a] = 2 }, s.transaction { s[:b] = 1; s.abort }, s.transaction(true) { s.commit },
     s.transaction(true) { s.abort }, s.transaction { s.roots }]
  end

  same("the_innermost_transaction_takes_a_commit") do |klass, path|
    s = klass.new(path)
    t = klass.new("#{path}2")
    answer = s.transaction { s[:a] = 1; t.transaction { t[:b] = 1; s.abort }; s[:c] = 1; :outer }
    [answer, s.transaction { s.roots }, t.transaction { t.roots }]
  end

  same("next_keeps") { |klass, path| klass.new(path).then { |s| [s.transaction { s[:a] = 1; next 3 }, s.transaction { s[:a] }] } }

  same("break_return_throw_and_errors_drop") do |klass, path|
    s = store(klass, path, a: 1)
    left = []
    left << s.transaction { s[:a] = 2; break 5 }
    left << catch(:out) { s.transaction { s[:a] = 3; throw :out, 6 } }
    left << error { s.transaction { s[:a] = 4; raise "no" } }
    left << -> { s.transaction { s[:a] = 5; return 7 } }.call
    left << error { s.transaction { s[:a] = 6; exit } }
    # Not before it is inside: the original leaves its file locked when it is interrupted between locking and reading.
    left << error { s.transaction { s[:a] = 7; Timeout.timeout(0.01) { sleep } } }
    inside = Queue.new
    thread = Thread.new { s.transaction { s[:a] = 8; inside << true; sleep } }
    inside.pop
    thread.kill.join
    left << s.transaction { s[:a] }
  end

  # --- files ---

  same("a_store_that_is_read_makes_no_file") { |klass, path| klass.new(path).then { |s| s.transaction(true) { [s[:a], s.roots] } } }
  same("a_store_without_roots_makes_an_empty_file") { |klass, path| klass.new(path).transaction { nil } }
  same("a_root_that_goes_leaves_an_empty_table") do |klass, path|
    s = klass.new(path)
    s.transaction { s[:a] = 1 }
    s.transaction { s.delete(:a) }
    s.transaction { s.roots }
  end

  same("an_empty_file_is_an_empty_table") do |klass, path|
    File.write(path, "")
    s = klass.new(path)
    [s.transaction(true) { s.roots }, s.transaction { s.roots }, s.transaction { s[:a] = 1 }, s.transaction { s.roots }]
  end

  same("a_root_that_comes_and_goes_is_nothing") { |klass, path| klass.new(path).then { |s| s.transaction { s[:a] = 1; s.delete(:a) } } }

  same("bytes_behind_the_table_are_ignored_and_removed") do |klass, path|
    File.binwrite(path, "#{Marshal.dump({ a: 1 })}garbage")
    s = klass.new(path)
    [s.transaction(true) { s[:a] }, File.size(path), s.transaction { s[:a] }, File.size(path)]
  end

  same("an_unchanged_table_is_not_written") do |klass, path|
    s = store(klass, path, a: 1, b: [1, "x"], c: "t")
    time = Time.at(1_000_000_000)
    File.utime(time, time, path)
    s.transaction { s[:a] = 1; s[:b].map(&:to_s); s[:c] += ""; s[:c] = "t" }
    File.mtime(path) == time
  end

  same("a_table_that_was_written_otherwise_is_written_anew") do |klass, path|
    File.binwrite(path, "\x04\x08{\x06:\x06af\x081.50")
    s = klass.new(path)
    s.transaction { s[:a] }
  end

  same("new_files_have_the_mode_of_new_files") do |klass, path|
    old = File.umask(0o027)
    klass.new(path).transaction { |s| s[:a] = 1 }
    File.umask(0o002)
    klass.new("#{path}2").transaction { |s| s[:a] = 1 }
  ensure
    File.umask(old)
  end

  same("a_path_may_be_any_that_files_have") do |klass, path|
    pathname = Pathname.new(path)
    s = klass.new(pathname)
    s.transaction { s[:a] = 1 }
    object = Object.new
    object.define_singleton_method(:to_path) { path }
    t = klass.new(object)
    [s.path.equal?(pathname), t.transaction { t[:a] }, t.path.equal?(object), File.binread(path)]
  end

  same("a_relative_path_is_meant_from_where_the_program_is") do |klass, path|
    Dir.mkdir("#{path}-a")
    Dir.mkdir("#{path}-b")
    here = Dir.pwd
    Dir.chdir("#{path}-a")
    s = klass.new("rel")
    s.transaction { s[:a] = 1 }
    Dir.chdir("#{path}-b")
    read = s.transaction { s[:a] }
    s.transaction { s[:b] = 2 }
    Dir.chdir("#{path}-a")
    [read, s.transaction { s.roots }, s.path]
  ensure
    Dir.chdir(here)
  end

  same("a_file_that_is_replaced_or_gone_is_the_new_truth") do |klass, path|
    s = store(klass, path, a: 1)
    read = [s.transaction { s[:a] }]
    File.delete(path)
    read << s.transaction(true) { s[:a] } << s.transaction { s[:a] }
    write_table("#{path}2", { a: 3 })
    File.rename("#{path}2", path)
    read << s.transaction { s[:a] }
    write_table(path, { a: 4, b: "x" * 1000 })
    read << s.transaction { s[:a] += 1 }
    File.truncate(path, 0)
    read << s.transaction { s[:a] }
  end

  same("a_link_stays_a_link") do |klass, path|
    write_table("#{path}-target", { a: 1 })
    File.symlink("#{path}-target", path)
    s = klass.new(path)
    s.transaction { s[:a] = 2 }
    [File.symlink?(path), read_table("#{path}-target")]
  end

  same("a_file_that_may_not_be_written_is_the_systems_error") do |klass, path|
    skip("root may write every file") if Process.uid.zero?
    s = store(klass, path, a: 1)
    File.chmod(0o400, path)
    [s.transaction(true) { s[:a] }, error { s.transaction { s[:a] = 2 } }]
  ensure
    File.chmod(0o600, path) if File.exist?(path)
  end

  # --- threads ---

  same("another_thread_may_use_an_open_transaction") do |klass, path|
    s = store(klass, path, a: 1, b: [2])
    s.transaction { Thread.new { s[:c] = s[:a] + s[:b].first; s.roots }.value + [s[:b]] }
    s.transaction { s[:c] }
  end

  same("threads_do_not_nest_unless_they_are_told_to_wait") do |klass, path|
    s = klass.new(path)
    t = klass.new("#{path}2", true)
    found = s.transaction { Thread.new { error { s.transaction { 1 } } }.value }
    threads = Array.new(4) { Thread.new { 25.times { t.transaction { t[:n] = t.fetch(:n, 0) + 1; Thread.pass } } } }
    threads.each(&:join)
    [found, t.transaction { t[:n] }]
  end

  same("readers_stand_beside_each_other") do |klass, path|
    s = store(klass, path, a: 1)
    t = klass.new(path)
    s.transaction(true) { t.transaction(true) { s[:a] + t[:a] } }
  end

  same("a_file_that_is_locked_twice_waits_until_it_is_interrupted") do |klass, path|
    s = store(klass, path, a: 1)
    t = klass.new(path)
    found = s.transaction { error { Timeout.timeout(0.2) { t.transaction { 1 } } } }
    later = s.transaction { error { Timeout.timeout(0.2) { t.transaction(true) { 1 } } } }
    [found, later, t.transaction { t[:a] += 1 }, s.transaction { s[:a] }]
  end

  same("threads_run_while_one_waits_for_a_file") do |klass, path|
    s = store(klass, path, a: 1)
    t = klass.new(path)
    order = []
    waiting = nil
    s.transaction do
      waiting = Thread.new { t.transaction { order << :late; t[:a] += 1 } }
      100.times { Thread.pass; order << :early if order.empty? }
      s[:a] = 10
    end
    [waiting.value, order]
  end

  same("a_thread_that_waits_can_be_killed") do |klass, path|
    s = store(klass, path, a: 1)
    t = klass.new(path)
    s.transaction do
      waiting = Thread.new { t.transaction { t[:a] = 5 } }
      Thread.pass until waiting.stop?
      waiting.kill.join
      s[:a] = 2
    end
    t.transaction { t[:a] }
  end

  # --- what programs derive ---

  same("a_derived_class_may_use_what_is_inside") do |klass, path|
    derived = Class.new(klass) do
      define_method(:each_root) { transaction(true) { @table.each_pair.to_a } }
      define_method(:wipe) { transaction { @table.clear; @table["left"] = @table.size } }
      define_method(:state) { [@filename.class, @abort, @ultra_safe, @thread_safe, @lock.class, @rdonly] }
    end
    s = derived.new(path, true)
    s.transaction { s[:a] = 1; s[:b] = 2 }
    [s.each_root, s.wipe, s.each_root, s.state]
  end

  # Promise (pstore-journal): Subclasses that override steps use them.
  same("a_derived_class_may_dump_and_load_otherwise") do |klass, path|
    seen = []
    derived = Class.new(klass) do
      define_method(:dump) { |table| seen << :dump; table.inspect }
      define_method(:load) { |content| seen << content.class; content = content.read if content.is_a?(File); eval(content) } # rubocop:disable Security/Eval
      define_method(:empty_marshal_data) { seen << :data; "{}" }
      define_method(:empty_marshal_checksum) { seen << :checksum; Digest::SHA512.digest("{}") }
      private :dump, :load, :empty_marshal_data
    end
    s = derived.new(path)
    s.transaction { s["a"] = 1 }
    s.transaction { s["b"] = [s["a"]] }
    s.transaction(true) { seen << s["b"] }
    s.transaction { s["b"] }
    [seen, File.read(path)]
  end

  same("constants_are_found_in_derived_classes") do |klass, path|
    Object.const_set(:DerivedStore, klass)
    derived = eval("Class.new(DerivedStore) { def constants_here = [RDWR_ACCESS, RD_ACCESS, WR_ACCESS] }", binding, __FILE__, __LINE__)
    inner = klass.class_eval("[CHECKSUM_ALGO.name, EMPTY_STRING, EMPTY_MARSHAL_DATA, EMPTY_MARSHAL_CHECKSUM]", __FILE__, __LINE__)
    [derived.new(path).constants_here, inner]
  ensure
    Object.send(:remove_const, :DerivedStore)
  end

  same("errors_are_standard_errors_of_the_class") do |klass, _path|
    [klass::Error.superclass, klass.const_get(:Error).instance_methods(false)]
  end

  same("private_steps_have_the_originals_names") do |klass, _path|
    %i[dump load empty_marshal_data empty_marshal_checksum open_and_lock_file load_data save_data save_data_with_fast_strategy
       save_data_with_atomic_file_rename_strategy in_transaction in_transaction_wr].map do |name|
      [name, klass.private_method_defined?(name), klass.instance_method(name).arity]
    end
  end

  def test_what_version_0_2_of_the_original_added_is_there
    with_store_path do |path|
      s = OURS.new(path)
      s.transaction { s[:a] = 1 }
      s.transaction(true) { assert_equal([[:a], true, false], [s.keys, s.key?(:a), s.key?(:b)]) }
      error = assert_raises(OURS::Error) { s.transaction { s.fetch("a") } }
      assert_equal("undefined key 'a'", error.message)
      assert_raises(NameError) { OURS::CHECKSUM_ALGO }
      assert_predicate(OURS.class_eval("EMPTY_MARSHAL_DATA", __FILE__, __LINE__), :frozen?)
      assert_equal("0.2.1", OURS::VERSION)
    end
  end
end
