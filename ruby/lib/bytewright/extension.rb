# frozen_string_literal: true

# A gem for one platform has a library for each minor version of Ruby; a gem that was built when it was installed has one.
library = File.join(__dir__, RUBY_VERSION[/\A\d+\.\d+/], "bytewright.so")
begin
  require File.file?(library) ? library : File.join(__dir__, "bytewright.so")
rescue LoadError => error
  raise unless File.file?(library)

  # RubyGems installs the gem for x86_64-linux also where the C library is musl, or an older glibc.
  raise error.class, "#{error.message}: this system cannot load the compiled gem; install the source gem, as docs/guides/install.md shows"
end

# Base of all of Bytewright: the extension, where each class is to be found, and the errors. It is one file,
# because each one that is loaded takes as long as a dozen methods in it.
module Bytewright
  # By their whole paths, because RubyGems looks for others in all gems, which takes as long as loading them.
  {
    "capture" => %i[Capture Packet Columns Flow FlowStore Call],
    "table" => %i[Table HashTable TreeTable Snapshot TreeSnapshot View Cursor Entries OrderedEntries],
    "adb" => %i[ADB],
    "cache" => %i[Cache],
    "string_set" => %i[StringSet],
    "pstore" => %i[PStore],
    "reader" => %i[Reader],
    "writer" => %i[Writer],
    "thrift/functions" => %i[Thrift]
  }.each do |file, names|
    names.each { |name| autoload name, File.join(__dir__, file) }
  end

  # Runs the block, in which Ruby's own methods name a file: what they raise is fit for a terminal.
  def self.with_harmless_names
    yield
  rescue SystemCallError => e
    message = excerpt(e.message)
    raise if message == e.message

    # Its cause would be shown, too.
    raise e.exception(message), cause: nil
  end
  singleton_class.send(:private, *singleton_methods(false))

  # Object for something outside of Ruby, or for a row of it: Marshal and YAML would write an object that has nothing.
  module Undumpable
    # Supports the yaml library.
    def encode_with(_coder)
      refuse_dump
    end

    private

    def marshal_dump
      refuse_dump
    end

    def refuse_dump
      raise TypeError, "expected an object that can be dumped, found a #{self.class}; dump #{instead_of_dump}"
    end

    # Names what to dump.
    def instead_of_dump
      "the name of its file, and open that where it is loaded"
    end
  end
  private_constant :Undumpable

  # Base of all errors of Bytewright: <tt>rescue Bytewright::Error</tt> takes each of them. It is a module, as
  # an error may be one of Ruby's kinds, too. What the operating system refuses is raised as the +Errno+ class
  # that Ruby itself would raise, and a wrong argument as ArgumentError or TypeError.
  module Error
    # @return [Integer, nil] bytes from the start of the (decompressed) input, where that is known
    attr_reader :offset
    # @return [String, nil] the file, or what stands for it
    attr_reader :file

    # @private
    def initialize(message = nil, offset: nil, file: nil)
      super(message)
      @offset = offset
      @file = file
    end
  end

  # The bytes are not what the format allows.
  class FormatError < StandardError
    include Error
  end

  # The input ends in the middle of something.
  class TruncatedError < StandardError
    include Error

    # @return [Integer, nil] bytes that the thing being read consists of
    attr_reader :needed
    # @return [Integer, nil] bytes of it that are there
    attr_reader :available

    # @private
    def initialize(message = nil, needed: nil, available: nil, **place)
      super(message, **place)
      @needed = needed
      @available = available
    end
  end

  # A length, count or depth in the input is above the bound that is kept for it.
  class LimitError < StandardError
    include Error
  end

  # Another process holds the file, or what is asked for is busy in this very thread, which would wait for
  # itself.
  class LockError < StandardError
    include Error
  end

  # The object was closed, belongs to another process, or can be read only once. It is an IOError, as that of
  # a closed IO is.
  class ClosedError < IOError
    include Error
  end

  # A checksum or an invariant of a file that Bytewright wrote does not hold.
  class CorruptError < StandardError
    include Error
  end

  # A library that is needed is not on this machine; the message says how to install it.
  class MissingLibraryError < StandardError
    include Error
  end

  # A defect in Bytewright itself; please report it.
  class InternalError < StandardError
    include Error
  end
end
