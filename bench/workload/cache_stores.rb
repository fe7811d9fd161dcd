# frozen_string_literal: true

require "logger"
require "active_support"
require "active_support/cache"

require_relative "tables"

module TableWorkload
  # A store of ActiveSupport as a table. Its values are the records', repeated up to a length; none is compressed, which would take
  # the same time in each store.
  class CacheStore
    # Lengths of values that the benches compare.
    LENGTHS = { "100" => 100, "1k" => 1000, "100k" => 100_000 }.freeze

    # Engines of a store by the lengths of its values.
    def self.engines(name, &create)
      LENGTHS.to_h do |suffix, length|
        ["#{name}-#{suffix}", Engine.new(create: ->(folder) { new(create.call(folder), length) })]
      end
    end

    attr_reader :length

    def initialize(store, value_length)
      @store = store
      @value_length = value_length
      @length = 0
    end

    def []=(key, value)
      @record_length = value.bytesize
      @length += 1 if @store.write(key.unpack1("H*"), (value * (@value_length / value.bytesize + 1)).byteslice(0, @value_length), compress: false)
    end

    # Reads the whole value, and gives the record's.
    def [](key)
      value = @store.read(key.unpack1("H*"))
      raise "expected #{@value_length} bytes, found #{value.inspect.byteslice(0, 50)}" unless value&.bytesize == @value_length

      value.byteslice(0, @record_length)
    end
  end
end
