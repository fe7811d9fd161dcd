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
    class << self
      # Begins a capture.
      #
      # @param path [String, #to_path]
      # @yieldparam writer [CaptureWriter] closed when the block ends; where it raises, throws or breaks, there is no file, or
      #   the old one
      # @return [CaptureWriter, Object] the writer, or what the block returns
      # @raise [ArgumentError] where the name is none of a capture
      def open(path)
        path = path.to_path if path.respond_to?(:to_path)
        return open_path(path) unless block_given?

        writer = nil
        begin
          # A thread that is killed just when the file has been opened would leave it behind.
          Thread.handle_interrupt(Object => :never) { writer = open_path(path) }
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
    # @param length [Integer, nil] bytes on the wire, where those are more than were captured
    # @param link_type [Integer] LINKTYPE_ number, 1 Ethernet; a pcap file has one for all packets
    # @param interface [String, nil] name of the interface, which only pcapng keeps
    # @param comment [String, nil] words about the packet, which only pcapng keeps
    # @return [CaptureWriter] self
    # @raise [ArgumentError, LimitError] for what the format cannot hold; nothing is appended then
    # @raise [ClosedError] once it was closed or discarded
    def write(bytes, time: nil, length: nil, link_type: 1, interface: nil, comment: nil)
      write_packet(bytes, Since1970.nanoseconds(time), length, link_type, interface, comment)
      self
    end

    # @return [String] its name, and whether it is closed
    def inspect
      "#<#{self.class} #{name}#{" (closed)" if closed?}>"
    end

    private :write_packet
  end
end
