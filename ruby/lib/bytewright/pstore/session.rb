# frozen_string_literal: true

module Bytewright
  class PStore
    # Session of a store's transactions with its file: {open} begins one and gives its table, {save} writes that,
    # {close} ends it, whatever happened.
    # @api private
    class Session
      # The session for a store, by whether its class overrides steps of a transaction, and by its format: that
      # of the file where the store was told none.
      def self.of(store, filename, options)
        # A derived class may have a method of that name, too.
        method = Kernel.instance_method(:method)
        own = Hooks::STEPS.each_key.all? { |name| method.bind_call(store, name).owner.equal?(Hooks) }
        options = { format: nil, **options || {} }
        format = options.delete(:format)
        format ||= format_of(filename) if own && filename
        by_root = format == :roots
        raise Error, "format: :roots cannot be used with the steps that #{store.class} overrides" if by_root && !own

        return DirectSession.new(**options) if own && !by_root

        Hooks.loaded(:load) unless own
        return HookedSession.new(**options) unless by_root

        PStore.send(:load_part, "roots") { PStore.const_defined?(:RootSession, false) }
        RootSession.new(**options)
      end

      def self.format_of(filename)
        PStoreFile.format_of(File.path(filename))
      rescue SystemCallError, FormatError
        # The transaction opens the file, and says in the original's words what the system refuses.
        :marshal
      end
      private_class_method :format_of

      # Loads all roots for the sake of speed: nil where that fails, because it is for the root that fails to say so. What
      # another thread raises in this one meanwhile, as Timeout does, is no such failure, and comes when all is loaded. Ruby
      # seldom lets it come earlier in any case: only where loading runs Ruby code, such as +hash+ of a key.
      def self.all_at_once
        Thread.handle_interrupt(StandardError => :never) do
          yield
        rescue StandardError
          nil
        end
      end

      # @return [#load] what loads streams
      attr_reader :marshal

      def initialize(verify: false, permitted_classes: nil)
        @verify = verify
        @marshal = permitted_classes ? checked(permitted_classes) : Marshal
      end

      # Lets go of what is open between transactions.
      def close_file; end

      private

      def checked(permitted_classes)
        PStore.send(:load_part, "checked_marshal") { PStore.const_defined?(:CheckedMarshal, false) }
        CheckedMarshal.new(permitted_classes)
      end
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
        # Numbers of such transactions to come that read, and that write.
        @eager = { true => 0, false => 0 }
      end

      def open(_store, filename, read_only)
        @table = nil
        @read_only = read_only ? true : false
        path = File.path(filename)
        table = load_eagerly(path) if @eager[@read_only] > 0
        return table if table

        root_count = begin_transaction(path, false)
        return {} if @is_empty
        return @table = table_class.new(@file, @marshal, root_count) if root_count

        load_whole
      end

      def save(_store, table, ultra_safe)
        return @table.save(ultra_safe ? true : false) if @table

        data = Marshal.dump(table)
        @file.replace(data, ultra_safe ? true : false) unless @is_empty && data == EMPTY_MARSHAL_DATA
      end

      def close
        @eager[@read_only] = EAGER_COUNT if @table&.used_mostly?
      ensure
        @file.end
      end

      private

      # Loads the class that gives roots one by one. It takes a fifth of what loading a store does, so it waits for a
      # store that has roots.
      def table_class
        @table_class ||= begin
          PStore.send(:load_part, "hash_like") { PStore.const_defined?(:HashLike, false) }
          # It may be there and still lack methods, while another Ractor loads it.
          PStore.send(:load_part, "table") { PStore.const_defined?(:Table, false) && Table.const_defined?(:IS_LOADED) }
          Table
        end
      end

      # Begins with all roots; nil where they cannot be loaded, and no transaction has begun then.
      def load_eagerly(path)
        begin_transaction(path, true)
        return {} if @is_empty

        @eager[@read_only] -= 1
        table = Session.all_at_once { load_whole }
        return table if table

        @file.end
        @eager[@read_only] = 0
        nil
      end

      # Returns the number of roots; false if they cannot be taken one by one, nil if there is nothing.
      def begin_transaction(path, is_eager)
        root_count = @file.begin(path, !@read_only, is_eager)
        @is_empty = root_count.nil?
        root_count
      rescue SystemCallError
        # If opening or reading it is what fails, Ruby has words of its own for that.
        Bytewright.send(:with_harmless_names) { File.open(path, **(@read_only ? RD_ACCESS : RDWR_ACCESS), &:getbyte) }
        raise
      end

      def load_whole
        bytes = @file.bytes
        table = @read_only ? load_to_read(bytes) : @marshal.load(bytes)
        return table if table.is_a?(Hash)

        raise Error, "PStore file seems to be corrupted."
      rescue EOFError
        raise unless @read_only

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

    private_constant :Session, :DirectSession
  end
end
