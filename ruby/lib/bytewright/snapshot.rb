# frozen_string_literal: true

module Bytewright
  # A table as it was: {Table#snapshot}. It can be read as the table can, by any thread, and whatever
  # becomes of the table. It keeps the bytes of its entries until it is closed or collected.
  class Snapshot
    include Entries

    # @param key [String]
    # @param default [Object] at most one
    # @return [String, Object] the value of the key, or what the block gives, or the default
    # @raise [KeyError] where there is no such key, and neither
    def fetch(key, *default)
      raise ArgumentError, "wrong number of arguments (given #{1 + default.size}, expected 1..2)" if default.size > 1

      value = self[key]
      return value unless value.nil?
      return yield key if block_given?
      return default.first unless default.empty?

      raise KeyError.new("key not found: #{Bytewright.send(:shown, key)}", receiver: self, key: key)
    end

    # @param keys [Array<String>]
    # @return [Array<String, nil>] the value of each
    def values_at(*keys, **nil)
      keys.map { |key| self[key] }
    end

    private

    def kind
      HashTable
    end
  end

  # The bytes of a value where the table keeps them: {Table#view}.
  class View
    include Undumpable

    alias size bytesize
    alias length bytesize
    alias to_str to_s

    # @param other [String, View]
    # @return [Boolean] whether the bytes are the same
    def ==(other)
      other = String.try_convert(other)
      !other.nil? && bytesize == other.bytesize && to_s.b == other.b
    end

    # @return [String] how many bytes there are, or that it is closed
    def inspect
      "#<#{self.class} #{closed? ? "(closed)" : "#{bytesize} bytes"}>"
    end

    private

    def instead_of_dump
      "its bytes (to_s)"
    end
  end
end
