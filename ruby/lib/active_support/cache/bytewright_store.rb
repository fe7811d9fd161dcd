# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "active_support/core_ext/object/blank"
require "bytewright/cache"

module ActiveSupport
  module Cache
    # Entries in one file, of which the least used make room for others:
    #
    #   config.cache_store = :bytewright, "tmp/cache.bwc", { size_limit: 500.megabytes }
    #
    # All processes of a machine share the file. It is a store like FileStore: entries are what ActiveSupport's coder makes of them, and
    # ActiveSupport unmarshals them. Strings and Integers that are written with +raw: true+ are kept as they are; +read+ gives them
    # back with and without it, and they are never unmarshalled.
    #
    # A use that the cache refuses (LockError, LimitError, CorruptError), or the system, is logged; it is a miss where it is read, and
    # false where it is written.
    class BytewrightStore < Store
      prepend Strategy::LocalCache

      # Options of the cache itself; all others are ActiveSupport's.
      OF_CACHE = (::Bytewright::Options::CACHE.keys + [:on_damage]).freeze
      private_constant :OF_CACHE

      # Errors of a use of the cache that are a miss.
      FAILURES = [::Bytewright::LockError, ::Bytewright::LimitError, ::Bytewright::CorruptError, SystemCallError].freeze
      private_constant :FAILURES

      # Seconds for which an entry is kept longer, if +race_condition_ttl+ may ask for it after it has expired.
      GRACE = 300
      private_constant :GRACE

      # Options that name objects of the program's, which may keep a payload.
      OF_CODER = %i[coder serializer compressor].freeze
      private_constant :OF_CODER

      # True where ActiveSupport's own serialize_entry takes options, from 7.0 on.
      TAKES_OPTIONS = Store.instance_method(:serialize_entry).arity != 1
      private_constant :TAKES_OPTIONS

      # @return [true]
      def self.supports_cache_versioning?
        true
      end

      # The cache, for what only Bytewright has, such as +stats+ and +volume+.
      #
      # @return [Bytewright::Cache]
      attr_reader :cache

      # @param path [String, #to_path, nil] the file, or nil for a cache in memory
      # @param options [Hash] those of {Bytewright::Cache#initialize}, of which +on_damage+ is +:clear+ by default, and those of
      #   ActiveSupport::Cache::Store
      def initialize(path = nil, **options)
        super(options.reject { |name, _| OF_CACHE.include?(name) })
        @keeps_payloads = OF_CODER.any? { |name| options.key?(name) }
        @cache = ::Bytewright::Cache.new(path, on_damage: :clear, **options.slice(*OF_CACHE))
      end

      # @param _options [Hash] ignored, as FileStore does
      # @return [void]
      def clear(_options = nil)
        @cache.clear
      end

      # Deletes the entries that have expired; they are not given anyway, and make room when there are too many.
      #
      # @param _options [Hash] ignored
      # @return [Integer] how many there were
      def cleanup(_options = nil)
        instrument(:cleanup, nil, size: @cache.size) { @cache.expire }
      end

      # Adds to an Integer, in one turn of all processes.
      #
      # @param name [Object]
      # @param amount [Integer]
      # @param options [Hash, nil] as some versions of ActiveSupport hand them on
      # @param keywords [Hash]
      # @return [Integer, nil] the sum, or +amount+ where there was none
      def increment(name, amount = 1, options = nil, **keywords)
        change_number(:increment, name, amount, { **(options || {}), **keywords }, &:itself)
      end

      # Subtracts from an Integer, as {#increment} adds.
      #
      # @param (see #increment)
      # @return (see #increment)
      def decrement(name, amount = 1, options = nil, **keywords)
        change_number(:decrement, name, amount, { **(options || {}), **keywords }, &:-@)
      end

      # Deletes the entries with keys that match.
      #
      # @param matcher [Regexp, String] a String is a glob, as of Redis: <tt>views/*</tt>
      # @param options [Hash, nil]
      # @return [void]
      def delete_matched(matcher, options = nil)
        options = merged_options(options)
        instrument(:delete_matched, matcher.inspect) do
          pattern = matcher.is_a?(Regexp) ? key_matcher(matcher, options) : namespace_key(matcher, options)
          @cache.each_key { |key| delete_entry(key, **options) if matches?(pattern, key) }
        end
      end

      # @return [String] without the entries
      def inspect
        "#<#{self.class.name} cache=#{@cache.inspect}, options=#{@options.inspect}>"
      end

      private

      def read_entry(key, **options)
        payload = read_serialized_entry(key, **options)
        entry = deserialize_entry(payload)
        # Its memory is that of the next one, which otherwise waits for the system to give new pages.
        payload.clear if payload.instance_of?(String) && !@keeps_payloads && !local_cache
        entry
      end

      def read_serialized_entry(key, **)
        @cache[stored_key(key)]
      rescue *FAILURES => error
        failed(:read, error)
      end

      def write_entry(key, entry, **options)
        write_serialized_entry(key, serialize_entry(entry, **options), **options, kept: seconds_kept(entry, options))
      end

      # ActiveSupport looks at the expiry of an entry when it is read; +kept+ lets the cache delete it.
      def write_serialized_entry(key, payload, kept: nil, unless_exist: false, **)
        key = stored_key(key)
        guarded(:write, false) do
          next @cache.set(key, payload, expires_in: kept) && true unless unless_exist

          @cache.transaction do
            is_free = live(deserialize_entry(@cache.get(key))).nil?
            @cache.set(key, payload, expires_in: kept) if is_free
            is_free
          end
        end
      end

      def delete_entry(key, **)
        guarded(:delete, false) { @cache.delete(stored_key(key)) }
      end

      # Makes what the cache has for an entry. A coder makes a binary String, so a raw one is in an Array.
      def serialize_entry(entry, raw: false, **options)
        value = entry.value if raw
        case value
        when Integer then value
        when String then raw_string(value)
        else TAKES_OPTIONS ? super(entry, **options) : super(entry)
        end
      end

      # Only what a coder wrote is given to a coder.
      def deserialize_entry(payload, **)
        case payload
        when String
          return raw_entry(payload.dup) unless payload.encoding == Encoding::BINARY

          entry = super(payload)
          entry if entry.is_a?(Entry)
        when Array then raw_entry(payload.first.dup)
        when Integer then raw_entry(payload)
        end
      end

      def raw_string(value)
        value = String.new(value) unless value.instance_of?(String)
        is_text = [Encoding::UTF_8, Encoding::US_ASCII].include?(value.encoding) && value.valid_encoding?
        is_text ? value : [value.b]
      end

      def raw_entry(value)
        Entry.new(value, compress: false)
      end

      # The entry, if it counts.
      def live(entry, version = nil)
        entry unless entry.nil? || entry.expired? || entry.mismatched?(version)
      end

      # Seconds after which the cache may delete an entry; nil for never.
      def seconds_kept(entry, options)
        expires_in = options[:expires_in]&.to_f
        return expires_in unless entry.expires_at

        grace = options[:race_condition_ttl] ? [options[:race_condition_ttl].to_i, GRACE].max : 0
        [entry.expires_at - Time.now.to_f, expires_in].compact.max + grace
      end

      # A key as the cache keeps it: text, or bytes where it is none.
      def stored_key(key)
        key = String.new(key) unless key.instance_of?(String)
        key.encoding == Encoding::UTF_8 && !key.valid_encoding? ? key.b : key
      end

      def matches?(pattern, key)
        return false unless key.is_a?(String)

        pattern.is_a?(Regexp) ? pattern.match?(key) : File.fnmatch?(pattern, key, File::FNM_DOTMATCH)
      end

      def change_number(operation, name, amount, options)
        options, by = merged_options(options), yield(Integer(amount))
        key, version = normalize_key(name, options), normalize_version(name, options)
        instrument(operation, key, amount: amount) do
          guarded(operation, nil) { @cache.transaction { change_value(key, by, version, options) } }
        end
      end

      # Adds to an Integer that is kept as one, which keeps its expiry; nil where there is none, or none any more.
      def kept_sum(key, amount)
        @cache.increment(key, amount, default: nil) if @cache.get(key).is_a?(Integer)
      rescue KeyError
        nil
      end

      def change_value(key, amount, version, options)
        sum = kept_sum(stored_key(key), amount)
        return sum if sum

        entry = live(read_entry(key, **options), version)
        changed = Entry.new(entry ? entry.value.to_i + amount : amount, **options, version: entry ? entry.version : version)
        changed.expires_at = entry.expires_at if entry
        write_entry(key, changed, **options)
        changed.value
      end

      def guarded(operation, instead)
        yield
      rescue *FAILURES => error
        failed(operation, error)
        instead
      end

      def failed(operation, error)
        logger&.error("BytewrightStoreError (#{operation}): #{error.message}")
        ActiveSupport.error_reporter&.report(error, handled: true, severity: :warning) if ActiveSupport.respond_to?(:error_reporter)
        nil
      end
    end
  end
end
