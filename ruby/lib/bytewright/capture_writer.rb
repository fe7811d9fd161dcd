# frozen_string_literal: true

module Bytewright
  # Writes packets to a new capture. The name says the form: .pcap or .pcapng, with .gz or .zst behind it to compress it.
  #
  #   Bytewright::CaptureWriter.open("answers.pcapng.zst") do |writer|
  #     writer.write("\x02\x00...".b, time: Time.now, interface: "eth0", comment: "by hand")
  #   end
  #
  # The file has its name when it is closed, and replaces the one that has it: a reader, or a power cut, finds the old one or
  # the new one, whole. What was begun and not closed leaves nothing behind.
  class CaptureWriter
    include Undumpable

    class << self
      # Begins a capture.
      #
      # @param path [String, #to_path]
      # @param options those of {Options::OUTPUT}: force
      # @yieldparam writer [CaptureWriter] closed when the block ends; where it raises, throws or breaks, there is no file, or
      #   the old one
      # @return [CaptureWriter, Object] the writer, or what the block returns
      # @raise [ArgumentError] where the name is none of a capture, or one of a file that is replaced only with +force+
      def open(path, **options)
        path = path.to_path if path.respond_to?(:to_path)
        return open_path(path, options) unless block_given?

        writer = nil
        begin
          # A thread that is killed just when the file has been opened would leave it behind.
          Thread.handle_interrupt(Object => :never) { writer = open_path(path, options) }
          result = yield writer
          writer.close
          result
        ensure
          writer&.discard
        end
      end

      private :open_path
    end

    # Appends a packet.
    #
    # @param bytes [String] what was captured of it
    # @param time [Time, DateTime, Numeric, nil] when; Integers are nanoseconds since 1970, other numbers seconds. Without a time,
    #   pcap says 1970
    # @param details those of {Options::WRITTEN_PACKET}: length, link_type, interface and comment
    # @return [CaptureWriter] self
    # @raise [ArgumentError, LimitError] for what the format cannot hold; nothing is appended then
    # @raise [ClosedError] once it was closed or discarded
    def write(bytes, time: nil, **details)
      write_packet(bytes, Since1970.nanoseconds(time), details)
      self
    end

    # @return [String] its name, and whether it is closed
    def inspect
      "#<#{self.class} #{name}#{" (closed)" if closed?}>"
    end

    private :write_packet
  end
end
