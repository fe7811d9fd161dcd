# frozen_string_literal: true

# Says how large each column of the Parquet files of a folder is, from their footers alone: ruby parquet_sizes.rb IDL FOLDER

require "bytewright/thrift"

abort "usage: ruby parquet_sizes.rb IDL FOLDER" unless ARGV.size == 2
idl, folder = ARGV

Bytewright::Thrift.load(idl)
paths = %w[path_in_schema num_values total_compressed_size].map { |name| "row_groups[].columns[].meta_data.#{name}" }
Dir[File.join(folder, "*.parquet")].sort.each do |path|
  data = File.binread(path)
  length = data[-8, 4].unpack1("V") # the magic bytes are behind it
  footer = data[-8 - length, length]
  columns = Bytewright::Thrift.columns(ParquetFooter::FileMetaData, footer, *paths, protocol: :compact, framed: false)
  columns.to_h.values.transpose.each { |column, *sizes| puts [File.basename(path), column.join("."), *sizes].join(" ") }
end
