# frozen_string_literal: true

# A writer and reader of entries.json in Ruby: ruby cache.rb write|read FILE. A reader fails where an entry is another one than was
# written, takes the entries of each tag out, and leaves a sum.

require "bytewright"
require "json"
require "set"

def object(form)
  kind, value = form.first
  case kind
  when "bytes" then [value].pack("H*")
  when "integer" then Integer(value, 10)
  when "float" then Float(value)
  when "list" then value.map { |each| object(each) }
  when "map" then value.to_h { |pair| pair.map { |each| object(each) } }
  when "set" then value.to_set { |each| object(each) }
  else value
  end
end

def check(expected, found)
  same = expected == found && found.instance_of?(expected.class) && (!expected.is_a?(String) || expected.encoding == found.encoding)
  raise "expected #{expected.inspect}, found #{found.inspect}" unless same
end

entries = JSON.parse(File.read(File.join(__dir__, "entries.json"), encoding: "UTF-8")).fetch("entries")
Bytewright::Cache.open(ARGV.fetch(1)) do |cache|
  if ARGV[0] == "write"
    entries.each do |entry|
      tag = entry["tag"] && object(entry["tag"])
      cache.set(object(entry["key"]), object(entry["value"]), expires_in: entry["expire"], tag: tag)
    end
    next
  end

  alive = entries.reject { |entry| entry["expire"] == -1 }
  check(alive.map { |entry| object(entry["key"]) }, cache.keys)
  entries.each { |entry| check(alive.include?(entry) ? object(entry["value"]) : :none, cache.get(object(entry["key"]), :none)) }
  entries.filter_map { |entry| entry["tag"] }.each { |tag| check(1, cache.evict(object(tag))) }
  check([1, 42], [cache.expire, cache.increment("later")])
end
