# frozen_string_literal: true

module Bytewright
  class PStore
    # How a store's transactions reach its file: {open} begins one and gives its table, {save} writes that,
    # {close} ends it, whatever happened.
    # @api private
    class Session
      HOOK_NAMES = Hooks.private_instance_methods(false).freeze

      # The session for a store, by whether its class overrides steps of a transaction.
      def self.of(store, options)
        # A derived class may have a method of that name, too.
        method = Kernel.instance_method(:method)
        own = HOOK_NAMES.all? { |name| method.bind_call(store, name).owner.equal?(Hooks) }
        options = { format: :marshal, **options || {} }
        by_root = options.delete(:format) == :roots
        raise Error, "format: :roots goes without the steps that #{store.class} overrides" if by_root && !own

        (by_root ? RootSession : own ? DirectSession : HookedSession).new(**options)
      end

      # @return [#load] what loads streams
      attr_reader :marshal

      def initialize(verify: false, permitted_classes: nil)
        @verify = verify
        @marshal = permitted_classes ? CheckedMarshal.new(permitted_classes) : Marshal
      end

      # Lets go of what is open between transactions.
      def close_file; end
    end

    # Reads and writes what a transaction touches.
    # @api private
    class DirectSession < Session
      # After a transaction that used most roots, so many are begun by loading all of them, which takes less
      # for each. Then one is left to show whether that is still so.
      EAGER_COUNT = 16

      def initialize(**options)
        super
        @file = PStoreFile.new(@verify)
        @is_empty = false
        # How many are to come that read, and that write.
        @eager = { true => 0, false => 0 }
      end

      def open(_store, filename, read_only)
        @table = nil
        @read_only = read_only ? true : false
        is_eager = @eager[@read_only] > 0
        root_count = begin_transaction(File.path(filename), read_only, is_eager)
        @is_empty = root_count.nil?
        return {} if @is_empty
        return @table = Table.new(@file, @marshal, root_count) if root_count && !is_eager

        @eager[@read_only] -= 1 if is_eager
        load_whole(read_only)
      rescue StandardError
        raise unless is_eager

        # It is for the root that fails to say so.
        @file.end
        @eager[@read_only] = 0
        retry
      end

      def save(_store, table, ultra_safe)
        return table.save(ultra_safe ? true : false) if Table === table

        data = Marshal.dump(table)
        @file.replace(data, ultra_safe ? true : false) unless @is_empty && data == EMPTY_MARSHAL_DATA
      end

      def close
        @eager[@read_only] = EAGER_COUNT if @table&.used_mostly?
      ensure
        @file.end
      end

      private

      # How many roots there are; false if they cannot be taken one by one, nil if there is nothing.
      def begin_transaction(path, read_only, is_eager)
        @file.begin(path, !read_only, is_eager)
      rescue SystemCallError
        # Where opening or reading it is what fails, Ruby has words of its own for that.
        File.open(path, **(read_only ? RD_ACCESS : RDWR_ACCESS), &:getbyte)
        raise
      end

      def load_whole(read_only)
        bytes = @file.bytes
        table = read_only ? load_to_read(bytes) : @marshal.load(bytes)
        return table if table.is_a?(Hash)

        raise Error, "PStore file seems to be corrupted."
      rescue EOFError
        raise unless read_only

        {}
      end

      # The original loads from the file then, where some ends are found in another way.
      def load_to_read(bytes)
        @marshal.load(bytes)
      rescue ArgumentError
        require "stringio"
        @marshal.load(StringIO.new(bytes))
      end
    end

    # Goes through the steps that the store's class overrides.
    # @api private
    class HookedSession < Session
      def open(store, filename, read_only)
        @file = store.send(:open_and_lock_file, filename, read_only)
        return {} unless @file

        table, @checksum, @size = store.send(:load_data, @file, read_only)
        table
      end

      def save(store, _table, _ultra_safe)
        store.send(:save_data, @checksum, @size, @file) if @file
      end

      def close
        file, @file = @file, nil
        file&.close
      end
    end

    private_constant :Session, :DirectSession, :HookedSession
  end
end
