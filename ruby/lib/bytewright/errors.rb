# frozen_string_literal: true

module Bytewright
  # What all errors of Bytewright are. What the operating system refuses is raised as the +Errno+
  # class that Ruby itself would raise, and a wrong argument as ArgumentError or TypeError.
  class Error < StandardError
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
  class FormatError < Error; end

  # The input ends in the middle of something.
  class TruncatedError < Error
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
  class LimitError < Error; end

  # Another process holds the file.
  class LockError < Error; end

  # The object was closed, belongs to another process, or can be read only once.
  class ClosedError < Error; end

  # A checksum or an invariant of a file that Bytewright wrote does not hold.
  class CorruptError < Error; end

  # A library that is needed is not on this machine; the message says how to install it.
  class MissingLibraryError < Error; end

  # A defect in Bytewright itself; please report it.
  class InternalError < Error; end
end
