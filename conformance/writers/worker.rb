# frozen_string_literal: true

# A writer of killed.py in Ruby: ruby worker.rb FILE KEY.

require "bytewright"

def transfer(table)
  amount = rand(100)
  table.transaction do
    table.increment("account #{rand(20)}", amount)
    table.increment("account #{rand(20)}", -amount)
  end
end

def pair(table)
  number = rand(1_000_000).to_s
  table.transaction { table.update("pair a" => number, "pair b" => number) }
end

def other(table)
  key = "other #{rand(200)}"
  rand(2).zero? ? table.delete(key) : table[key] = key * rand(1..300)
end

def look(table)
  table.snapshot do |snapshot|
    raise "half a commit" unless snapshot["pair a"] == snapshot["pair b"] && snapshot.to_a.size == snapshot.size
  end
end

table = Bytewright::Table.open(ARGV[0], timeout: 120)
loop do
  case rand(1000)
  when 0 then table.compact
  when 1..2 then look(table)
  when 3..79 then transfer(table)
  when 80..139 then pair(table)
  when 140..249 then other(table)
  # One call, which the system writes whole or not at all.
  else $stdout.syswrite("#{table.increment(ARGV[1])}\n")
  end
end
