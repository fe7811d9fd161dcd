# frozen_string_literal: true

require_relative "extension"
Bytewright.send(:define_stores)

module Bytewright
  private_constant :PStoreFile

  # Ruby's PStore, with the same methods, errors and files, byte for byte: programs that use the one and
  # the other may share a file. What differs is what a transaction costs, which is what it touches, and
  # what a crash costs, which is nothing.
  #
  #   store = Bytewright::PStore.new("app.pstore")
  #   store.transaction { store[:visits] = store.fetch(:visits, 0) + 1 }
  #   store.transaction(true) { p store[:visits] }
  #
  # <tt>require "bytewright/pstore/replace"</tt> makes it the PStore of a whole program.
  #
  # A root is loaded when it is first asked for. So a class that is not there, or a value that cannot be
  # loaded, is an error of the transaction that touches it, and of no other.
  #
  # The methods that the original has for classes derived from it (+dump+, +load+, +open_and_lock_file+
  # and so on) are there, too. Where one of them is overridden, each transaction reads and writes the whole
  # file through them, as the original does; YAML::Store works so. Which way a store goes is decided in
  # its first transaction.
  class PStore
    include Undumpable

    # The version of the original whose interface this is.
    VERSION = "0.2.1"

    # Mode in which File.new opens a file to read and write it.
    RDWR_ACCESS = { mode: IO::RDWR | IO::CREAT | IO::BINARY, encoding: Encoding::ASCII_8BIT }.freeze
    # Mode in which it opens one to read it.
    RD_ACCESS = { mode: IO::RDONLY | IO::BINARY, encoding: Encoding::ASCII_8BIT }.freeze
    # Mode in which it opens a new one to write it.
    WR_ACCESS = { mode: IO::WRONLY | IO::CREAT | IO::TRUNC | IO::BINARY, encoding: Encoding::ASCII_8BIT }.freeze

    # Forms in which a store keeps its roots: in one table that Marshal dumps, as the original does, or each by itself.
    FORMATS = %i[marshal roots].freeze

    EMPTY_STRING = ""
    EMPTY_MARSHAL_DATA = Marshal.dump({}).freeze
    # Making checksums takes longer to load than a store that needs none.
    autoload :CHECKSUM_ALGO, File.join(__dir__, "pstore/checksum")
    autoload :EMPTY_MARSHAL_CHECKSUM, File.join(__dir__, "pstore/checksum")
    private_constant :CHECKSUM_ALGO, :EMPTY_STRING, :EMPTY_MARSHAL_DATA, :EMPTY_MARSHAL_CHECKSUM

    DEFAULT_OPTIONS = { verify: false, permitted_classes: nil, format: nil }.freeze
    private_constant :DEFAULT_OPTIONS

    # Error of a store that is not the system's. If the original was loaded before, it is the
    # original's class, so that programs may rescue either.
    if !Object.autoload?(:PStore) && defined?(::PStore::Error)
      Error = ::PStore::Error
    else
      class Error < StandardError; end
    end

    # A stored object is of a class that the store was not told to load: see +permitted_classes+.
    class DisallowedClass < Error
      # @return [String] the name of the class
      attr_reader :class_name

      # @private
      def initialize(class_name)
        super("expected objects of permitted classes, found one of #{Bytewright.send(:excerpt, class_name)}")
        @class_name = class_name
      end
    end

    # The steps of a transaction that reads and writes the whole file. Classes derived from PStore override
    # some of them, so they have the names, the arguments and the order of the original's. A store whose class
    # overrides none does not call them, so their bodies, in pstore/hooks.rb, are loaded by the first call.
    # @api private
    module Hooks
      # The number of arguments of each step.
      STEPS = { open_and_lock_file: 2, load_data: 2, load_to_read: 1, expect_table: 1, save_data: 3,
                save_data_with_atomic_file_rename_strategy: 2, save_data_with_fast_strategy: 2, dump: 1, load: 1,
                empty_marshal_data: 0, empty_marshal_checksum: 0 }.freeze
      # The body of a step of so many arguments that is not loaded yet.
      UNLOADED = [
        -> { Hooks.loaded(__method__).bind_call(self) },
        ->(first) { Hooks.loaded(__method__).bind_call(self, first) },
        ->(first, second) { Hooks.loaded(__method__).bind_call(self, first, second) },
        ->(first, second, third) { Hooks.loaded(__method__).bind_call(self, first, second, third) }
      ].freeze
      private_constant :UNLOADED

      STEPS.each { |name, count| define_method(name, &UNLOADED[count]) }
      private(*STEPS.keys)

      def self.loaded(name)
        PStore.send(:load_part, "hooks") { const_defined?(:IS_LOADED, false) }
        instance_method(name)
      end
    end
    include Hooks
    private_constant :Hooks

    # @return [Boolean] whether what a transaction wrote is on the disk when it is over, and so outlasts
    #   a loss of power; without it, it outlasts only the death of the process
    attr_accessor :ultra_safe

    class << self
      # Makes a store of another format out of a store, whose file stays as it is. Roots of one Marshal
      # stream may share objects; by themselves each has its own. Where a root cannot be loaded, no file is made.
      #
      # @param old [String, #to_path] the store
      # @param new [String, #to_path] where the new one is to be; nothing may be there
      # @param format [:marshal, :roots] of the new one
      # @return [Integer] how many roots there are
      # @raise [Errno::EEXIST] if there is a file of the new name
      def convert(old, new, format:)
        source = self.new(old, format: format_of(old))
        PStore.send(:load_part, "conversion") { const_defined?(:Conversion, false) }
        Conversion.new(source, File.path(new)).run(format)
      ensure
        source&.close
      end

      # @param path [String, #to_path] of a store
      # @return [:marshal, :roots]
      def format_of(path)
        # Reading what is missing or a folder raises as File does.
        Bytewright.send(:with_harmless_names) { File.open(path, &:getbyte) }
        PStoreFile.format_of(File.path(path))
      end

      private

      # A step that is overridden calls others.
      def inherited(derived)
        super
        Hooks.loaded(:dump)
      end

      # Loads a file that not every store needs. The block tells whether that was done.
      def load_part(name)
        if !defined?(Ractor) || Ractor.current == Ractor.main
          require_relative "pstore/#{name}"
        elsif !yield
          # Other Ractors than the main one cannot require before Ruby 4.0.
          load File.join(__dir__, "pstore/#{name}.rb")
        end
      end
    end

    # @param file [String, #to_path] the path of the store; a relative one is meant from the folder
    #   that is the current one at each transaction
    # @param thread_safe [Boolean] whether threads wait for each other's transactions instead of an error
    # @param verify [Boolean] whether each transaction reads the file, and does not trust the time of its
    #   last change to tell that it is as it was
    # @param permitted_classes [Array<Class, String>, nil] the only classes of stored objects, beside nil,
    #   true, false, whole numbers, Floats, Strings, Symbols, Arrays and Hashes; nil for all. They are
    #   looked for before anything is loaded. It keeps a file from naming classes whose code runs when
    #   they are loaded. It does not make a class harmless that is permitted, and does not bound the
    #   memory that loading takes.
    # @param format [:marshal, :roots, nil] how the file keeps the roots. With +:roots+ it is a file of a
    #   HashTable, or, if its name ends in .bwt, of a TreeTable, with each root by itself: for large stores
    #   whose roots grow. The process that writes it keeps it open until {#close}. Without it, a file that is
    #   there tells, and a new one is a Marshal stream.
    # @raise [Error] if the folder is not there, or the file cannot be read
    def initialize(file, thread_safe = false, verify: false, permitted_classes: nil, format: nil, **others)
      # The original takes any keyword for a second argument that is true, and programs name it so.
      thread_safe = others.delete(:thread_safe) if others.key?(:thread_safe)
      raise ArgumentError, "unknown keyword: #{Bytewright.send(:excerpt, others.keys.map(&:inspect).join(", "))}" unless others.empty?
      unless format.nil? || FORMATS.include?(format)
        raise ArgumentError, "format: expected #{FORMATS.map(&:inspect).join(" or ")}, found #{Bytewright.send(:shown, format)}"
      end

      folder = File.dirname(file)
      raise Error, "directory #{Bytewright.send(:excerpt, folder)} does not exist" unless File.directory?(folder)
      if File.exist?(file) && !File.readable?(file)
        raise Error, "file #{Bytewright.send(:excerpt, file.to_s)} not readable"
      end

      @filename = file
      @abort = false
      @ultra_safe = false
      @thread_safe = thread_safe
      @lock = Thread::Mutex.new
      options = { verify: verify, permitted_classes: permitted_classes, format: format }
      @bytewright = options unless options == DEFAULT_OPTIONS
    end

    # @param key [Object]
    # @return [Object, nil] the value of the root, the same object each time within a transaction
    def [](key)
      in_transaction
      @table[key]
    end

    # @param key [Object]
    # @param default [Object] the answer where there is no such root
    # @return [Object]
    # @raise [Error] if there is neither
    def fetch(key, default = Error)
      in_transaction
      return @table[key] if @table.key?(key)
      raise Error, "undefined key '#{Bytewright.send(:excerpt, key.to_s)}'" if default == Error

      default
    end

    # @param key [Object]
    # @param value [Object]
    def []=(key, value)
      in_transaction_wr
      @table[key] = value
    end

    # @param key [Object]
    # @return [Object, nil] the value of the root that is no more
    def delete(key)
      in_transaction_wr
      @table.delete(key)
    end

    # @return [Array] the keys of all roots, in order
    def keys
      in_transaction
      @table.keys
    end
    alias roots keys

    # @param key [Object]
    # @return [Boolean] whether there is such a root
    def key?(key)
      in_transaction
      @table.key?(key)
    end
    alias root? key?

    # @return [String, #to_path] what {#initialize} was given
    def path
      @filename
    end

    # Ends the transaction, whose value is nil then, and keeps what it changed.
    def commit
      in_transaction
      @abort = false
      throw :pstore_abort_transaction
    end

    # Ends the transaction, whose value is nil then, and drops what it changed.
    def abort
      in_transaction
      @abort = true
      throw :pstore_abort_transaction
    end

    # Runs the block with the file locked. What it changes, in place too, is written when it is over, unless
    # it is left by {#abort}, an error, +break+, +return+ or +throw+.
    #
    # @param read_only [Boolean] whether nothing is written; such transactions may run side by side
    # @yieldparam store [PStore] this store
    # @return [Object] what the block returns
    # @raise [Error] if a transaction of this object is open, or the file is no store
    def transaction(read_only = false)
      value = nil
      alone do
        @rdonly = read_only
        @abort = false
        @bytewright = Session.of(self, @filename, @bytewright) unless Session === @bytewright
        begin
          @table = @bytewright.open(self, @filename, read_only)
          catch(:pstore_abort_transaction) { value = yield(self) }
          @bytewright.save(self, @table, @ultra_safe) unless @abort || read_only
        ensure
          @bytewright.close
        end
      end
      value
    end

    # Leaves the file to other processes, where the store keeps it open between transactions: see +format+
    # of {#initialize}. The next transaction opens it again.
    #
    # @return [nil]
    # @raise [Error] in a transaction
    def close
      alone { @bytewright.close_file if Session === @bytewright }
      nil
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{@filename.inspect}>"
    end

    private

    def in_transaction
      raise Error, "not in transaction" unless @lock.locked?
    end

    def in_transaction_wr
      in_transaction
      raise Error, "in read-only transaction" if @rdonly
    end

    # Runs the block while no other transaction of this object is open.
    #
    # An interrupt may come between any two steps of Ruby's, also between an +ensure+ and what stands behind it: only
    # +synchronize+ has no place where one would leave the lock taken.
    def alone
      is_alone = false
      # Without +thread_safe+, other threads do not wait.
      raise Error, "nested transaction" if !@thread_safe && @lock.locked?

      @lock.synchronize do
        is_alone = true
        yield
      end
    rescue ThreadError
      # It is this very thread that has the lock, or the block raised it.
      raise if is_alone

      raise Error, "nested transaction"
    end
  end
end

require_relative "pstore/session"
