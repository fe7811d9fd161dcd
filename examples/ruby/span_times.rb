# frozen_string_literal: true

# Says how often each operation of traced programs ran, and how long at most, from spans that were sent to Jaeger's agent:
# ruby span_times.rb IDL CAPTURE

require "bytewright/thrift"

abort "usage: ruby span_times.rb IDL CAPTURE" unless ARGV.size == 2
idl, capture = ARGV

Bytewright::Thrift.load(idl)
method = "emitBatch".b # its arguments are behind it
datagrams = Bytewright::Capture.open(capture) { |packets| packets.select { |packet| packet.dst_port == 6831 }.map(&:payload) }
messages = datagrams.map { |datagram| datagram.partition(method).last }.join
paths = %w[batch.process.serviceName batch.spans[].operationName batch.spans[].duration]
spans = Bytewright::Thrift.columns(Jaeger::Emitted, messages, *paths, protocol: :compact, framed: false).to_h.values.transpose
spans.group_by { |service, operation, _| "#{service} #{operation}" }.sort.each do |operation, times|
  puts "#{operation} #{times.size} #{format("%.1f", times.map(&:last).max / 1000.0)} ms"
end
