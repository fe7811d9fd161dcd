# frozen_string_literal: true

require_relative "thrift_case"
require "stringio"

# Goal: messages in Thrift's JSON protocol are those that the gem wrote.
#
# Method: the gem writes objects in JSON; each function reads what was written. Texts are also cut and damaged.
class ThriftJsonTest < ThriftCase
  Logs = Bytewright::Thrift.load(File.expand_path("../../samples/log.thrift", __dir__), into: Module.new) if defined?(::Thrift)

  def entries
    (1..4).map { |time| Logs::Entry.new({ "time" => time, "host" => "ä\"\\" * time, "place" => Logs::Place.new({ "city" => "Bern" }) }) }
  end

  def by_gem(object)
    ::Thrift::Serializer.new(::Thrift::JsonProtocolFactory.new).serialize(object)
  end

  def framed(messages)
    messages.map { |message| [message.bytesize].pack("N") + message.b }.join
  end

  def test_what_the_gem_writes_is_read_by_each_function
    texts = entries.map { |entry| by_gem(entry) }
    assert_equal(entries, texts.map { |text| Bytewright::Thrift.decode(Logs::Entry, text, protocol: :json) })
    lines = texts.join("\n")
    [[framed(texts), true], [lines, false]].each do |data, is_framed|
      options = { protocol: :json, framed: is_framed }
      [data, StringIO.new(data)].each { |source| assert_equal entries, Bytewright::Thrift.decode_many(Logs::Entry, source, **options) }
      columns = Bytewright::Thrift.columns(Logs::Entry, data, :time, :"place.city", **options)
      assert_equal [[1, 2, 3, 4], ["Bern"] * 4], [columns.values(:time), columns.values(:"place.city")]
    end
    plucked = Bytewright::Thrift.pluck(Logs::Entry, texts[1], :host, :"place.city", protocol: :json)
    assert_equal ["ä\"\\" * 2, "Bern"], plucked
  end

  def test_binary_is_in_base64_and_strings_are_not
    holder = loaded("struct Both { 1: string text, 2: binary bytes, 3: map<string, binary> by_name }")
    both = holder::Both.new({ "text" => "AP8=", "bytes" => "\x00\xff".b, "by_name" => { "a" => "\xff".b } })
    assert_equal both, Bytewright::Thrift.decode(holder::Both, by_gem(both), protocol: :json)
    unpadded = '{"2":{"str":"AP8"}}'
    assert_equal "\x00\xff".b, Bytewright::Thrift.decode(holder::Both, unpadded, protocol: :json).bytes
  end

  def loaded(idl)
    with_folder do |folder|
      path = File.join(folder, "both.thrift")
      File.write(path, idl)
      Bytewright::Thrift.load(path, into: Module.new)
    end
  end

  def test_classes_that_read_in_a_way_of_their_own_are_read_by_the_gem
    own = Class.new(Logs::Place) do
      def read(protocol)
        super
        self.city = city.upcase
      end
    end
    text = by_gem(Logs::Place.new({ "city" => "Bern" }))
    assert_equal "BERN", Bytewright::Thrift.decode(own, text, protocol: :json).city
  end

  def test_errors_have_their_place_in_the_input
    good = by_gem(entries.first)
    { good[0..-2] => ["before the input ends", good.bytesize - 1],
      '{"1":{"i64":1.5}}' => ["expected an i64, found 1.5", 12],
      '{"1":{"i65":1}}' => ["found i65", 6] }.each do |bad, (words, at)|
      error = assert_raises(Bytewright::Error) { Bytewright::Thrift.decode(Logs::Entry, bad, protocol: :json) }
      assert_equal [true, at], [error.message.include?(words), error.offset], error.message
      found = []
      error = assert_raises(Bytewright::Error) do
        Bytewright::Thrift.decode_many(Logs::Entry, framed([good, bad]), protocol: :json) { |object| found << object }
      end
      assert_equal [1, 4 + good.bytesize + 4 + at], [found.size, error.offset], error.message
      assert_raises(Bytewright::Error) { Bytewright::Thrift.pluck(Logs::Entry, bad, :host, protocol: :json) }
    end
  end

  def test_nothing_is_written_in_json
    error = assert_raises(ArgumentError) { Bytewright::Thrift.encode(entries.first, protocol: :json) }
    assert_includes error.message, ":binary or :compact, found :json"
  end
end
