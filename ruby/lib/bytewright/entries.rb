# frozen_string_literal: true

require_relative "ranged_enumerable"
require_relative "shown"

module Bytewright
  # Questions to entries of Strings, as to those of a Hash: the reading half of a {Table}, and all of a
  # {Snapshot}.
  #
  # Keys and values that it gives are new Strings, in its encoding. A key or value that is given must be
  # a String, or have +to_str+; its bytes count, whatever its encoding says.
  #
  # Methods that walk the entries walk a snapshot: changing the table meanwhile is fine, and not seen.
  # A HashTable gives entries in the order of their last write, a TreeTable in that of their keys.
  #
  # Methods that walk the entries, all of Enumerable among them, take the keywords of {OrderedEntries}, which
  # select entries of a table in order. A HashTable refuses them with an ArgumentError.
  module Entries
    include RangedEnumerable
    include Shown
    include Undumpable

    # Entries that {#inspect} shows.
    INSPECTED_ENTRIES = 20
    private_constant :INSPECTED_ENTRIES

    # Yields every entry.
    #
    # @param range [Hash] which entries, of a table in order: see {OrderedEntries}
    # @raise [ArgumentError] for a range of a HashTable
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @return [self, Enumerator] self, or an enumerator with a size
    def each(**range, &block)
      return enumerator(:each, range) unless block

      # A block that takes two arguments needs no Array made for it.
      walk(range) { |scan| block.arity > 1 && !block.lambda? ? scan.each_two(&block) : scan.each_pair(&block) }
      self
    end
    alias each_pair each

    # @param range (see #each)
    # @yieldparam key [String]
    # @return [self, Enumerator] self, or an enumerator with a size
    def each_key(**range, &block)
      return enumerator(:each_key, range) unless block

      walk(range) { |scan| scan.each_key(&block) }
      self
    end

    # @param range (see #each)
    # @yieldparam value [String]
    # @return [self, Enumerator] self, or an enumerator with a size
    def each_value(**range, &block)
      return enumerator(:each_value, range) unless block

      walk(range) { |scan| scan.each_value(&block) }
      self
    end

    # @param range (see #each)
    # @return [Array<String>] all keys
    def keys(**range)
      walk(range, &:keys)
    end

    # @param range (see #each)
    # @return [Array<String>] all values
    def values(**range)
      walk(range, &:values)
    end

    # @param range (see #each)
    # @return [Array<Array(String, String)>] all entries
    def to_a(**range)
      walk(range, &:pairs)
    end
    alias entries to_a

    # @param range (see #each)
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @yieldreturn [Array(Object, Object)] a key and a value for the Hash
    # @return [Hash] the entries, or what the block makes of them
    def to_h(**range, &block)
      block ? each(**range).to_h(&block) : walk(range, &:hash_of)
    end

    # @return [Hash{String => String}] the entries; so a Hash can be compared and merged with these
    def to_hash
      to_h
    end

    # @param key [String]
    # @return [Boolean] whether there is such a key
    def include?(key)
      key?(key)
    end
    alias member? include?
    alias has_key? include?

    # @return [Integer] how many entries there are
    def length
      size
    end

    # @return [Boolean] whether there is no entry
    def empty?
      size.zero?
    end

    # @param range (see #each)
    # @return [Integer] how many entries there are, or are equal to the argument, or make the block true
    def count(*arguments, **range, &block)
      return super unless arguments.empty? && block.nil?

      range.empty? ? size : walk(range, &:count)
    end

    # @param range (see #each)
    # @return [Boolean] whether there is an entry, or one that fits
    def any?(*pattern, **range, &block)
      pattern.empty? && range.empty? && block.nil? ? !empty? : super
    end

    # @param keys [Array<String>]
    # @yieldparam key [String] a key that there is not
    # @return [Array<String>] the values of the keys, or what the block gives
    # @raise [KeyError] where there is no such key, and no block
    def fetch_values(*keys, **nil, &block)
      found = values_at(*keys)
      return found unless found.include?(nil)

      # The table is not asked again: it may have the key by now, from a later commit.
      found.zip(keys).map { |value, key| value.nil? ? instead_of_value(key, &block) : value }
    end

    # @param value [String]
    # @param range (see #each)
    # @return [String, nil] the first key that has this value; all entries are looked at
    def key(value, **range)
      entry_with(value, range)&.first
    end

    # @param value [Object]
    # @param range (see #each)
    # @return [Boolean] whether a key has this value; all entries are looked at
    def value?(value, **range)
      !entry_with(value, range).nil?
    end
    alias has_value? value?

    # @param key [String]
    # @return [Array(String, String), nil] the key and its value
    def assoc(key)
      value = self[key]
      [string_like(String.try_convert(key)), value] unless value.nil?
    end

    # @param value [String]
    # @param range (see #each)
    # @return [Array(String, String), nil] the first entry with this value; all entries are looked at
    def rassoc(value, **range)
      entry_with(value, range)
    end

    # @param key [String]
    # @param names [Array<Object>] what to ask of the value, which a String has nothing for
    # @return [String, nil]
    def dig(key, *names, **nil)
      names.empty? ? self[key] : { key => self[key] }.dig(key, *names)
    end

    # @return [nil] what there is for a key that there is not
    def default(_key = nil, **nil)
      nil
    end

    # @return [Proc] a lambda that gives the value of a key
    def to_proc
      method(:[]).to_proc
    end

    # @param range (see #each)
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @return [Table, Enumerator] a table in memory with the entries for which the block is true
    def select(**range)
      return enumerator(:select, range) unless block_given?

      table_of { |chosen| each(**range) { |key, value| chosen[key] = value if yield(key, value) } }
    end
    alias filter select

    # @param range (see #each)
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @return [Table, Enumerator] a table in memory with the entries for which the block is false
    def reject(**range)
      return enumerator(:reject, range) unless block_given?

      table_of { |chosen| each(**range) { |key, value| chosen[key] = value unless yield(key, value) } }
    end

    # @param keys [Array<String>]
    # @return [Table] a table in memory with the entries of these keys
    def slice(*keys, **nil)
      table_of { |chosen| keys.zip(values_at(*keys)) { |key, value| chosen[key] = value unless value.nil? } }
    end

    # @param keys [Array<String>]
    # @return [Table] a table in memory with all entries but those of these keys
    def except(*keys, **nil)
      table_of { |chosen| keys.each { |key| chosen.delete(key) } if chosen.update(self) }
    end

    # @param range (see #each)
    # @return [Table] a table in memory with a key for each value, and for a value its last key
    def invert(**range)
      kind.new(encoding: encoding).tap { |inverted| each(**range) { |key, value| inverted[value] = key } }
    end

    # @param others [Array<Hash, Entries>]
    # @yieldparam key [String] a key that is in both
    # @yieldparam old [String]
    # @yieldparam new [String]
    # @yieldreturn [String] the value to have
    # @return [Table] a table in memory with these entries and those of the others
    def merge(*others, &block)
      table_of { |merged| merged.update(self).update(*others, &block) }
    end

    # @param range (see #each)
    # @yieldparam value [String]
    # @return [Hash, Enumerator] the keys, with what the block makes of their values
    def transform_values(**range)
      return enumerator(:transform_values, range) unless block_given?

      to_h(**range).transform_values! { |value| yield value }
    end

    # @param names [Hash] other keys for some
    # @yieldparam key [String]
    # @return [Hash, Enumerator] what the block makes of the keys, with their values
    def transform_keys(*names, &block)
      return to_enum(__method__) { size } if names.empty? && !block

      to_h.transform_keys(*names_of_keys(names), &block)
    end

    # @param depth [Integer] how many levels of Arrays to open: 0 leaves entries, 1 gives keys and values
    # @param range (see #each)
    # @return [Array] keys and values, one after another
    def flatten(depth = 1, **range)
      to_h(**range).flatten(depth)
    end

    # The entries whose keys have these names, so that a pattern can ask for them: +in {name:, city:}+.
    #
    # @param names [Array<Symbol>, nil] nil for all entries
    # @return [Hash{Symbol => String}]
    def deconstruct_keys(names)
      return to_h.transform_keys(&:to_sym) unless names

      names.zip(values_at(*names.map(&:to_s))).to_h.compact
    end

    # @param other [Object]
    # @return [Boolean] whether it is a table, a snapshot or a Hash with the same entries, in any order
    def ==(other)
      return true if equal?(other)

      case other
      when Entries then same_entries?(other)
      when Hash then at_one_moment { |mine| mine.size == other.size && mine.send(:holds?, other) }
      else false
      end
    end

    # @param other [Object]
    # @return [Boolean] whether it is a table or a snapshot with the same entries, in any order
    def eql?(other)
      other.is_a?(Entries) && self == other
    end

    # All entries are read for it. Where tables are keys of a Hash and change, the Hash is to be rehashed; one that
    # compares by identity has no need of this number.
    #
    # @return [Integer] the same for all that are {#eql?}
    def hash
      entries_hash
    end

    # @param other [Hash, Entries]
    # @return [Boolean] whether the other has all these entries
    def <=(other)
      other = entries_of(other)
      return other >= self if other.is_a?(Entries)

      pairs = to_a
      pairs.size <= other.size && pairs.all? { |key, value| other.fetch(key, nil) == value }
    end

    # @param other [Hash, Entries]
    # @return [Boolean] whether the other has all these entries, and more
    def <(other)
      both_at_one_moment(entries_of(other)) { |mine, others| mine.size < others.size && mine <= others }
    end

    # @param other [Hash, Entries]
    # @return [Boolean] whether all entries of the other are among these
    def >=(other)
      both_at_one_moment(entries_of(other)) { |mine, others| others.size <= mine.size && mine.send(:holds?, others) }
    end

    # @param other [Hash, Entries]
    # @return [Boolean] whether all entries of the other are among these, and there are more
    def >(other)
      both_at_one_moment(entries_of(other)) { |mine, others| mine.size > others.size && mine >= others }
    end

    # Supports the json library, which adds this method to Hash.
    #
    # @param arguments [Array<Object>] the library's
    # @return [String] the entries as a JSON object
    def to_json(*arguments)
      to_h.to_json(*arguments)
    end

    # Supports ActiveSupport, which adds this method to Hash; that of Enumerable would make an Array of pairs.
    #
    # @param options [Hash, nil] the library's, such as only and except
    # @return [Hash{String => Object}] the entries
    def as_json(options = nil)
      entries = to_h
      entries.respond_to?(:as_json) ? entries.as_json(options) : entries
    end

    # Supports the yaml library: the entries become a mapping, as those of a Hash do.
    #
    # @param coder [Psych::Coder]
    # @return [void]
    def encode_with(coder)
      coder.tag, coder.implicit, coder.map = nil, true, to_h
    end

    # Shows the entries as a Hash does, of many or long ones the beginning; of a table in a file also its class and
    # path. It reads the table only where no other thread has it for itself.
    #
    # @return [String]
    def inspect
      super
    end
    alias to_s inspect

    private

    def instead_of_dump
      "its entries (to_h)"
    end

    # Shows the block a scan of the entries in a range, and ends it however the block ends.
    def walk(range, &block)
      scan(range.empty? ? nil : range, &block)
    end

    def enumerator(name, range)
      # A range that is refused is refused now, not with the first entry.
      walk(range) { nil } unless range.empty?
      to_enum(name, **range) { size if range.empty? }
    end

    # The first entry of a range with a value.
    def entry_with(value, range)
      return each(**range).find { |entry| entry.last == value } if dumps_values?

      value = String.try_convert(value) || value
      walk(range) { |entries| entries.find_value(value) }
    end

    # The names that transform_keys is given, if any. Keywords that select entries are none.
    def names_of_keys(given)
      given.map do |names|
        names = Hash.try_convert(names) || raise(TypeError, "no implicit conversion of #{class_name(names)} into Hash")
        symbol = names.keys.find { |name| name.is_a?(Symbol) }
        raise ArgumentError, "expected Strings as the names of keys, found #{Bytewright.send(:shown, symbol)}" if symbol

        names
      end
    end

    # A new table in memory, of this kind, after the block has filled it.
    def table_of
      table = kind.new(encoding: encoding)
      table.send(:use_values, *values_used)
      yield table
      table
    end

    # Returns true if all of the others' entries are here.
    def holds?(others)
      stores_strings = stores_strings?
      others.each { |key, value| return false unless key.is_a?(String) && !value.nil? && (!stores_strings || value.is_a?(String)) && self[key] == value }
      true
    end

    def stores_strings?
      values_used.first == "string"
    end

    # Returns true if an object makes the Strings of the values.
    def dumps_values?
      !values_used.last.nil?
    end

    # Returns true if the bytes of both mean the same.
    def same_values?(other)
      values_used == other.send(:values_used)
    end

    def same_entries?(other)
      both_at_one_moment(other) { |mine, others| mine.size == others.size && mine.send(:holds?, others) }
    end

    # Shows the block these entries as they are at one moment, for what reads more than one of them: another process may
    # write the file.
    def at_one_moment
      yield self
    end

    # Shows the block these and others, which may be a Hash, as they are at one moment.
    def both_at_one_moment(other)
      at_one_moment do |mine|
        other.is_a?(Entries) ? other.send(:at_one_moment) { |others| yield mine, others } : yield(mine, other)
      end
    end

    # Returns what fetch_values gives for a missing key.
    def instead_of_value(key)
      return yield key if block_given?

      raise KeyError.new("key not found: #{Bytewright.send(:shown, key)}", receiver: self, key: key)
    end

    # Returns what can be compared: a Hash, or entries.
    def entries_of(other)
      return other if other.is_a?(Entries)

      Hash.try_convert(other) || raise(TypeError, "no implicit conversion of #{class_name(other)} into Hash")
    end

    # The object as a String.
    def string(object)
      String.try_convert(object) || raise(TypeError, "no implicit conversion of #{class_name(object)} into String")
    end

    def class_name(object)
      case object
      when nil, true, false then object.inspect
      else object.class.to_s
      end
    end

    # A copy of a String, in the encoding of those that come from here.
    def string_like(string)
      string.dup.force_encoding(encoding)
    end

    def content
      text = walk({}) { |entries| entries.first(INSPECTED_ENTRIES) }
             .to_h { |entry| entry.map { |part| shortened(part) } }.inspect
      hidden = size - INSPECTED_ENTRIES
      hidden.positive? ? "#{text.chop}, ... #{hidden} more}" : text
    end
  end
end
