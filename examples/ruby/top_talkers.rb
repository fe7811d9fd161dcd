# frozen_string_literal: true

# Lists the hosts that sent the most bytes, over all captures that are named: ruby top_talkers.rb CAPTURE...

require "bytewright"

abort "usage: ruby top_talkers.rb CAPTURE..." if ARGV.empty?

sent = Hash.new(0)
Bytewright::Capture.flows(*ARGV).each do |flow|
  sent[flow.src_ip] += flow.bytes
  sent[flow.dst_ip] += flow.rev_bytes
end
sent.sort_by { |host, bytes| [-bytes, host] }.first(5).each { |host, bytes| puts "#{bytes} #{host}" }
