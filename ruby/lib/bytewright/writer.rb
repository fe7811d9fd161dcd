# frozen_string_literal: true

require_relative "object_stream"
require_relative "extension"
Bytewright.send(:define_writers)

module Bytewright
  private_constant :WriterStream

  # Binary output that is gathered outside of Ruby's heap and written in few calls: the counterpart of
  # {Reader}, with the same names for values.
  #
  #   Bytewright::Writer.open("trace.bin") do |writer|
  #     writer.u32be(body.bytesize).u64le(0) << body
  #   end
  #
  # Bytes that are written are in the file when it is flushed or closed. An error loses nothing: what was not
  # written is gathered still.
  class Writer < WriterStream
    include Undumpable
    include ObjectStream

    # Bytes that an object is given at once.
    PIECE = 65_536
    # Bytes that a pipe takes at once if it says that it takes something.
    PIPE_PIECE = 4_096
    private_constant :PIECE, :PIPE_PIECE

    class << self
      # Opens a file to be written, or writes to an object.
      #
      # An IO is written to by its own methods, and not closed with the writer.
      #
      # @param target [String, #to_path, #write] a path, or an IO or IO-like object
      # @param append [Boolean] whether to write behind what the file of a path has; it is written anew otherwise
      # @param fsync [Boolean] whether {#flush} and {#close} return when the bytes will survive a power cut
      # @yieldparam writer [Writer] closed when the block ends
      # @return [Writer, Object] the writer, or what the block returns
      # @raise [Errno::ENOENT] and its like where the file cannot be opened
      def open(target, append: false, fsync: false, &block)
        writer = to(target, append ? true : false)
        writer.send(:sync_always) if fsync
        block ? closing(writer, &block) : writer
      end

      # Writes a file that takes the place of the one at +path+ when the block ends: a reader, or a power cut,
      # finds the old one or the new one, whole. Mode and owner are those of the old one; where +path+ is a
      # link, what it leads to is replaced. Where the block raises, throws or breaks, the old one stays.
      #
      # @param path [String, #to_path]
      # @yieldparam writer [Writer]
      # @return [Object] what the block returns
      def replace(path)
        raise ArgumentError, "expected a block that writes the file, found none" unless block_given?

        path = path_of(path)
        writer = nil
        begin
          # A thread that is killed just when the file has been opened would leave it behind.
          Thread.handle_interrupt(Object => :never) { writer = open_replacement(path) }
          result = yield writer
          Thread.handle_interrupt(Object => :never) { writer.send(:finish_replacement) }
          result
        ensure
          writer&.send(:abandon)
        end
      end

      private :open_path, :open_to_append, :open_replacement, :open_object

      private

      def closing(writer)
        yield writer
      rescue Exception # rubocop:disable Lint/RescueException -- it is raised again
        # Bytes that the block wrote before it raised are written, as File.open does; a second error would hide
        # the first.
        close_quietly(writer)
        raise
      ensure
        # Also where the block is left by break, return or throw.
        close_for_good(writer)
      end

      def close_for_good(writer)
        writer.close
      ensure
        # Bytes that a failure left over are not to be written at some later time, when the writer is collected.
        writer.send(:abandon)
      end

      def close_quietly(writer)
        writer.close
      rescue StandardError
        writer.send(:abandon)
      end

      def to(target, append)
        if target.respond_to?(:write) && (target.respond_to?(:flush) || !target.respond_to?(:to_path))
          raise ArgumentError, "expected a path with append: true, found #{target.class}; open it to append" if append

          return to_object(target)
        end

        path = path_of(target)
        return append ? open_to_append(path) : open_path(path) if !File.exist?(path) || File.file?(path)

        file = Bytewright.send(:with_harmless_names) { File.open(path, append ? "ab" : "wb") }
        to_object(file).tap { |writer| writer.send(:own, file) }
      end

      def path_of(target)
        path = String.try_convert(target) || (target.to_path if target.respond_to?(:to_path))
        raise TypeError, "expected a path or an object with write, found #{target.class}" unless path

        path
      end

      def to_object(object)
        open_object(object.class.to_s, ObjectStream.position_of(object)).tap { |writer| writer.send(:attach, object) }
      end
    end

    alias tell pos

    # @!method u8(value)
    #   Writes a byte, and by like names a number of any width: see {Reader}.
    #   @param value [Integer]
    #   @return [Writer] self
    #   @raise [RangeError] where the value does not fit
    # @!method write(*objects)
    #   As IO#write.
    #   @return [Integer] bytes that were written
    # @!method <<(object)
    #   @return [Writer] self

    # Writes values as Array#pack makes bytes of them.
    #
    #   writer.pack("n a4 C", 2, "body", 7)
    #
    # @param template [String] as for Array#pack
    # @param values [Array<Object>]
    # @return [Writer] self
    # @raise [ArgumentError] where there are fewer values than the template has letters
    def pack(template, *values)
      self << values.pack(template)
    end

    # Writes what is gathered, and goes to a place from which on the next bytes are written: a header whose
    # length is known at the end. Bytes between the end and a place beyond it are zeros, once something is
    # written there. Where the writer appends, what is written goes to the end all the same.
    #
    # In an object that was given, places are counted from where it was then.
    #
    # @param offset [Integer]
    # @param whence [Integer, Symbol] IO::SEEK_SET, IO::SEEK_CUR or IO::SEEK_END, or :SET, :CUR or :END
    # @return [Integer] 0
    # @raise [Errno::ESPIPE] in a pipe or a socket, or an object without +seek+ and +pos+
    # @raise [Errno::EINVAL] where the place is before the beginning
    def seek(offset, whence = IO::SEEK_SET)
      go(whence_number(whence), offset)
      0
    end

    # @param offset [Integer]
    def pos=(offset)
      seek(offset)
    end

    # Hands all that is gathered to the system, or to the object, which is flushed, too.
    #
    # @param fsync [Boolean] whether to return only when it will survive a power cut
    # @return [Writer] self
    def flush(fsync: @fsync)
      flush_stream(fsync ? true : false)
      self
    end

    # Returns when what was written so far will survive a power cut.
    #
    # @return [Integer] 0
    def fsync
      flush_stream(true)
      0
    end

    # Writes what is gathered and gives the file back. An IO that was given stays open. Where that raises, it
    # is open still, and can be closed again.
    #
    # @return [nil]
    def close
      return if closed?

      finish_stream(@fsync ? true : false)
    ensure
      close_owned if closed?
    end

    # @return [String] its name, and whether it is closed
    def inspect
      "#<#{self.class} #{name}#{" (closed)" if closed?}>"
    end

    private

    def sync_always
      @fsync = true
    end

    def attach(object)
      @object = object
      return unless object.is_a?(IO)

      object.flush
      @is_io = true
      # A pipe that does not block takes what there is room for; another one could block for ever.
      takes_a_part = object.stat.file? || !ObjectStream.blocks?(object)
      @piece = takes_a_part ? PIECE : PIPE_PIECE
    end

    # Closes without writing.
    def abandon
      abandon_stream
      close_owned
    end

    # Called where all of the gathered bytes went to the object.
    def flush_object(fsync)
      @object.flush if @object.respond_to?(:flush)
      @object.fsync if fsync && @object.respond_to?(:fsync)
    end

    # Called where gathered bytes are to go to the object: gives it some, and waits until it takes them.
    def write_to_object
      return write_all_to_object unless @is_io

      # Ruby checks for interrupts between writing and answering how much that was. So it is interrupted
      # while it waits, and not while it writes. syswrite would pass by what the IO has buffered itself.
      @object.flush if @piece == PIPE_PIECE
      @object.wait_writable
      Thread.handle_interrupt(Object => :never) do
        bytes = gathered_bytes(@piece)
        count = @piece == PIPE_PIECE ? @object.syswrite(bytes) : @object.write_nonblock(bytes, exception: false)
        forget(count) if count.is_a?(Integer)
      end
    end

    def write_all_to_object
      bytes = gathered_bytes(PIECE)
      count = @object.write(bytes)
      forget(count.is_a?(Integer) ? count : bytes.bytesize)
    end
  end
end
