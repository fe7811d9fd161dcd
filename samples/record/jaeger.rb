# frozen_string_literal: true

# Clients of a tracer that send spans to its agent, as Thrift's own compiler and library write them: a message of the Compact
# protocol in each datagram to port 6831.
#
#   jaeger.rb FOLDER
#
# FOLDER has what `thrift --gen rb` made of jaeger.thrift. Needs Debian's ruby-thrift.

require "socket"
require "thrift"

$LOAD_PATH.unshift(ARGV.fetch(0))
require "agent"

OPERATIONS = { "shop" => ["GET /", "GET /cart", "POST /order"], "stock" => %w[find reserve], "bank" => ["charge"] }.freeze

RANDOM = Random.new(38)

def tag(key, value)
  case value
  when String then Jaeger::Tag.new(key: key, vType: Jaeger::TagType::STRING, vStr: value)
  when Integer then Jaeger::Tag.new(key: key, vType: Jaeger::TagType::LONG, vLong: value)
  else Jaeger::Tag.new(key: key, vType: Jaeger::TagType::BOOL, vBool: value)
  end
end

def span(operation, trace, parent)
  failed = RANDOM.rand(12).zero?
  started = (Time.now.to_r * 1_000_000).to_i
  logs = [Jaeger::Log.new(timestamp: started, fields: [tag("event", "error"), tag("message", "timed out")])] if failed
  tags = [tag("http.status_code", failed ? 504 : 200), *(tag("error", true) if failed)]
  references = [Jaeger::SpanRef.new(refType: Jaeger::SpanRefType::CHILD_OF, traceIdLow: trace, traceIdHigh: 0, spanId: parent)] unless parent.zero?
  Jaeger::Span.new(traceIdLow: trace, traceIdHigh: 0, spanId: RANDOM.rand(1 << 62), parentSpanId: parent, operationName: operation,
                   references: references, flags: 1, startTime: started, duration: 200 + RANDOM.rand(40_000), tags: tags, logs: logs)
end

agent = UDPSocket.new.tap { |socket| socket.bind("127.0.0.1", 6831) }
sender = UDPSocket.new.tap { |socket| socket.connect("127.0.0.1", 6831) }
60.times do
  trace, parent = RANDOM.rand(1 << 62), 0
  OPERATIONS.first(1 + RANDOM.rand(3)).each do |service, operations|
    spans = Array.new(1 + RANDOM.rand(3)) { span(operations.sample(random: RANDOM), trace, parent) }
    parent = spans.first.spanId
    transport = Thrift::MemoryBufferTransport.new
    process = Jaeger::Process.new(serviceName: service, tags: [tag("hostname", "#{service}.example.test")])
    Jaeger::Agent::Client.new(Thrift::CompactProtocol.new(transport)).emitBatch(Jaeger::Batch.new(process: process, spans: spans))
    sender.send(transport.read(transport.available), 0)
    agent.recv(65_535)
    sleep 0.001
  end
end
