# frozen_string_literal: true

# Peers: Ruby's own PStore, and what the patch of 2011 (Ruby Feature #4495) would make of it.
#
#   ruby stores.rb TASK ENGINE STORE

require_relative "../workload/stores"

module Stock
  def self.open(path, ultra_safe: false)
    require "pstore"
    store = PStore.new(path)
    store.ultra_safe = ultra_safe
    store
  end

  # The idea of 2011 that later versions lost: a checksum that costs next to nothing tells whether the
  # table has changed. The others (a checksum only where something may have changed, truncate after the
  # write) are in stock.
  def self.patched(path)
    require "pstore"
    with_cheap_checksum = Class.new(PStore) do
      private

      def load_data(file, read_only)
        return super if read_only

        data = file.read
        return [{}, empty_marshal_data.sum(64), empty_marshal_data.bytesize] if data.empty?

        table = load(data)
        raise PStore::Error, "PStore file seems to be corrupted." unless table.is_a?(Hash)

        [table, data.sum(64), data.bytesize]
      end

      def save_data(original_checksum, original_file_size, file)
        data = dump(@table)
        return if data.bytesize == original_file_size && data.sum(64) == original_checksum

        save_data_with_fast_strategy(data, file)
      end
    end
    with_cheap_checksum.new(path)
  end
end

ENGINES = {
  "stock" => ->(path) { Stock.open(path) },
  "stock-ultra-safe" => ->(path) { Stock.open(path, ultra_safe: true) },
  "patch-2011" => ->(path) { Stock.patched(path) }
}.freeze

StoreWorkload.main(ENGINES, ARGV)
