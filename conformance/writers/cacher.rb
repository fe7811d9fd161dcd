# frozen_string_literal: true

# A user of a cache for killed_caches.py in Ruby: ruby cacher.rb FILE KEY.

require "bytewright"

file, own = ARGV
cache = Bytewright::Cache.new(file, size_limit: 4 << 20, timeout: 120)

other = lambda do
  key = "other #{rand(2000)}"
  cache.set(key, key * rand(1..100), expires_in: [0.01, 0.1, 10].sample, tag: key[-1])
end

loop do
  case rand(1000)
  when 0 then cache.expire
  when 1...3 then cache.evict(rand(10).to_s)
  when 3...10 then cache.delete("other #{rand(2000)}")
  when 10...500 then other.call
  # One call, which the system writes whole or not at all.
  else $stdout.syswrite("#{cache.increment(own)}\n")
  end
end
