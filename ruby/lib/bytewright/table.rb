# frozen_string_literal: true

require_relative "extension"
require_relative "options"
Bytewright.send(:define_tables)
require_relative "changes"
require_relative "entries"
require_relative "snapshot"
require_relative "values"
require_relative "tree_table"

module Bytewright
  # A table of Strings by Strings, in memory or in one file: what a {HashTable} and a {TreeTable} have in common.
  #
  # It stands where a Hash of Strings stood, and answers as a Hash does, with these differences: nil
  # cannot be stored; a String that it gives is a copy, so that changing it changes nothing in the table;
  # and entries have another order (see {Entries}).
  #
  # Values may be other than Strings, where the keyword +values+ says so for all of a table: +:integer+, Integers of 64
  # bits; +:json+ and +:marshal+, what these make Strings of; or any object with +dump+ and +load+. A file remembers which.
  #
  # Threads may share a table. While a thread is in a {#transaction}, others wait to use it.
  class Table
    include Entries

    # Names of values for which the table needs no object of the program's.
    BUILT_IN = %w[string integer json marshal].freeze
    private_constant :BUILT_IN

    class << self
      # @overload [](entries)
      #   @param entries [Hash, Array<Array(String, String)>]
      # @overload [](*keys_and_values)
      #   @param keys_and_values [Array<String>]
      # @return [Table] a table in memory with these entries
      def [](*entries)
        # Like a Hash's, it does not call initialize of a derived class, which may want other arguments.
        allocate.tap { |table| table.send(:put_all, Hash[*entries]) }
      end

      # Opens the table in a file: {HashTable}.open and {TreeTable}.open one of their kind, Table.open
      # whatever the file holds, and a new one of the kind that its name ends in, .bwh or .bwt.
      #
      # @param path [String, #to_path]
      # @param options those of {Options::TABLE}: create, read_only, exclusive, sync, timeout and verify; docs/tables.md says what each sync
      #   can lose
      # @param encoding [Encoding, String] of the Strings that it gives
      # @param values [Symbol, Hash, #dump] what the values are: +:string+, +:integer+, +:json+, +:marshal+, or an object
      #   with +dump+ and +load+, whose name the file remembers; with another name of 12 bytes at most as
      #   +{ name => object }+. Loading with Marshal runs code of the file: open only files that you trust.
      # @yieldparam table [Table] closed when the block ends
      # @return [Table, Object] the table, or what the block returns
      # @raise [Errno::ENOENT] and its like where the file cannot be opened
      # @raise [LockError] where another process or object writes it
      # @raise [FormatError, CorruptError] where the file is something else, has other values, or is damaged
      def open(path, encoding: Encoding::UTF_8, values: :string, **options)
        return open_noted(path, encoding: encoding, values: values, **options) { nil } unless block_given?

        opened = nil
        begin
          yield open_noted(path, encoding: encoding, values: values, **options) { |table| opened = table }
        ensure
          opened&.close
        end
      end

      private :open_either

      private

      # Opens a table as {open} does, for an owner that closes it wherever an interrupt comes. Yields it before its file is
      # opened.
      def open_noted(path, encoding:, values:, **options, &note)
        path = path.to_path if path.respond_to?(:to_path)
        named = Values.named(values)
        table = equal?(Table) ? open_either(path, named.first, options, &note) : new(encoding: encoding, values: values).tap(&note)
        table.send(:be_opened, path, options, encoding, named)
      end
    end

    # @return [String, nil] the file, or nil where it is in memory
    attr_reader :path

    # A table in memory.
    #
    # @param entries [Hash, Entries, nil] what it holds at the beginning
    # @param encoding [Encoding, String] of the Strings that it gives
    # @param values (see Table.open)
    def initialize(entries = nil, encoding: Encoding::UTF_8, values: :string)
      raise ArgumentError, "expected no block: a table has no default value; use fetch with a block" if block_given?

      super()
      check_frozen
      use_encoding(Encoding.find(encoding))
      use_values(*Values.named(values)) unless values == :string
      update(entries) if entries
    end

    alias store []=

    # @yieldparam table [Table] itself
    # @return [Object] what the block returns
    #
    # Makes the changes in the block one: all of them are kept when the block ends, by its end or by
    # +next+, and none when it is left in any other way, by an error, +throw+, +break+ or +return+.
    # Inside of another transaction it is a part that can be taken back by itself.
    #
    # Other threads wait until the outermost ends. Another fiber of the same thread gets a LockError.
    def transaction
      depth = transaction_depth
      begin
        begin_transaction
        result = yield self
        is_whole = true
        result
      ensure
        # No branch comes before it: an interrupt that came there would leave the transaction open.
        end_transaction(depth, is_whole)
      end
    end

    # @return [self] without entries
    def clear
      modify { remove_all }
    end

    # Puts the entries of others in, all or none of each.
    #
    # @param others [Array<Hash, Entries>]
    # @yieldparam key [String] a key that is in both
    # @yieldparam old [String]
    # @yieldparam new [String]
    # @yieldreturn [String] the value to have
    # @return [self]
    def update(*others, &block)
      modify { others.each { |other| block ? put_each(other, &block) : put_all(other) } }
    end
    alias merge! update

    # @param entries [Hash, Entries]
    # @return [self] with these entries and no others
    def replace(entries)
      return self if equal?(entries)

      modify do
        transaction do
          remove_all
          put_all(entries)
        end
      end
    end

    # @param range (see Entries#each)
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @return [self, Enumerator] without the entries for which the block is true
    def delete_if(**range)
      return enumerator(:delete_if, range) unless block_given?

      modify { batch { each(**range) { |key, value| delete(key) if yield(key, value) } } }
    end

    # Takes a range of entries out, all or none of them, without showing them to anybody.
    #
    #   table.delete_range(prefix: "tmp:")
    #   table.delete_range(range: "2026-11-01"..."2026-12-01")
    #
    # @param range (see Entries#each)
    # @return [Integer] how many entries there were
    # @raise [ArgumentError] where it is a HashTable
    def delete_range(**range)
      check_frozen
      remove_range(range)
    end

    # Of a range of entries, keeps some. Entries that are not in the range stay.
    #
    # @param range (see Entries#each)
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @return [self, Enumerator] with only the entries for which the block is true
    def keep_if(**range)
      return enumerator(:keep_if, range) unless block_given?

      modify { batch { each(**range) { |key, value| delete(key) unless yield(key, value) } } }
    end

    # @param range (see Entries#each)
    # @return [self, nil, Enumerator] as {#delete_if}, or nil where nothing was taken out
    def reject!(**range, &block)
      return enumerator(:reject!, range) unless block

      size_before = size
      delete_if(**range, &block)
      self unless size == size_before
    end

    # @param range (see Entries#each)
    # @return [self, nil, Enumerator] as {#keep_if}, or nil where nothing was taken out
    def select!(**range, &block)
      return enumerator(:select!, range) unless block

      size_before = size
      keep_if(**range, &block)
      self unless size == size_before
    end
    alias filter! select!

    # @param range (see Entries#each)
    # @yieldparam value [String]
    # @yieldreturn [String] the value to have
    # @return [self, Enumerator]
    def transform_values!(**range)
      return enumerator(:transform_values!, range) unless block_given?

      modify { batch { each(**range) { |key, value| self[key] = yield(value) } } }
    end

    # Gives entries other keys, all or none. Where two get the same key, the later one stays.
    #
    # @param names [Hash] other keys for some
    # @yieldparam key [String]
    # @yieldreturn [String] the key to have
    # @return [self, Enumerator]
    def transform_keys!(*names, &block)
      return to_enum(__method__) { size } if names.empty? && !block

      modify { transaction { replace(with_other_keys(*names_of_keys(names), &block)) } }
    end

    # Looks for nil, which a table has not.
    #
    # @return [nil] as nothing was taken out
    def compact!
      check_frozen
      nil
    end

    # Does nothing, as keys are copies that nobody changes.
    #
    # @return [self]
    def rehash
      modify { self }
    end

    # Takes the first entry out.
    #
    # @return [Array(String, String), nil] its key and value, or nil where there is none
    def shift
      check_frozen
      take_first
    end

    # Puts a value in where the key has none.
    #
    # @param key [String]
    # @param value [String]
    # @return [Boolean] whether it did
    def create(key, value)
      check_frozen
      put_absent(key, value)
    end

    # Puts bytes at the end of the value of a key, which is empty where there is none.
    #
    # @param key [String]
    # @param bytes [String]
    # @return [self]
    # @raise [ArgumentError] where the values are not Strings
    def append(key, bytes)
      modify { append_bytes(key, bytes) }
    end

    # Adds to the value of a key, which is 0 where there is none: an Integer, or in a table of Strings a whole number in
    # decimal digits.
    #
    # @param key [String]
    # @param by [Numeric] a whole number
    # @return [Integer] the sum
    # @raise [ArgumentError] where the value or +by+ is no such number, the sum is beyond 64 bits, or the values are other
    #   objects
    def increment(key, by = 1, **nil)
      check_frozen
      if by.is_a?(Numeric) && !by.is_a?(Integer) && by % 1 != 0
        raise ArgumentError, "expected a whole number to add, found #{Bytewright.send(:excerpt, by.to_s)}"
      end

      add_to(key, by)
    end

    # Shows the bytes of a value, of whatever object, without a copy, where the table is a HashTable in memory. They stay what
    # they are until the view is closed, whatever becomes of the entry.
    #
    # @param key [String]
    # @yieldparam view [View] closed when the block ends
    # @return [View, Object, nil] the view, or what the block returns; nil where there is no such key
    def view(key, &block)
      view_of(key, &block)
    end

    # The table as it is now, which later changes do not change.
    #
    # @yieldparam snapshot [Snapshot] closed when the block ends
    # @return [Snapshot, Object] the snapshot, or what the block returns
    def snapshot(&block)
      take_snapshot(&block)
    end

    # Returns when everything changed so far will survive a power cut. A table in memory has nothing to do.
    #
    # @return [self]
    def sync
      write_all
      self
    end

    # Gives back the space of entries that are gone: memory, or a part of the file. For a program that
    # means what a Hash means by the word, the table has no nil to leave out. A {HashTable} in a file also
    # does it by itself when half of its file is dead.
    #
    # @return [self]
    # @raise [LockError] if another file has taken the place of the table's file, or it was removed
    def compact
      compact_storage
      self
    end

    # Writes the entries as they are now to a file of their own, a table of the same kind, while threads go on to use
    # this one. The file is there when it is whole and will survive a power cut; where something fails, there is
    # none, or the one that was there before. Of a table in memory it is a way to keep it.
    #
    # @param path [String, #to_path]
    # @param replace [Boolean] whether to replace a table that the file holds
    # @return [self]
    # @raise [ArgumentError] where there is such a file that is not to be replaced, or in a transaction
    # @raise [FormatError] where the file to be replaced holds something else
    # @raise [LockError] where the file to be replaced is open for writing
    def backup(path, replace: false)
      write_backup(path.respond_to?(:to_path) ? path.to_path : path, replace ? true : false)
      self
    end

    # Writes the entries as they are now as text that other programs read, while threads go on to use the table. The file has
    # its name when it is whole; what is there and no regular file, such as a named pipe, is written as the text comes. Keys
    # and values are in it as the bytes that the table stores.
    #
    # @param path [String, #to_path]
    # @param format [Symbol, String] +:db+, which db_load of Berkeley DB reads, +:lmdb+, which mdb_load of LMDB reads, or +:sql+,
    #   statements that sqlite3 reads, for a table of the columns key and value
    # @param force [Boolean] whether to replace a file that is a capture, a table or a store, too; this table's own never is
    # @return [Integer] how many entries there are
    # @raise [ArgumentError] where there is a file that is not to be replaced, for another format, or in a transaction
    def dump(path, format: :db, force: false)
      write_dump(path.respond_to?(:to_path) ? path.to_path : path, format.to_s, force ? true : false)
    end

    # Puts the entries of a dump in, all or none: of {#dump}, of db_dump or mdb_dump, or of sqlite3's +.dump+ of a table of two
    # columns, compressed or not.
    #
    # @param path [String, #to_path]
    # @return [Integer] how many entries there were
    # @raise [FormatError, TruncatedError] where the text is something else, or ends too soon, with the line
    def load(path)
      check_frozen
      load_dump(path.respond_to?(:to_path) ? path.to_path : path)
    end

    # The changes of a {HashTable} in a file that were committed behind a position, up to now. They begin with +:clear+ and have
    # all entries without a position, and where the log does not go back so far, because the file was compacted or repaired.
    # Whoever makes them to a copy of the table as it was at the position has the table as it is now.
    #
    #   changes = table.changes_since(position)
    #   changes.each { |change, key, value| ... }
    #   position = changes.position
    #
    # @param position [String, nil] what {Changes#position} gave
    # @return [Changes]
    # @raise [ArgumentError] for tables without a log, which are in memory or ordered, and for a position of another table
    def changes_since(position = nil, **nil)
      take_changes(position)
    end

    private

    def be_opened(path, options, encoding, values)
      use_values(*values)
      be_in_file(path, values.first, options, encoding)
    end

    # Opens the file, unless it is open, and remembers it.
    def be_in_file(path, values, options, encoding)
      in_file? ? use_encoding(Encoding.find(encoding)) : open_file(path, values, options)
      @path = path.dup.freeze
      self
    end

    def initialize_copy(other)
      raise TypeError, "expected a table in memory to copy, found one in the file #{Bytewright.send(:excerpt, other.path)}" if other.path

      use_encoding(other.encoding)
      use_values(*other.send(:values_used))
      put_all(other)
    end

    # Supports Marshal: a table in memory is loaded as one of its class, with its entries in their order.
    def marshal_dump
      return refuse_dump if path

      name, dumper = values_used
      variables = instance_variables.to_h { |variable| [variable, instance_variable_get(variable)] }
      [encoding.name, BUILT_IN.include?(name) ? name.to_sym : { name => dumper }, to_a, variables]
    end

    def marshal_load(dumped)
      encoding, values, entries, variables = dumped
      use_encoding(Encoding.find(encoding))
      use_values(*Values.named(values))
      put_all(entries.to_h)
      variables.each { |variable, value| instance_variable_set(variable, value) }
    end

    # Makes a change, and gives the table.
    def modify
      check_frozen
      yield
      self
    end

    def check_frozen
      raise FrozenError.new("can't modify frozen #{self.class}: #{Bytewright.send(:shown, self)}", receiver: self) if frozen?
    end

    def at_one_moment(&block)
      path ? snapshot(&block) : super
    end

    def put_all(other)
      case other
      when Entries then same_values?(other) ? put_bytes_of(other) : transaction { other.each { |key, value| self[key] = value } }
      else
        entries = entries_of(other)
        put_strings(strings(entries.keys), strings_of_values(entries.values))
      end
    end

    def put_bytes_of(other)
      other.is_a?(Snapshot) ? put_snapshot(other) : other.snapshot { |snapshot| put_snapshot(snapshot) }
    end

    # Values as Strings of their bytes.
    def strings_of_values(values)
      stores_strings? ? strings(values) : values.map { |value| dump_value(value) }
    end

    def put_each(other)
      batch do
        entries_of(other).each do |key, value|
          old = self[key]
          self[key] = old.nil? ? value : yield(key, old, value)
        end
      end
    end

    def strings(objects)
      objects.all?(String) ? objects : objects.map { |object| string(object) }
    end

    # Makes the changes in the block one commit of a file, however the block ends.
    def batch
      return yield unless path

      depth = transaction_depth
      begin
        begin_transaction
        yield
      ensure
        end_transaction(depth, true)
      end
    end

    def kind
      HashTable
    end

    def with_other_keys(names = nil)
      table_of do |table|
        each do |key, value|
          table[names&.fetch(key, nil) || (block_given? ? yield(key) : key)] = value
        end
      end
    end

    def shown_path
      path
    end
  end

  # A table that finds keys by their hashes. In memory it takes a small part of what a Hash takes.
  #
  #   seen = Bytewright::HashTable.new
  #   seen["10.0.0.1"] = "2026-11-21"
  #   Bytewright::HashTable.open("seen.bwh") { |table| table.update(seen) }
  #
  # Its entries are in the order of their last write: an entry that is written again moves to the end.
  class HashTable < Table
  end

  private_constant :Scan
end
