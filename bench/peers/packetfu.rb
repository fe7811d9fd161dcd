# frozen_string_literal: true

# Peer: packetfu, the packet library that most Ruby programs use.
#
#   ruby packetfu.rb count_by_dst_port CAPTURE
#
# Known to differ: packetfu finds no layer behind a VLAN tag and no TCP or UDP over IPv6, so that its
# counts lack those packets. It reads classic pcap only.

require "json"
require "packetfu"

def destination_port(packet)
  case packet
  when PacketFu::TCPPacket then packet.tcp_dst
  when PacketFu::UDPPacket then packet.udp_dst
  end
end

def count_by_dst_port(path)
  packets = 0
  counts = Hash.new(0)
  PacketFu::PcapFile.read_packets(path) do |packet|
    packets += 1
    port = destination_port(packet)
    counts[port] += 1 if port
  end
  { packets: packets, ports: counts.size, counted: counts.values.sum,
    weighted: counts.sum { |port, count| port * count },
    squares: counts.values.sum { |count| count * count } }
end

task, path = ARGV
abort "usage: packetfu.rb count_by_dst_port CAPTURE" unless task == "count_by_dst_port" && path
puts JSON.generate(count_by_dst_port(path))
