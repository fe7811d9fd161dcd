# frozen_string_literal: true

require_relative "test_case"
require "stringio"

# Goal: Marshal gives packets, flows and calls back as they were, and its input can do no harm.
#
# Method: those of all samples, compared in all that they show; then bytes that were cut, changed or made up.
class MarshalTest < TestCase
  CAPTURES = Dir[File.join(ROOT, "samples/*.pcap*")].sort.freeze
  CLASSES = [Bytewright::Packet, Bytewright::Flow, Bytewright::Call].freeze
  # Calls of all the samples, without structs.
  CALLS = CAPTURES.flat_map { |path| Bytewright::Capture.open(path) { |capture| capture.calls.first(20) } }.freeze

  def loaded(object)
    Marshal.load(Marshal.dump(object))
  end

  def packets(path, **options)
    Bytewright::Capture.open(path, **options) { |capture| capture.first(60) }
  end

  def assert_same_packet(packet, other)
    refute_same(packet, other)
    assert_equal(packet, other)
    assert_equal([packet.hash, packet.inspect, packet.time, packet.data, packet.payload], [other.hash, other.inspect, other.time, other.data, other.payload])
    assert_equal(packet.values_at(*Bytewright::Capture::FIELDS), other.values_at(*Bytewright::Capture::FIELDS))
    Bytewright::Capture::FIELDS.each { |field| assert_equal([packet.public_send(field)], [other.public_send(field)], field) }
    assert_equal(packet.data.encoding, other.data.encoding)
    assert_predicate(other.src_ip, :frozen?) if other.src_ip
  end

  CAPTURES.product([{}, { inner: true }]).each do |path, options|
    define_method("test_a_packet_is_loaded_as_it_was: #{File.basename(path)} #{options}") do
      all = packets(path, **options)
      all.zip(loaded(all)) { |packet, other| assert_same_packet(packet, other) }
      all.zip(loaded(loaded(all))) { |packet, other| assert_equal(packet, other) }
    end
  end

  def test_a_packet_that_moves_is_dumped_where_it_is
    dumps = Bytewright::Capture.open(VLAN) { |capture| capture.each.map { |packet| Marshal.dump(packet) } }
    Bytewright::Capture.open(VLAN) do |capture|
      capture.each.with_index { |packet, at| assert_same_packet(packet, Marshal.load(dumps[at])) }
    end
  end

  def test_a_packet_that_left_its_capture_is_refused
    left = nil
    Bytewright::Capture.open(VLAN) { |capture| capture.each { |packet| left = packet } }
    assert_raises(Bytewright::ClosedError) { Marshal.dump(left) }
  end

  def test_a_loaded_packet_is_kept_as_a_copy_is
    packet = loaded(packets(VLAN).first)
    assert_equal([packet, packet], [packet.dup, packet.clone])
    assert_equal({ packet => 1 }, { packets(VLAN).first => 1 })
    other = packets(VLAN)[1]
    refute_equal(packet, other)
    refute_equal(packet, loaded(other))
  end

  CAPTURES.each do |path|
    define_method("test_a_flow_is_loaded_as_it_was: #{File.basename(path)}") do
      flows = Bytewright::Capture.flows(path).first(200)
      flows.zip(loaded(flows)) do |flow, other|
        assert_equal(flow, other)
        assert_equal([flow.to_h, flow.hash, flow.inspect, flow.time], [other.to_h, other.hash, other.inspect, other.time])
      end
    end
  end

  def test_a_call_is_loaded_as_it_was
    refute_empty(CALLS)
    CALLS.zip(loaded(CALLS)) do |call, other|
      assert_equal(call, other)
      assert_equal([call.to_h, call.hash, call.inspect, call.time, call.error?], [other.to_h, other.hash, other.inspect, other.time, other.error?])
      assert_equal([nil, nil], [other.arguments, other.result])
    end
  end

  def test_a_call_with_structs_of_an_idl_file_is_refused
    capture, idl = %w[warehouse.pcap.zst warehouse.thrift].map { |name| File.join(ROOT, "samples", name) }
    call = Bytewright::Capture.open(capture) { |opened| opened.calls(idl: idl, service: "Store").find(&:arguments) }
    error = assert_raises(TypeError) { Marshal.dump(call) }
    assert_match(/dump its fields \(to_h\), arguments and result\z/, error.message)
    assert_raises(TypeError) { Marshal.dump([call]) }
    assert_equal(call.to_h, loaded(call.to_h))
  end

  # One of each class.
  def samples
    [packets(VLAN).first, Bytewright::Capture.flows(VLAN).first, CALLS.first]
  end

  def test_dumping_freezes_and_changes_nothing
    samples.each do |object|
      before = [object.frozen?, shareable(object)]
      other = loaded(object)
      assert_equal(before, [object.frozen?, shareable(object)])
      assert_equal(before, [other.frozen?, shareable(other)])
      assert_equal(object, loaded(object.freeze))
      assert_predicate(object, :frozen?)
      assert_equal(object, loaded(object))
    end
  end

  # True if other Ractors may have it, or the reason why not.
  def shareable(object)
    Ractor.make_shareable(object.dup) && true
  rescue Ractor::Error => error
    error.class
  end

  def test_a_store_keeps_them
    require "bytewright/pstore"
    with_new_file("a.pstore") do |path|
      samples.each_with_index { |object, at| Bytewright::PStore.new(path).tap { |store| store.transaction { store[at] = object } } }
      found = Bytewright::PStore.new(path).then { |store| store.transaction(true) { store.keys.map { |key| store[key] } } }
      assert_equal(samples, found)
    end
  end

  def test_loading_is_nobody_elses
    CLASSES.each do |klass|
      assert_raises(NoMethodError) { klass._load("") }
      refute_includes(klass.public_instance_methods, :_dump)
      [nil, 5, 1 << 70, [], {}, :a, Object.new].each { |wrong| assert_raises(TypeError) { klass.send(:_load, wrong) } }
      assert_raises(ArgumentError) { klass.send(:_load) }
      assert_raises(TypeError, NoMethodError) { klass.allocate }
    end
  end

  def test_bytes_that_nobody_dumped_are_refused
    random = Random.new(1)
    CLASSES.each do |klass|
      made_up = ["", "\0", "\1", "\1" * 300, "\xff" * 300, "\0" * 300, *(1..200).map { random.bytes(random.rand(400)) }]
      made_up.each { |bytes| assert_harmless(klass) { klass.send(:_load, bytes.b) } }
    end
    samples.each do |object|
      bytes = object.send(:_dump, -1)
      bytes.bytesize.times do |at|
        assert_raises(ArgumentError) { object.class.send(:_load, bytes.byteslice(0, at)) } unless object.is_a?(Bytewright::Call)
        0.step(255, 17) do |byte|
          changed = bytes.dup.tap { |copy| copy.setbyte(at, byte) }
          assert_harmless(object.class) { object.class.send(:_load, changed) }
        end
      end
    end
  end

  # It gives an object that can be used in each way, or says that the bytes are no object.
  def assert_harmless(klass)
    object = begin
      yield
    rescue ArgumentError => error
      assert_equal("expected what Marshal dumps of a #{klass}, found other bytes", error.message)
      return
    end
    assert_instance_of(klass, object)
    object.to_h
    object.inspect
    object.time
    object.hash
    assert_equal(object, loaded(object))
    return unless object.is_a?(Bytewright::Packet)

    object.values_at(*Bytewright::Capture::FIELDS)
    object.payload
  end

  # Marshal's other ways to make an object of a class.
  def test_a_stream_that_names_a_class_in_another_way_is_refused
    CLASSES.map(&:name).each do |name|
      head = "\x04\x08".b
      symbol = ":".b + Marshal.dump(name.to_sym).byteslice(3..)
      ["o#{symbol}\0", "U#{symbol}[\0", "d#{symbol}[\0", "S#{symbol}\0", "C#{symbol}\"\0", "u#{symbol}\0", "Iu#{symbol}\0\6:\6ET",
       "e#{symbol}[\0", "u#{symbol}\2\xff\xff"].each do |stream|
        assert_raises(TypeError, ArgumentError) { Marshal.load(head + stream.b) }
      end
    end
  end
end
