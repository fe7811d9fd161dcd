# frozen_string_literal: true

# `ruby messages.rb rich|flat binary|compact COUNT OUT`: messages of Thrift for the benches, each in a frame;
# the same bytes on every machine, made by no library that is compared. workload/messages.thrift says what
# is in them.

# Values as they stand in a message: a type, and what is of it.
Value = Struct.new(:type, :content)

# The two protocols, as far as these messages need them.
class Binary
  TYPES = { bool: 2, byte: 3, double: 4, i16: 6, i32: 8, i64: 10, string: 11, struct: 12, map: 13, set: 14, list: 15 }.freeze
  PACKED = { byte: "c", double: "G", i16: "s>", i32: "l>", i64: "q>" }.freeze

  def struct(fields)
    fields.map { |id, value| [TYPES.fetch(value.type), id].pack("CS>") + value(value) }.join + "\0"
  end

  def value(value)
    content = value.content
    case value.type
    when :bool then content ? "\1" : "\0"
    when :string then [content.bytesize].pack("L>") + content.b
    when :struct then struct(content)
    when :map then map(content)
    when :set, :list then [TYPES.fetch(content[0].type), content.size].pack("CL>") + values(content)
    else [content].pack(PACKED.fetch(value.type))
    end
  end

  private

  def map(entries)
    key, value = entries[0]
    [TYPES.fetch(key.type), TYPES.fetch(value.type), entries.size].pack("CCL>") + values(entries.flatten(1))
  end

  def values(values)
    values.map { |each| value(each) }.join
  end
end

class Compact
  TYPES = { bool: 1, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, string: 8, list: 9, set: 10, map: 11, struct: 12 }.freeze

  def struct(fields)
    last = 0
    headers = fields.map do |id, value|
      type = value.type == :bool && !value.content ? 2 : TYPES.fetch(value.type)
      header = [(id - last) << 4 | type].pack("C")
      last = id
      value.type == :bool ? header : header + value(value)
    end
    headers.join + "\0"
  end

  def value(value)
    content = value.content
    case value.type
    when :byte then [content].pack("c")
    when :double then [content].pack("E")
    when :string then varint(content.bytesize) + content.b
    when :struct then struct(content)
    when :map then map(content)
    when :set, :list then list(content)
    else varint(content.negative? ? ~content << 1 | 1 : content << 1)
    end
  end

  private

  def list(values)
    type, count = TYPES.fetch(values[0].type), values.size
    header = count < 15 ? [count << 4 | type].pack("C") : [0xf0 | type].pack("C") + varint(count)
    header + values(values)
  end

  def map(entries)
    key, value = entries[0]
    varint(entries.size) + [TYPES.fetch(key.type) << 4 | TYPES.fetch(value.type)].pack("C") + values(entries.flatten(1))
  end

  def values(values)
    values.map { |each| value(each) }.join
  end

  def varint(number)
    bytes = []
    while number > 0x7f
      bytes << (number & 0x7f | 0x80)
      number >>= 7
    end
    (bytes << number).pack("C*")
  end
end

def of(type, content)
  Value.new(type, content)
end

# A field each, with ids from 1 on.
def fields(*values)
  values.each.with_index(1).map { |value, id| [id, value] }
end

def texts(*texts)
  texts.map { |text| of(:string, text) }
end

def inner(number)
  of(:struct, fields(of(:i32, number), of(:string, "inner #{format('%04d', number)}"), of(:bool, number.odd?),
                     of(:i16, number % 9), of(:double, number / 4.0)))
end

# All numbers differ from message to message, and no length does.
def rich(number)
  fields(
    of(:bool, number.even?), of(:byte, number % 100 - 50), of(:i16, 1000 + number), of(:i32, 70_000 + number),
    of(:i64, (1 << 40) + number), of(:double, number / 8.0 + 0.5),
    of(:string, "a text that is longer than what an object holds, #{format('%04d', number)}"),
    of(:string, Array.new(32) { |at| (at * 7 + number) % 256 }.pack("C*")), of(:i32, number % 3 + 1), inner(100 + number),
    of(:list, Array.new(30) { |at| of(:i32, at * 97 + number) }),
    of(:list, texts("alpha #{format('%04d', number)}", "beta", "gamma with some more letters", "delta")),
    of(:list, [1, 2, 3, 4].map { |at| inner(200 + at + number) }),
    of(:set, texts("red", "green #{format('%04d', number)}", "blue")),
    of(:set, Array.new(12) { |at| of(:i32, at * 1000 + number) }),
    of(:map, texts("host", "www#{format('%04d', number)}.example", "zone", "north").each_slice(2).to_a),
    of(:map, [5, 6, 7, 8, 9].map { |at| [of(:i32, at), inner(300 + at + number)] }),
    of(:map, %w[load requests].map { |key| [of(:string, key), of(:list, Array.new(6) { |at| of(:i64, at * 1_000_003 + number) })] }),
    of(:string, "good morning")
  )
end

def flat(number)
  fields(
    of(:i64, 1_700_000_000_000_000 + number), of(:string, "www#{format('%04d', number)}.north.example"), of(:i32, 20_000 + number),
    of(:i16, 300 + number % 7), of(:string, "/articles/#{format('%04d', number)}/comments/latest"), of(:double, number / 16.0 + 0.25),
    of(:bool, number % 3 != 0), of(:i64, (1 << 50) + number * 977), of(:i32, 200 + number % 5),
    of(:string, "request #{format('%04d', number)} was answered from the cache at once")
  )
end

struct, protocol, count, path = ARGV
abort "usage: #{$PROGRAM_NAME} rich|flat binary|compact COUNT OUT" unless path && %w[rich flat].include?(struct)

writer = { "binary" => Binary, "compact" => Compact }.fetch(protocol).new
messages = Array.new(Integer(count, 10)) { |number| writer.struct(send(struct, number)) }
File.binwrite(path, messages.map { |message| [message.bytesize].pack("L>") + message }.join)
