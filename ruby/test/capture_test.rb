# frozen_string_literal: true

require_relative "test_case"
require "digest"
require "pathname"
require "stringio"
require "zlib"

# Goal: a capture opens from whatever a program holds, gives the same packets in every way of asking,
# and ends where it is damaged, with the place.
class CaptureTest < TestCase
  def test_a_block_gets_the_capture_and_its_value_comes_back
    assert_equal(8760, open_capture(WEB, &:count))
  end

  def test_the_block_form_closes_also_when_the_block_raises
    seen = nil
    assert_raises(RuntimeError) do
      open_capture(WEB) do |capture|
        seen = capture
        raise "no"
      end
    end
    assert_predicate(seen, :closed?)
  end

  def test_paths_pathnames_files_and_streams_give_the_same_packets
    bytes = Zlib::GzipReader.open(WEB, &:read)
    expected = open_capture(WEB).map(&:length).sum
    assert_equal(expected, open_capture(Pathname(WEB)).sum(&:length))
    File.open(WEB, "rb") { |file| assert_equal(expected, open_capture(file).sum(&:length)) }
    assert_equal(expected, open_capture(StringIO.new(bytes)).sum(&:length))
    Zlib::GzipReader.open(WEB) { |gzip| assert_equal(expected, open_capture(gzip).sum(&:length)) }
  end

  def test_a_pipe_is_read_as_it_fills
    reader, writer = IO.pipe
    frames = Array.new(3) { |port| udp_frame(port) }
    seen = Queue.new
    thread = Thread.new { open_capture(reader).each { |packet| seen << packet.dst_port } }
    writer.write(pcap(*frames[0..1]))
    assert_equal([0, 1], [seen.pop, seen.pop])
    writer.write(pcap(frames[2])[24..])
    assert_equal(2, seen.pop)
    writer.close
    thread.join
  end

  def test_an_object_with_only_read_is_enough
    source = Object.new
    bytes = StringIO.new(pcap(udp_frame(53)))
    source.define_singleton_method(:read) { |count| bytes.read(count) }
    assert_equal([53], open_capture(source).map(&:dst_port))
  end

  def test_an_error_of_the_object_that_is_read_comes_through
    source = Object.new
    source.define_singleton_method(:read) { |_| raise IOError, "cable pulled" }
    assert_equal("cable pulled", assert_raises(IOError) { open_capture(source).count }.message)
  end

  def test_an_object_that_gives_more_than_asked_for_is_refused
    source = Object.new
    source.define_singleton_method(:read) { |count| "x" * (count + 1) }
    assert_raises(Bytewright::LimitError) { open_capture(source).count }
  end

  def test_an_io_is_read_once_and_a_path_as_often_as_wanted
    capture = open_capture(StringIO.new(pcap(udp_frame(53))))
    assert_equal(1, capture.count)
    assert_match(/read once/, assert_raises(Bytewright::ClosedError) { capture.count }.message)
    capture = open_capture(WEB)
    assert_equal([8760, 8760], [capture.count, capture.count])
  end

  def test_what_is_no_source_raises_a_type_error
    assert_match(/expected a path/, assert_raises(TypeError) { open_capture(42) }.message)
  end

  def test_a_missing_file_raises_what_file_open_raises
    error = assert_raises(Errno::ENOENT) { open_capture("/nonexistent/trace.pcap") }
    assert_match(%r{/nonexistent/trace.pcap}, error.message)
    assert_raises(Errno::EISDIR) { open_capture(ROOT) }
  end

  def test_what_is_no_capture_says_what_was_expected_and_found
    with_file("GET / HTTP/1.1\r\n" * 10, ".txt") do |path|
      error = assert_raises(Bytewright::FormatError) { open_capture(path).count }
      assert_match(/expected a pcap or pcapng capture, found text, "GET \/ HTTP\/1"/, error.message)
      assert_equal(0, error.offset)
      assert_equal(path, error.file)
    end
  end

  def test_a_cut_capture_gives_every_whole_packet_and_then_says_where_it_ends
    bytes = pcap(udp_frame(1), udp_frame(2), udp_frame(3))
    with_file(bytes[0...-5]) do |path|
      seen = []
      error = assert_raises(Bytewright::TruncatedError) { open_capture(path).each { |p| seen << p.dst_port } }
      assert_equal([1, 2], seen)
      assert_equal(24 + 2 * 65, error.offset)
      assert_equal([65, 60], [error.needed, error.available])
      assert_kind_of(Bytewright::Error, error)
    end
  end

  def test_a_damaged_gzip_file_gives_the_packets_before_the_damage
    bytes = File.binread(WEB)
    bytes[200_000] = (bytes[200_000].ord ^ 0xff).chr
    with_file(bytes, ".gz") do |path|
      count = 0
      assert_raises(Bytewright::Error) { open_capture(path).each { count += 1 } }
      assert_operator(count, :>, 1000)
    end
  end

  def test_every_way_of_asking_sees_the_damage
    with_file(pcap(udp_frame(1), udp_frame(2))[0...-1]) do |path|
      assert_raises(Bytewright::TruncatedError) { open_capture(path).each_row { nil } }
      assert_raises(Bytewright::TruncatedError) { open_capture(path).each_batch { nil } }
      assert_raises(Bytewright::TruncatedError) { open_capture(path).count_by(:proto) }
      assert_instance_of(Bytewright::TruncatedError, open_capture(path).info[:damage])
      assert_equal(1, open_capture(path).info[:packets])
    end
  end

  def test_what_is_kept_of_damaged_captures_is_what_an_iteration_gives_before_its_error
    whole = File.binread(File.join(ROOT, "samples/tunnels.pcap"))
    (0...whole.size).step(whole.size / 50) do |at|
      with_file(whole[0, at]) do |path|
        seen = []
        error = assert_raises(Bytewright::TruncatedError) { open_capture(path).each { |packet| seen << packet.to_h } }
        capture = open_capture(path, damage: :keep)
        assert_nil(capture.damage)
        kept = []
        assert_warns(error) { capture.each { |packet| kept << packet.to_h } }
        assert_equal(seen, kept)
        assert_equal([error.message, error.offset, path], [capture.damage.message, capture.damage.offset, capture.damage.file])
        assert_warns(error) { assert_equal(seen.size, capture.each_batch(:ts).sum(&:size)) }
        assert_warns(error) { assert_equal(seen.size, capture.count_by(:length).values.sum) }
        assert_warns(error) { assert_equal(seen.size, capture.sum(:length).sum { |row| row[:packets] }) }
        assert_warns(error) { assert_equal(flows_before_the_error(path), capture.flows.to_a) }
      end
    end
  end

  def test_flows_of_several_captures_go_on_over_damage_that_is_kept
    whole = pcap(udp_frame(1), udp_frame(2), udp_frame(3))
    with_file(whole[0...-1]) do |cut|
      with_file(whole) do |path|
        flows = nil
        _, told = capture_io { flows = Bytewright::Capture.flows(cut, path, damage: :keep).to_a }
        assert_equal([1, 2, 3], flows.map(&:dst_port).sort)
        assert_equal(5, flows.sum(&:packets))
        assert_match(/\A#{cut}: byte 154: expected .*; what is before it was read\n\z/, told)
      end
    end
  end

  def test_another_way_to_handle_damage_is_refused
    error = assert_raises(ArgumentError) { open_capture(WEB, damage: :ignore) }
    assert_equal("expected damage to be raise or keep, found \"ignore\"", error.message)
    with_file("GET / HTTP/1.1\r\n" * 10) do |path|
      assert_raises(Bytewright::FormatError) { open_capture(path, damage: :keep).count }
    end
  end

  def test_numbers_that_are_none_are_refused
    [Float::NAN, -Float::INFINITY, -1, 0, 1e-300].each do |number|
      error = assert_raises(ArgumentError) { open_capture(WEB).sum(every: number) }
      assert_match(/expected (an interval of a nanosecond|every of 0 seconds) or more, found (NaN|-inf|-1|0.0|1e-300)/, error.message)
    end
    [Float::INFINITY, 1e300].each { |number| assert_equal(1, open_capture(WEB).sum(every: number).size) }
    [Float::NAN, Float::INFINITY].each do |number|
      error = assert_raises(ArgumentError) { open_capture(WEB).write_to("/nowhere/none.pcap", from: number) }
      assert_equal("expected a time that is a finite number, found #{number}", error.message)
    end
  end

  def test_a_closed_capture_says_so
    capture = open_capture(WEB)
    capture.close
    capture.close
    assert_raises(Bytewright::ClosedError) { capture.count }
    assert_raises(Bytewright::ClosedError) { capture.info }
  end

  def test_closing_inside_the_block_ends_the_pass_with_an_error
    capture = open_capture(WEB)
    assert_raises(Bytewright::ClosedError) { capture.each { capture.close } }
  end

  def test_filters_are_libpcap_expressions
    ports = open_capture(WEB, filter: "tcp port 80", &:to_a)
    assert_equal(3507, ports.size)
    assert(ports.all? { |packet| [packet.src_port, packet.dst_port].include?(80) })
    numbers = ports.map(&:number)
    assert_equal(numbers.sort, numbers)
    assert_operator(numbers.last, :>, ports.size)
  end

  def test_a_bad_filter_is_an_argument_error_with_libpcaps_words
    error = assert_raises(ArgumentError) { open_capture(WEB, filter: "tcp prt 80") }
    assert_match(/tcp prt 80.*syntax error/, error.message)
    assert_raises(ArgumentError) { open_capture(StringIO.new(""), filter: "nonsense here") }
  end

  def test_inner_headers_replace_outer_ones
    outer = open_capture(TUNNELS).select(&:tunnel?)
    inner = open_capture(TUNNELS, inner: true).select(&:tunnel?)
    assert_operator(outer.size, :>, 100)
    assert_equal(outer.map(&:number), inner.map(&:number))
    assert_operator(inner.count { |packet| packet.proto == 6 }, :>, 100)
    assert_equal(0, outer.count { |packet| packet.proto == 6 })
  end

  def test_both_decompressors_of_gzip_give_the_same_packets
    program = "Bytewright::Capture.open(ARGV[0]) { |capture| p capture.each_row.to_a }"
    ruby = [RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "-rbytewright", "-e", program, WEB]
    rows = open_capture(WEB).each_row.to_a.inspect
    %w[zlib isal].each do |name|
      assert_equal(rows, IO.popen([{ "BYTEWRIGHT_INFLATE" => name }, *ruby], &:read).chomp)
    end
  end

  def test_info_tells_the_hash_of_the_file_where_it_is_asked_for
    [WEB, VLAN, LOOPBACK].each do |path|
      expected = Digest::SHA256.file(path).hexdigest
      assert_equal(expected, open_capture(path, hash: true, &:info)[:sha256])
      File.open(path, "rb") { |io| assert_equal(expected, open_capture(io, hash: true, &:info)[:sha256]) }
      Bytewright::Capture.open(path, hash: true) do |capture|
        capture.first(2)
        2.times { assert_equal(expected, capture.info[:sha256]) }
      end
      assert_nil(open_capture(path, &:info)[:sha256])
    end
  end

  def test_info_says_what_the_capture_is
    info = open_capture(LOOPBACK, &:info)
    assert_equal([:pcap, "2.4", :little, :zstd], info.values_at(:format, :version, :byte_order, :compression))
    link_types = [{ link_type: 276, name: "LINUX_SLL2", packets: 254 }]
    assert_equal([254, link_types, nil], info.values_at(:packets, :link_types, :damage))
    assert_operator(info[:bytes], :>, info[:captured_bytes])
    seconds = (info[:last_ts] - info[:first_ts]) / 1e9
    assert_in_epsilon(info[:packets] / seconds, info[:packets_per_second])
    assert_in_epsilon(info[:bytes] / seconds, info[:bytes_per_second])
    info = open_capture(VLAN, &:info)
    assert_equal([:pcapng, 1, 316], info.values_at(:format, :sections, :packets))
    interface = { link_type: 1, link_type_name: "ETHERNET", snaplen: 262_144, time_unit: "ns", name: "left" }
    assert_equal([interface], info[:interfaces])
  end

  def test_count_by_counts_what_counting_by_hand_counts
    capture = open_capture(WEB)
    %i[dst_port proto src_ip vlan length].each do |field|
      expected = capture.each_row(field).map(&:first).tally
      assert_equal(expected, capture.count_by(field), field)
    end
    assert_raises(ArgumentError) { capture.count_by(:port) }
  end

  def test_sums_are_what_adding_up_by_hand_gives
    expected = Hash.new { |sums, port| sums[port] = [0, 0] }
    open_capture(WEB).each do |packet|
      next unless packet.length > 100

      expected[packet.dst_port][0] += 1
      expected[packet.dst_port][1] += packet.length
    end
    sums = open_capture(WEB).sum(:length, by: :dst_port, where: "length > 100")
    assert_equal(expected, sums.to_h { |row| [row[:dst_port], row.values_at(:packets, :length)] })
    assert_equal(sums.first(2), open_capture(WEB).sum(:length, by: [:dst_port], where: "length > 100", top: 2))
    assert_equal(%i[ts packets groups], open_capture(WEB).sum(every: 0.5).first.keys)
    assert_equal(2_358_823, open_capture(WEB).sum(&:length))
    assert_raises(ArgumentError) { open_capture(WEB).sum(:src_ip) }
    assert_raises(ArgumentError) { open_capture(WEB).sum(:length, where: "lenght > 1") }
  end

  def test_one_flow_is_read_by_its_ends_or_its_community_id
    flow = open_capture(WEB).flows.max_by(&:packets)
    expected = flow.packets + flow.rev_packets
    open_capture(WEB, flow: flow.community_id) { |capture| assert_equal(expected, capture.count) }
    error = assert_raises(ArgumentError) { open_capture(WEB, flow: "10.0.0.1") }
    assert_match(/expected a flow/, error.message)
  end

  def test_packets_are_written_to_a_new_capture
    Dir.mktmpdir do |folder|
      path = Pathname(folder).join("long.pcapng.zst")
      written = open_capture(WEB) { |capture| capture.write_to(path, where: "length > 1000", snaplen: 80) }
      expected = open_capture(WEB).select { |packet| packet.length > 1000 }
      found = open_capture(path).to_a
      assert_equal(expected.map { |packet| [packet.ts, packet.length, packet.data[0, 80]] },
                   found.map { |packet| [packet.ts, packet.length, packet.data] })
      assert_equal([expected.size, expected.sum(&:length), 0, nil], written.values_at(:packets, :bytes, :late, :damage))
      middle = Time.at(0, expected[10].ts, :nsec)
      open_capture(WEB) { |capture| capture.write_to(path, where: "length > 1000", to: middle, force: true) }
      assert_equal(10, open_capture(path).count)
      assert_raises(ArgumentError) { open_capture(WEB) { |capture| capture.write_to(path, from: "soon") } }
      assert_raises(ArgumentError) { open_capture(WEB) { |capture| capture.write_to("out.txt") } }
      assert_equal(["long.pcapng.zst"], Dir.children(folder))
    end
  end

  def test_an_anonymous_capture_has_the_same_packets_between_other_hosts
    Dir.mktmpdir do |folder|
      path = File.join(folder, "anonymous.pcapng")
      written = open_capture(WEB) { |capture| capture.write_to(path, anonymize: "a key", shift: "-1h") }
      assert_equal([8760, 0, 0], written.values_at(:packets, :duplicates, :opaque))
      kept = ->(packet) { [packet.length, packet.src_port, packet.dst_port, packet.tcp_flags, packet.payload_len] }
      assert_equal(open_capture(WEB).map(&kept), open_capture(path).map(&kept))
      before, after = [WEB, path].map { |file| open_capture(file).select(&:src_port).map { |packet| packet.src_ip.to_s }.uniq }
      assert_equal([before.size, []], [after.size, before & after])
      assert_equal(open_capture(WEB).first.ts - (3600 * 1_000_000_000), open_capture(path).first.ts)
    end
  end

  def test_a_rotated_capture_is_in_files_that_have_all_packets
    Dir.mktmpdir do |folder|
      written = open_capture(WEB) { |capture| capture.write_to(File.join(folder, "%n.pcap.zst"), rotate: "3000p") }
      files = Dir.children(folder).sort
      assert_equal([%w[00001.pcap.zst 00002.pcap.zst 00003.pcap.zst], 3, 8760], [files, *written.values_at(:files, :packets)])
      lengths = files.flat_map { |name| open_capture(File.join(folder, name)).map(&:length) }
      assert_equal(open_capture(WEB).map(&:length), lengths)
      assert_raises(ArgumentError) { open_capture(WEB) { |capture| capture.write_to(File.join(folder, "a.pcap"), keep: 3) } }
    end
  end

  def test_an_empty_capture_has_no_packets
    with_file(pcap) do |path|
      capture = open_capture(path)
      assert_equal([0, nil, {}], [capture.count, capture.first, capture.count_by(:proto)])
      assert_equal([], capture.each_batch.to_a)
    end
  end

  def test_a_path_may_have_any_bytes
    Dir.mktmpdir do |folder|
      path = File.join(folder, "tr\xff ce.pcap".b)
      File.binwrite(path, pcap(udp_frame(7)))
      assert_equal([7], open_capture(path).map(&:dst_port))
    end
  end

  private

  def assert_warns(error, &block)
    _, told = capture_io(&block)
    assert_equal("#{error.message}; what is before it was read\n", told)
  end

  def flows_before_the_error(path)
    flows = []
    open_capture(path).flows { |flow| flows << flow }
  rescue Bytewright::TruncatedError
    flows
  end
end
