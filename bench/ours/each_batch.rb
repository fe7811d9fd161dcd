# frozen_string_literal: true

# Ours: columns summed up batch by batch, the same sums as over the C extension's rows (peers/c_ext).
#
#   ruby each_batch.rb CAPTURE

require "json"
require "bytewright"

packets = times = ports = lengths = flags = 0
Bytewright::Capture.open(ARGV.fetch(0)) do |capture|
  capture.each_batch do |columns|
    packets += columns.size
    times = columns.unpack(:ts).reduce(times, :^)
    lengths += columns.unpack(:length).sum
    ports += columns.values(:src_port).compact.sum + columns.values(:dst_port).compact.sum
    flags += columns.values(:tcp_flags).compact.sum
  end
end
puts JSON.generate(packets: packets, times: times, ports: ports, lengths: lengths, flags: flags)
