# frozen_string_literal: true

require_relative "object_stream"
require_relative "extension"
Bytewright.send(:define_readers)

module Bytewright
  private_constant :ReaderStream, :LineRule, :Search, :RecordTemplate

  # Binary input through one buffer outside of Ruby's heap: what is buffered costs a method call, and the
  # system is asked once for 64 KiB.
  #
  #   Bytewright::Reader.open("trace.bin") do |reader|
  #     until reader.eof?
  #       length = reader.u32be
  #       reader.skip(12)
  #       body = reader.read(length)
  #     end
  #   end
  #
  # Input that is compressed with gzip or zstd is decompressed. Positions are those of what is read, from
  # where the reader began.
  #
  # A value that the input ends within raises TruncatedError, and nothing of it is taken. Whatever else
  # ends an operation that waits (Thread#raise, Timeout), what it had read by then is read again.
  class Reader < ReaderStream
    include Undumpable
    include Enumerable
    include ObjectStream

    # Bytes that are asked of an object at once.
    PIECE = 65_536

    # Exception that ends a wait for input when the reader is closed.
    class Woken < Exception; end # rubocop:disable Lint/InheritException -- no rescue in between takes it

    # When that may come. The Hashes are made once: a wait is to cost nothing beside itself.
    ASLEEP, AWAKE, READING = [{ Woken => :immediate }, { Woken => :never }, { Object => :never }].each(&:freeze)
    # Names of compressions that Ruby has other words for, too.
    COMPRESSED = { true => :auto, false => :none, nil => :none }.freeze
    private_constant :PIECE, :Woken, :ASLEEP, :AWAKE, :READING, :COMPRESSED

    class << self
      # Opens a file, or reads from an object.
      #
      # A regular file is read from where it is, by a descriptor of the reader's own, so that the IO stays
      # where it is. Any other IO, and whatever else has +readpartial+ or +read+, is asked by its methods,
      # and so is every IO where a fiber scheduler is set. An IO that is given is not closed with the reader.
      #
      # @param source [String, #to_path, #readpartial, #read] a path, or an IO or IO-like object
      # @param encoding [Encoding, String, nil] what lines, and all of the rest, are read in: that of the IO,
      #   or Encoding.default_external
      # @param options those of {Options::READER}: compressed, for which true is :auto, and false :none
      # @yieldparam reader [Reader] closed when the block ends
      # @return [Reader, Object] the reader, or what the block returns
      # @raise [Errno::ENOENT] and its like where the file cannot be opened
      def open(source, encoding: nil, **options)
        object, is_own, *opener = way_to(source, with_words(options), encoding && Encoding.find(encoding))
        return begun(send(*opener), object, is_own) unless block_given?

        send(*opener) { |reader| yield begun(reader, object, is_own) }
      end

      private :open_path, :open_descriptor, :open_object

      private

      # The options with the core's words for what Ruby says with true, false and nil.
      def with_words(options)
        return options unless options.key?(:compressed)

        { **options, compressed: COMPRESSED.fetch(options[:compressed], options[:compressed]) }
      end

      # The object to read from by its methods, if it is read so, and whether the reader closes it; then the method that
      # opens the reader, and what that is given.
      def way_to(source, options, encoding)
        return way_to_path(source, options, encoding) if source.is_a?(String)
        return way_to_io(source, options, encoding) if source.is_a?(IO)
        return way_to_object(source, options, encoding) if source.respond_to?(:readpartial)
        return way_to_path(source.to_path, options, encoding) if source.respond_to?(:to_path)
        return way_to_object(source, options, encoding) if source.respond_to?(:read)

        raise TypeError, "expected a path or an object with readpartial or read, found #{source.class}"
      end

      def way_to_path(path, options, encoding)
        encoding ||= Encoding.default_external
        return [nil, false, :open_path, path, options, encoding] if File.file?(path) && !Fiber.current_scheduler

        file = Bytewright.send(:with_harmless_names) do
          raise Errno::EISDIR, path if File.directory?(path)

          File.open(path, "rb")
        end
        way_to_object(file, options, encoding, is_own: true)
      end

      def way_to_io(io, options, encoding)
        encoding ||= io.external_encoding || Encoding.default_external
        return way_to_object(io, options, encoding) if Fiber.current_scheduler || !io.stat.file?

        # Asking for nothing raises what reading would: that it is closed, or opened to write.
        io.read(0)
        [nil, false, :open_descriptor, io.fileno, io.pos, name_of(io), options, encoding]
      end

      # Returns the name of an IO in errors. A path may be any bytes, and a file may have none.
      def name_of(io)
        path = begin
          io.path if io.respond_to?(:path)
        rescue IOError
          nil
        end
        (path || io.inspect).dup.force_encoding(Encoding::UTF_8).scrub
      end

      def way_to_object(object, options, encoding, is_own: false)
        encoding ||= (object.external_encoding if object.respond_to?(:external_encoding)) || Encoding.default_external
        [object, is_own, :open_object, object.class.to_s, ObjectStream.position_of(object), options, encoding]
      end

      def begun(reader, object, is_own)
        reader.send(:attach, object) if object
        reader.send(:own, object) if is_own
        reader
      end
    end

    alias eof eof?
    alias tell pos

    # @!method u8
    #   The next byte, and by like names the next number of any width: a letter for its kind (u unsigned, i
    #   signed, f a float), its bits, and le or be for the order of its bytes.
    #   @return [Integer]
    #   @raise [TruncatedError] where the input ends before it does
    # @!method varint
    #   The next number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits.
    #   @return [Integer]
    # @!method zigzag
    #   The next signed number of that form, as protocol buffers have it: 0, -1, 1, -2.
    #   @return [Integer]
    # @!method read(length = nil, string = nil)
    #   As IO#read: bytes as they are, or all that is left in the encoding of lines.
    #   @return [String, nil] nil at the end, where a length is given that is not 0
    # @!method read_into(string, length)
    #   Puts up to +length+ bytes into +string+, in place of what it has.
    #   @return [String, nil] the string; nil at the end, and the string is empty then
    # @!method peek(length)
    #   Bytes that stay where they are.
    #   @return [String, nil] fewer than +length+, or nil, only where the input ends
    # @!method skip(length)
    #   Passes over bytes. A long way in a file is not read.
    #   @return [Integer] how many there were
    # @!method gets(separator = $/, limit = nil, chomp: false)
    #   As IO#gets.
    #   @return [String, nil]
    # @!method count_lines
    #   Passes over all lines that are left, and counts them, as +each_line.count+ would.
    #   @return [Integer]

    # Goes to a place in a file, or in an object that can go there; beyond the end there is nothing to read.
    # In compressed input, forwards is by reading, and backwards from the beginning. In what can be read once
    # (a pipe, a socket), forwards is by reading, too, and there is no other way.
    #
    # @param offset [Integer]
    # @param whence [Integer, Symbol] IO::SEEK_SET, IO::SEEK_CUR or IO::SEEK_END, or :SET, :CUR or :END
    # @return [Integer] 0
    # @raise [Errno::ESPIPE] backwards, or from the end, in what can be read once; nothing is read then
    # @raise [Errno::EINVAL] where the place is before the beginning
    def seek(offset, whence = IO::SEEK_SET)
      go(whence_number(whence), offset)
      0
    end

    # @param offset [Integer]
    def pos=(offset)
      seek(offset)
    end

    # Goes back to where it began, and reads anew what may have changed since.
    #
    # @return [Integer] 0
    # @raise [Errno::ESPIPE] where something was read of what can be read once
    def rewind
      go_to_beginning
      0
    end

    # Yields each line, as IO#each_line does, or with +batch+ Arrays of so many lines, which costs less. A
    # batch has fewer lines at the end, and where those that are there would wait for others.
    #
    # @param separator [String, nil] what ends a line; "" for paragraphs, nil for all in one
    # @param limit [Integer, nil] the most bytes of a line
    # @param chomp [Boolean] whether to leave out what ends a line
    # @param batch [Integer, nil] lines to an Array
    # @yieldparam line [String, Array<String>]
    # @return [Reader, Enumerator]
    def each_line(separator = line_end, limit = nil, chomp: false, batch: nil, &block)
      return to_enum(:each_line, separator, limit, chomp: chomp, batch: batch) unless block
      raise ArgumentError, "expected batch: above 0, found #{Bytewright.send(:shown, batch)}" if batch && batch < 1

      rule = line_rule(separator, limit, chomp: chomp, each: true)
      each_line_by(rule, batch || 0, &block)
    end
    alias each each_line

    # Yields each record of +size+ bytes.
    #
    # @yieldparam record [String]
    # @return [Reader, Enumerator]
    # @raise [TruncatedError] after the last one, where there are fewer bytes than a record has
    def each_record(size, &block)
      raise ArgumentError, "expected a size above 0, found #{Bytewright.send(:shown, size)}" unless size.positive?
      return to_enum(:each_record, size) { records_left(size) } unless block

      each_record_by(size, &block)
    end

    # Unpacks records of one length, as String#unpack does one: +template+ has no letter whose length
    # depends on the bytes.
    #
    # @param template [String] letters of String#unpack: C c S s L l Q q J j N n V v E e G g F f D d with <, >
    #   and counts, a A Z and x with counts
    # @param count [Integer, nil] how many records, at most; all that are left where it is nil
    # @yieldparam values [Array] the values of one record
    # @return [Array<Array>, Reader] the values of each record, or self with a block
    # @raise [TruncatedError] where the input ends within a record
    # @raise [ArgumentError] where the template has no fixed length
    def unpack_records(template, count = nil, &block)
      template = record_template(template)
      block ? each_values_by(template, count, &block) : take_records(template, count)
    end

    # Looks for a sequence of bytes. With a block it stands behind each one when it yields, and looks on from
    # where the block leaves it.
    #
    # @param pattern [String]
    # @yieldparam position [Integer] where a sequence begins
    # @return [Array<Integer>, Reader] all of those places, or self with a block
    def scan(pattern)
      pattern = String.try_convert(pattern) || raise(TypeError, "no implicit conversion of #{pattern.class} into String")
      search = Search.new(pattern)
      return find_rest(search) unless block_given?

      while (at = find_next(search))
        yield at
      end
      self
    end

    # Gives the file back. An IO that was given stays open. A thread that waits for input of an IO, to read it
    # through this reader, gets a ClosedError.
    #
    # @return [nil]
    # @raise [LockError] while this very thread reads: in a signal handler
    def close
      close_stream(Woken)
      close_owned
    end

    # @return [String] its name, and whether it is closed
    def inspect
      "#<#{self.class} #{name}#{" (closed)" if closed?}>"
    end

    private :each_line_by, :each_record_by, :each_values_by, :take_records

    private

    # Keeps the object that bytes come from.
    def attach(object)
      @object = object
      @asks = object.respond_to?(:readpartial) ? :readpartial : :read
      return unless object.is_a?(IO)

      @piece = String.new(capacity: PIECE)
      @blocks = ObjectStream.blocks?(object)
    end

    # Called where more bytes are needed than there are: asks the object for some, and waits for them.
    def bring_input
      return supply(@object.public_send(@asks, PIECE)) unless @piece

      # Ruby checks for interrupts between reading and answering, and what was read would be lost. So it
      # is interrupted while it waits, and not while it reads.
      wait_for_input
      return if closed?

      Thread.handle_interrupt(READING) { take_input }
    rescue EOFError
      supply(nil)
    rescue IOError
      # An IO of the reader's own was closed with it, which the operation says in its own words.
      raise unless closed?
    end

    # Takes what has come. Others who read the same pipe may have been quicker: then it comes back for more.
    def take_input
      return supply(@object.readpartial(PIECE, @piece)) if @blocks

      bytes = @object.read_nonblock(PIECE, @piece, exception: false)
      supply(bytes) unless bytes == :wait_readable
    end

    # Waits until there is something to read, or the reader is closed.
    def wait_for_input
      return @object.wait_readable if Fiber.current_scheduler
      return if @object.wait_readable(0)

      Thread.handle_interrupt(AWAKE) do
        begin_waiting
        # Who closed it before did not see that this waits.
        Thread.handle_interrupt(ASLEEP) { @object.wait_readable } unless closed?
      rescue Woken
        nil
      ensure
        be_woken if end_waiting
      end
    end

    # Lets an interruption come that was sent before the wait ended, if it did not yet: it must not come later.
    def be_woken
      Thread.handle_interrupt(ASLEEP) { Thread.pass }
    rescue Woken
      nil
    end

    # Ruby's separator of lines, which other Ractors than the main one cannot ask for.
    def line_end
      $/
    rescue Ractor::IsolationError
      "\n"
    end

    def line_rule(separator = line_end, limit = nil, chomp: false, each: false)
      if limit.nil? && !separator.nil? && (text = String.try_convert(separator)).nil?
        separator, limit = line_end, separator
      end
      separator = text || (separator && (String.try_convert(separator) || raise(TypeError, "no implicit conversion of #{separator.class} into String")))
      unless limit.nil?
        raise TypeError, "no implicit conversion of #{limit.class} into Integer" unless limit.respond_to?(:to_int)

        limit = limit.to_int
        raise ArgumentError, "invalid limit: 0 for each_line" if each && limit.zero?

        limit = nil if limit.negative?
      end
      unless external_encoding.ascii_compatible? || (separator.nil? && limit.nil?)
        raise ArgumentError, "expected newlines of one byte, found #{external_encoding}; try reader.read.each_line"
      end

      LineRule.new(separator, limit, external_encoding == Encoding::UTF_8, chomp ? true : false)
    end

    def record_template(text)
      return @template if @template_text == text

      @template = RecordTemplate.new(text)
      @template_text = text.dup.freeze
      @template
    end

    def records_left(size)
      left = bytes_left
      left && (left + size - 1) / size
    end
  end
end
