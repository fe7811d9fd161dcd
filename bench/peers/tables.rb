# frozen_string_literal: true

# Peers: tables of Strings that a Ruby program can have today.
#
#   ruby tables.rb TASK ENGINE RECORDS
#
# An engine "nothing" keeps nothing: an empty process, for scale.

require_relative "../workload/tables"

# Tables of Tokyo Cabinet and Kyoto Cabinet, whose libraries are loaded when one is asked for.
module Cabinets
  # Tokyo Cabinet, by the name that says which kind of table it is.
  def self.tokyo(name)
    open = lambda do |folder|
      require "tokyocabinet"
      table = TokyoCabinet::ADB.new
      table.open(name.start_with?("x.") ? File.join(folder, name) : name) || raise("#{name} does not open")
      table
    end
    TableWorkload::Engine.new(create: open, open: open, finish: :sync.to_proc, close: :close.to_proc)
  end

  # Kyoto Cabinet, likewise.
  def self.kyoto(name)
    create = lambda do |_folder|
      require "kyotocabinet"
      table = KyotoCabinet::DB.new
      table.open(name) || raise("#{name} does not open")
      table.singleton_class.alias_method(:length, :count)
      table
    end
    TableWorkload::Engine.new(create: create)
  end
end

# Takes everything and has nothing.
class Nothing
  def []=(_key, _value); end

  def [](_key)
    ""
  end

  def length
    0
  end
end

# Stores of ActiveSupport; the one in memory evicts nothing here.
def cache_stores
  require_relative "../workload/cache_stores"
  TableWorkload::CacheStore.engines("file-store") { |folder| ActiveSupport::Cache.lookup_store(:file_store, File.join(folder, "x")) }
                           .merge(TableWorkload::CacheStore.engines("memory-store") { |_| ActiveSupport::Cache.lookup_store(:memory_store, size: 2**32) })
end

ENGINES = {
  "nothing" => TableWorkload::Engine.new(create: ->(_folder) { Nothing.new }),
  "hash" => TableWorkload::Engine.new(create: ->(_folder) { {} }, keeps_objects: true),
  "tc-hash" => Cabinets.tokyo("*"),
  "tc-tree" => Cabinets.tokyo("+"),
  "tc-hash-file" => Cabinets.tokyo("x.tch"),
  "tc-hash-file-tuned" => Cabinets.tokyo("x.tch#bnum=2000000"),
  "tc-tree-file" => Cabinets.tokyo("x.tcb"),
  "kc-hash" => Cabinets.kyoto(":"),
  "kc-tree" => Cabinets.kyoto("%")
}.freeze

TableWorkload.main(ARGV[1].include?("-store-") ? cache_stores : ENGINES, ARGV)
