# frozen_string_literal: true

# Ours: packets per destination port, counted in the core.
#
#   ruby count_by_dst_port.rb CAPTURE

require "json"
require "bytewright"

counts = Bytewright::Capture.open(ARGV.fetch(0)) { |capture| capture.count_by(:dst_port) }
# The packets without a port stand under nil.
packets = counts.values.sum
counts.delete(nil)

puts JSON.generate(
  packets: packets, ports: counts.size, counted: counts.values.sum,
  weighted: counts.sum { |port, count| port * count },
  squares: counts.values.sum { |count| count * count }
)
