# frozen_string_literal: true

# Ours: the four tables from Ruby.
#
#   ruby tables.rb TASK ENGINE RECORDS

require "bytewright"

require_relative "../workload/tables"

# A table that lives in memory.
def in_memory(table_class)
  TableWorkload::Engine.new(create: ->(_folder) { table_class.new })
end

# A table in a file, opened as one does who asks for nothing special.
def in_file(table_class, name)
  open = ->(folder) { table_class.open(File.join(folder, name)) }
  TableWorkload::Engine.new(create: open, open: open, finish: :compact.to_proc, close: :close.to_proc)
end

# The store of ActiveSupport, below its limits.
def cache_stores
  require_relative "../workload/cache_stores"
  TableWorkload::CacheStore.engines("store") { |folder| ActiveSupport::Cache.lookup_store(:bytewright, File.join(folder, "x.bwc")) }
end

ENGINES = {
  "hash" => in_memory(Bytewright::HashTable),
  "tree" => in_memory(Bytewright::TreeTable),
  "hash-file" => in_file(Bytewright::HashTable, "x.bwh"),
  "tree-file" => in_file(Bytewright::TreeTable, "x.bwt")
}.freeze

TableWorkload.main(ARGV[1].start_with?("store-") ? cache_stores : ENGINES, ARGV)
