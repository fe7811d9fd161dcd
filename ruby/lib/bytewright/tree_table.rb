# frozen_string_literal: true

module Bytewright
  # What entries in the order of their keys can do beside. Keys compare as bytes.
  #
  # Methods that walk the entries take a range: +from+ and +to+ are the lowest and the highest key, both
  # included; +prefix+ is what keys begin with; with +reverse+ the highest comes first.
  #
  #   table.each(prefix: "user:") { |key, value| }
  #   table.keys(from: "b", to: "d", reverse: true)
  module OrderedEntries
    # Yields every entry, the highest key first.
    #
    # @param range from, to and prefix
    # @return [self, Enumerator] self, or an enumerator with a size
    def reverse_each(**range, &block)
      return to_enum(:reverse_each, **range) { size if range.empty? } unless block

      each(**range, reverse: true, &block)
    end

    # @param count [Integer] how many
    # @return [Array(String, String), Array, nil] the entry with the lowest key, or nil; or with a count
    #   the entries with the lowest
    def first(*count)
      count.empty? ? first_in(nil, nil, nil, false) : super
    end

    # @param count [Integer] how many
    # @return [Array(String, String), Array, nil] the entry with the highest key, or nil; or with a count
    #   the entries with the highest, the highest last
    def last(*count)
      count.empty? ? first_in(nil, nil, nil, true) : reverse_each.first(*count).reverse
    end

    # @param key [String]
    # @return [Array(String, String), nil] the entry with the highest key that is not above this one
    def floor(key)
      first_in(nil, string(key), nil, true)
    end

    # @param key [String]
    # @return [Array(String, String), nil] the entry with the lowest key that is not below this one
    def ceiling(key)
      first_in(string(key), nil, nil, false)
    end

    private

    def open_scan(from: nil, to: nil, prefix: nil, reverse: false)
      scan(from, to, prefix, reverse ? true : false)
    end

    def kind
      TreeTable
    end
  end

  # A table in the order of its keys, which compare as bytes.
  #
  #   table = Bytewright::TreeTable.new
  #   table["2026-11-21 host1"] = "up"
  #   table.each(prefix: "2026-11-") { |key, value| puts key }
  class TreeTable < Table
    include OrderedEntries
  end

  # A {TreeTable} as it was.
  class TreeSnapshot < Snapshot
    include OrderedEntries
  end
end
