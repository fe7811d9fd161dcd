# frozen_string_literal: true

# Writes a log of Thrift messages by an IDL file alone, and counts its hosts by reading this one field of each message:
# ruby log_hosts.rb IDL LOG

require "bytewright/thrift"

abort "usage: ruby log_hosts.rb IDL LOG" unless ARGV.size == 2
idl, path = ARGV

Bytewright::Thrift.load(idl)
Bytewright::Writer.open(path) do |log|
  %w[web-1 web-2 web-1].each_with_index do |host, time|
    message = Bytewright::Thrift.encode(Logs::Entry.new("time" => time, "host" => host))
    log.u32be(message.bytesize).write(message)
  end
end

hosts = Hash.new(0)
Bytewright::Reader.open(path) do |log|
  until log.eof?
    host, = Bytewright::Thrift.pluck(Logs::Entry, log.read(log.u32be), :host)
    hosts[host] += 1
  end
end
hosts.sort.each { |host, count| puts "#{host} #{count}" }
