# frozen_string_literal: true

require_relative "table"

# The files below have parts of it, and its name would be loaded from here again.
module Bytewright
  class ADB; end
end

require_relative "adb/name"
require_relative "adb/conversion"
require_relative "adb/iterator"
require_relative "adb/capacity"
require_relative "adb/functions"

module Bytewright
  # TokyoCabinet::ADB's methods over our tables: a program that was written for that class runs with this
  # one. docs/adb.md says what differs.
  #
  #   adb = Bytewright::ADB.new
  #   adb.open("casket.bwh") or abort adb.error.message
  #   adb.put("key", "value")
  #   adb.close
  #
  # A method that fails answers as the original's does, with false, nil, -1 or nothing, and {#error} says
  # why. Keys and values may be Strings, Integers, true, false and nil, which become their text. Strings
  # that come out are binary.
  class ADB
    include Undumpable

    # What a method of a table raises, and one of this class keeps for {#error}.
    FAILURES = [Error, SystemCallError, IOError, ArgumentError].freeze
    # Seconds to wait for another process that writes the file: Tokyo Cabinet waits as long as it takes.
    FOR_EVER = 1e9
    private_constant :FAILURES, :FOR_EVER

    include Functions

    # @return [Exception, nil] why the last method that failed did, which the original has no method for
    attr_reader :error

    def initialize
      @table = @name = @error = @iterator = @capacity = @claim = nil
    end

    # @param name [String] "*" or "+" for a hashed or an ordered table in memory, or the path of a .bwh or
    #   .bwt file; behind it tuning, each parameter as "#key=value"
    # @return [Boolean] whether it was opened
    def open(name)
      Conversion.expect(String, name)
      return false if @table

      name = Name.new(name)
      refusal = name.refusal
      return refuse(refusal) if refusal

      @name = name
      name.in_memory? ? @table = name.table.new(encoding: Encoding::BINARY) : open_file(name)
      @capacity = Capacity.of(@table, name)
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # Closes it; a transaction is taken back.
    #
    # @return [Boolean]
    def close
      return false unless @table

      close_table(@table)
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # @param key [String, Integer, Boolean, nil]
    # @param value [String, Integer, Boolean, nil]
    # @return [Boolean]
    def put(key, value)
      key = Conversion.bytes(key) unless String === key
      value = Conversion.bytes(value) unless String === value
      return false unless @table

      @table[key] = value
      @capacity&.keep
      true
    rescue *FAILURES => error
      failed(error, false)
    end
    alias store put
    alias []= put

    # @param key (see #put)
    # @param value (see #put)
    # @return [Boolean] whether the key was new, and the value is put in
    def putkeep(key, value)
      key = Conversion.bytes(key) unless String === key
      value = Conversion.bytes(value) unless String === value
      return false unless @table

      @table.create(key, value).tap { @capacity&.keep }
    rescue *FAILURES => error
      failed(error, false)
    end

    # Puts a value behind the one that is there.
    #
    # @param key (see #put)
    # @param value (see #put)
    # @return [Boolean]
    def putcat(key, value)
      key = Conversion.bytes(key) unless String === key
      value = Conversion.bytes(value) unless String === value
      return false unless @table

      @table.append(key, value)
      @capacity&.keep
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # @param key (see #put)
    # @return [Boolean] whether there was such a key
    def out(key)
      key = Conversion.bytes(key) unless String === key
      return false unless @table

      !@table.delete(key).nil?
    rescue *FAILURES => error
      failed(error, false)
    end
    alias delete out

    # @param key (see #put)
    # @return [String, nil]
    def get(key)
      key = Conversion.bytes(key) unless String === key
      @table && @table[key]
    rescue *FAILURES => error
      failed(error, nil)
    end
    alias [] get

    # @param key (see #put)
    # @param default [Object]
    # @return [String, Object] the value, or the default; a block is not asked
    def fetch(key, default = nil)
      get(key) || default
    end

    # @param key (see #put)
    # @return [Integer] the bytes of the value, or -1
    def vsiz(key)
      key = Conversion.bytes(key) unless String === key
      @table&.view(key, &:bytesize) || -1
    rescue *FAILURES => error
      failed(error, -1)
    end

    # @param key (see #put)
    # @return [Boolean]
    def key?(key)
      key = Conversion.bytes(key) unless String === key
      @table ? @table.key?(key) : false
    rescue *FAILURES => error
      failed(error, false)
    end
    alias has_key? key?
    alias include? key?
    alias member? key?

    # @param value (see #put)
    # @return [Boolean] whether an entry has the value; all are looked at
    def value?(value)
      value = Conversion.bytes(value) unless String === value
      @table ? @table.value?(value) : false
    rescue *FAILURES => error
      failed(error, false)
    end
    alias has_value? value?

    # @param value (see #put)
    # @return [String, nil] a key with this value; all entries are looked at
    def key(value)
      value = Conversion.bytes(value) unless String === value
      @table&.key(value)
    rescue *FAILURES => error
      failed(error, nil)
    end

    # Goes to the first key, for {#iternext}.
    #
    # @return [Boolean]
    def iterinit
      start(nil)
    end

    # @return [String, nil] the next key
    def iternext
      @iterator&.next
    rescue *FAILURES => error
      failed(error, nil)
    end

    # @param prefix (see #put)
    # @param max [Integer, nil] how many, or all where it is negative or nil
    # @return [Array<String>] keys that begin with the prefix
    def fwmkeys(prefix, max = nil)
      prefix = Conversion.bytes(prefix).b
      max = max.nil? ? -1 : Conversion.int(max)
      return [] unless @table

      keys = ordered? ? @table.each_key(prefix: prefix) : @table.each_key.lazy.select { |key| key.start_with?(prefix) }
      max.negative? ? keys.to_a : keys.first(max)
    rescue *FAILURES => error
      failed(error, [])
    end

    # Adds to a value that is an int of C, in this machine's byte order, or 0 where there is none.
    #
    # @param key (see #put)
    # @param number [Integer]
    # @return [Integer, nil] the sum, of which 32 bits are kept; nil where the value is no int, or the sum
    #   is the lowest int, which is the original's word for that
    def addint(key, number)
      key = Conversion.bytes(key) unless String === key
      sum = add(key, "l", Conversion.int(number))
      sum unless sum == Conversion::INT.begin
    rescue *FAILURES => error
      failed(error, nil)
    end

    # Adds to a value that is a double of C, in this machine's byte order, or 0 where there is none.
    #
    # @param key (see #put)
    # @param number [Numeric]
    # @return [Float, nil] the sum; nil where the value is no double, or the sum is no number
    def adddouble(key, number)
      key = Conversion.bytes(key) unless String === key
      sum = add(key, "d", Conversion.double(number))
      sum unless sum&.nan?
    rescue *FAILURES => error
      failed(error, nil)
    end

    # @return [Boolean] whether all changes will survive a power cut
    def sync
      return false if @table.nil? || in_transaction? || read_only?

      @table.sync
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # Gives back space.
    #
    # @param _tuning [String, nil] is not looked at
    # @return [Boolean]
    def optimize(_tuning = nil)
      return false if @table.nil? || in_transaction? || read_only?

      @table.compact
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # Takes all entries out.
    #
    # @return [Boolean]
    def vanish
      return false if @table.nil? || in_transaction?

      @table.clear
      true
    rescue *FAILURES => error
      failed(error, false)
    end
    alias clear vanish

    # Copies the entries, of a table in a file to a file of the same kind, in the place of a table that is there; of one
    # in memory into what {#open} opens by that name. Other threads go on meanwhile; what they change is not copied.
    #
    # "@command" runs a command instead, with the path of the file (in memory, nothing) and the time in microseconds as
    # its arguments. The file has all changes, and gets no others, until the command ends.
    #
    # @param path [String] a file, or "@" and the name of a program, which no shell looks at
    # @return [Boolean] whether the copy is whole, or the command ended with 0
    def copy(path)
      Conversion.expect(String, path)
      return false if @table.nil? || in_transaction?
      return run_on_file(path.delete_prefix("@")) if path.start_with?("@")

      in_memory? ? copy_into(path) : @table.backup(path, replace: true)
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # Begins a transaction in a file. Other threads wait until it ends, by this one.
    #
    # @return [Boolean]
    def tranbegin
      return false if @table.nil? || in_memory? || in_transaction?

      @table.send(:begin_transaction)
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    # @return [Boolean] whether there was a transaction, and all its changes are kept
    def trancommit
      end_transaction(true)
    end

    # @return [Boolean] whether there was a transaction, and all its changes are taken back
    def tranabort
      end_transaction(false)
    end

    # @return [String, nil] the name it was opened by, without tuning
    def path
      @name.path if @table
    end

    # @return [Integer] the number of entries
    def rnum
      @table ? @table.size : 0
    rescue *FAILURES => error
      failed(error, 0)
    end
    alias length rnum

    # @return [Integer] the bytes of the file, or of memory
    def size
      return 0 unless @table

      in_memory? ? @table.stat[:memory_bytes] : File.size(@name.path)
    rescue *FAILURES => error
      failed(error, 0)
    end

    # @return [Boolean]
    def empty?
      rnum.zero?
    end

    # Calls a function by its name: put, putkeep, putcat, out, get, putlist, outlist, getlist, getpart,
    # iterinit, iternext, regex, sync, optimize, vanish; in a tree range; of a file error, cacheclear, defrag.
    #
    # @param name [String]
    # @param arguments [Array<String, Integer, Boolean, nil>]
    # @return [Array<String>, nil] what the function gives; nil where it fails, or there is none
    def misc(name, arguments = [])
      name = Conversion.bytes(name)
      arguments = arguments.nil? ? [] : Conversion.expect(Array, arguments).map { |argument| Conversion.bytes(argument) }
      @table && call_function(name, arguments)
    rescue *FAILURES => error
      failed(error, nil)
    end

    # Yields the entries as they were at the beginning. A file that cannot be read raises.
    #
    # @yieldparam key [String]
    # @yieldparam value [String]
    # @return [Object, nil] what the block gave last
    def each
      raise ArgumentError, "no block given" unless block_given?

      last = nil
      @table&.each { |key, value| last = yield key, value }
      last
    end
    alias each_pair each

    # @yieldparam key [String]
    # @return [Object, nil] what the block gave last
    def each_key
      raise ArgumentError, "no block given" unless block_given?

      last = nil
      @table&.each_key { |key| last = yield key }
      last
    end

    # @yieldparam value [String]
    # @return [Object, nil] what the block gave last
    def each_value
      raise ArgumentError, "no block given" unless block_given?

      last = nil
      @table&.each_value { |value| last = yield value }
      last
    end

    # @return [Array<String>]
    def keys
      @table ? @table.keys : []
    rescue *FAILURES => error
      failed(error, [])
    end

    # @return [Array<String>]
    def values
      @table ? @table.values : []
    rescue *FAILURES => error
      failed(error, [])
    end

    # @return [String] its class, and the name that is open
    def inspect
      "#<#{self.class} #{@table ? @name.path.inspect : "(closed)"}>"
    end

    private

    # Two objects would close one table.
    def initialize_copy(_other)
      raise TypeError, "expected no copy of a database; open its file with another ADB"
    end

    def failed(error, answer)
      @error = error
      answer
    end

    # A program that has only the answer to look at would not learn what to do.
    def refuse(error)
      warn(error.message, uplevel: 2) if error.is_a?(FormatError)
      failed(error, false)
    end

    # An interrupt may come between any two steps, so the table is noted before its file is opened.
    def open_file(name)
      # Waiting for another object of this process could take for ever.
      opened = nil
      @claim = Claim.new
      @claim.take(name.path)
      writes = name.mode?("w")
      options = { create: writes && name.mode?("c"), read_only: !writes, sync: name.sync.to_sym, verify: false, values: :string,
                  timeout: name.mode?("f") ? 0 : FOR_EVER, encoding: Encoding::BINARY }
      table = name.table.send(:open_noted, name.path, **options) { |noted| opened = noted }
      table.clear if writes && name.mode?("t")
      @table = table
    ensure
      unless @table
        opened&.close
        release
      end
    end

    # An interrupt may come where any of these returns, and the next one is to be done all the same.
    def close_table(table)
      stop_iterating
      table.send(:end_transaction, 0, false)
    ensure
      begin
        table.close
      ensure
        @table = nil
        release
      end
    end

    def release
      @claim&.release
      @claim = nil
    end

    def in_memory?
      @name.in_memory?
    end

    def read_only?
      !in_memory? && !@name.mode?("w")
    end

    def ordered?
      @table.is_a?(TreeTable)
    end

    def in_transaction?
      @table.send(:transaction_depth).positive?
    end

    def copy_into(path)
      name = Name.new(path)
      raise name.refusal if name.refusal
      raise ArgumentError, "expected the name of a file, found #{path}" if name.in_memory?

      name.table.open(name.path, sync: :never, encoding: Encoding::BINARY) { |copy| copy.update(@table) }
    end

    # Runs a command while nobody changes the file.
    def run_on_file(command)
      return run_with_path(command) if in_memory? || read_only?

      @table.transaction do
        @table.sync
        run_with_path(command)
      end
    end

    # Without a shell, in which a path could be read as more than that.
    def run_with_path(command)
      microseconds = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond).to_s
      system([command, command], in_memory? ? "" : @name.path, microseconds) || false
    end

    def end_transaction(is_kept)
      return false if @table.nil? || !in_transaction?

      @table.send(:end_transaction, 0, is_kept)
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    def start(key)
      return false unless @table
      return false unless key.nil? || ordered? || @table.key?(key)

      stop_iterating
      @iterator = (ordered? ? OrderedIterator : Iterator).new(@table, key)
      true
    rescue *FAILURES => error
      failed(error, false)
    end

    def stop_iterating
      @iterator&.close
      @iterator = nil
    end

    # Adds to a number of this format, and gives the sum, or nil where the value is none.
    def add(key, format, number)
      return unless @table

      sum = @table.transaction do
        old = @table[key] || [0].pack(format)
        next if old.bytesize != [0].pack(format).bytesize

        new = [old.unpack1(format) + number].pack(format)
        @table[key] = new
        new.unpack1(format)
      end
      @capacity&.keep
      sum
    end
  end
end
