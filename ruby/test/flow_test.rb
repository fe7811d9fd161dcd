# frozen_string_literal: true

require_relative "test_case"
require "pathname"
require "zlib"

# Goal: packets become flows that a program can use like any other Ruby object, and flows of many
# captures add up in a file, each capture once.
class FlowTest < TestCase
  def flows_of(*frames, seconds: 0...frames.size, **limits)
    with_file(pcap(*frames, seconds: seconds)) { |path| Bytewright::Capture.flows(path, **limits).to_a }
  end

  def question = udp_frame(53, "who?")
  def answer = udp_frame(53, "10.0.0.9", back: true)

  def test_both_directions_are_one_flow
    flow, *others = flows_of(question, answer, answer)
    assert_empty(others)
    assert_equal([1, question.bytesize], [flow.packets, flow.bytes])
    assert_equal([2, 2 * answer.bytesize], [flow.rev_packets, flow.rev_bytes])
  end

  def test_the_source_is_the_side_that_sent_the_first_packet
    there = flows_of(question, answer).first
    assert_equal(["10.0.0.1", 1000, "10.0.0.2", 53], [there.src_ip, there.src_port, there.dst_ip, there.dst_port])
    back = flows_of(answer, question).first
    assert_equal(["10.0.0.2", 53, "10.0.0.1", 1000], [back.src_ip, back.src_port, back.dst_ip, back.dst_port])
  end

  def test_times_span_the_first_and_the_last_packet
    flow = flows_of(question, answer, seconds: [100, 103]).first
    assert_equal([100 * 1_000_000_000, 3_000_000], [flow.ts, flow.duration])
    assert_equal(Time.at(100), flow.time)
    assert_predicate(flow.time, :utc?)
  end

  def test_marshal_keeps_the_features_of_a_flow
    %w[none tcp lengths names all].each do |features|
      open_capture(WEB).flows(features:).first(50).each do |flow|
        again = Marshal.load(Marshal.dump(flow))
        assert_equal([flow, flow.to_h], [again, again.to_h], features)
      end
    end
  end

  def test_every_field_has_a_getter_of_its_name_and_is_in_to_h
    flow = open_capture(WEB).flows(features: "all").find { |candidate| candidate.proto == 6 }
    assert_equal(Bytewright::Flow::FIELDS, flow.to_h.keys)
    plain = open_capture(WEB).flows.find { |candidate| candidate.proto == 6 }
    assert_equal(Bytewright::Flow::FIELDS.first(14), plain.to_h.keys)
    assert_nil(plain.rtt)
    flow.to_h.each { |field, value| assert_equal([value, value], [flow.public_send(field), flow[field]], field) }
    assert_raises(ArgumentError) { flow[:port] }
  end

  def lines_of(path) = File.readlines(path).grep_v(/^#(open|close)/)

  def test_flows_of_captures_are_written_as_other_programs_have_them
    with_new_file("flows") do |path|
      flows = Bytewright::Capture.flows(WEB, VLAN).to_a
      %w[zeek zeek-json ecs].each do |format|
        assert_equal(flows.size, Bytewright::Capture.flows(WEB, VLAN, into: path, format: format))
        lines = lines_of(path)
        assert_equal(flows.size, lines.count { |line| !line.start_with?("#") }, format)
        printed = IO.popen(command("flows", WEB, VLAN, "--as", format), &:readlines)
        assert_equal(printed.grep_v(/^#(open|close)/), lines, format)
      end
      assert_equal(flows.size, Bytewright::Capture.flows(WEB, VLAN, into: Pathname(path), format: :ipfix))
      assert_equal([0, 10], File.binread(path, 2).bytes)
      some = Bytewright::Capture.flows(WEB, into: path, format: :zeek, where: "dst_port == 80", filter: "tcp")
      assert_equal(Bytewright::Capture.flows(WEB, filter: "tcp", where: "dst_port == 80").count, some)
    end
  end

  def test_flows_of_damaged_captures_are_written_up_to_the_damage_where_it_is_kept_only
    with_file(File.binread(WEB)[0..-2000]) do |damaged|
      with_new_file("flows") do |path|
        File.write(path, "older")
        assert_raises(Bytewright::TruncatedError) { Bytewright::Capture.flows(VLAN, damaged, into: path, format: :ecs) }
        assert_equal("older", File.read(path))
        assert_equal(["flows"], Dir.children(File.dirname(path)))
        count = nil
        assert_output(nil, /what is before it was read/) do
          count = Bytewright::Capture.flows(VLAN, damaged, into: path, format: :ecs, damage: :keep)
        end
        assert_equal(count, File.readlines(path).size)
      end
    end
  end

  def test_a_file_of_flows_is_asked_for_with_a_path_and_a_format_that_there_is
    with_new_file("flows") do |path|
      with = ->(**options) { assert_raises(ArgumentError) { Bytewright::Capture.flows(WEB, **options) }.message }
      assert_match(/did you mean zeek\?/, with.call(into: path, format: :zek))
      assert_match(/expected the file of the flows as into:/, with.call(format: :zeek))
      assert_match(/expected an option/, with.call(into: path, format: :zeek, forced: true))
      Bytewright::FlowStore.open(File.join(File.dirname(path), "store")) do |store|
        assert_match(/found a FlowStore/, with.call(into: store, format: :zeek))
      end
      refute_path_exists(path)
    end
  end

  def test_flows_of_an_open_capture_are_written_as_those_of_a_path
    with_new_file("flows") do |path|
      open_capture(WEB, filter: "tcp") do |capture|
        %i[zeek ecs].each do |format|
          expected = Bytewright::Capture.flows(WEB, into: path, format: format, filter: "tcp", idle_timeout: 1)
          lines = lines_of(path)
          assert_equal(expected, capture.flows(into: Pathname(path), format: format, idle_timeout: 1))
          assert_equal(lines, lines_of(path))
        end
        assert_equal(capture.flows(where: "dst_port == 80").count, capture.flows(into: path, format: "ipfix", where: "dst_port == 80"))
      end
      File.open(WEB, "rb") { |io| assert_equal(926, Bytewright::Capture.open(io).flows(into: path, format: :ecs)) }
    end
  end

  def test_a_file_of_flows_of_an_open_capture_is_asked_for_with_what_it_needs
    with_new_file("flows") do |path|
      capture = open_capture(WEB)
      told = ->(**options, &block) { assert_raises(ArgumentError) { capture.flows(**options, &block) }.message }
      assert_equal("expected a block or into:, found both", told.call(into: path, format: :ecs) { nil })
      assert_match(/expected the file of the flows as into:/, told.call(format: :zeek))
      assert_match(/expected format: beside into:, found none/, told.call(into: path))
      assert_match(/did you mean zeek\?/, told.call(into: path, format: :zek))
      assert_match(/found forced; did you mean force\?/, told.call(into: path, format: :zeek, forced: true))
      assert_match(/expected filter where the capture is opened/, told.call(into: path, format: :zeek, filter: "tcp"))
      capture.close
      assert_raises(Bytewright::ClosedError) { capture.flows(into: path, format: :zeek) }
      refute_path_exists(path)
    end
  end

  def test_an_option_of_opening_is_refused_by_an_open_capture_and_told_where_it_belongs
    expected = "expected filter where the capture is opened, found it in a call with one that is open"
    calls = {
      flows: ->(capture) { capture.flows(filter: "tcp") },
      endpoints: ->(capture) { capture.endpoints(filter: "tcp") },
      count_by: ->(capture) { capture.count_by(:proto, filter: "tcp") },
      sum: ->(capture) { capture.sum(:length, filter: "tcp") },
      calls: ->(capture) { capture.calls(filter: "tcp").first },
      each_batch: ->(capture) { capture.each_batch(filter: "tcp").first },
      write_to: ->(capture) { capture.write_to("/nowhere/a.pcap", filter: "tcp") }
    }
    open_capture(VLAN) do |capture|
      calls.each { |name, call| assert_equal(expected, assert_raises(ArgumentError, name.to_s) { call.call(capture) }.message, name) }
      assert_equal(capture.flows.count, capture.flows(where: nil).count)
    end
  end

  def test_flows_go_to_a_pipe_as_they_end
    with_new_file("pipe") do |path|
      File.mkfifo(path)
      reader = Thread.new { File.readlines(path) }
      count = Bytewright::Capture.flows(WEB, into: path, format: :"zeek-json")
      assert_equal(count, reader.value.size)
    end
  end

  def test_a_network_with_two_labels_is_warned_of_once
    with_file("10.0.0.0/8,a\n10.0.0.0/8,b\n") do |label|
      assert_output(nil, "#{label}: 10.0.0.0/8 has two labels, and the later one counts: b, not a\n") do
        2.times { assert_operator(Bytewright::Capture.flows(WEB, VLAN, label:).count, :>, 0) }
      end
      with_file("10.0.0.0/8,a\n10.0.0.0/9,b\n") do |other|
        assert_silent { Bytewright::Capture.flows(WEB, label: other).first }
      end
    end
  end

  def test_labels_of_networks_come_from_a_file
    frames = [question, answer]
    with_file("10.0.0.0/24,home\n10.0.0.2,server\n") do |label|
      with_file(pcap(*frames)) do |path|
        flow = Bytewright::Capture.flows(path, label: label).first
        assert_equal(%w[home server], [flow.src_label, flow.dst_label])
        assert_equal(flow, Marshal.load(Marshal.dump(flow)))
        Bytewright::Capture.open(path, label: label) do |capture|
          assert_equal([%w[home server], %w[server home]], capture.map { |packet| [packet.src_label, packet.dst_label] })
          assert_equal("home", capture.flows.first.src_label)
          assert_equal({ "home" => 1, "server" => 1 }, capture.count_by(:src_label))
          packet = Marshal.load(Marshal.dump(capture.first))
          assert_equal([capture.first, "server"], [packet, packet.dst_label])
        end
        assert_nil(Bytewright::Capture.flows(path).first.src_label)
      end
    end
    with_file("10.0.0.0/24\n") do |label|
      error = assert_raises(Bytewright::FormatError) { Bytewright::Capture.flows(WEB, label: label).to_a }
      assert_match(/: line 1: expected a network, a comma and its label, such as .*, found 10\.0\.0\.0\/24/, error.message)
    end
  end

  def test_a_missing_field_is_nil_and_never_zero
    flow = flows_of(question).first
    assert_nil(flow.tcp_flags)
    assert_nil(flow.rev_tcp_flags)
    ping = open_capture(WEB).flows.find { |candidate| candidate.proto == 1 }
    assert_nil(ping.src_port)
  end

  def test_community_ids_are_those_of_the_specification
    # The example of the specification's baseline data: TCP 128.232.110.120:34855 to 66.35.250.204:80.
    frame = udp_frame(80)
    frame[23] = "\x06"
    frame[26, 8] = [128, 232, 110, 120, 66, 35, 250, 204].pack("C8")
    frame[34, 4] = [34_855, 80].pack("n2")
    assert_equal("1:LQU9qZlK+B5F3KDmev6m5PMibrg=", flows_of(frame).first.community_id)
  end

  def test_patterns_match_fields
    case flows_of(question, answer).first
    in { dst_port: 53, unknown: 1 } then flunk
    in { dst_port: 53, src_ip: String => source, rev_packets: 1 }
      assert_equal("10.0.0.1", source)
    end
  end

  def test_equal_flows_are_equal_and_hash_alike
    first, second = Array.new(2) { flows_of(question, answer).first }
    assert_equal(first, second)
    assert_equal(1, [first, second].uniq.size)
    assert_same(first, first.dup)
    refute_equal(first, flows_of(question).first)
    refute_equal(first, "a flow")
  end

  def test_inspect_shows_the_fields_there_are
    assert_match(/Flow .*src_ip=10.0.0.1.*packets=1/, flows_of(question).first.inspect)
    refute_match(/tcp_flags/, flows_of(question).first.inspect)
  end

  def test_flows_cannot_be_made_by_hand
    assert_raises(NoMethodError, TypeError) { Bytewright::Flow.new }
  end

  def test_flows_of_a_capture_hold_all_its_packets
    capture = open_capture(WEB)
    with_flow = capture.count(&:src_ip)
    assert_equal(with_flow, capture.flows.sum { |flow| flow.packets + flow.rev_packets })
    assert_equal(926, capture.flows.count)
  end

  def test_flows_without_a_timeout_come_in_the_order_they_began
    times = open_capture(WEB).flows.map(&:ts)
    assert_equal(times.sort, times)
  end

  def test_without_a_block_there_is_an_enumerator
    capture = open_capture(WEB)
    assert_equal(3, capture.flows.lazy.select { |flow| flow.dst_port == 53 }.first(3).size)
    assert_instance_of(Bytewright::Flow, capture.flows.next)
    assert_same(capture, capture.flows { nil })
    assert_nil(Bytewright::Capture.flows(WEB) { nil })
  end

  def test_filters_choose_the_packets
    assert_equal([53], Bytewright::Capture.flows(WEB, filter: "udp dst port 53").map(&:dst_port).uniq)
  end

  def test_several_captures_are_one_run
    with_file(pcap(question)) do |first|
      with_file(pcap(answer, seconds: [1])) do |second|
        flows = Bytewright::Capture.flows(first, second).to_a
        assert_equal([[1, 1]], flows.map { |flow| [flow.packets, flow.rev_packets] })
      end
    end
  end

  def test_a_flow_ends_after_its_idle_timeout
    seconds = [0, 5, 16]
    assert_equal([2, 1], flows_of(*[question] * 3, seconds: seconds, idle_timeout: 10).map(&:packets))
    assert_equal([3], flows_of(*[question] * 3, seconds: seconds, idle_timeout: 11).map(&:packets))
    assert_equal([1, 1, 1], flows_of(*[question] * 3, seconds: seconds, idle_timeout: 4.5).map(&:packets))
  end

  def test_a_flow_ends_after_its_active_timeout_however_busy
    assert_equal([11, 9], flows_of(*[question] * 20, active_timeout: 10).map(&:packets))
  end

  def test_more_flows_than_allowed_end_early
    frames = Array.new(20) { |port| udp_frame(port) }
    flows = flows_of(*frames, *frames, max_flows: 10)
    assert_equal(40, flows.sum(&:packets))
    assert_operator(flows.size, :>, 20)
  end

  def test_a_condition_leaves_out_what_a_filter_afterwards_would
    flows = Bytewright::Capture.flows(WEB).to_a
    some = flows.select { |flow| flow.dst_port == 80 && flow.packets > 3 }
    assert_includes(1...flows.size, some.size)
    where = "dst_port == 80 and packets > 3"
    assert_equal(some, Bytewright::Capture.flows(WEB, where: where).to_a)
    assert_equal(some, open_capture(WEB).flows(where: where).to_a)
    counts = open_capture(WEB).each_row(:dst_port, :length).select { |port, _| port == 80 }.map(&:last).tally
    assert_equal(counts, open_capture(WEB).count_by(:length, where: "dst_port == 80"))
    with_new_file("flows.bwt") do |path|
      error = assert_raises(ArgumentError) { Bytewright::Capture.flows(WEB, into: path, where: where) }
      assert_equal("expected no condition on flows that are merged into a file, found where", error.message)
    end
  end

  def test_timeouts_that_are_none_are_refused
    [-1, Float::NAN].each do |seconds|
      error = assert_raises(ArgumentError) { Bytewright::Capture.flows(WEB, idle_timeout: seconds) { nil } }
      assert_equal("expected idle_timeout of 0 seconds or more, found #{seconds}", error.message)
    end
    error = assert_raises(TypeError) { Bytewright::Capture.flows(WEB, idle_timeout: "5") { nil } }
    assert_equal("expected idle_timeout to be a number of seconds, found String", error.message)
    assert_equal(926, Bytewright::Capture.flows(WEB, idle_timeout: Float::INFINITY).count)
    error = assert_raises(ArgumentError) { Bytewright::Capture.flows(WEB, idle_timeut: 5) { nil } }
    known = "idle_timeout, active_timeout, max_flows, features, where, filter, flow, label, inner, vxlan_port, jobs, index, index_dir, hash, damage"
    assert_equal("expected an option (#{known}), found idle_timeut; did you mean idle_timeout?", error.message)
  end

  def test_damage_comes_after_the_flows_before_it
    with_file(pcap(question, answer, question)[0...-1]) do |path|
      seen = []
      error = assert_raises(Bytewright::TruncatedError) { Bytewright::Capture.flows(path, WEB) { |flow| seen << flow } }
      assert_equal(path, error.file)
      assert_equal([[1, 1]], seen.map { |flow| [flow.packets, flow.rev_packets] })
    end
  end

  def test_no_reading_thread_is_left_when_the_block_breaks
    before = thread_count
    20.times { Bytewright::Capture.flows(WEB, WEB) { break } }
    eventually { thread_count <= before }
  end
end

# Goal: flows of many captures add up in a file, each capture once.
class FlowStoreTest < TestCase
  def question(port = 53) = udp_frame(port, "who?")

  def merge(*sources, into:, **options)
    Bytewright::Capture.flows(*sources, into: into, **options)
  end

  def flows_in(path)
    Bytewright::FlowStore.open(path, read_only: true, &:to_a)
  end

  # Yields the path of a store that holds the flows of web.pcap.gz.
  def with_store
    with_new_file("flows.bwt") do |path|
      merge(WEB, into: path)
      yield path
    end
  end

  def test_captures_add_up
    with_new_file("flows.bwt") do |store|
      with_file(pcap(question, question)) do |monday|
        with_file(pcap(udp_frame(53, "ok", back: true), question(80), seconds: [90, 91])) do |tuesday|
          assert_equal([true], merge(monday, into: store).map { |result| result[:added] })
          result = merge(tuesday, into: store).first
          assert_equal([2, 1, 2, 0], result.values_at(:flows, :new_flows, :packets, :packets_without_flow))
        end
      end
      flows = flows_in(store).map { |flow| [flow.src_ip, flow.dst_port, flow.packets, flow.rev_packets, flow.duration] }
      assert_equal([["10.0.0.1", 53, 2, 1, 90_000_000], ["10.0.0.1", 80, 1, 0, 0]], flows)
    end
  end

  def test_a_store_holds_what_the_capture_has
    with_store do |store|
      order = ->(flow) { [flow.community_id, flow.ts] }
      assert_equal(open_capture(WEB).flows.sort_by(&order), flows_in(store).sort_by(&order))
    end
  end

  def test_the_same_capture_is_not_counted_twice_whatever_its_name_and_compression
    with_store do |store|
      before = flows_in(store)
      plain = Zlib::GzipReader.open(WEB, &:read)
      with_file(plain, ".pcap") do |copy|
        results = merge(WEB, copy, StringIO.new(Zlib.gzip(plain, level: 1)), into: store)
        assert_equal([false] * 3, results.map { |result| result[:added] })
        assert_equal([[0, 0, 8760]], results.map { |result| result.values_at(:flows, :new_flows, :packets) }.uniq)
        assert_equal([WEB, copy, "StringIO"], results.map { |result| result[:file] })
        assert_equal(1, results.map { |result| result[:content_id] }.uniq.size)
      end
      assert_equal(before, flows_in(store))
    end
  end

  def test_another_filter_is_another_content
    with_store do |store|
      assert_equal([true], merge(WEB, into: store, filter: "udp").map { |result| result[:added] })
    end
  end

  def test_damage_is_reported_and_what_came_before_it_is_counted_once
    with_new_file("flows.bwt") do |store|
      with_file(pcap(question, question, question)[0...-1]) do |cut|
        first, again = merge(cut, cut, into: store)
        assert_instance_of(Bytewright::TruncatedError, first[:damage])
        assert_equal([true, 2], first.values_at(:added, :packets))
        assert_equal([false, Bytewright::TruncatedError], [again[:added], again[:damage].class])
      end
      assert_equal([2], flows_in(store).map(&:packets))
    end
  end

  def test_an_error_that_is_no_damage_is_raised_and_earlier_captures_stay
    with_new_file("flows.bwt") do |store|
      assert_raises(Errno::ENOENT) { merge(WEB, "/nonexistent/trace.pcap", into: store) }
      assert_equal(926, flows_in(store).size)
    end
  end

  def test_an_open_store_serves_several_merges
    with_new_file("flows.bwt") do |path|
      Bytewright::FlowStore.open(path) do |store|
        merge(WEB, into: store)
        merge(VLAN, TUNNELS, into: store)
        assert_equal(3, store.captures.size)
        assert_equal(store.count, store.size)
        refute_predicate(store, :closed?)
      end
    end
  end

  def test_stores_merge_and_a_capture_counts_once
    Dir.mktmpdir do |folder|
      web, vlan, sum, once = %w[web vlan sum once].map { |name| File.join(folder, "#{name}.bwt") }
      merge(WEB, into: web)
      merge(VLAN, into: vlan)
      merge(WEB, VLAN, into: once)
      Bytewright::FlowStore.open(sum) do |store|
        expected = [[web, true, 1, 926, 926, nil], [vlan, true, 1, 71, 64, nil], [web, false, 1, 0, 0, WEB]]
        names = %i[file added captures flows new_flows counted_as]
        assert_equal(expected, store.merge(web, Pathname(vlan), web).map { |merge| merge.values_at(*names) })
        assert_empty(store.merge)
        assert_equal(flows_in(once), store.to_a)
      end
      assert_some_captures_counted_is_refused(web, sum)
    end
  end

  def assert_some_captures_counted_is_refused(web, sum)
    Bytewright::FlowStore.open(web) do |store|
      error = assert_raises(ArgumentError) { store.merge(sum) }
      assert_match(/found 1 of 2 counted/, error.message)
      assert_equal(926, store.size)
      assert_raises(Errno::ENOENT) { store.merge("#{web}.missing") }
      assert_raises(TypeError) { store.merge(3) }
    end
  end

  def test_captures_that_were_counted_are_listed
    with_store do |path|
      capture, *others = Bytewright::FlowStore.open(path, &:captures)
      assert_empty(others)
      assert_equal([WEB, 8760], capture.values_at(:name, :packets))
      assert_match(/\A\h{32}\z/, capture[:content_id])
    end
  end

  def test_a_store_is_enumerable_in_the_order_of_addresses_and_knows_its_size
    with_store do |path|
      Bytewright::FlowStore.open(path) do |store|
        assert_equal([926, 926, 926], [store.size, store.length, store.each.size])
        assert_same(store, store.each { nil })
        versions = store.map { |flow| flow.src_ip.include?(":") ? 6 : 4 }
        assert_equal(versions.sort, versions)
        largest = store.max_by(&:rev_bytes)
        assert_equal(["fd00:20::82", 265_618], [largest.dst_ip, largest.rev_bytes])
        assert_equal(2, store.lazy.select { |flow| flow.proto == 17 }.first(2).size)
      end
    end
  end

  def test_a_new_store_is_empty
    with_new_file("flows.bwt") do |path|
      Bytewright::FlowStore.open(path) { |store| assert_equal([true, 0, [], []], [store.empty?, store.size, store.to_a, store.captures]) }
    end
  end

  def test_what_is_no_capture_raises_and_leaves_the_store_as_it_was
    nothing = { "a file header" => pcap[0, 20], "no capture" => "when,what\n1,rain\n", "an empty file" => "" }
    nothing.each do |what, bytes|
      with_file(bytes) do |path|
        with_new_file("flows.bwt") do |store|
          error = assert_raises(Bytewright::FormatError, Bytewright::TruncatedError, what) { merge(path, into: store) }
          assert_equal(path, error.file)
          refute_path_exists(store)
          assert_raises(error.class) { merge(StringIO.new(bytes), into: store) }
          assert_raises(error.class) { merge(VLAN, path, into: store) }
          Bytewright::FlowStore.open(store) do |open|
            assert_equal([VLAN], open.captures.map { |capture| capture[:name] })
            assert_raises(error.class) { merge(path, into: open) }
            assert_equal(1, open.captures.size)
          end
        end
      end
    end
  end

  def test_a_second_opener_is_told_of_the_lock
    with_store do |path|
      Bytewright::FlowStore.open(path) do
        assert_match(/#{path}.*locked/, assert_raises(Bytewright::LockError) { Bytewright::FlowStore.open(path) }.message)
        assert_raises(Bytewright::LockError) { merge(VLAN, into: path) }
      end
      Bytewright::FlowStore.open(path, read_only: true) do |one|
        Bytewright::FlowStore.open(path, read_only: true) { |other| assert_equal(one.to_a, other.to_a) }
      end
    end
  end

  def test_a_reader_beside_a_writer_sees_what_was_added
    with_store do |path|
      Bytewright::FlowStore.open(path, read_only: true) do |reader|
        before = reader.size
        merge(VLAN, into: path)
        assert_operator(reader.size, :>, before)
        assert_equal(flows_in(path), reader.to_a)
      end
    end
  end

  def test_a_forked_child_reads_the_store_and_cannot_write_it
    with_store do |path|
      Bytewright::FlowStore.open(path) do |store|
        reader, writer = IO.pipe
        child = fork do
          writer.puts(store.size)
          merge(VLAN, into: store)
        rescue Bytewright::ClosedError => e
          writer.puts(e.message)
        end
        writer.close
        Process.wait(child)
        size, message = reader.read.lines(chomp: true)
        assert_equal("926", size)
        assert_match(/forked/, message)
        merge(VLAN, into: store)
        assert_operator(store.size, :>, 926)
      end
      assert_operator(flows_in(path).size, :>, 926)
    end
  end

  def test_a_store_that_is_read_only_takes_no_flows
    with_store do |path|
      Bytewright::FlowStore.open(path, read_only: true) do |store|
        assert_match(/read_only/, assert_raises(ArgumentError) { merge(VLAN, into: store) }.message)
      end
      assert_raises(Errno::ENOENT) { Bytewright::FlowStore.open("#{path}.missing", read_only: true) }
    end
  end

  def test_the_block_form_closes_and_gives_the_blocks_value
    with_store do |path|
      seen = nil
      assert_equal(926, Bytewright::FlowStore.open(path) { |store| (seen = store).size })
      assert_predicate(seen, :closed?)
      assert_raises(RuntimeError) { Bytewright::FlowStore.open(path) { raise "no" } }
      Bytewright::FlowStore.open(path, &:close)
    end
  end

  def test_a_closed_store_says_so
    with_store do |path|
      store = Bytewright::FlowStore.open(path)
      2.times { store.close }
      [-> { store.size }, -> { store.captures }, -> { store.to_a }, -> { merge(VLAN, into: store) }].each do |call|
        assert_match(/closed/, assert_raises(Bytewright::ClosedError, &call).message)
      end
      assert_match(/\(closed\)/, store.inspect)
    end
  end

  def test_what_is_no_store_is_refused
    error = assert_raises(Bytewright::FormatError) { Bytewright::FlowStore.open(WEB) }
    assert_match(/expected a table file of Bytewright/, error.message)
    with_file("", ".bwt") { |path| assert_raises(Bytewright::FormatError) { Bytewright::FlowStore.open(path, read_only: true) } }
  end

  def test_a_damaged_store_is_refused
    with_store do |path|
      bytes = File.binread(path)
      (bytes.bytesize / 2).step(bytes.bytesize - 1, 64) { |at| bytes.setbyte(at, bytes.getbyte(at) ^ 0xff) }
      File.binwrite(path, bytes)
      assert_raises(Bytewright::CorruptError, Bytewright::FormatError) { flows_in(path) }
    end
  end

  def test_flows_survive_the_garbage_collector
    with_new_file("flows.bwt") do |path|
      with_file(pcap(*Array.new(30) { |port| question(port) })) do |capture|
        GC.stress = true
        merge(capture, into: path)
        ports = Bytewright::FlowStore.open(path) { |store| store.map(&:dst_port) }
        assert_equal((0...30).to_a, ports)
        assert_equal(30, open_capture(capture).flows.to_a.size)
      ensure
        GC.stress = false
      end
    end
  end

  def test_closing_a_store_ends_the_passes_over_it
    Dir.mktmpdir do |folder|
      path = File.join(folder, "flows.bwt")
      merge(WEB, into: path)
      store = Bytewright::FlowStore.open(path)
      flows = store.each
      flows.next
      store.close
      assert_raises(Bytewright::ClosedError) { flows.next while true } # rubocop:disable Style/InfiniteLoop -- loop would rescue the end
      Bytewright::FlowStore.open(path, &:size)
    end
  end

  def test_a_store_that_its_own_block_closes_says_so
    with_new_file("flows.bwt") do |path|
      Bytewright::Capture.flows(WEB, into: path)
      store = Bytewright::FlowStore.open(path)
      error = assert_raises(Bytewright::ClosedError) { store.each { store.close } }
      assert_equal("expected an open flow store, found it closed while it was read", error.message)
      assert_operator(Bytewright::FlowStore.open(path, &:size), :>, 1)
    end
  end

  def test_a_block_beside_a_file_of_flows_is_refused_and_makes_no_file
    with_new_file("flows.bwt") do |path|
      assert_raises(ArgumentError) { Bytewright::Capture.flows(WEB, into: path) { nil } }
      refute_path_exists(path)
    end
  end
end
