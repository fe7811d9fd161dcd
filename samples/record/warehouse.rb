# frozen_string_literal: true

# A Thrift service and its clients, as Thrift's own compiler and library make them.
#
#   warehouse.rb server FOLDER     serves on ports 9090 to 9093: Binary and Compact, buffered and framed
#   warehouse.rb clients FOLDER    calls all of it
#
# FOLDER has what `thrift --gen rb` made of warehouse.thrift. Needs Debian's ruby-thrift.

require "thrift"

STYLES = [
  [9090, Thrift::BufferedTransport, Thrift::BufferedTransportFactory, Thrift::BinaryProtocol, Thrift::BinaryProtocolFactory],
  [9091, Thrift::FramedTransport, Thrift::FramedTransportFactory, Thrift::BinaryProtocol, Thrift::BinaryProtocolFactory],
  [9092, Thrift::BufferedTransport, Thrift::BufferedTransportFactory, Thrift::CompactProtocol, Thrift::CompactProtocolFactory],
  [9093, Thrift::FramedTransport, Thrift::FramedTransportFactory, Thrift::CompactProtocol, Thrift::CompactProtocolFactory]
].freeze

NAMES = %w[anvil bolt chain drill engine file gasket hammer iron jack].freeze

# Methods of the server.
class Handler
  def initialize
    @left = Hash.new { |left, name| left[name] = 40 }
  end

  def ping; end

  def find(name)
    known(name)
    item(name)
  end

  def search(prefix, limit)
    NAMES.select { |name| name.start_with?(prefix) }.first(limit).map { |name| item(name) }
  end

  def reserve(name, count)
    known(name)
    @left[name] >= count or raise(Warehouse::OutOfStock.new.tap { |full| full.name, full.left = name, @left[name] })
    @left[name] -= count
  end

  def picture(name, size)
    (name.b * (size / name.size + 1))[0, size]
  end

  def weigh(names)
    sleep 0.002
    names.sum { |name| name.size * 0.25 }
  end

  def log(line, at); end

  private

  def known(name)
    NAMES.include?(name) or raise(Warehouse::NotFound.new.tap { |missing| missing.name = name })
  end

  def item(name)
    tags = name.size.even? ? ["heavy", "grey"] : nil
    Warehouse::Item.new(name: name, price_cents: name.sum * 100, tags: tags, stock: { "north" => name.size, "süd" => @left[name] })
  end
end

def serve
  servers = STYLES.map do |port, _, transport_factory, _, protocol_factory|
    server = Thrift::ThreadedServer.new(
      Warehouse::Store::Processor.new(Handler.new), Thrift::ServerSocket.new("127.0.0.1", port),
      transport_factory.new, protocol_factory.new
    )
    Thread.new { server.serve }
  end
  sleep 0.5
  puts "ready"
  $stdout.flush
  servers.each(&:join)
end

def call(client, random)
  name = NAMES[random.rand(NAMES.size)]
  case random.rand(100)
  when 0...25 then client.ping
  when 25...50 then client.find(random.rand(8).zero? ? "unicorn" : name)
  when 50...65 then client.search(name[0], 3)
  when 65...80 then client.reserve(name, random.rand(9))
  when 80...82 then client.picture(name, random.rand(20_000))
  when 82...88 then client.weigh(NAMES.first(random.rand(5)))
  when 88...98 then client.log("#{name} was seen", random.rand(1 << 40))
  else client.audit([random.rand(9), 10 + random.rand(9)].to_set)
  end
rescue Warehouse::NotFound, Warehouse::OutOfStock, Thrift::ApplicationException
  nil
end

def run_clients
  clients = STYLES.flat_map do |port, transport_class, _, protocol_class, _|
    Array.new(3) do |number|
      Thread.new do
        random = Random.new(port * 10 + number)
        transport = transport_class.new(Thrift::Socket.new("127.0.0.1", port))
        transport.open
        client = Warehouse::NextStore::Client.new(protocol_class.new(transport))
        200.times { call(client, random) }
        client.ping
        transport.close
      end
    end
  end
  clients.each(&:join)
end

mode, folder = ARGV
$LOAD_PATH.unshift(folder)
require "set"
require "store"
require "next_store"
mode == "server" ? serve : run_clients
