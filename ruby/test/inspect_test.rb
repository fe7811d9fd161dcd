# frozen_string_literal: true

require "timeout"
require_relative "table_case"

# Goal: whatever state an object is in, it can be inspected: a logger, a debugger or irb that prints it must not fail or
# wait.
# Method: objects are brought into each state, and inspected there.
class InspectTest < TableCase
  # Runs the block while another thread has the table for itself.
  def inspected_beside(holding)
    held, done = Queue.new, Queue.new
    thread = Thread.new { holding.call(-> { held << true; done.pop }) }
    held.pop
    Timeout.timeout(20) { yield }
  ensure
    done << true
    thread.join
  end

  test_each("a_table_shows_its_class_and_path_and_what_state_it_is_in") do |store|
    t = make(store, { "a" => "1" })
    content = { "a" => "1" }.inspect
    head = ["#<#{t.class}", t.path&.inspect].compact.join(" ")
    assert_equal(t.path ? "#{head} #{content}>" : content, t.inspect)
    t.transaction { assert_equal(t.path ? "#{head} #{content}>" : content, t.inspect) }
    inspected_beside(->(wait) { t.transaction { wait.call } }) do
      assert_equal("#{head} (in use by another thread)>", t.inspect)
    end
    fiber = Fiber.new { t.transaction { Fiber.yield } }
    fiber.resume
    assert_equal(t.path ? "#{head} #{content}>" : content, t.inspect)
    fiber.resume
    t.close
    assert_equal("#{head} (closed)>", t.inspect)
  end

  test_each("a_snapshot_a_view_and_a_cursor_show_that_they_are_closed") do |store|
    t = make(store, { "a" => "1" })
    snapshot, view = t.snapshot, t.view("a")
    shown = [snapshot, view].map(&:inspect)
    assert_equal([{ "a" => "1" }.inspect, "#<Bytewright::View 1 bytes>"], shown)
    cursor = t.cursor if t.is_a?(TreeTable)
    t.close
    assert_equal(shown, [snapshot, view].map(&:inspect))
    assert_kind_of(String, cursor.inspect)
    [snapshot, view, cursor].compact.each(&:close)
    assert_equal(["#<#{snapshot.class} (closed)>", "#<Bytewright::View (closed)>"], [snapshot, view].map(&:inspect))
    assert_kind_of(String, cursor.inspect)
  end

  test_each("a_table_of_a_forked_process_is_shown") do |store|
    t = make(store, { "a" => "1" })
    t.sync
    snapshot = t.snapshot
    inspected_beside(->(wait) { t.transaction { t["b"] = "2"; wait.call } }) do
      in_child { raise "no text" unless [t, snapshot].map(&:inspect).all?(String) }
    end
    in_child { raise "no text" unless [t, snapshot].map(&:inspect).all?(String) }
  end

  test_each("a_table_of_any_encoding_is_shown", IN_MEMORY) do |store|
    [Encoding::UTF_16LE, Encoding::UTF_7, Encoding::BINARY, Encoding::Shift_JIS].each do |encoding|
      t = STORES.fetch(store).call(nil, {}).class.new({ "\xFF" => "\xFF" * 1000, "b" * 1000 => "" }, encoding: encoding)
      assert_operator(t.inspect.size, :<, 2500)
    end
  end

  def test_a_damaged_table_shows_the_error
    t = HashTable.open(path("a.bwh"), sync: :never).update({ "a" => "1" * 100_000 })
    t.close
    bytes = File.binread(t.path)
    reader = HashTable.open(t.path, read_only: true)
    File.binwrite(t.path, bytes.tap { |all| all[-50_000, 10] = "damaged!!!" })
    assert_match(/\A#<Bytewright::HashTable ".*a.bwh" (\(Bytewright::CorruptError: .*|\{"a".*)>\z/, reader.inspect)
  end

  def test_stores_readers_and_captures_are_shown_open_and_closed
    made = [Bytewright::Capture.open(WEB), Bytewright::Reader.open(WEB), Bytewright::Writer.open(path("out")),
            Bytewright::FlowStore.open(path("flows.bwt")), Bytewright::PStore.new(path("store")), Bytewright::ADB.new]
    adb, pstore = made.values_at(-1, -2)
    assert_kind_of(String, adb.inspect)
    adb.open(path("a.bwh"))
    assert_equal("#<Bytewright::ADB #{path("a.bwh").inspect}>", adb.inspect)
    pstore.transaction { assert_kind_of(String, pstore.inspect) }
    made.each { |object| assert_includes(object.inspect, object.class.name) }
    made.each(&:close)
    made.each { |object| assert_includes(object.inspect, object.class.name) }
  end

  def test_packets_flows_calls_and_columns_are_shown_after_their_capture_is_closed
    kept = []
    open_capture(WEB) do |capture|
      capture.each { |packet| kept << packet; break }
      capture.each_batch(:ts) { |batch| kept << batch; break }
      kept << capture.first << capture.flows.first
      capture.each { |packet| kept << packet }
    end
    kept.each { |object| assert_kind_of(String, object.inspect) }
  end
end
