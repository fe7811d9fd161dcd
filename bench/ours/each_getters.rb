# frozen_string_literal: true

# Ours: two integers of every packet, read from the one cursor that `each` moves along.
#
#   ruby each_getters.rb CAPTURE

require "json"
require "bytewright"

packets = 0
sum = 0
Bytewright::Capture.open(ARGV.fetch(0)) do |capture|
  capture.each do |packet|
    packets += 1
    source_port = packet.src_port
    sum += source_port + packet.length if source_port
  end
end
puts JSON.generate(packets: packets, sum: sum)
