# frozen_string_literal: true

require_relative "thrift_case"
require "stringio"
require "zlib"

# Goal: messages in frames of THeader are those that were written into them.
#
# Method: frames by the bytes of the specification, deflated and not, in both protocols, whole and damaged.
class ThriftHeaderFramesTest < ThriftCase
  Logs = Bytewright::Thrift.load(File.expand_path("../../samples/log.thrift", __dir__), into: Module.new) if defined?(::Thrift)

  def entries
    (1..6).map { |time| Logs::Entry.new({ "time" => time, "host" => "h" * time, "place" => Logs::Place.new({ "city" => "Bern" }) }) }
  end

  def frame(message, protocol, transforms: [], protocol_id: nil)
    header = [protocol_id || { binary: 0, compact: 2 }.fetch(protocol), transforms.size, *transforms].pack("C*") + "\x01\x01\x03key\x01v"
    header = header.b.ljust((header.bytesize + 3) / 4 * 4, "\0")
    message = Zlib.deflate(message) if transforms == [1]
    content = [0x0fff, 0, 7, header.bytesize / 4].pack("nnNn") + header + message
    [content.bytesize].pack("N") + content
  end

  def frames
    kinds = [[:binary, []], [:binary, [1]], [:compact, []], [:compact, [1]]].cycle
    entries.zip(kinds).map do |entry, (protocol, transforms)|
      frame(Bytewright::Thrift.encode(entry, protocol: protocol), protocol, transforms: transforms)
    end
  end

  def test_messages_are_read_by_each_function
    decoded = frames.map { |bytes| Bytewright::Thrift.decode(Logs::Entry, bytes, protocol: :header) }
    assert_equal entries, decoded
    data = frames.join
    [data, StringIO.new(data)].each do |source|
      assert_equal entries, Bytewright::Thrift.decode_many(Logs::Entry, source, protocol: :header)
    end
    columns = Bytewright::Thrift.columns(Logs::Entry, data, :time, :"place.city", protocol: :header)
    assert_equal [[1, 2, 3, 4, 5, 6], ["Bern"] * 6], [columns.values(:time), columns.values(:"place.city")]
    frames.each_with_index do |bytes, at|
      plucked = Bytewright::Thrift.pluck(Logs::Entry, bytes, :host, :"place.city", protocol: :header)
      assert_equal ["h" * (at + 1), "Bern"], plucked
    end
  end

  def test_texts_are_read_as_bytes_are
    text = '{"1":{"i64":7},"2":{"str":"a"},"3":{"rec":{"1":{"str":"Bern"}}}}'
    data = frame(text, nil, protocol_id: 1) + frame(text, nil, protocol_id: 1, transforms: [1]) + frames.first
    objects = Bytewright::Thrift.decode_many(Logs::Entry, data, protocol: :header)
    found = objects.map { |each| [each.time, each.host, each.place.city] }
    assert_equal [[7, "a", "Bern"]] * 2 + [[1, "h", "Bern"]], found
    columns = Bytewright::Thrift.columns(Logs::Entry, data, :time, :"place.city", protocol: :header)
    assert_equal [[7, 7, 1], ["Bern"] * 3], [columns.values(:time), columns.values(:"place.city")]
    assert_equal ["a"], Bytewright::Thrift.pluck(Logs::Entry, data, :host, protocol: :header)
  end

  def test_errors_have_their_place_in_the_input
    good = frames.first
    message = Bytewright::Thrift.encode(entries.first)
    { [3, [], message] => ["protocol 0 (Binary), 1 (JSON) or 2 (Compact) in a header, found 3", 14],
      [0, [2], message] => ["transform 1 (zlib) in a header, found 2 (HMAC)", 16],
      [0, [], message[0, 3]] => ["before the input ends", 29],
      [0, [1], message[0, 3]] => ["before the input ends", 29] }.each do |(protocol_id, transforms, bytes), (words, at)|
      bad = frame(bytes, :binary, transforms: transforms, protocol_id: protocol_id)
      error = assert_raises(Bytewright::Error) { Bytewright::Thrift.decode(Logs::Entry, bad, protocol: :header) }
      assert_equal [true, at], [error.message.include?(words), error.offset], error.message
      found = []
      error = assert_raises(Bytewright::Error) do
        Bytewright::Thrift.decode_many(Logs::Entry, good + bad, protocol: :header) { |object| found << object }
      end
      assert_equal [1, good.bytesize + at], [found.size, error.offset], error.message
      assert_raises(Bytewright::Error) { Bytewright::Thrift.pluck(Logs::Entry, bad, :host, protocol: :header) }
    end
  end

  def test_frames_are_needed_and_nothing_is_written_with_headers
    error = assert_raises(ArgumentError) { Bytewright::Thrift.decode_many(Logs::Entry, "", protocol: :header, framed: false) }
    assert_includes error.message, "in frames with the protocol header"
    assert_raises(ArgumentError) { Bytewright::Thrift.columns(Logs::Entry, "", :time, protocol: :header, framed: false) }
    error = assert_raises(ArgumentError) { Bytewright::Thrift.encode(entries.first, protocol: :header) }
    assert_includes error.message, ":binary or :compact, found :header"
  end
end
