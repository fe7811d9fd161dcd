# Generated from the core's table of questions by `make generate`. Do not edit.
# frozen_string_literal: true

module Bytewright
  class Capture
    class << self
      # Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts for
      # both of its addresses, and one without addresses for none.
      #
      # @param sources [Array<String, #to_path, #readpartial, #read>] captures, read as one run in this order
      # @param options those of {Options::ENDPOINTS}: every, top, where; and of {open}
      # @return [Array<Hash{Symbol => Object}>] address, packets, bytes, sent_packets, sent_bytes, received_packets,
      #   received_bytes, groups
      def endpoints(*sources, **options)
        summary("endpoints", sources, options)
      end

      # Packets and bytes by service, the protocol and the lower of a packet's two ports, sent and received by that
      # port, the services with the most bytes first. A packet without ports counts for none.
      #
      # @param sources [Array<String, #to_path, #readpartial, #read>] captures, read as one run in this order
      # @param options those of {Options::SERVICES}: every, top, where; and of {open}
      # @return [Array<Hash{Symbol => Object}>] proto, port, packets, bytes, sent_packets, sent_bytes, received_packets,
      #   received_bytes, groups
      def services(*sources, **options)
        summary("services", sources, options)
      end

      # Make the indexes of captures, files with which questions about a time and packets by their numbers need not read
      # a whole capture. An index lies beside its capture, as FILE.bwi, or in the folder that index_dir names; one that
      # fits is left as it is, and that of a capture that has grown is made longer.
      #
      # @param sources [Array<String, #to_path, #readpartial, #read>] captures, read as one run in this order
      # @param options those of {Options::INDEX}: anew; and of {open}
      # @return [Array<Hash{Symbol => Object}>] file, index, state, packets, parts, bytes, first_ts, last_ts
      def index(*sources, **options)
        summary("index", sources, options)
      end
    end

    # Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts for
    # both of its addresses, and one without addresses for none.
    #
    # @param options those of {Options::ENDPOINTS}: every, top, where
    # @return [Array<Hash{Symbol => Object}>] address, packets, bytes, sent_packets, sent_bytes, received_packets,
    #   received_bytes, groups
    def endpoints(**options)
      summary("endpoints", options)
    end

    # Packets and bytes by service, the protocol and the lower of a packet's two ports, sent and received by that port,
    # the services with the most bytes first. A packet without ports counts for none.
    #
    # @param options those of {Options::SERVICES}: every, top, where
    # @return [Array<Hash{Symbol => Object}>] proto, port, packets, bytes, sent_packets, sent_bytes, received_packets,
    #   received_bytes, groups
    def services(**options)
      summary("services", options)
    end

    # Make the indexes of captures, files with which questions about a time and packets by their numbers need not read a
    # whole capture. An index lies beside its capture, as FILE.bwi, or in the folder that index_dir names; one that fits
    # is left as it is, and that of a capture that has grown is made longer.
    #
    # @param options those of {Options::INDEX}: anew
    # @return [Array<Hash{Symbol => Object}>] file, index, state, packets, parts, bytes, first_ts, last_ts
    def index(**options)
      summary("index", options)
    end
  end
end
