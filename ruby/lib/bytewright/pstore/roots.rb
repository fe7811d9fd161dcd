# frozen_string_literal: true

module Bytewright
  class PStore
    load_part("hash_like") { const_defined?(:HashLike, false) }

    # Keeps each root by itself in a table's file, which the process has open from its first transaction
    # on. A transaction reads what it touches, and writes all of its changes when it ends, as one commit.
    # @api private
    class RootSession < Session
      def initialize(**options)
        super
        @path = @process = @opened = @entries = @reads_only = @moment = nil
      end

      def open(_store, filename, read_only)
        path = File.expand_path(filename)
        # A file that an interrupt kept from being closed is without entries.
        close_file unless @entries && path == @path && @process == Process.pid && (read_only || !@reads_only)
        @moment = nil
        return {} unless @entries || open_file(path, read_only)

        # Another process may write while this one only reads: a transaction sees the roots of one commit.
        @moment = @entries.snapshot if @reads_only
        RootTable.new(@moment || @entries, @marshal)
      end

      def save(_store, table, ultra_safe)
        return unless RootTable === table

        table.save
        @entries.sync if ultra_safe
      end

      # The transaction is over; the file stays open.
      def close
        @moment&.close
        @moment = nil
      end

      # Leaves the file to other processes.
      def close_file
        @entries = nil
        # A file that the parent has open is not a child's to close.
        @opened.close if @opened && @process == Process.pid
        @opened = nil
      end

      private

      # An interrupt may come between any two steps, so the table is noted before its file is opened, and is one to be
      # used when that is done.
      def open_file(path, read_only)
        return if read_only && !File.exist?(path)

        table = path.end_with?(".bwt") ? TreeTable : HashTable
        @path, @process, @reads_only = path, Process.pid, read_only
        options = { create: true, read_only: read_only, exclusive: !read_only, sync: :interval, timeout: 0, verify: false, values: :string }
        @entries = table.send(:open_noted, path, encoding: Encoding::BINARY, **options) { |opened| @opened = opened }
      ensure
        close_file unless @entries
      end
    end

    # The roots of a file that has each by itself, in one transaction, used like the Hash that they are.
    # @api private
    class RootTable
      include HashLike

      GONE = Object.new.freeze
      private_constant :GONE

      # @param entries [Table] dumped values by dumped keys
      # @param marshal [#load]
      def initialize(entries, marshal)
        @entries = entries
        @marshal = marshal
        # By the dumped key: what was touched, and what it was dumped as.
        @values = {}
        @dumped = {}
      end

      def [](key)
        dumped = dump_key(key)
        value = @values.fetch(dumped) { load(dumped) }
        GONE.equal?(value) ? nil : value
      end

      def key?(key)
        dumped = dump_key(key)
        @values.key?(dumped) ? !GONE.equal?(@values[dumped]) : @entries.key?(dumped)
      end

      def []=(key, value)
        @values[dump_key(key)] = value
      end

      def delete(key)
        value = self[key]
        @values[dump_key(key)] = GONE
        value
      end

      def keys
        added = @values.keys.reject { |dumped| @entries.key?(dumped) }
        dumped = (@entries.keys + added).reject { |key| GONE.equal?(@values[key]) }
        dumped.map { |key| @marshal.load(key) }
      end

      # Writes what was changed, or may have been, as one commit.
      def save
        changes = @values.filter_map do |dumped, value|
          bytes = Marshal.dump(value) unless GONE.equal?(value)
          [dumped, bytes] unless bytes == @dumped.fetch(dumped) { @entries[dumped] }
        end
        return if changes.empty?

        @entries.transaction do
          changes.each { |dumped, bytes| bytes ? @entries[dumped] = bytes : @entries.delete(dumped) }
        end
      end

      # @return [Hash]
      def whole
        keys.to_h { |key| [key, self[key]] }
      end

      private

      def load(dumped)
        bytes = @entries[dumped]
        return unless bytes

        @dumped[dumped] = bytes
        @values[dumped] = @marshal.load(bytes)
      end

      # Strings that are equal have the same bytes, whatever their encodings.
      def dump_key(key)
        if key.instance_of?(String) && key.encoding != Encoding::UTF_8 && key.ascii_only?
          key = key.dup.force_encoding(Encoding::UTF_8)
        end
        Marshal.dump(key)
      end
    end
    private_constant :RootSession, :RootTable
  end
end
