# frozen_string_literal: true

# Peer: what a Ruby program does today, a loop over pcaprub's packets with `unpack`.
#
#   ruby pcaprub_unpack.rb TASK CAPTURE
#
# Two loops stand here. `each_header` takes all the fields of a header by `unpack`, as the programs do
# that Bytewright means to replace. The `_lean` tasks are the least that this library lets a program
# do for one answer: bytes read in place, nothing unpacked that is not used.

require "json"
require "ipaddr"
require "pcaprub"

ETHERTYPE_V4 = 0x0800
ETHERTYPE_V6 = 0x86dd
ETHERTYPE_VLAN = [0x8100, 0x88a8, 0x9100].freeze
TCP = 6
UDP = 17

# Yields time_ns, source, destination (bytes), ports, protocol, length and TCP flags of each packet.
# All but the time and the length are nil where the packet has no such field.
def each_header(path)
  PCAPRUB::Pcap.open_offline(path).each_packet do |packet|
    time_ns = packet.time * 1_000_000_000 + packet.microsec * 1_000
    yield time_ns, *network_fields(packet.data), packet.length
  end
end

# source, destination, source_port, destination_port, protocol, tcp_flags
def network_fields(data)
  ethertype, offset = ethertype_and_offset(data)
  case ethertype
  when ETHERTYPE_V4
    version, protocol, source, destination = data.unpack("@#{offset}Cx8Cx2a4a4")
    offset += (version & 0x0f) * 4
  when ETHERTYPE_V6
    protocol, source, destination = data.unpack("@#{offset}x6Cxa16a16")
    offset += 40
  else
    return [nil, nil, nil, nil, nil, nil]
  end
  source_port, destination_port, flags = transport_fields(data, offset, protocol)
  [source, destination, source_port, destination_port, protocol, flags]
end

def ethertype_and_offset(data)
  ethertype = data.unpack1("n", offset: 12)
  offset = 14
  while ETHERTYPE_VLAN.include?(ethertype)
    ethertype = data.unpack1("n", offset: offset + 2)
    offset += 4
  end
  [ethertype, offset]
end

def transport_fields(data, offset, protocol)
  case protocol
  when TCP then data.unpack("@#{offset}nnx9C")
  when UDP then data.unpack("@#{offset}nn")
  end
end

# Returns the offset of the two ports in a frame, or nil if it has none.
def ports_offset(data)
  ethertype = data.getbyte(12) << 8 | data.getbyte(13)
  offset = 14
  while ethertype == 0x8100 || ethertype == 0x88a8
    ethertype = data.getbyte(offset + 2) << 8 | data.getbyte(offset + 3)
    offset += 4
  end
  if ethertype == ETHERTYPE_V4
    protocol = data.getbyte(offset + 9)
    offset += (data.getbyte(offset) & 0x0f) * 4
  elsif ethertype == ETHERTYPE_V6
    protocol = data.getbyte(offset + 6)
    offset += 40
  end
  offset if protocol == TCP || protocol == UDP
end

def port_counts_answer(packets, counts)
  {
    packets: packets,
    ports: counts.size,
    counted: counts.values.sum,
    weighted: counts.sum { |port, count| port * count },
    squares: counts.values.sum { |count| count * count }
  }
end

def count_by_dst_port(path)
  packets = 0
  counts = Hash.new(0)
  each_header(path) do |_, _, _, _, destination_port, _, _, _|
    packets += 1
    counts[destination_port] += 1 if destination_port
  end
  port_counts_answer(packets, counts)
end

def count_by_dst_port_lean(path)
  packets = 0
  counts = Hash.new(0)
  PCAPRUB::Pcap.open_offline(path).each_data do |data|
    packets += 1
    offset = ports_offset(data)
    counts[data.getbyte(offset + 2) << 8 | data.getbyte(offset + 3)] += 1 if offset
  end
  port_counts_answer(packets, counts)
end

def getters(path)
  packets = 0
  sum = 0
  each_header(path) do |_, _, _, source_port, _, _, _, length|
    packets += 1
    sum += source_port + length if source_port
  end
  { packets: packets, sum: sum }
end

def getters_lean(path)
  packets = 0
  sum = 0
  PCAPRUB::Pcap.open_offline(path).each_packet do |packet|
    packets += 1
    data = packet.data
    offset = ports_offset(data)
    sum += (data.getbyte(offset) << 8 | data.getbyte(offset + 1)) + packet.length if offset
  end
  { packets: packets, sum: sum }
end

def rows(path)
  packets = times = ports = lengths = flags_sum = text_bytes = 0
  texts = Hash.new { |cache, address| cache[address] = IPAddr.new_ntoh(address).to_s }
  each_header(path) do |time_ns, source, destination, source_port, destination_port, _, flags, length|
    packets += 1
    times ^= time_ns
    ports += source_port + destination_port if source_port
    lengths += length
    flags_sum += flags if flags
    text_bytes += texts[source].bytesize + texts[destination].bytesize if source
  end
  { packets: packets, times: times, ports: ports, lengths: lengths, flags: flags_sum,
    text_bytes: text_bytes }
end

# Packets without an IP header belong to no flow.
def flows(path)
  packets = lengths = 0
  counts = Hash.new(0)
  each_header(path) do |_, source, destination, source_port, destination_port, protocol, _, length|
    next unless source

    packets += 1
    lengths += length
    next unless source_port

    from = [source, source_port]
    to = [destination, destination_port]
    counts[(from <=> to) == 1 ? [protocol, to, from] : [protocol, from, to]] += 1
  end
  { packets: packets, lengths: lengths, port_flows: counts.size,
    squares: counts.values.sum { |count| count * count } }
end

TASKS = %w[count_by_dst_port count_by_dst_port_lean getters getters_lean rows flows].freeze

task, path = ARGV
abort "usage: pcaprub_unpack.rb #{TASKS.join('|')} CAPTURE" unless TASKS.include?(task) && path
puts JSON.generate(send(task, path))
