# frozen_string_literal: true

require_relative "table"

# The file below has a part of it, and its name would be loaded from here again.
module Bytewright
  class ADB; end
end

require_relative "adb/conversion"

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

    # Errors that a method of a table raises, and one of this class keeps for {#error}.
    FAILURES = [Error, SystemCallError, IOError, ArgumentError].freeze
    private_constant :FAILURES

    # @return [Exception, nil] why the last method that failed did, which the original has no method for
    attr_reader :error

    def initialize
      @table = @database = @path = @error = nil
      @is_bounded = false
    end

    # @param name [String] "*" or "+" for a hashed or an ordered table in memory, or the path of a .bwh or
    #   .bwt file; behind it tuning, each parameter as "#key=value"
    # @return [Boolean] whether it was opened
    def open(name)
      Conversion.expect(String, name)
      return false if @table

      return true if open_named(name)

      # A program that has only the answer to look at would not learn what to do.
      warn(@error.message, uplevel: 1) if @error.message.include?("bytewright table convert")
      false
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
      keep_bounds if @is_bounded
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

      @table.create(key, value).tap { keep_bounds if @is_bounded }
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
      keep_bounds if @is_bounded
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
      call("iterinit") ? true : false
    end

    # @return [String, nil] the next key
    def iternext
      call("iternext")&.first
    end

    # @param prefix (see #put)
    # @param max [Integer, nil] how many, or all where it is negative or nil
    # @return [Array<String>] keys that begin with the prefix
    def fwmkeys(prefix, max = nil)
      prefix = Conversion.bytes(prefix)
      call("fwmkeys", prefix, *(max && Conversion.int(max).to_s)) || []
    end

    # Adds to a value that is an int of C, in this machine's byte order, or 0 where there is none.
    #
    # @param key (see #put)
    # @param number [Integer]
    # @return [Integer, nil] the sum, of which 32 bits are kept; nil where the value is no int, or the sum
    #   is the lowest int, which is the original's word for that
    def addint(key, number)
      add(key, "l", Conversion.int(number))
    end

    # Adds to a value that is a double of C, in this machine's byte order, or 0 where there is none.
    #
    # @param key (see #put)
    # @param number [Numeric]
    # @return [Float, nil] the sum; nil where the value is no double, or the sum is no number
    def adddouble(key, number)
      add(key, "d", Conversion.double(number))
    end

    # @return [Boolean] whether all changes will survive a power cut
    def sync
      call("sync") ? true : false
    end

    # Gives back space.
    #
    # @param _tuning [String, nil] is not looked at
    # @return [Boolean]
    def optimize(_tuning = nil)
      call("optimize") ? true : false
    end

    # Takes all entries out.
    #
    # @return [Boolean]
    def vanish
      call("vanish") ? true : false
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
      return call("copy", path) ? true : false unless path.start_with?("@")

      @table && !in_transaction? ? run_on_file(path.delete_prefix("@")) : false
    rescue *FAILURES => error
      failed(error, false)
    end

    # Begins a transaction in a file. Other threads wait until it ends, by this one.
    #
    # @return [Boolean]
    def tranbegin
      call("tranbegin") ? true : false
    end

    # @return [Boolean] whether there was a transaction, and all its changes are kept
    def trancommit
      call("trancommit") ? true : false
    end

    # @return [Boolean] whether there was a transaction, and all its changes are taken back
    def tranabort
      call("tranabort") ? true : false
    end

    # @return [String, nil] the name it was opened by, without tuning
    def path
      @path if @table
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
      call("size")&.first.to_i
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
      return regex(*arguments.first(2)) if name == "regex"

      call("misc", name, *(name == "error" ? described_error : arguments))
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
      "#<#{self.class} #{@table ? @path.inspect : "(closed)"}>"
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

    # Asks the core, which says what each method means; it answers an Array of Strings, or nil.
    def call(method, *arguments)
      table = @table and @database.call(table, method, arguments)
    rescue *FAILURES => error
      failed(error, nil)
    end

    # After a change that added entries: for most tables there is nothing to keep.
    def keep_bounds
      table = @table and @database.keep_bounds(table)
    end

    # An interrupt may come between any two steps, so both are noted before they are used.
    def open_named(name)
      opened = database = nil
      AbstractDatabase.open(name) { |*both| opened, database = both }
      opened.send(:use_encoding, Encoding::BINARY)
      @database, @is_bounded, @path = database, database.bounds?, name[/\A[^#]*/].freeze
      @table = opened
    rescue *FAILURES => error
      failed(error, false)
    ensure
      if opened && !@table.equal?(opened)
        opened.close
        database.release
      end
    end

    # An interrupt may come where any of these returns, and the next one is to be done all the same.
    def close_table(table)
      table.send(:end_transaction, 0, false)
    ensure
      begin
        table.close
      ensure
        @table = nil
        @database.release
      end
    end

    def in_transaction?
      @table.send(:transaction_depth).positive?
    end

    # Runs a command while nobody changes the file.
    def run_on_file(command)
      is_held = tranbegin
      @table.sync if is_held
      run_with_path(command)
    ensure
      trancommit if is_held
    end

    # Without a shell, in which a path could be read as more than that.
    def run_with_path(command)
      microseconds = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond).to_s
      system([command, command], @database.in_memory? ? "" : @path, microseconds) || false
    end

    # The sum that a number of this format has with the value of a key, or nil where that is none.
    def add(key, format, number)
      key = Conversion.bytes(key) unless String === key
      call(format == "l" ? "addint" : "adddouble", key, [number].pack(format))&.first&.unpack1(format)
    end

    # Returns what the function "error" is told of the last error: its kind in the core, and the system's number.
    def described_error
      return [] unless @error

      [@error.class.name[/(\w+)Error\z/, 1].to_s.downcase, (@error.respond_to?(:errno) ? @error.errno : 0).to_s]
    end

    # Entries whose keys a pattern of Ruby's fits; a star before it ignores case. And how many, 0 for all.
    def regex(pattern = nil, max = nil)
      return unless @table && pattern

      options = pattern.start_with?("*") ? Regexp::IGNORECASE : 0
      regexp = Regexp.new(pattern.b.delete_prefix("*"), options | Regexp::NOENCODING)
      entries, max = @table.each.lazy.select { |key, _| regexp.match?(key) }, max.to_i
      (max < 1 ? entries : entries.first(max)).to_a.flatten
    rescue RegexpError
      nil
    rescue *FAILURES => error
      failed(error, nil)
    end
  end
end
