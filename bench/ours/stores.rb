# frozen_string_literal: true

# Ours: PStore, with the journal that makes a transaction whole, and with ultra_safe, which waits for
# the disk.
#
#   ruby stores.rb TASK ENGINE STORE

require_relative "../workload/stores"

def open_store(path, ultra_safe: false)
  require "bytewright/pstore"
  store = Bytewright::PStore.new(path)
  store.ultra_safe = ultra_safe
  store
end

# A program under Bundler has the folders of its gems on the load path before it requires any. Otherwise RubyGems looks
# through all gems for the file, which takes longer than loading it.
gem "bytewright" if ARGV[1] == "ours-activated"

ENGINES = {
  "ours" => ->(path) { open_store(path) },
  "ours-activated" => ->(path) { open_store(path) },
  "ours-ultra-safe" => ->(path) { open_store(path, ultra_safe: true) }
}.freeze

StoreWorkload.main(ENGINES, ARGV)
