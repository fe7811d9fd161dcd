# frozen_string_literal: true

require_relative "test_case"

# Goal: a packet reads like a Ruby object, holds no field that it does not have, and a copy stays.
class PacketTest < TestCase
  def packet(bytes = pcap(udp_frame(53, "hello")))
    with_file(bytes) { |path| open_capture(path).first }
  end

  def test_fields_are_there_under_their_names
    packet = self.packet
    assert_equal(["10.0.0.1", "10.0.0.2", 1000, 53, 17], packet.values_at(:src_ip, :dst_ip, :src_port, :dst_port, :proto))
    assert_equal([47, 47, 64, 5, 1], [packet.length, packet.caplen, packet.ttl, packet.payload_len, packet.number])
    assert_equal(53, packet[:dst_port])
    assert_equal(0, packet.status)
  end

  def test_every_field_has_a_getter_of_its_name
    packet = self.packet
    Bytewright::Capture::FIELDS.each do |field|
      value = packet.public_send(field)
      value.nil? ? assert_nil(packet[field], field) : assert_equal(value, packet[field], field)
    end
  end

  def test_a_missing_field_is_nil_and_never_zero
    packet = self.packet
    assert_nil(packet.vlan)
    assert_nil(packet.tcp_flags)
    assert_nil(packet.seq)
    assert_nil(packet.icmp_type)
  end

  def test_an_unknown_field_is_an_argument_error_that_names_the_known_ones
    assert_match(/src_ip, dst_ip/, assert_raises(ArgumentError) { packet[:port] }.message)
    assert_raises(TypeError) { packet.values_at("dst_port") }
  end

  def test_data_and_payload_are_binary_strings_of_their_own
    packet = self.packet
    assert_equal("hello", packet.payload)
    assert_equal(udp_frame(53, "hello"), packet.data)
    assert_equal(Encoding::BINARY, packet.data.encoding)
    packet.data << "x"
    assert_equal(47, packet.data.bytesize)
  end

  def test_addresses_are_frozen_strings
    assert_predicate(packet.src_ip, :frozen?)
  end

  def test_time_is_utc_to_the_nanosecond
    packet = open_capture(VLAN).first
    assert_equal(packet.ts, packet.time.to_i * 1_000_000_000 + packet.time.nsec)
    assert_predicate(packet.time, :utc?)
  end

  def test_to_h_holds_the_fields_that_the_command_prints
    assert_equal(Bytewright::Capture::DEFAULT_FIELDS, packet.to_h.keys)
  end

  def test_patterns_match_fields
    case packet
    in { dst_port: 53, unknown: 1 } then flunk
    in { dst_port: 53, src_ip: String => source, status: 0 }
      assert_equal("10.0.0.1", source)
    end
  end

  def test_the_block_gets_one_packet_that_moves_and_dup_keeps_one
    moving = []
    kept = []
    with_file(pcap(udp_frame(1), udp_frame(2))) do |path|
      open_capture(path).each do |packet|
        moving << packet
        kept << packet.dup
      end
    end
    assert_same(moving[0], moving[1])
    assert_equal([1, 2], kept.map(&:dst_port))
    assert_equal([udp_frame(1), udp_frame(2)], kept.map(&:data))
  end

  # Ways to keep the packet that moves.
  KEEPING = {
    each: ->(capture) { [].tap { |kept| capture.each { |packet| kept << packet } } },
    for: ->(capture) { [].tap { |kept| for packet in capture do kept << packet end } }, # rubocop:disable Style/For -- is what is tested
    to_h: ->(capture) { capture.to_h { |packet| [packet.number, packet] }.values },
    map: ->(capture) { capture.map { |packet| packet } },
    flat_map: ->(capture) { capture.flat_map { |packet| [packet] } },
    filter_map: ->(capture) { capture.filter_map { |packet| packet if packet.length } },
    each_with_index: ->(capture) { [].tap { |kept| capture.each_with_index { |packet, _| kept << packet } } },
    each_with_object: ->(capture) { capture.each_with_object([]) { |packet, kept| kept << packet } },
    to_enum: ->(capture) { capture.to_enum.map { |packet| packet } }
  }.freeze

  def test_a_kept_packet_has_its_values_or_says_how_to_keep_it
    with_file(pcap(udp_frame(1), udp_frame(2))) do |path|
      KEEPING.each { |way, keep| assert_is_left(keep.call(open_capture(path)).last, way) }
    end
  end

  def test_a_packet_that_is_kept_where_the_file_is_damaged_says_how_to_keep_it
    kept = []
    with_file(pcap(udp_frame(1), udp_frame(2))[..-2]) do |path|
      assert_raises(Bytewright::TruncatedError) { open_capture(path).each { |packet| kept << packet } }
    end
    assert_is_left(kept.first, :damage)
  end

  def assert_is_left(packet, way)
    questions = [:length, :tls_sni, :data, :payload, :time, :to_h, :truncated?, :dup, :hash, [:[], :ts], [:values_at, :ts]]
    questions.each do |question|
      error = assert_raises(Bytewright::ClosedError, "#{way} #{question}") { packet.public_send(*question) }
      assert_match(/keep packets with dup\z/, error.message)
    end
    assert_equal("#<Bytewright::Packet (closed)>", packet.inspect)
  end

  def test_packets_that_are_left_are_equal_to_none_but_themselves
    with_file(pcap(udp_frame(1))) do |path|
      first, second = Array.new(2) { open_capture(path).map(&:itself).first }
      assert_equal(first, first.itself)
      refute_equal(first, second)
      refute_equal(first, packet)
    end
  end

  def test_equal_packets_are_equal_and_hash_alike
    first, second = Array.new(2) { packet }
    assert_equal(first, second)
    assert_equal(first.hash, second.hash)
    refute_equal(first, packet(pcap(udp_frame(54, "hello"))))
    refute_equal(first, "a packet")
    assert_equal(1, [first, second].uniq.size)
  end

  def test_inspect_shows_the_fields_there_are
    assert_match(/Packet 1: .*src_ip=10.0.0.1.*dst_port=53/, packet.inspect)
    refute_match(/vlan/, packet.inspect)
  end

  def test_status_bits_have_questions
    cut = packet(pcap(udp_frame(53), cut: 9))
    assert_predicate(cut, :truncated?)
    assert_equal([53, 7], [cut.dst_port, cut.payload_len])
    assert_equal("", cut.payload)
    refute_predicate(cut, :fragment?)
  end

  def test_packets_cannot_be_made_by_hand
    assert_raises(NoMethodError, TypeError) { Bytewright::Packet.new }
    assert_raises(NoMethodError, TypeError) { Bytewright::Packet.allocate }
  end
end
