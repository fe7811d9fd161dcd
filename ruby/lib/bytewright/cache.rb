# frozen_string_literal: true

require "set"
require_relative "extension"
require_relative "table"
Bytewright.send(:define_caches)

module Bytewright
  # Results that are kept in memory or in one file, and are gone after a while, or when there are too many.
  #
  #   cache = Bytewright::Cache.new("results.bwc", size_limit: 200_000_000)
  #   cache.set("answer", { "n" => 42 }, expires_in: 3600, tag: "books")
  #   cache.get("answer")                                      # => { "n" => 42 }
  #   cache.fetch("area", expires_in: 60) { width * height }   # counted once a minute
  #   cache.evict("books")
  #
  # Keys and values are String, Symbol, Integer, Float, true, false and nil, and Array, Hash and Set of these. A String is in UTF-8, or
  # binary, which is another key. Nothing is marshalled unless the program says so with +marshal_key+. What has expired is never given.
  #
  # Threads and processes share a cache: they write by turns, and read without waiting. What is used stays longest. Methods that
  # walk the entries, all of Enumerable among them, walk those that there were when they began.
  class Cache
    include Enumerable
    include Shown
    include Undumpable

    # Stands for a key that has no value.
    MISSING = Object.new.freeze
    private_constant :MISSING

    # Opens a cache, and closes it when the block ends.
    #
    # @param (see #initialize)
    # @yieldparam cache [Cache]
    # @return [Cache, Object] the cache, or what the block returns
    # @raise (see #initialize)
    def self.open(path = nil, **options)
      return new(path, **options) unless block_given?

      cache = allocate
      begin
        cache.send(:initialize, path, **options)
        yield cache
      ensure
        cache.close
      end
    end

    # @return [String, nil] the file, or nil for a cache in memory
    attr_reader :path

    # @param path [String, #to_path, nil] a file (+.bwc+), which is made where it is missing, or nil for a cache in memory
    # @param marshal_key [String, nil] 16 bytes or more that only the program knows: all other objects are kept, too, marshalled and with a
    #   check by this key; what has another check is refused before it is read
    # @param on_damage [Symbol] +:raise+ a CorruptError for a file that is damaged, or +:clear+ it with a warning, also when that is met
    #   while it is open: all processes go on with one empty file. In a transaction it is an error
    # @param options those of {Options::CACHE}: size_limit, count_limit, sync, timeout and others
    # @raise [Errno::ENOENT] and its like where the file cannot be opened
    # @raise [FormatError, CorruptError] where the file is something else, or damaged
    # @raise [LockError] where another process writes for longer than +timeout+
    def initialize(path = nil, marshal_key: nil, on_damage: :raise, **options)
      unless %i[raise clear].include?(on_damage)
        raise ArgumentError, "expected on_damage to be :raise or :clear, found #{Bytewright.send(:shown, on_damage)}"
      end

      super()
      sealed = sealed_by(marshal_key) unless marshal_key.nil?
      path = path.to_path if path.respond_to?(:to_path)
      @path = path.dup.freeze
      open_in_folder(sealed, on_damage == :clear, options)
    end

    # @param key [Object]
    # @param default [Object]
    # @return [Object] the value of the key, or +default+
    # @raise [TypeError] for a key that a cache does not keep
    def get(key, default = nil)
      find_value(key, default)
    end

    # Sets the value of a key.
    #
    # @param key [Object]
    # @param value [Object]
    # @param expires_in [Numeric, nil] seconds after which it is gone
    # @param tag [Object, nil] which {#evict} deletes it with all others of
    # @return [Object] the value
    # @raise [TypeError] for a key or value that a cache does not keep
    # @raise [LimitError] for a value that takes a quarter of the limit
    def set(key, value, expires_in: nil, tag: nil)
      put_entry(key, value, expires_in, tag, false)
      value
    end
    alias store []=

    # The value of a key; where there is none, the result of the block is set, and returned. Callers that miss at the same time each
    # call their block.
    #
    # @param key [Object]
    # @param expires_in (see #set)
    # @param tag (see #set)
    # @yieldparam key [Object]
    # @return [Object]
    # @raise [KeyError] where there is neither a value nor a block
    def fetch(key, expires_in: nil, tag: nil)
      value = find_value(key, MISSING)
      return value unless MISSING.equal?(value)
      raise no_value(key) unless block_given?

      set(key, yield(key), expires_in: expires_in, tag: tag)
    end

    # Sets the value of a key that has none.
    #
    # @param (see #set)
    # @return [Boolean] whether it had none
    def add(key, value, expires_in: nil, tag: nil)
      put_entry(key, value, expires_in, tag, true)
    end

    # Lets the value of a key expire after +expires_in+ seconds from now, or never.
    #
    # @param key [Object]
    # @param expires_in (see #set)
    # @return [Boolean] whether there is one
    def touch(key, expires_in: nil)
      touch_entry(key, expires_in)
    end

    # Adds to the Integer of a key, in one turn of all processes. It keeps its expiry and tag.
    #
    # @param key [Object]
    # @param by [Integer]
    # @param default [Integer, nil] what it begins with
    # @return [Integer] the sum
    # @raise [KeyError] where there is no value and +default+ is nil
    # @raise [ArgumentError] for a value that is no Integer of 64 bits, and a sum beyond them
    def increment(key, by = 1, default: 0)
      add_to(key, by, default) || raise(no_value(key))
    end

    # Subtracts from the Integer of a key, as {#increment} adds.
    #
    # @param (see #increment)
    # @return (see #increment)
    # @raise (see #increment)
    def decrement(key, by = 1, default: 0)
      increment(key, -by, default: default)
    end

    # Deletes the entry of a key.
    #
    # @param key [Object]
    # @param default [Object]
    # @return [Object] the value that it had, or +default+
    def take(key, default = nil)
      take_entry(key, default)
    end

    alias include? key?
    alias member? key?
    alias has_key? key?
    alias length size

    # @return [Boolean] whether there is no entry, not even one that has expired
    def empty?
      size.zero?
    end

    # Yields every entry that has not expired, in the order in which they were set last.
    #
    # @yieldparam key [Object]
    # @yieldparam value [Object]
    # @return [self, Enumerator]
    def each
      return to_enum(:each) unless block_given?

      walk do |key, value|
        entry = entry_of(key, value)
        yield entry if entry
      end
    end
    alias each_pair each

    # Yields the key of every entry that has not expired.
    #
    # @yieldparam key [Object]
    # @return [self, Enumerator]
    def each_key
      return to_enum(:each_key) unless block_given?

      walk do |key, value|
        found = key_of(key, value)
        yield found.first if found
      end
    end

    # @return [Array<Object>] the keys of all entries that have not expired
    def keys
      each_key.to_a
    end

    # Returns how many look-ups of this object found an entry, and how many did not.
    #
    # @param reset [Boolean] whether to begin with 0 again
    # @return [Hash{Symbol => Integer}] +hits+ and +misses+
    def stats(reset: false)
      hits, misses = counts(reset ? true : false)
      { hits: hits, misses: misses }
    end

    # Makes the changes in the block one, as {Table#transaction} does. Nothing is evicted meanwhile.
    #
    # @yieldparam cache [Cache] itself
    # @return [Object] what the block returns
    def transaction
      opened_table.transaction { yield self }
    end

    # Returns when everything set so far will survive a power cut.
    #
    # @return [self]
    def sync
      opened_table.sync
      self
    end

    # Closes it.
    #
    # @return [nil]
    def close
      table&.close
      nil
    end

    # @return [Boolean] whether it was closed
    def closed?
      table.nil? || table.closed?
    end

    # @return [String] its class, its file and the number of its entries
    def inspect
      super
    end
    alias to_s inspect

    private

    def opened_table
      table || raise(ClosedError, "expected a cache that was opened")
    end

    def sealed_by(key)
      require_relative "cache/sealed_marshal"
      SealedMarshal.new(key)
    end

    # Opens the file, whose folder is made where it is missing.
    def open_in_folder(sealed, clears, options)
      open_table(path, sealed, clears, options)
    rescue Errno::ENOENT
      raise if options[:create] == false

      # Another process may have made it meanwhile.
      require "fileutils"
      Bytewright.send(:with_harmless_names) { FileUtils.mkdir_p(File.dirname(path)) }
      open_table(path, sealed, clears, options)
    end

    # Yields the bytes of every entry, those before damage where that is cleared.
    def walk(&block)
      opened_table.send(:scan, nil) { |scan| scan.each_two(&block) }
      self
    rescue CorruptError => error
      # Of this cache, and not of one that the block uses.
      raise unless error.file == path

      clear_damage(error.message)
      self
    end

    def no_value(key)
      KeyError.new("key not found: #{Bytewright.send(:shown, key)}", receiver: self, key: key)
    end

    def initialize_copy(_other)
      raise TypeError, "expected a cache that is used by itself, found a copy; open its file once more"
    end

    # Shown without the entries: keys and values may be secret.
    def content
      path ? "of #{size} entries" : "#<#{self.class} of #{size} entries>"
    end

    def in_use?
      opened_table.send(:in_use?)
    end

    def shown_path
      path
    end
  end
end
