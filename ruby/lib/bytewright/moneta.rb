# frozen_string_literal: true

require "bytewright"
require "moneta"

module Moneta
  module Adapters
    # Bytewright's tables as a backend of Moneta.
    #
    #   require "bytewright/moneta"
    #   store = Moneta.new(:Bytewright, file: "store.bwh")
    #
    # Threads, objects and processes may use one file at the same time: each call is a turn to write of its own.
    # @api public
    class Bytewright < Adapter
      supports :create, :increment, :each_key

      # @param options [Hash]
      # @option options [String] :file the file; without one, the table is in memory
      # @option options [Symbol] :type :hash or :tree; without one, what the name ends in, .bwt for a tree
      # @option options [Boolean] :tree the same as type: :tree
      # @option options [Symbol] :sync (:interval) :commit, :interval or :never, as for Table.open
      # @option options [Numeric] :timeout (10) seconds to wait for other processes that write
      # @option options [::Bytewright::Table] :backend a table that is open, instead of a file and its options
      # @option options [Numeric] :expires seconds after which an entry expires where nothing else is said: Moneta.new
      #   keeps it in front of this adapter, and hands it on
      # @raise [ArgumentError] for options that do not go together
      def initialize(options = {})
        ignored = options[:backend] ? options.keys & OF_FILES : []
        raise ArgumentError, "expected backend or options of a file, found backend and #{ignored.join(", ")}" unless ignored.empty?

        super
      end

      # Options that a table which is open has already.
      OF_FILES = %i[file type tree sync timeout].freeze
      private_constant :OF_FILES

      backend do |file: nil, type: nil, tree: false, sync: :interval, timeout: 10, expires: nil|
        type ||= tree || file.to_s.end_with?(".bwt") ? :tree : :hash
        table = { hash: ::Bytewright::HashTable, tree: ::Bytewright::TreeTable }[type.to_sym]
        raise ArgumentError, "expected type to be :hash or :tree, found #{::Bytewright.send(:shown, type)}" unless table
        raise ArgumentError, "expected one type, found tree: true and type: #{::Bytewright.send(:shown, type)}" if tree && type.to_sym != :tree

        next table.new(encoding: Encoding::BINARY) unless file

        table.open(file, sync: sync, timeout: timeout, encoding: Encoding::BINARY)
      end

      # (see Proxy#key?)
      def key?(key, options = {})
        backend.key?(key)
      end

      # (see Proxy#load)
      def load(key, options = {})
        backend[key]
      end

      # (see Proxy#store)
      def store(key, value, options = {})
        backend[key] = value
      end

      # (see Proxy#delete)
      def delete(key, options = {})
        backend.delete(key)
      end

      # (see Proxy#increment)
      def increment(key, amount = 1, options = {})
        backend.increment(key, amount)
      end

      # (see Defaults#create)
      def create(key, value, options = {})
        backend.create(key, value)
      end

      # (see Proxy#clear)
      def clear(options = {})
        backend.clear
        self
      end

      # (see Proxy#each_key)
      def each_key(&block)
        return enum_for(:each_key) { backend.size } unless block

        backend.snapshot { |snapshot| snapshot.each_key(&block) }
        self
      end

      # (see Proxy#values_at)
      def values_at(*keys, **options)
        backend.values_at(*keys)
      end

      # (see Proxy#merge!)
      def merge!(pairs, options = {}, &block)
        backend.update(pairs.to_h { |key, value| [key, value] }, &block)
        self
      end

      # (see Proxy#close)
      def close
        backend.close
        nil
      end
    end

    # Bytewright's caches as a backend of Moneta, with entries that expire by themselves, and are evicted when there are too many.
    #
    #   store = Moneta.new(:BytewrightCache, file: "cache.bwc", expires: 3600, size_limit: 200_000_000)
    #
    # Threads, objects and processes may use one file at the same time.
    # @api public
    class BytewrightCache < Adapter
      include ExpiresSupport

      supports :create, :increment, :each_key

      # @!method initialize(options = {})
      #   @param options [Hash]
      #   @option options [String] :file the file; without one, the cache is in memory
      #   @option options [Numeric] :expires seconds after which an entry expires where nothing else is said
      #   @option options [::Bytewright::Cache] :backend a cache that is open, instead of a file and its options
      #   @option options [Object] all others are those of Bytewright::Cache, such as :size_limit
      backend { |file: nil, expires: nil, **options| ::Bytewright::Cache.new(file, **options) }

      # Texts of Integers that are kept as such, so that they can be added to.
      INTEGER = /\A(?:0|-?[1-9]\d{0,17})\z/
      private_constant :INTEGER

      # (see Proxy#key?)
      def key?(key, options = {})
        expires = expires_value(options, nil)
        expires.nil? ? backend.key?(bytes(key)) : backend.touch(bytes(key), expires_in: expires || nil)
      end

      # (see Proxy#load)
      def load(key, options = {})
        expires = expires_value(options, nil)
        backend.touch(bytes(key), expires_in: expires || nil) unless expires.nil?
        loaded(backend.get(bytes(key)))
      end

      # (see Proxy#store)
      def store(key, value, options = {})
        backend.set(bytes(key), stored(value), expires_in: expires_value(options) || nil)
        value
      end

      # (see Proxy#delete)
      def delete(key, options = {})
        loaded(backend.take(bytes(key)))
      end

      # (see Proxy#increment)
      def increment(key, amount = 1, options = {})
        key, expires = bytes(key), expires_value(options, nil)
        backend.transaction do
          sum = added(key, amount)
          # An entry that has expired by now begins anew, and never without an expiry.
          is_new = sum.nil? || (!expires.nil? && !backend.touch(key, expires_in: expires || nil))
          backend.set(key, sum || amount, expires_in: expires_value(options) || nil) if is_new
          sum || amount
        end
      end

      # (see Defaults#create)
      def create(key, value, options = {})
        backend.add(bytes(key), stored(value), expires_in: expires_value(options) || nil)
      end

      # (see Proxy#clear)
      def clear(options = {})
        backend.clear
        self
      end

      # (see Proxy#each_key)
      def each_key(&block)
        return enum_for(:each_key) { backend.size } unless block

        backend.each_key(&block)
        self
      end

      # (see Proxy#close)
      def close
        backend.close
        nil
      end

      private

      # Keys are bytes, whatever their encoding says.
      def bytes(string)
        text = String.try_convert(string)
        raise TypeError, "expected a String, found #{::Bytewright.send(:shown, string)}; open the store with a serializer" unless text

        text.b
      end

      # Adds to what is there, which keeps its expiry; nil where nothing is.
      def added(key, amount)
        backend.increment(key, amount, default: nil)
      rescue KeyError
        nil
      end

      def stored(value)
        value = bytes(value)
        INTEGER.match?(value) ? Integer(value, 10) : value
      end

      def loaded(value)
        value.is_a?(Integer) ? value.to_s : value
      end
    end
  end
end
