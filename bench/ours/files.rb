# frozen_string_literal: true

# Ours: files through Bytewright::Reader.
#
#   ruby files.rb TASK ENGINE FILE

require "bytewright"

require_relative "../workload/files"

# Value by value, line by line.
class ReaderEngine
  def initialize(path)
    @path = path
  end

  def records
    count = 0
    Bytewright::Reader.open(@path) do |reader|
      while reader.read(FileWorkload::HEADER_BYTES)
        reader.read(FileWorkload::BODY_BYTES)
        count += 1
      end
    end
    count
  end

  def each_record
    Bytewright::Reader.open(@path) do |reader|
      while (header = reader.read(FileWorkload::HEADER_BYTES))
        yield header, reader.read(FileWorkload::BODY_BYTES)
      end
    end
  end

  def headers(count)
    Bytewright::Reader.open(@path) do |reader|
      count.times do
        reader.u32be
        reader.u32be
        reader.u32be
        reader.u32be
        reader.skip(FileWorkload::BODY_BYTES)
      end
    end
  end

  def each_header
    Bytewright::Reader.open(@path) do |reader|
      until reader.eof?
        yield [reader.u32be, reader.u32be, reader.u32be, reader.u32be]
        reader.skip(FileWorkload::BODY_BYTES)
      end
    end
  end

  def count_lines
    Bytewright::Reader.open(@path, &:count_lines)
  end

  def lines
    count = 0
    Bytewright::Reader.open(@path) { |reader| reader.each_line { count += 1 } }
    count
  end

  def each_line(&block)
    Bytewright::Reader.open(@path) { |reader| reader.each_line(&block) }
  end

  def first_read(length)
    @reader = Bytewright::Reader.open(@path)
    @into = String.new(capacity: length)
    @reader.read_into(@into, length).dup
  end

  def raw(length, reads)
    reader, into = @reader, @into
    reads.times { reader.rewind unless reader.read_into(into, length) }
  end
end

# Many at a time.
class BatchEngine < ReaderEngine
  def headers(count)
    Bytewright::Reader.open(@path) { |reader| reader.unpack_records("N4x64", count) { |numbers| numbers } }
  end

  def each_header(&block)
    Bytewright::Reader.open(@path) { |reader| reader.unpack_records("N4x64") { |numbers| block.call(numbers) } }
  end

  def lines
    count = 0
    Bytewright::Reader.open(@path) do |reader|
      reader.each_line(batch: FileWorkload::BATCH_LINES) { |lines| count += lines.size }
    end
    count
  end

  def each_line(&block)
    Bytewright::Reader.open(@path) do |reader|
      reader.each_line(batch: FileWorkload::BATCH_LINES) { |lines| lines.each(&block) }
    end
  end
end

# Engine of batches that looks at each line.
class EachOfBatchEngine < BatchEngine
  def lines
    count = 0
    each_line { count += 1 }
    count
  end
end

# Fresh Strings, as programs that know of nothing else read.
class FreshEngine < ReaderEngine
  def raw(length, reads)
    reader = @reader
    reads.times { reader.rewind unless reader.read(length) }
  end
end

ENGINES = {
  "reader" => ReaderEngine.method(:new), "batch" => BatchEngine.method(:new),
  "each-of-batch" => EachOfBatchEngine.method(:new), "fresh" => FreshEngine.method(:new)
}.freeze

FileWorkload.main(ENGINES, ARGV)
