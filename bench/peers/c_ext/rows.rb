# frozen_string_literal: true

# Peer: an Array of 8 per packet from the C extension beside this file.
#
#   ruby -I FOLDER_OF_THE_BUILT_EXTENSION rows.rb TASK CAPTURE

require "json"
require "article_pcap"

def rows(path)
  packets = times = ports = lengths = flags = text_bytes = 0
  ArticlePcap.each_row(path) do |row|
    packets += 1
    times ^= row[0]
    text_bytes += row[1].bytesize + row[2].bytesize if row[1]
    ports += row[3] + row[4] if row[3]
    lengths += row[6]
    flags += row[7] if row[7]
  end
  { packets: packets, times: times, ports: ports, lengths: lengths, flags: flags,
    text_bytes: text_bytes }
end

def count_by_dst_port(path)
  packets = 0
  counts = Hash.new(0)
  ArticlePcap.each_row(path) do |row|
    packets += 1
    counts[row[4]] += 1 if row[4]
  end
  { packets: packets, ports: counts.size, counted: counts.values.sum,
    weighted: counts.sum { |port, count| port * count },
    squares: counts.values.sum { |count| count * count } }
end

def getters(path)
  packets = sum = 0
  ArticlePcap.each_row(path) do |row|
    packets += 1
    sum += row[3] + row[6] if row[3]
  end
  { packets: packets, sum: sum }
end

TASKS = %w[count_by_dst_port getters rows].freeze

task, path = ARGV
abort "usage: rows.rb #{TASKS.join('|')} CAPTURE" unless TASKS.include?(task) && path
puts JSON.generate(send(task, path))
