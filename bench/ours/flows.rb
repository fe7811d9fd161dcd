# frozen_string_literal: true

# Ours: an object per flow, summed up by the core.
#
#   ruby flows.rb CAPTURE

require "json"
require "bytewright"

packets = lengths = port_flows = squares = 0
Bytewright::Capture.open(ARGV.fetch(0)) do |capture|
  capture.flows do |flow|
    flow_packets = flow.packets + flow.rev_packets
    packets += flow_packets
    lengths += flow.bytes + flow.rev_bytes
    next unless flow.src_port

    port_flows += 1
    squares += flow_packets * flow_packets
  end
end
puts JSON.generate(packets: packets, lengths: lengths, port_flows: port_flows, squares: squares)
