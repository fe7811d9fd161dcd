# frozen_string_literal: true

# Writes the files of this folder with Tokyo Cabinet itself (Debian: ruby-tokyocabinet), and beside
# each NAME a NAME.txt: what the library reads back, a line per entry, key and value in hexadecimal.
# Debian's library writes big-endian files.
#
#     ruby core/tests/samples/tokyo-cabinet/make.rb

require "tokyocabinet"

HDB = TokyoCabinet::HDB
BDB = TokyoCabinet::BDB

Dir.chdir(__dir__)

def list(name, entries)
  lines = entries.map { |entry| entry.map { |bytes| bytes.unpack1("H*") }.join("\t") }
  File.write("#{name}.txt", lines.map { |line| "#{line}\n" }.join)
end

def create(database, name, *tuning)
  database.tune(*tuning) or raise database.errmsg
  database.open(name, HDB::OWRITER | HDB::OCREAT | HDB::OTRUNC) or raise database.errmsg
  database
end

def hash(name, options, bnum: 31, apow: 0)
  database = create(HDB.new, name, bnum, apow, 1, options)
  yield database
  found = []
  database.each { |key, value| found << [key, value] }
  list(name, found)
  database.close or raise database.errmsg
end

# A tree's values of one key come one by one.
def entries(tree)
  cursor = TokyoCabinet::BDBCUR.new(tree)
  found = []
  there = cursor.first
  while there
    found << [cursor.key, cursor.val]
    there = cursor.next
  end
  found
end

def tree(name, options, comparison: nil, lmemb: 4)
  database = BDB.new
  database.setcmpfunc(comparison) if comparison
  create(database, name, lmemb, 4, 7, 2, 1, options)
  yield database
  list(name, entries(database))
  database.close or raise database.errmsg
end

# Puts, overwrites that fit and that do not, deletions: what leaves free space and moved records.
def fill(database)
  60.times { |i| database.put("key#{i}", "value #{i} " * (i % 7)) }
  (0...60).step(3) { |i| database.put("key#{i}", "another, longer value of #{i} " * 3) }
  (0...60).step(5) { |i| database.out("key#{i}") }
  database.put("\x00\xff\x80".b, (0..255).to_a.pack("C*"))
  database.put("", "the empty key")
  database.put("long", "0123456789" * 60)
end

hash("hash.tch", 0) { |database| fill(database) }
hash("hash-aligned.tch", 0, apow: 6) { |database| fill(database) }
hash("hash-large.tch", HDB::TLARGE) { |database| fill(database) }
hash("hash-deflate.tch", HDB::TDEFLATE) { |database| fill(database) }
hash("hash-large-deflate.tch", HDB::TLARGE | HDB::TDEFLATE) { |database| fill(database) }
hash("hash-bzip2.tch", HDB::TBZIP) { |database| database.put("key", "value") }
hash("hash-empty.tch", 0) { |_database| nil }

tree("tree.tcb", 0) { |database| fill(database) }
tree("tree-large.tcb", BDB::TLARGE) { |database| fill(database) }
tree("tree-deflate.tcb", BDB::TDEFLATE) { |database| fill(database) }
tree("tree-large-deflate.tcb", BDB::TLARGE | BDB::TDEFLATE, lmemb: 128) { |database| fill(database) }
tree("tree-tcbs.tcb", BDB::TTCBS) { |database| database.put("key", "value") }
tree("tree-empty.tcb", 0) { |_database| nil }
tree("tree-duplicates.tcb", 0) do |database|
  20.times { |i| (i % 4 + 1).times { |j| database.putdup("key#{i}", "value #{j} of #{i}") } }
end
tree("tree-decimal.tcb", 0, comparison: BDB::CMPDECIMAL) do |database|
  (-20..120).step(7) { |i| database.put(i.to_s, "number #{i}") }
end

fixed = create(TokyoCabinet::FDB.new, "fixed.tcf", 16, 1024)
fixed.put(1, "one")
fixed.close

table = TokyoCabinet::TDB.new
table.tune(7, 0, 1)
table.open("table.tct", HDB::OWRITER | HDB::OCREAT | HDB::OTRUNC)
table.put("key", { "column" => "value" })
table.close

# A writer that dies: the hash is whole, of the tree only what had left the cache is there. With an
# open transaction, a log lies beside.
def killed
  Process.wait(fork do
    yield
    Process.kill(:KILL, Process.pid)
  end)
end

killed { fill(create(HDB.new, "hash-left-open.tch", 31, 0, 1, 0)) }
File.truncate("hash-left-open.tch", File.binread("hash-left-open.tch", 8, 56).unpack1("Q>"))
killed do
  database = BDB.new
  database.setcache(4, 4)
  create(database, "tree-left-open.tcb", 4, 4, 7, 2, 1, 0)
  200.times { |i| database.put(format("key%03d", i * 77 % 200), "value #{i}") }
end
File.truncate("tree-left-open.tcb", File.binread("tree-left-open.tcb", 8, 56).unpack1("Q>"))
killed do
  database = create(HDB.new, "hash-in-transaction.tch", 7, 0, 1, 0)
  database.put("key", "before")
  database.tranbegin
  database.put("key", "within")
end
size = File.binread("hash-in-transaction.tch", 8, 56).unpack1("Q>")
File.truncate("hash-in-transaction.tch", size)
