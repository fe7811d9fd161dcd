# frozen_string_literal: true

# Peers: what Ruby programs do with IO, as most are written and as the best are.
#
#   ruby files.rb TASK ENGINE FILE

require_relative "../workload/files"

# A call for each field.
class FieldByField
  def initialize(path)
    @path = path
  end

  def records
    count = 0
    File.open(@path, "rb") do |file|
      while file.read(FileWorkload::HEADER_BYTES)
        file.read(FileWorkload::BODY_BYTES)
        count += 1
      end
    end
    count
  end

  def each_record
    File.open(@path, "rb") do |file|
      while (header = file.read(FileWorkload::HEADER_BYTES))
        yield header, file.read(FileWorkload::BODY_BYTES)
      end
    end
  end

  def headers(count)
    File.open(@path, "rb") do |file|
      count.times do
        file.read(4).unpack1("N")
        file.read(4).unpack1("N")
        file.read(4).unpack1("N")
        file.read(4).unpack1("N")
        file.seek(FileWorkload::BODY_BYTES, IO::SEEK_CUR)
      end
    end
  end

  def each_header
    File.open(@path, "rb") do |file|
      until file.eof?
        yield Array.new(4) { file.read(4).unpack1("N") }
        file.seek(FileWorkload::BODY_BYTES, IO::SEEK_CUR)
      end
    end
  end

  def count_lines
    count = 0
    File.foreach(@path) { count += 1 }
    count
  end

  alias lines count_lines

  def each_line(&block)
    File.foreach(@path, &block)
  end

  def first_read(length)
    @file = File.open(@path, "rb")
    @into = String.new(capacity: length)
    @file.sysread(length, @into).dup
  end

  # One system call for each, into the same String.
  def raw(length, reads)
    file, into = @file, @into
    reads.times do
      file.sysread(length, into)
    rescue EOFError
      file.sysseek(0)
    end
  end
end

# A call for each header.
class HeaderByHeader < FieldByField
  def headers(count)
    File.open(@path, "rb") do |file|
      count.times do
        file.read(FileWorkload::HEADER_BYTES).unpack("N4")
        file.seek(FileWorkload::BODY_BYTES, IO::SEEK_CUR)
      end
    end
  end

  def each_header
    File.open(@path, "rb") do |file|
      while (header = file.read(FileWorkload::HEADER_BYTES))
        yield header.unpack("N4")
        file.seek(FileWorkload::BODY_BYTES, IO::SEEK_CUR)
      end
    end
  end
end

# A buffer of a program's own that is filled again and again, and cut up.
class OwnBuffer < FieldByField
  BUFFER_BYTES = 1024 * FileWorkload::RECORD_BYTES

  def records
    count = 0
    each_filling do |buffer|
      at = 0
      while at < buffer.bytesize
        buffer.byteslice(at, FileWorkload::HEADER_BYTES)
        buffer.byteslice(at + FileWorkload::HEADER_BYTES, FileWorkload::BODY_BYTES)
        at += FileWorkload::RECORD_BYTES
        count += 1
      end
    end
    count
  end

  def each_record
    each_filling do |buffer|
      (0...buffer.bytesize).step(FileWorkload::RECORD_BYTES) do |at|
        yield buffer.byteslice(at, FileWorkload::HEADER_BYTES),
              buffer.byteslice(at + FileWorkload::HEADER_BYTES, FileWorkload::BODY_BYTES)
      end
    end
  end

  def headers(_count)
    each_filling do |buffer|
      at = 0
      while at < buffer.bytesize
        buffer.unpack("N4", offset: at)
        at += FileWorkload::RECORD_BYTES
      end
    end
  end

  def each_header
    each_filling do |buffer|
      (0...buffer.bytesize).step(FileWorkload::RECORD_BYTES) { |at| yield buffer.unpack("N4", offset: at) }
    end
  end

  private

  def each_filling
    File.open(@path, "rb") do |file|
      buffer = String.new(capacity: BUFFER_BYTES)
      yield buffer while file.read(BUFFER_BYTES, buffer)
    end
  end
end

ENGINES = {
  "field" => FieldByField.method(:new), "header" => HeaderByHeader.method(:new), "buffer" => OwnBuffer.method(:new)
}.freeze

FileWorkload.main(ENGINES, ARGV)
