# frozen_string_literal: true

module Bench
  # Rows of the records that README.md and docs/benchmarks.md show, in their own words. The suites give the titles.
  module ReadmeRows
    # The worst of the rows whose titles begin so, where one figure stands for many.
    Worst = Struct.new(:beginning)

    # A row of a page: what is measured, and for each column the titles whose ratios stand there.
    Row = Struct.new(:sentence, :columns)

    # A table of docs/benchmarks.md: the headings of its columns of ratios, and its rows.
    Rows = Struct.new(:headings, :rows)

    def self.row(sentence, *titles)
      Row.new(sentence, [titles])
    end

    # A row whose titles name a protocol first, and whose columns are the two.
    def self.of_protocols(sentence, *kinds_and_rows)
      Row.new(sentence, %w[Binary Compact].map do |protocol|
        kinds_and_rows.map { |kind, title| "#{kind}, #{protocol}: #{title}" }
      end)
    end

    # Makes a row for both structs.
    def self.rich_and_flat(sentence, title)
      of_protocols("Rich, Flat: #{sentence}", ["Rich", title], ["Flat", title])
    end

    FLOWS = Rows.new(["measured"], [
      row("plain file to columns / read(2) and discard", "plain file to columns / read(2) and discard"),
      row(".gz to columns / decompress only, built-in zlib-rs: mixed traffic, patterned traffic",
          ".gz to columns / decompress only, mixed, built-in", ".gz to columns / decompress only, patterned, built-in"),
      row("the same, isa-l", ".gz to columns / decompress only, mixed, isa-l",
          ".gz to columns / decompress only, patterned, isa-l"),
      row(".gz to columns / `gzip -dc`: built-in zlib-rs, isa-l", ".gz to columns, built-in / gzip -dc",
          ".gz to columns, isa-l / gzip -dc"),
      row(".zst to columns / decompress only", ".zst to columns / decompress only"),
      row("Ruby: count by dst_port, faster than a pcaprub + unpack loop, Ruby's start included",
          "Ruby: count by dst_port / pcaprub + unpack"),
      row("Ruby: `each` with two integer getters, faster than the pcaprub loop", "Ruby: each, two getters / pcaprub + unpack"),
      row("Ruby: rows with text addresses, faster than a C extension that builds the same Arrays",
          "Ruby: rows with text addresses / C extension"),
      row("packets per second against packetfu", "Ruby: count by dst_port / packetfu (rate)"),
      row("packets per second against dpkt", "Ruby: count by dst_port / dpkt (rate)"),
      row("packets per second against tshark -T fields", "Ruby: count by dst_port / tshark -T fields (rate)"),
      row("flows of the .gz / columns of it; with all features / without", "flows of the .gz / columns of it",
          "flows of the .gz with all features / without"),
      row("flows with all features, faster than NFStream with statistics", "flows with all features / NFStream with statistics"),
      row("conversations of the .gz, faster than tshark -q -z conv,tcp", "conversations of the .gz / tshark -q -z conv,tcp"),
      row("report of the .gz / columns of it", "report of the .gz / columns of it"),
      row("bytes by dst_port and minute of the .gz / columns of it", "bytes by dst_port and minute of the .gz / columns of it"),
      row("the same of a plain file, packets per second against tshark -T fields and awk",
          "bytes by dst_port and minute / tshark -T fields, awk (rate)"),
      row("the same of the .gz, faster than --csv and DuckDB", "bytes by dst_port and minute of the .gz / --csv, DuckDB"),
      row("columns of the .gz with dns_query / without", "columns of the .gz with dns_query / without"),
      row("cut UDP in IPv4 from the .gz / `gzip -dc`, tcpdump -w", "cut UDP in IPv4 from the .gz / gzip -dc, tcpdump -w"),
      row("all packets of the .gz with other addresses / as they are, as pcap",
          "all packets of the .gz with other addresses / as they are, as pcap"),
      row("peak memory above Ruby's own, 400 MB file, the worst way of asking", Worst.new("peak memory above Ruby's own:"))
    ]).freeze

    # The titles of a table in a file that is written in commits.
    def self.beside_lmdb(name, input)
      ["put", "random get", "scan"].map { |what| "file #{name}, commits of 1,000: #{what} / LMDB, #{input}" }
    end

    TABLES = Rows.new(["measured"], [
      row("HashTable: memory / Hash, A, B", "HashTable memory / Hash, A", "HashTable memory / Hash, B"),
      row("HashTable: memory / TC `*`, A, B", "HashTable memory / TC *, A", "HashTable memory / TC *, B"),
      row("HashTable: memory above keys and values, for a record, worst from 100 k to 10 M",
          Worst.new("HashTable memory a record above key and value")),
      row("TreeTable: memory / keys and values, A, B", "TreeTable memory / keys and values, A",
          "TreeTable memory / keys and values, B"),
      row("TreeTable: memory / TC `+`, A", "TreeTable memory / TC +, A"),
      row("a full GC beside a table / in an empty process: hashed, ordered", "GC.start beside HashTable / empty process",
          "GC.start beside TreeTable / empty process"),
      row("a full GC beside a HashTable / beside a Hash", "GC.start beside HashTable / Hash, A"),
      row("HashTable: random get / Hash, A, B", "Ruby: random get / Hash, A", "Ruby: random get / Hash, B"),
      row("HashTable: random get / TC `*`, A, B", "Ruby: random get / TC *, A", "Ruby: random get / TC *, B"),
      row("TreeTable: random get / TC `+`, A", "Ruby: random get, TreeTable / TC +, A"),
      row("HashTable: put, unfrozen keys / Hash, A, B", "Ruby: put, unfrozen keys / Hash, A",
          "Ruby: put, unfrozen keys / Hash, B"),
      row("HashTable: put, frozen keys / Hash, A", "Ruby: put, frozen keys / Hash, A"),
      row("HashTable: put / TC `*`, A, B", "Ruby: put / TC *, A", "Ruby: put / TC *, B"),
      row("HashTable: `values_at` of 1,000 / Hash, A", "Ruby: values_at of 1,000 / Hash, A"),
      row("longest single put on the way to 10 M: hashed A, B, ordered A",
          "HashTable: longest single put on the way to 10 M, A", "HashTable: longest single put on the way to 10 M, B",
          "TreeTable: longest single put on the way to 10 M, A"),
      row("the same from Ruby, hashed A, where Ruby's GC may come between",
          "Ruby, HashTable: longest single put on the way to 10 M, A"),
      row("resident / live after deleting 90 %, after a shift of sizes",
          "churn: resident / live after deleting 90 % (peer: malloc)", "churn: resident / live after a size shift (peer: malloc)"),
      row("file HashTable: put / redb, B", "file HashTable, put by put: put / redb, one transaction, B"),
      row("file HashTable: put / TC .tch, as it comes and with `bnum` fitting, B", "Ruby: file HashTable, put / TC .tch, B",
          "Ruby: file HashTable, put / TC .tch, bnum=2M, B"),
      row("file HashTable: random get / TC .tch, as it comes and with `bnum` fitting, B",
          "Ruby: file HashTable, random get / TC .tch, B", "Ruby: file HashTable, random get / TC .tch, bnum=2M, B"),
      row("file TreeTable: put, random get / TC .tcb, 100 k of A", "Ruby: file TreeTable, put / TC .tcb, A, 100 k",
          "Ruby: file TreeTable, random get / TC .tcb, A, 100 k"),
      row("file HashTable: anonymous memory; file / keys and values after compaction",
          "file HashTable: anonymous memory added", "file HashTable after compaction / keys and values"),
      row("C, a million: file HashTable in commits of 1,000: put, random get, scan / LMDB", *beside_lmdb("HashTable", "C")),
      row("the same: file TreeTable", *beside_lmdb("TreeTable", "C")),
      row("C, five million: file HashTable: the same", *beside_lmdb("HashTable", "C, 5 M")),
      row("the same: file TreeTable", *beside_lmdb("TreeTable", "C, 5 M")),
      row("longest of those commits on the way to ten million: hashed, ordered",
          *%w[HashTable TreeTable].map { |name| "file #{name}, commits of 1,000: longest commit, C, 10 M (peer: LMDB)" }),
      row("file TreeTable, a million in commits of 100,000: file / LMDB's; after deleting 90 % and closing",
          "file TreeTable, commits of 100,000: file / LMDB, C", "file TreeTable: file after deleting 90 %, C (peer: LMDB)"),
      row("opening a file of a million records: after a clean close, after kill -9",
          "open a file of 1 M records after a clean close", "open it after kill -9")
    ]).freeze

    # The titles of the benchmark of 2011 at its three sizes.
    def self.of_2011(rest)
      ["1,000", "10,000", "100,000"].map { |size| "benchmark of 2011, N = #{size}#{rest}" }
    end

    PSTORE = Rows.new(["measured"], [
      row("benchmark of 2011, N = 1,000, 10,000, 100,000: faster than PStore", *of_2011(" / stock")),
      row("the same: faster than the patch of 2011", *of_2011(" / the patch of 2011")),
      row("the same, whole after kill -9: faster than PStore's `ultra_safe`",
          *of_2011(", whole after kill -9 / stock, ultra_safe")),
      row("the same, on the disk after a loss of power", *of_2011(", on the disk after power loss / stock, ultra_safe")),
      row("10 k roots: read one, change one, let one grow: faster", "10 k roots: read one / stock",
          "10 k roots: change one, same length / stock", "10 k roots: change one, growing / stock"),
      row("100 k roots: the same", "100 k roots: read one / stock", "100 k roots: change one, same length / stock",
          "100 k roots: change one, growing / stock"),
      row("1,000 nested records: change a field: faster", "1,000 nested records: change a field / stock"),
      row("a fresh process reads one of 100 k roots: faster", "a fresh process reads one of 100 k roots / stock"),
      row("everything read, everything changed, 10 k roots: time / PStore's", "10 k roots: read all / stock",
          "10 k roots: change all / stock"),
      row("records that share Strings, so that one is all: read, change: time / PStore's",
          "1,000 nested records that share Strings: read one / stock",
          "1,000 nested records that share Strings: change a field / stock"),
      row("one root; an empty store; a fresh process changes one of 10 k roots: time / PStore's",
          "one root: change it / stock", "an empty store: a transaction that changes nothing / stock",
          "a fresh process changes one of 10 k roots / stock"),
      row("a fresh process changes an empty store, where loading the library is all of it: time / PStore's",
          "a fresh process changes an empty store / stock"),
      row("peak memory to read one root of 100 MB / the file, / PStore's", "memory to read one root of 100 MB / the file",
          "memory to read one root of 100 MB / stock")
    ]).freeze

    THRIFT = Rows.new(%w[Binary Compact], [
      rich_and_flat("`Deserializer`, nothing changed but a `require`: faster than the gem", "Deserializer / the gem"),
      rich_and_flat("`Thrift.decode` / the floor", "Thrift.decode / the floor"),
      rich_and_flat("`Thrift.decode`, faster than Python", "Thrift.decode / Python, accelerated"),
      rich_and_flat("`Serializer`, faster than the gem", "Serializer / the gem"),
      rich_and_flat("`pluck` of 3 fields, faster than the gem's objects", "pluck 3 fields / the gem"),
      rich_and_flat("3 columns of a file of 10,000, faster than the gem's objects", "3 columns of a file of 10,000 / the gem"),
      rich_and_flat("objects for a message (the gem: 198, 22)", "objects for a message, Thrift.decode (peer: the gem)"),
      Row.new("Rich: `hash`, `==`; Flat: `hash`, `==`: faster than the gem, whatever the protocol",
              [["Rich: hash / the gem", "Rich: == / the gem", "Flat: hash / the gem", "Flat: == / the gem"], []])
    ]).freeze

    RECORDS = "800 k records, read(16) and read(64)"
    HEADERS = "200 k headers, 4 × u32be and skip(64)"
    BESIDE = "reads of 1000 B beside a thread that computes"

    IO = Rows.new(["measured"], [
      row("records, `read(16)` and `read(64)`: faster than `IO#read`", "#{RECORDS} / IO#read"),
      row("the same: faster than 80 KiB at a time and `byteslice`", "#{RECORDS} / 80 KiB and byteslice"),
      row("the same: time / CPython, / C with `fread`", "#{RECORDS} / CPython", "#{RECORDS} / C, fread"),
      row("headers, four `u32be` and `skip(64)`: faster than `read(4).unpack1`, than `read(16).unpack`",
          "#{HEADERS} / read(4).unpack1, seek", "#{HEADERS} / read(16).unpack, seek"),
      row("the same, faster than 80 KiB at a time and `unpack`; by `unpack_records`",
          "#{HEADERS} / 80 KiB and unpack(offset:)", "the same by unpack_records / 80 KiB and unpack(offset:)"),
      row("`count_lines`: faster than `File.foreach`", "780 k lines, count_lines / File.foreach"),
      row("`count_lines`: time / C with `memchr`", "780 k lines, count_lines / C, memchr"),
      row("`each_line`, `each_line(batch: 1000)`: faster than `File.foreach`", "780 k lines, each_line / File.foreach",
          "780 k lines, each_line(batch: 1000) / File.foreach"),
      row("`read_into` of 16 B, 1000 B: time / read(2) from C", "read_into of 16 B / C, read(2)",
          "read_into of 1000 B / C, read(2)"),
      row("the same of 10 kB, 64 KiB, 1 MiB", "read_into of 10000 B / C, read(2)", "read_into of 65536 B / C, read(2)",
          "read_into of 1048576 B / C, read(2)"),
      row("reads beside a thread that computes: faster than `sysread`", "#{BESIDE} / sysread, beside"),
      row("20 million frames of 256 B, memory not zeroed: faster than zeroed",
          "frames of 256 B, not zeroed / zeroed 4 MiB at a time"),
      row("gcbench in an array that is used again: faster than malloc, mimalloc",
          "gcbench in an array used again / malloc", "gcbench in an array used again / mimalloc"),
      row("a million values put anew in the core's heap: faster than malloc, mimalloc",
          "1 M values in a RecordHeap, put anew / malloc", "1 M values in a RecordHeap, put anew / mimalloc"),
      row("resident / live after deleting 90 %, after longer ones", "resident / live after deleting 90 % (peer: malloc)",
          "resident / live after longer ones (peer: malloc)")
    ]).freeze

    # The titles of puts and gets of files against a peer.
    def self.of_file(peer)
      %w[put get].map { |what| "file HashTable: #{what} / #{peer}, B, 100 k" }
    end

    PYTHON = Rows.new(["measured"], [
      row(".gz to 12 Arrow columns / the core's own columns", "captures: .gz to 12 Arrow columns / the core's own columns"),
      row("`count_by` of the .gz, Python's start included / the command", "captures: count_by of the .gz / the command"),
      row("to a polars frame, packets per second: against lists filled by dpkt, by scapy",
          "captures: to a polars frame / dpkt, lists (rate)", "captures: to a polars frame / scapy, lists (rate)"),
      row("`for packet in capture` with two attributes, packets per second against dpkt",
          "captures: for each packet, two attributes / dpkt (rate)"),
      row("memory / dict: HashTable A, B; TreeTable A", "HashTable: memory / dict, A", "HashTable: memory / dict, B",
          "TreeTable: memory / dict, A"),
      row("HashTable: get, put / dict", "HashTable: get / dict, A", "HashTable: put / dict, A"),
      row("HashTable: `get_many` of 1,000, `update` of 10,000 pairs, of a dict of 10,000 / dict",
          "HashTable: get_many of 1,000 / dict, A", "HashTable: update of 10,000 pairs / dict, A",
          "HashTable: update of a dict of 10,000 / dict, A"),
      row("file HashTable: put, get, faster than dbm.gnu", *of_file("dbm.gnu")),
      row("the same, faster than shelve", *of_file("shelve")),
      row("the same in one transaction, faster than sqlite3", *of_file("sqlite3, one transaction")),
      row("the same in one transaction, faster than lmdb", *of_file("lmdb, one transaction")),
      row("file TreeTable: put, get in one transaction, faster than lmdb", "file TreeTable: put / lmdb, one transaction, B, 100 k",
          "file TreeTable: get / lmdb, one transaction, B, 100 k"),
      row("`get_many` of 1,000, faster than a loop of lmdb: file HashTable, file TreeTable",
          "file HashTable: get_many of 1,000 / a loop of lmdb, one transaction, B, 100 k",
          "file TreeTable: get_many of 1,000 / a loop of lmdb, one transaction, B, 100 k"),
      row("Cache: set, get, faster than diskcache", "Cache: set / diskcache, B, 100 k", "Cache: get / diskcache, B, 100 k"),
      *%w[HashTable TreeTable].flat_map do |table|
        [row("file #{table}: records a second of 4 writing processes / of one: single changes, transactions of 100",
             "file #{table}: 4 writers / one, single changes, B, 100 k", "file #{table}: 4 writers / one, transactions of 100, B, 100 k"),
         row("the same, faster than 4 of sqlite3", "file #{table}: 4 writers / 4 of sqlite3, single changes, B, 100 k",
             "file #{table}: 4 writers / 4 of sqlite3, transactions of 100, B, 100 k"),
         row("file #{table}: get beside 4 writing processes / alone; memory of 8 reading processes / of one",
             "file #{table}: get beside 4 writers / alone, B, 100 k", "file #{table}: memory of 8 readers / of one, B")]
      end,
      row("`gc.collect()` beside a million entries / in an empty process",
          "gc.collect() beside a HashTable / an empty process, A"),
      row("Thrift, decode: Rich, Flat, faster than apache's accelerated", "Thrift: decode, Rich / apache's, accelerated",
          "Thrift: decode, Flat / apache's, accelerated"),
      row("the same, faster than thriftpy2", "Thrift: decode, Rich / thriftpy2", "Thrift: decode, Flat / thriftpy2"),
      row("3 columns of 10,000 messages: Rich, Flat, faster than objects of apache's accelerated",
          "Thrift: 3 columns of 10,000 Rich / objects of apache's, accelerated",
          "Thrift: 3 columns of 10,000 Flat / objects of apache's, accelerated"),
      row("a Parquet footer of 1.2 MB to Arrow / pyarrow reading it: 3 fields of each chunk, all fields",
          "Thrift: 3 fields of each chunk of a Parquet footer to Arrow / pyarrow reading it",
          "Thrift: all fields of a Parquet footer to Arrow / pyarrow reading it"),
      row("records of 16 bytes to columns, faster than `struct.iter_unpack`",
          "Reader: unpack_records to columns / struct.iter_unpack"),
      row("`import bytewright`; the wheel", "import bytewright", "size of the wheel")
    ]).freeze

    # Costs of a terabyte on Spark, in docs/benchmarks.md, by the titles of the suite.
    COSTS = {
      "core hours for a terabyte of .gz: reading files" => "1. reading the files, which are in the page cache",
      "core hours for a terabyte of .gz: decompressing" => "2. decompressing",
      "core hours for a terabyte of .gz: decoding and adding up flows" => "3. decoding packets and adding up flows, as the command does",
      "core hours for a terabyte of .gz: the same in workers of Spark" => "4. doing so in Spark's workers, and moving entries to the JVM",
      "core hours for a terabyte of .gz: shuffling and merging flows" => "5. shuffling entries, and merging those of one key",
      "core hours for a terabyte of .gz: flows on Spark, all stages" => "**flows: 1 to 5**",
      "core hours for a terabyte of .gz: packets on Spark, all stages" => "**packets, seven columns: 1, 2, decoding, moving rows to the JVM**",
      "core hours for a terabyte of .gz: packets by binaryFile and dpkt, all stages" => "the same by `binaryFile` and dpkt",
      ".gz that one core goes through: flows on Spark" => "flows: .gz that a core goes through",
      ".gz that one core goes through: packets on Spark" => "packets: .gz that a core goes through",
      "shuffled for a terabyte of .gz: flows on Spark" => "flows: shuffled for a terabyte"
    }.freeze

    SPARK = Rows.new(["measured"], [
      row("flows of 20 captures on `local[1]` / the command with one thread", "flows of 20 captures: local[1] / the command, --jobs 1"),
      row("the same on `local[2]` / on `local[1]`", "flows of 20 captures: local[2] / local[1]"),
      row("packets of 20 captures on `local[1]`, faster than `binaryFile` and dpkt in `mapInPandas`",
          "packets of 20 captures: local[1] / binaryFile and dpkt in mapInPandas"),
      row("packets of one plain capture of 1 GB on `local[2]`: split / unsplit",
          "packets of one plain capture of 1 GB on local[2]: split / unsplit"),
      row("core hours for a terabyte of .gz: flows, packets", "core hours for a terabyte of .gz: flows on Spark, all stages",
          "core hours for a terabyte of .gz: packets on Spark, all stages")
    ]).freeze

    PERL = Rows.new(["measured"], [
      row("the article's benchmark: memory / Perl's hash, hashed, ordered", "article: memory, HashTable / Perl hash, A",
          "article: memory, TreeTable / Perl hash, A"),
      row("the same: time to store / Perl's hash, hashed", "article: time to store, HashTable / Perl hash, A"),
      row("store, fetch by `tie`, faster than Tokyo Cabinet's: hashed", "tie: put, hash / TC *, A", "tie: get, hash / TC *, A"),
      row("the same: ordered", "tie: put, tree / TC +, A", "tie: get, tree / TC +, A"),
      row("`put`, `get`, faster than Tokyo Cabinet's: hashed, ordered", "methods: put, hash / TC *, A", "methods: get, hash / TC *, A",
          "methods: put, tree / TC +, A", "methods: get, tree / TC +, A"),
      row("`get_many` of 1,000 / a slice of Perl's hash", "get_many of 1,000 / Perl hash, A"),
      row("tables in files by `tie`, put, get / Tokyo Cabinet's: hashed", "file by tie, hash-file: put / TC .tch, A, 100 k",
          "file by tie, hash-file: get / TC .tch, A, 100 k"),
      row("the same: ordered", "file by tie, tree-file: put / TC .tcb, A, 100 k", "file by tie, tree-file: get / TC .tcb, A, 100 k"),
      row("two fields of each packet, faster than Net::Pcap and `unpack`: by columns",
          "captures: two fields of each packet, columns / Net::Pcap + unpack")
    ]).freeze

    # By the name of the suite, in the order of docs/benchmarks.md.
    ALL = {
      "flows" => FLOWS, "tables" => TABLES, "pstore" => PSTORE, "thrift" => THRIFT, "io" => IO, "python" => PYTHON,
      "perl" => PERL, "spark" => SPARK
    }.freeze

    # Rows of README in seconds, of one capture: what is asked, and what answers it elsewhere.
    SECONDS = {
      "conversations of the .gz / tshark -q -z conv,tcp" => ["every conversation of TCP", "`tshark -q -z conv,tcp`"],
      "cut UDP in IPv4 from the .gz / gzip -dc, tcpdump -w" => ["the packets that a filter wants, in a file", "`gzip -dc`, `tcpdump -w`"],
      ".gz to columns, built-in / gzip -dc" => ["12 fields of every packet, as columns", "`gzip -dc`, which only unpacks"]
    }.freeze
  end
end
