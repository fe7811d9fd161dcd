# frozen_string_literal: true

# `ruby messages.rb rich|flat|footer binary|compact COUNT OUT`: messages of Thrift for the benches, each in a frame;
# the same bytes on every machine, made by no library that is compared. workload/messages.thrift says what
# is in them. A footer is one message, that of a Parquet file with so many columns.

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

ROW_GROUPS = 10
ROWS = 100

# The footer of a Parquet file, with the fields that pyarrow writes.
def footer(columns)
  schema = [parquet([[4, of(:string, "schema")], [5, of(:i32, columns)]])]
  schema += Array.new(columns) do |column|
    parquet([[1, of(:i32, 2)], [3, of(:i32, 1)], [4, of(:string, "column_#{column}")]])
  end
  groups = Array.new(ROW_GROUPS) { |group| row_group(group, columns) }
  orders = Array.new(columns) { parquet([[1, parquet([])]]) }
  [[1, of(:i32, 2)], [2, of(:list, schema)], [3, of(:i64, ROW_GROUPS * ROWS)], [4, of(:list, groups)],
   [6, of(:string, "parquet-cpp-arrow version 26.0.1")], [7, of(:list, orders)]]
end

def parquet(fields)
  of(:struct, fields)
end

def row_group(group, columns)
  chunks = Array.new(columns) { |column| column_chunk(group * columns + column, column) }
  parquet([[1, of(:list, chunks)], [2, of(:i64, columns * 951)], [3, of(:i64, ROWS)], [5, of(:i64, 4 + group * columns * 599)],
           [6, of(:i64, columns * 599)], [7, of(:i16, group)]])
end

def column_chunk(number, column)
  start = 4 + number * 599
  parquet([[2, of(:i64, 0)], [3, parquet([
    [1, of(:i32, 2)], [2, of(:list, [0, 3, 8].map { |encoding| of(:i32, encoding) })],
    [3, of(:list, texts("column_#{column}"))], [4, of(:i32, 1)], [5, of(:i64, ROWS)], [6, of(:i64, 951 + column % 7)],
    [7, of(:i64, 599 - column % 5)], [9, of(:i64, start + 423)], [11, of(:i64, start)], [12, statistics(number)],
    [13, of(:list, [[2, 0], [0, 8]].map { |page, encoding| parquet(fields(of(:i32, page), of(:i32, encoding), of(:i32, 1))) })],
    [16, parquet([[3, of(:list, [of(:i64, 0), of(:i64, ROWS)])]])]
  ])]])
end

def statistics(number)
  most, least = [number + ROWS - 1, number].map { |value| of(:string, [value].pack("q<")) }
  parquet([[1, most], [2, least], [3, of(:i64, 0)], [5, most], [6, least], [7, of(:bool, true)], [8, of(:bool, true)]])
end

struct, protocol, count, path = ARGV
abort "usage: #{$PROGRAM_NAME} rich|flat|footer binary|compact COUNT OUT" unless path && %w[rich flat footer].include?(struct)

writer = { "binary" => Binary, "compact" => Compact }.fetch(protocol).new
count = Integer(count, 10)
structs = struct == "footer" ? [footer(count)] : Array.new(count) { |number| send(struct, number) }
messages = structs.map { |each| writer.struct(each) }
File.binwrite(path, messages.map { |message| [message.bytesize].pack("L>") + message }.join)
