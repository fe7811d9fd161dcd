# frozen_string_literal: true

require_relative "test_case"
require "date"
require "pathname"

# Goal: packets that a program has become a capture that is whole or not there, and are read back as they were written.
class CaptureWriterTest < TestCase
  FORMS = %w[.pcap .pcapng .pcap.gz .pcapng.gz .pcap.zst .pcapng.zst].freeze

  def writer(path, &block)
    Bytewright::CaptureWriter.open(path, &block)
  end

  def packets_in(path)
    open_capture(path) { |capture| capture.map { |packet| [packet.data, packet.ts, packet.length, packet.link_type] } }
  end

  def test_packets_of_a_capture_are_read_back_equal_in_each_form
    expected = packets_in(WEB)
    FORMS.each do |form|
      with_new_file("copy#{form}") do |path|
        writer(Pathname(path)) do |copy|
          expected.each { |data, ts, length, link_type| copy.write(data, time: ts, length: length, link_type: link_type) }
        end
        assert_equal(expected, packets_in(path), form)
      end
    end
  end

  def test_random_packets_are_read_back_equal
    with_seeds(5) do |random|
      with_new_file("random.pcapng") do |path|
        packets = Array.new(500) { random_packet(random) }
        writer(path) do |capture|
          packets.each do |data, time, length, link_type|
            capture.write(data, time: time, length: length, link_type: link_type, interface: "if#{random.rand(3)}")
          end
        end
        assert_equal(packets, packets_in(path))
      end
    end
  end

  def random_packet(random)
    data = random.bytes(random.rand(2_000))
    [data, random.rand(2**62), data.bytesize + random.rand(3), [1, 101, 113].sample(random: random)]
  end

  def test_interfaces_comments_and_times_are_kept
    with_new_file("kept.pcapng") do |path|
      writer(path) do |capture|
        capture.write("a".b, time: Time.at(1_700_000_000, 123_456_789, :nsec), interface: "eth0", comment: "here ✓")
        capture.write("b".b, time: 5, interface: "eth1").write("c".b, time: 6, interface: "eth0", length: 99)
      end
      assert_equal([1_700_000_000_123_456_789, 5, 6], packets_in(path).map { |packet| packet[1] })
      assert_equal([1, 1, 99], packets_in(path).map { |packet| packet[2] })
      bytes = File.binread(path)
      assert_equal([1, 1, 1], ["here ✓", "eth0", "eth1"].map { |text| bytes.scan(text.b).size })
      assert_equal(%w[ns ns], open_capture(path, &:info)[:interfaces].map { |interface| interface[:time_unit] })
    end
  end

  # A second and 123,456,789 nanoseconds after noon, in each way in which Ruby says it, with the nanoseconds that are left of it.
  NOON = 1_795_262_400_000_000_000
  TIMES = [
    [Time.at(NOON / 1_000_000_000 + 1, 123_456_789, :nsec), 1_123_456_789],
    [DateTime.new(2026, 11, 21, 13, 0, Rational(1_123_456_789, 1_000_000_000), "+01:00"), 1_123_456_789],
    [Rational(NOON + 1_123_456_789, 1_000_000_000), 1_123_456_789],
    [(NOON / 1_000_000_000) + 1.25, 1_250_000_000],
    [NOON + 1_123_456_789, 1_123_456_789]
  ].freeze

  def test_each_kind_of_time_is_written_to_the_nanosecond
    with_new_file("times.pcapng") do |path|
      writer(path) { |capture| TIMES.each { |time, _| capture.write("a", time: time) } }
      assert_equal(TIMES.map { |_, rest| NOON + rest }, packets_in(path).map { |packet| packet[1] })
      ["noon", Date.new(2026, 11, 21)].each do |wrong|
        error = assert_raises(TypeError) { writer("#{path}.pcap") { |capture| capture.write("a", time: wrong) } }
        assert_match(/expected a Time, a DateTime/, error.message)
      end
    end
  end

  def test_each_kind_of_time_bounds_what_is_written
    with_new_file("times.pcapng") do |path|
      writer(path) { |capture| TIMES.each { |_, rest| capture.write("a", time: NOON + rest).write("b", time: NOON + rest - 1) } }
      bounds = { Date.new(2026, 11, 21) => -43_200_000_000_000, Date.new(2026, 11, 22) => 43_200_000_000_000, 1_795_262_400 => 0,
                 1_795_262_402 => 2_000_000_000, "1795262401.25" => 1_250_000_000 }
      [*TIMES, *bounds].each do |time, rest|
        cut = "#{path}.cut.pcapng"
        open_capture(path) { |capture| capture.write_to(cut, from: time, force: true) }
        expected = TIMES.flat_map { |_, one| [one, one - 1] }.select { |one| one >= rest }
        assert_equal(expected.sort, packets_in(cut).map { |packet| packet[1] - NOON }.sort, time.inspect)
      end
    end
  end

  def test_a_block_that_is_left_leaves_the_old_file
    with_new_file("old.pcap") do |path|
      leave = [->(_) { raise "no" }, ->(_) { throw :out }, ->(capture) { capture.discard }]
      leave.each do |way|
        File.write(path, "old")
        catch(:out) do
          writer(path) do |capture|
            capture.write("x" * 100_000, time: 1)
            way.call(capture)
          end
        rescue RuntimeError
          nil
        end
        assert_equal(["old", ["old.pcap"]], [File.read(path), Dir.children(File.dirname(path))])
      end
    end
  end

  def test_what_the_format_cannot_hold_is_refused_and_loses_nothing
    with_new_file("good.pcap") do |path|
      writer(path) do |capture|
        capture.write("first", time: 1)
        { /link_type of at most 65535, found 70000/ => { link_type: 70_000 }, /length of 0 or more, found -1/ => { length: -1 },
          /found lenght; did you mean length\?/ => { lenght: 3 }, /link type/ => { link_type: 101 }, /without a comment.*write pcapng/ => { comment: "c" },
          /without an interface.*write pcapng/ => { interface: "eth0" }, /at least the 4 bytes captured, found 3/ => { length: 3 },
          /1970 to 2106/ => { time: 2**63 - 1 } }.each do |message, options|
          error = assert_raises(ArgumentError) { capture.write("more", **{ time: 2 }.merge(options)) }
          assert_match(message, error.message)
        end
        assert_raises(Bytewright::LimitError) { capture.write("x" * 300_000, time: 2) }
        assert_raises(TypeError) { capture.write(3, time: 2) }
        capture.write("last", time: 3)
      end
      assert_equal(%w[first last], packets_in(path).map(&:first))
    end
    assert_raises(ArgumentError) { writer("a.txt") }
    assert_raises(Errno::ENOENT) { writer("/nonexistent/a.pcap") }
  end

  def test_a_closed_writer_takes_no_packets
    with_new_file("closed.pcap.gz") do |path|
      capture = writer(path)
      refute_predicate(capture, :closed?)
      refute_path_exists(path)
      assert_equal([nil, nil, true], [capture.close, capture.close, capture.closed?])
      assert_match(/closed\.pcap\.gz \(closed\)>\z/, capture.inspect)
      assert_match(/found it closed/, assert_raises(Bytewright::ClosedError) { capture.write("x") }.message)
      assert_empty(packets_in(path))
    end
  end

  def test_a_forked_child_writes_nothing
    with_new_file("forked.pcap") do |path|
      capture = writer(path)
      capture.write("parent", time: 1)
      child = fork do
        capture.write("child", time: 2)
      rescue Bytewright::ClosedError
        capture.discard
        exit!(0)
      end
      Process.wait(child)
      assert_predicate($?, :success?)
      capture.close
      assert_equal(["parent"], packets_in(path).map(&:first))
    end
  end

  def test_threads_share_a_writer
    with_new_file("shared.pcapng.gz") do |path|
      writer(path) do |capture|
        Array.new(4) { |n| Thread.new { 2_000.times { |m| capture.write("#{n} #{m}".ljust(500), time: m) } } }.each(&:join)
      end
      found = packets_in(path).map { |packet| packet[0].split.map(&:to_i) }
      assert_equal(Array.new(4) { |n| Array.new(2_000) { |m| [n, m] } }, found.group_by(&:first).sort.map(&:last))
    end
  end
end
