# frozen_string_literal: true

# Before Ruby 3.2, IO has its methods for waiting from there.
require "io/wait"

module Bytewright
  # Base of readers and writers: the IO, or other object, below.
  module ObjectStream
    # fcntl's number for asking what a descriptor does; the same wherever Ruby is.
    GET_FLAGS = 3

    # Places to count from, as numbers of the extension.
    WHENCES = {
      IO::SEEK_SET => 0, SET: 0, IO::SEEK_CUR => 1, CUR: 1, IO::SEEK_END => 2, END: 2
    }.freeze
    # Those of IO, by these numbers.
    IO_WHENCES = [IO::SEEK_SET, IO::SEEK_CUR, IO::SEEK_END].freeze
    private_constant :GET_FLAGS, :WHENCES, :IO_WHENCES

    # Returns the position of an object, if it can be told to go elsewhere.
    def self.position_of(object)
      return unless object.respond_to?(:pos) && object.respond_to?(:seek)
      return if object.is_a?(IO) && !object.stat.file?

      object.pos
    rescue SystemCallError, IOError
      nil
    end

    # Returns true if the system makes readers and writers of an IO wait, false if it says that there is nothing yet.
    def self.blocks?(io)
      (io.fcntl(GET_FLAGS) & File::NONBLOCK).zero?
    end

    private

    def whence_number(whence)
      WHENCES.fetch(whence) { raise ArgumentError, "unknown whence: #{Bytewright.send(:excerpt, whence.to_s)}" }
    end

    # Keeps an IO that is closed with the stream.
    def own(io)
      @owned = io
    end

    def close_owned
      @owned&.close
      @owned = nil
    end

    # Called where the object is to go to a place, or is only asked where it is. It answers the place; nil for an end
    # that the object cannot say.
    def seek_object(offset, whence)
      @object.seek(offset, IO_WHENCES[whence]) unless whence == 1
      whence.zero? ? offset : @object.pos
    rescue ArgumentError
      raise unless whence == 2
    end
  end
  private_constant :ObjectStream
end
