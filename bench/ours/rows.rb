# frozen_string_literal: true

# Ours: an Array of 8 per packet with the addresses as text, the same rows in the same order as the
# C extension's (peers/c_ext).
#
#   ruby rows.rb CAPTURE

require "json"
require "bytewright"

COLUMNS = %i[ts src_ip dst_ip src_port dst_port proto length tcp_flags].freeze

packets = times = ports = lengths = flags = text_bytes = 0
Bytewright::Capture.open(ARGV.fetch(0)) do |capture|
  capture.each_row(*COLUMNS) do |row|
    packets += 1
    times ^= row[0]
    text_bytes += row[1].bytesize + row[2].bytesize if row[1]
    ports += row[3] + row[4] if row[3]
    lengths += row[6]
    flags += row[7] if row[7]
  end
end
puts JSON.generate(packets: packets, times: times, ports: ports, lengths: lengths, flags: flags,
                   text_bytes: text_bytes)
