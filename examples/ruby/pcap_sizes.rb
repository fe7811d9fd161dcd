# frozen_string_literal: true

# Reads a pcap file by hand, as any format that has no library: how many packets, and how long the longest is.
# ruby pcap_sizes.rb CAPTURE

require "bytewright"

abort "usage: ruby pcap_sizes.rb CAPTURE" unless ARGV.size == 1

Bytewright::Reader.open(ARGV.first) do |reader|
  abort "expected a little-endian pcap file" unless reader.u32le == 0xa1b2c3d4
  reader.skip(20)                       # version, zone, accuracy, snaplen, link type
  sizes = []
  until reader.eof?
    reader.skip(8)                      # seconds, microseconds
    captured = reader.u32le
    sizes << reader.u32le
    reader.skip(captured)
  end
  puts "#{sizes.size} packets, #{sizes.sum} bytes, longest #{sizes.max}"
end
