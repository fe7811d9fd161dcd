# frozen_string_literal: true

module Bytewright
  # Methods of entries in the order of their keys. Keys compare as bytes.
  #
  # Methods that walk the entries, all of Enumerable among them, take keywords that select entries:
  #
  # - +from+ and +to+: the lowest and the highest key, both included
  # - +range+: a Range of Strings, +"b".."d"+, +"b"..."d"+, +"b"..+ or +.."d"+
  # - +prefix+: what keys begin with
  # - +reverse+: the highest key comes first
  # - +limit+: at most so many entries
  #
  # An entry is selected where all of them allow it. nil is the same as leaving a keyword out.
  #
  #   table.each(prefix: "user:", limit: 10) { |key, value| }
  #   table.keys(range: "b"..."d", reverse: true)
  #   table.delete_if(prefix: "tmp:") { true }
  module OrderedEntries
    # Yields every entry, the highest key first. A limit counts from there.
    #
    # @param range (see Entries#each)
    # @return [self, Enumerator] self, or an enumerator with a size
    def reverse_each(**range, &block)
      return enumerator(:reverse_each, range) unless block

      each(**range, reverse: true, &block)
    end

    # @param count [Integer] how many
    # @param range (see Entries#each)
    # @return [Array(String, String), Array, nil] the entry with the lowest key, or nil; or with a count
    #   the entries with the lowest
    def first(*count, **range)
      count.empty? && range.empty? ? first_in(nil, nil, false) : super
    end

    # @param count [Integer] how many
    # @param range (see Entries#each)
    # @return [Array(String, String), Array, nil] the entry with the highest key, or nil; or with a count
    #   the entries with the highest, the highest last
    def last(*count, **range)
      return first_in(nil, nil, true) if count.empty? && range.empty?

      found = each(**range, reverse: !range[:reverse]).first(*count)
      count.empty? ? found : found.reverse
    end

    # @param key [String]
    # @return [Array(String, String), nil] the entry with the highest key that is not above this one
    def floor(key)
      first_in(nil, string(key), true)
    end

    # @param key [String]
    # @return [Array(String, String), nil] the entry with the lowest key that is not below this one
    def ceiling(key)
      first_in(string(key), nil, false)
    end

    private

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

  # A place in a {TreeTable}: {TreeTable#cursor}.
  class Cursor
    include Undumpable

    private

    def instead_of_dump
      "the key that it is at"
    end
  end
end
