# frozen_string_literal: true

require "json"
require "stringio"
require "zlib"
require_relative "thrift_case"
require_relative "interruptions"

# Goal: every operation survives every trouble: its answer is right or it says what is wrong, nothing that was committed is lost,
# nothing half is left, and the next run is right.
#
# Method: conformance/troubles.json names operations and troubles. Each operation is set up in a new folder, and gives an answer
# that is the same each time. Each trouble has one driver. Every public method is in the table of methods below: as a way to do
# an operation, or as plain. A new one that is not fails. BYTEWRIGHT_SEED is the seed of what comes at random moments.
class TroublesTest < TestCase
  TABLE = JSON.parse(File.read(File.join(ROOT, "conformance/troubles.json"), encoding: Encoding::UTF_8))
  ROUNDS = 15
  # Seconds after which a forked child is taken to hang.
  PATIENCE = 60

  # Steps of an operation: +set_up+ makes what it works on of a folder, +run+ gives its answer, +full+ writes more than
  # there is room for, +itself+ aims it at itself.
  Operation = Struct.new(:set_up, :run, :full, :itself, keyword_init: true)
  OPERATIONS = {} # rubocop:disable Style/MutableConstant -- each `operation` below adds one
  # Operations that Ruby's face, or this machine, does not offer, with the reason.
  NOT_OFFERED = {} # rubocop:disable Style/MutableConstant -- the reasons are added below
  # Troubles that do not exist in Ruby, with the reason.
  NO_TROUBLES = {}.freeze

  def self.operation(name, set_up: ->(folder) { folder }, full: nil, itself: nil, &run)
    OPERATIONS[name] = Operation.new(set_up: set_up, run: run, full: full, itself: itself)
  end

  # Errors raised if an object is in use, closed, or its own.
  REFUSED = [Bytewright::LockError, Bytewright::ClosedError, ArgumentError].freeze

  def self.refused
    yield
    nil
  rescue *REFUSED
    nil
  end

  # Both kinds of tables, in files, with two entries.
  BOTH = { "bwh" => Bytewright::HashTable, "bwt" => Bytewright::TreeTable }.freeze
  TABLES = lambda do |folder|
    BOTH.map { |ending, klass| klass.open(File.join(folder, "t.#{ending}"), timeout: 0.2).update("a" => "1", "b" => "2") }
  end
  MUCH = ("x" * 1_000).freeze
  FILL = ->(table) { 3_000.times { |number| table["much #{number}"] = MUCH } && table.sync }

  operation("open a table",
            full: ->(folder) { BOTH.each { |ending, klass| klass.open(File.join(folder, "new.#{ending}"), sync: :commit, &FILL) } },
            itself: lambda { |folder|
              path = File.join(folder, "t.bwt")
              Bytewright::Table.open(path) { refused { Bytewright::Table.open(path) } }
            }) do |folder|
    BOTH.map { |ending, klass| klass.open(File.join(folder, "o.#{ending}"), timeout: 0.2) { |table| table.update("a" => "1").to_h } }
  end
  operation("read an entry", set_up: TABLES, itself: ->(tables) { tables.each { |table| table.fetch("none") { table.close } } }) do |tables|
    tables.map { |table| [table["a"], table.fetch("b"), table.values_at("a", "c"), table.key?("c")] }
  end
  operation("change an entry", set_up: TABLES, full: ->(tables) { tables.each(&FILL) },
                               itself: ->(tables) { tables.each { |table| table.delete("none") { table.close } } }) do |tables|
    tables.map do |table|
      table["a"] = "1"
      table.increment("b", 0)
      [table.create("a", "2"), table.delete("c"), table["a"]]
    end
  end
  operation("change many entries", set_up: TABLES,
                                   full: ->(tables) { tables.each { |table| table.update((0..3000).to_h { |number| [number.to_s, MUCH] }).sync } },
                                   itself: lambda { |tables|
                                     tables.each { |table| table.update(table) }
                                     tables.each { |table| refused { table.delete_if { table.close } } }
                                   }) do |tables|
    tables.last.update("own" => "1").delete_range(prefix: "own")
    tables.map { |table| table.update("a" => "1", "b" => "2").transform_values!(&:itself).delete_if { false }.to_h.slice("a", "b") }
  end
  operation("walk a table", set_up: TABLES, itself: ->(tables) { tables.each { |table| refused { table.each { table.close } } } }) do |tables|
    tables.map { |table| [table.each.to_a, table.keys, table.find { |_, value| value == "2" }, table.select { true }.to_h] } <<
      tables.grep(Bytewright::HashTable).map { |table| table.changes_since.to_a }
  end
  operation("use a snapshot", set_up: TABLES,
                              itself: ->(tables) { tables.each { |table| refused { table.snapshot { |snapshot| snapshot.close || snapshot.to_a } } } }) do |tables|
    tables.map { |table| table.snapshot { |snapshot| [snapshot.to_a, snapshot["a"]] } } << tables.last.cursor.then { |cursor| [cursor.first, cursor.next, cursor.close] }
  end
  operation("run a transaction", set_up: TABLES,
                                 full: ->(tables) { tables.each { |table| table.transaction { FILL.call(table) } } },
                                 itself: ->(tables) { tables.each { |table| refused { table.transaction { table.close } } } }) do |tables|
    tables.map { |table| table.transaction { table.update("a" => "1") && table.transaction { table.delete("b") && table["b"] = "2" } } && table.to_h }
  end
  operation("sync or compact a table", set_up: TABLES, full: ->(tables) { tables.each(&FILL).each(&:compact) },
                                       itself: ->(tables) { tables.each { |table| refused { table.each { table.compact } } } }) do |tables|
    # Another thread may be reading.
    tables.map { |table| table.sync && refused { table.compact } }
  end
  operation("back a table up", set_up: TABLES,
                               full: lambda { |tables|
                                 tables.each { |table| refused { table.update((0..3000).to_h { |number| [number.to_s, MUCH] }) } }
                                 tables.each { |table| table.backup("#{table.path}.full") }
                               },
                               itself: ->(tables) { tables.each { |table| refused { table.backup(table.path, replace: true) } } }) do |tables|
    tables.map do |table|
      path = "#{table.path}.#{Process.pid}.#{Thread.current.object_id}"
      Bytewright::Table.open(table.backup(path, replace: true) && path, read_only: true, &:to_h)
    end
  end
  operation("dump a table", set_up: TABLES,
                            full: lambda { |tables|
                              table = Bytewright::TreeTable.new((0..3000).to_h { |number| [number.to_s, MUCH] })
                              table.dump("#{tables.first.path}.dump")
                            },
                            itself: ->(tables) { tables.each { |table| refused { table.dump(table.path, force: true) } } }) do |tables|
    tables.map do |table|
      path = "#{table.path}.#{Process.pid}.#{Thread.current.object_id}"
      [:db, :lmdb, :sql].map { |format| [table.dump(path, format: format), Bytewright::TreeTable.new.tap { |copy| copy.load(path) }.to_a] }
    end
  end
  operation("load a dump", set_up: TABLES,
                           full: lambda { |tables|
                             path = "#{tables.first.path}.dump"
                             # Short in its file, which is full soon, too.
                             Zlib::GzipWriter.open(path) do |gzip|
                               gzip << "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n"
                               3_000.times { |number| gzip << " #{number}\n #{MUCH}\n" }
                               gzip << "DATA=END\n"
                             end
                             tables.each { |table| table.load(path) && table.sync }
                           },
                           itself: lambda { |tables|
                             tables.each { |table| table.load(table.path) rescue Bytewright::FormatError } # rubocop:disable Style/RescueModifier
                           }) do |tables|
    tables.map do |table|
      path = "#{table.path}.#{Process.pid}.#{Thread.current.object_id}"
      Bytewright::TreeTable["a", "1", "b", "2"].dump(path, format: :sql)
      [table.load(path), table.to_h.slice("a", "b")]
    end
  end
  operation("close a table",
            full: ->(folder) { BOTH.each { |ending, klass| klass.open(File.join(folder, "c.#{ending}"), sync: :never).tap(&FILL).close } },
            itself: ->(folder) { TABLES.call(folder).each { |table| refused { table.transaction { table.close } } && table.close } }) do |folder|
    # In a block: what is opened without one just as an interrupt comes waits for the collector.
    BOTH.map do |ending, klass|
      klass.open(File.join(folder, "o.#{ending}"), timeout: 0.2) do |table|
        table["a"] = "1"
        table.close
        table.closed?
      end
    end
  end
  operation("use a cache",
            set_up: lambda { |folder|
              [File.join(folder, "c.bwc"), nil].map do |path|
                Bytewright::Cache.new(path, timeout: 0.2, count_limit: 100_000).tap { |cache| cache.set("a", { b: [1, nil] }, tag: "books") }
              end
            },
            full: ->(caches) { 3_000.times { |number| caches.first["much #{number}"] = MUCH } },
            itself: lambda { |caches|
              caches.each do |cache|
                refused { cache.each { cache["a"] = 1 } }
                cache["a"] = [cache["a"]]
                cache.fetch("none") { |key| cache.fetch(key) { cache.delete(key) } } || cache.delete("none")
                refused { cache.transaction { cache.close } }
                cache.close
              end
            }) do |caches|
    caches.map do |cache|
      cache.set("a", { b: [1, nil] }, expires_in: 3600, tag: "books")
      cache.transaction { [cache.delete("n"), cache.add("n", 2)] }
      cache.increment("n", 0)
      [cache["a"], cache.fetch("n") { 2 }, cache.get("none", 0), cache.touch("none"), cache.evict("no book"), cache.expire, cache.cull,
       cache.take("none"), cache.key?("a"), cache.to_a.assoc("a"), cache.keys.include?("a")]
    end
  end
  operation("run a transaction of a store",
            set_up: lambda { |folder|
              [nil, :roots].map { |format| Bytewright::PStore.new(File.join(folder, "#{format}.pstore"), true, format: format) }
            },
            full: ->(stores) { stores.each { |store| store.transaction { store["much"] = MUCH * 1000 } } },
            itself: lambda { |stores|
              stores.each { |store| store.transaction { store.transaction { nil } } rescue Bytewright::PStore::Error } # rubocop:disable Style/RescueModifier
            }) do |stores|
    stores.map { |store| store.transaction { (store["a"] = "1") && store.fetch("a") } }
  end

  operation("open a capture", itself: ->(_) { refused { Bytewright::Capture.open(VLAN) { |capture| capture.close || capture.count } } }) do |_|
    [Bytewright::Capture.open(VLAN) { |capture| capture.info[:packets] }, Bytewright::Capture.open(StringIO.new(File.binread(VLAN)), &:name)]
  end

  # Defines an operation on a capture, which is closed in the operation's own block.
  def self.capture_operation(name, walk, &run)
    itself = ->(_) { refused { Bytewright::Capture.open(VLAN) { |capture| walk.call(capture) { capture.close } } } }
    operation(name, itself: itself) { |_| Bytewright::Capture.open(VLAN, &run) }
  end

  capture_operation("walk the packets of a capture", ->(capture, &block) { capture.each(&block) }) { |capture| [capture.sum(&:length), capture[2].length] }
  capture_operation("read a capture as columns", ->(capture, &block) { capture.each_batch(&block) }) { |capture| capture.each_batch.sum(&:size) }
  capture_operation("sum up a capture", ->(capture, &block) { block.call || capture.count_by(:proto) }) { |capture| [capture.count_by(:proto).to_a, capture.endpoints, Bytewright::Capture.endpoints(VLAN)] }
  capture_operation("walk the flows or calls of a capture", ->(capture, &block) { capture.flows(&block) }) { |capture| [capture.flows.count, capture.calls.count] }

  operation("merge flows into a store",
            full: ->(folder) { Bytewright::Capture.flows(WEB, into: File.join(folder, "full.bwt")) },
            itself: lambda { |folder|
              path = File.join(folder, "f.bwt")
              Bytewright::FlowStore.open(path) { |store| refused { store.merge(path) } }
            }) do |folder|
    path = File.join(folder, "f.#{Process.pid}.#{Thread.current.object_id}.bwt")
    Bytewright::Capture.flows(VLAN, into: path)
    Bytewright::FlowStore.open(path, &:size)
  end
  operation("walk a store of flows",
            set_up: ->(folder) { File.join(folder, "f.bwt").tap { |path| Bytewright::Capture.flows(VLAN, into: path) } },
            itself: ->(path) { Bytewright::FlowStore.open(path) { |store| refused { store.each { store.close } } } }) do |path|
    Bytewright::FlowStore.open(path, read_only: true) { |store| store.sum(&:packets) }
  end
  operation("write packets to a capture",
            full: ->(folder) { Bytewright::CaptureWriter.open(File.join(folder, "full.pcap")) { |writer| 3_000.times { writer.write(MUCH, time: 0) } } },
            itself: lambda { |folder|
              Bytewright::CaptureWriter.open(File.join(folder, "w.pcap")) { |writer| refused { writer.close || writer.write("a") } }
            }) do |folder|
    path = File.join(folder, "w.#{Thread.current.object_id}.pcap")
    Bytewright::CaptureWriter.open(path, force: true) { |writer| 5.times { writer.write(MUCH, time: 0) } }
    Bytewright::Capture.open(path, &:count)
  end
  operation("write what was read to a file",
            full: lambda { |folder|
              Bytewright::Capture.open(WEB) { |capture| capture.write_to(File.join(folder, "full.pcap")) }
            },
            itself: lambda { |folder|
              path = File.join(folder, "own.pcapng")
              File.binwrite(path, File.binread(VLAN))
              Bytewright::Capture.open(path) { |capture| refused { capture.write_to(path) } }
              refused { Bytewright::Capture.flows(path, into: path, format: :zeek, force: true) }
              Bytewright::Capture.open(path) { |capture| refused { capture.flows(into: path, format: :zeek, force: true) } }
              raise "packets are gone" unless Bytewright::Capture.open(path, &:count) == 316
            }) do |folder|
    path = File.join(folder, "c.#{Process.pid}.#{Thread.current.object_id}.pcapng")
    Bytewright::Capture.open(VLAN) { |capture| capture.write_to(path, force: true) }
    Bytewright::Capture.report(VLAN, into: "#{path}.html")
    flows = Bytewright::Capture.flows(VLAN, into: "#{path}.log", format: :zeek)
    flows += Bytewright::Capture.open(VLAN) { |capture| capture.flows(into: "#{path}.log", format: :ecs) }
    packets = Bytewright::Capture.open(path) { |capture| capture.index.first[:packets] }
    page = File.read("#{path}.html", encoding: Encoding::UTF_8)
    [packets, flows, Bytewright::Capture.open(path, &:count), page.end_with?("</html>\n")].tap do
      File.unlink(path, "#{path}.html", "#{path}.log", "#{path}.bwi")
    end
  end
  operation("read values from a stream",
            itself: lambda { |_|
              source = Object.new
              reader = Bytewright::Reader.open(source.tap { |object| object.define_singleton_method(:readpartial) { |*| reader.close || "abc" } })
              refused { reader.u8 }
            }) do |_|
    [Bytewright::Reader.open(TUNNELS) { |reader| [reader.u32le, reader.read.bytesize] },
     Bytewright::Reader.open(StringIO.new("a\nb\n"), &:to_a)]
  end
  operation("write values to a stream",
            full: ->(folder) { Bytewright::Writer.open(File.join(folder, "full.bin")) { |writer| 3_000.times { writer << MUCH } } },
            itself: lambda { |_|
              writer = nil
              target = Object.new.tap { |object| object.define_singleton_method(:write) { |bytes| refused_write { writer.close } || bytes.bytesize } }
              target.define_singleton_method(:refused_write) { |&block| TroublesTest.refused(&block) }
              writer = Bytewright::Writer.open(target)
              refused { writer.u8(1).flush }
            }) do |folder|
    path = File.join(folder, "w.#{Process.pid}.#{Thread.current.object_id}")
    Bytewright::Writer.open(path) { |writer| writer.u32be(5) << "hello" }
    Bytewright::Writer.replace("#{path}.whole") { |writer| writer << "whole" }
    [File.binread(path), File.binread("#{path}.whole")]
  end

  if defined?(::Thrift)
    MESSAGES = Bytewright::Thrift.load(File.join(ROOT, "samples/log.thrift"), into: Module.new)
    ENTRY = MESSAGES::Entry.new("host" => "a", "time" => 7)
    BYTES = Bytewright::Thrift.encode(ENTRY)

    operation("read a Thrift message", itself: lambda { |_|
      # Its own words are what it reads while it reads them.
      transport = ::Thrift::MemoryBufferTransport.new(BYTES.dup)
      ::Thrift::BinaryProtocolAccelerated.new(transport).then { |protocol| MESSAGES::Entry.new.read(protocol) }
    }) { |_| [Bytewright::Thrift.decode(MESSAGES::Entry, BYTES).host, Bytewright::Thrift.pluck(MESSAGES::Entry, BYTES, :time)] }
    operation("write a Thrift message", itself: lambda { |_|
      entry = MESSAGES::Entry.new("host" => "a")
      Bytewright::Thrift.encode(entry.tap { entry.host = Bytewright::Thrift.encode(entry) })
    }) { |_| Bytewright::Thrift.encode(ENTRY) }
    operation("read a Thrift IDL file", itself: lambda { |folder|
      path = File.join(folder, "own.thrift")
      File.write(path, "include \"own.thrift\"\nstruct A { 1: i32 a }\n")
      begin
        Bytewright::Thrift.load(path, into: Module.new)
      rescue Bytewright::Error
        nil
      end
    }) { |_| Bytewright::Thrift.load(File.join(ROOT, "samples/log.thrift"), into: Module.new).constants.sort }
  else
    ["read a Thrift message", "write a Thrift message", "read a Thrift IDL file"].each { |name| NOT_OFFERED[name] = "the gem thrift is not here" }
  end

  # The drivers.

  def signal(operation, state, expected, _folder)
    count = 0
    Interruptions.with_signals(-> { count += 1 }, seed: @seed) do
      3.times { assert_equal(expected, operation.run.call(state)) }
      assert_equal(expected, operation.run.call(state)) until count > 3
    end
  end

  def raise_within(operation, state, expected, _folder)
    Interruptions.with_interruptions(@seed) do |interrupt|
      ROUNDS.times do
        interrupt.call(-> { operation.run.call(state) })
        assert_equal(expected, operation.run.call(state))
      end
    end
  end

  def full(operation, state, expected, folder)
    close(state)
    message = in_child do
      inner = operation.set_up.call(folder)
      Signal.trap("XFSZ", "IGNORE")
      # A bit more than a new table has.
      Process.setrlimit(:FSIZE, 142_000)
      operation.full.call(inner)
      "nothing was raised"
    rescue Errno::EFBIG, Errno::ENOSPC
      "full"
    end
    assert_equal("full", message)
    again = operation.set_up.call(folder)
    assert_equal(expected, operation.run.call(again))
    close(again)
  end

  def thread(operation, state, expected, _folder)
    threads = Array.new(2) { Thread.new { 5.times.map { answer_or_lock(operation, state) } } }
    assert_empty(threads.flat_map(&:value).uniq - [expected, :locked])
    assert_equal(expected, operation.run.call(state))
  end

  def fork_within(operation, state, expected, folder)
    is_over = false
    beside = Thread.new { answer_or_lock(operation, state) until is_over }
    8.times do |round|
      sleep(Random.new(@seed + round).rand * 0.002)
      own = File.join(folder, "child #{round}").tap { |path| Dir.mkdir(path) }
      answer = in_child do
        mine = operation.run.call(operation.set_up.call(own))
        # The child may read what the parent has open, or is told that it may not.
        theirs = begin
          operation.run.call(state)
        rescue Bytewright::Error, SystemCallError, IOError, ArgumentError
          expected
        end
        (mine == expected && theirs == expected ? "right" : "found #{mine.inspect} and #{theirs.inspect}").b
      end
      assert_equal("right", answer)
    end
  ensure
    is_over = true
    beside&.join
    assert_equal(expected, operation.run.call(state)) if passed_so_far?
  end

  def second(operation, state, expected, folder)
    answer = in_child { answer_or_lock(operation, -> { operation.set_up.call(folder) }).then { |found| found == :locked || found == expected ? "right" : found.inspect } }
    assert_equal("right", answer)
    assert_equal(expected, operation.run.call(state))
  end

  def itself(operation, state, expected, folder)
    operation.itself.call(state)
    close(state)
    assert_equal(expected, operation.run.call(operation.set_up.call(folder)))
  end

  DRIVERS = { "signal" => :signal, "raise" => :raise_within, "full" => :full, "thread" => :thread, "fork" => :fork_within, "second" => :second,
              "itself" => :itself }.freeze

  # The tests.

  TABLE.fetch("operations").each do |row|
    operation = OPERATIONS[row.fetch("name")] or next
    row.fetch("troubles").each do |trouble|
      next if NO_TROUBLES.key?(trouble)

      define_method("test_#{row["name"]}: #{trouble}") { try(operation, trouble) }
    end
  end

  def try(operation, trouble)
    @seed = Integer(ENV.fetch("BYTEWRIGHT_SEED") { Random.new_seed % 2**32 })
    with_folder do |folder|
      state = operation.set_up.call(folder)
      expected = operation.run.call(state)
      send(DRIVERS.fetch(trouble), operation, state, expected, folder)
    ensure
      close(state)
    end
  rescue Minitest::Assertion => error
    raise error.class, "BYTEWRIGHT_SEED=#{@seed}: #{error.message}", error.backtrace
  end

  def passed_so_far?
    failures.empty? && $!.nil?
  end

  # Closes what was set up; what is in use of another process may be left.
  def close(state)
    Array(state).each { |each| each.close if each.respond_to?(:close) }
  end

  # The answer; :locked where another one has the file.
  def answer_or_lock(operation, state)
    operation.run.call(state.is_a?(Proc) ? state.call : state)
  rescue Bytewright::LockError
    :locked
  end

  # Returns the block's result in a forked child, which ends within bounds.
  def in_child
    reader, writer = IO.pipe
    child = fork do
      at_exit { exit! }
      reader.close
      writer.write(yield)
      writer.close
    rescue Exception => error # rubocop:disable Lint/RescueException -- it is told
      writer.write(error.full_message(highlight: false)) && writer.close
    end
    writer.close
    unless reader.wait_readable(PATIENCE)
      Process.kill(:KILL, child)
      flunk("the child hangs")
    end
    reader.read
  ensure
    reader&.close
    Process.wait(child) if child
  end

  def test_every_operation_and_trouble_is_run_or_is_said_not_to_be_there
    names = TABLE.fetch("operations").map { |row| row["name"] }
    assert_empty(names - OPERATIONS.keys - NOT_OFFERED.keys, "operations of conformance/troubles.json; add each with `operation` in #{__FILE__}")
    assert_empty(OPERATIONS.keys + NOT_OFFERED.keys - names, "operations that conformance/troubles.json does not name")
    assert_equal(TABLE.fetch("troubles").keys.sort, (DRIVERS.keys + NO_TROUBLES.keys).sort)
    TABLE["operations"].each do |row|
      next unless (operation = OPERATIONS[row["name"]])

      assert(operation.full, "#{row["name"]}: full") if row["troubles"].include?("full")
      assert(operation.itself, "#{row["name"]}: itself") if row["troubles"].include?("itself")
    end
  end

  # The ways to do each operation: classes, each with its methods.
  METHODS = {
    "open a table" => "Table. [] open; ADB open; StringSet. [] open",
    "read an entry" => "Table [] fetch key? values_at view; Entries any? assoc default dig fetch_values has_key? include? member?; " \
                       "OrderedEntries ceiling first floor last; ADB [] error fetch fwmkeys get has_key? include? key? member? vsiz; " \
                       "StringSet === include? member?; Snapshot [] fetch key? values_at",
    "change an entry" => "Table []= append create delete increment replace shift store; " \
                         "ADB []= adddouble addint delete out put putcat putkeep store; StringSet << add add? delete delete?",
    "change many entries" => "Table clear compact! delete_if delete_range filter! keep_if merge! rehash reject! select! transform_keys! " \
                             "transform_values! update; ADB clear misc vanish; StringSet clear delete_if merge subtract",
    "walk a table" => "Entries < <= == > >= as_json count deconstruct_keys each each_key each_pair each_value empty? encode_with entries eql? " \
                      "except filter flatten has_value? hash inspect invert key keys length merge rassoc reject select slice to_a to_h " \
                      "to_hash to_json to_proc to_s transform_keys transform_values value? values; OrderedEntries reverse_each; " \
                      "TreeTable cursor; Cursor close closed? first key last next prev seek value; Table changes_since; " \
                      "Changes close closed? each position; " \
                      "ADB each each_key each_pair each_value empty? has_value? inspect iterinit iternext key keys length value? values; " \
                      "StringSet & + - == >= <= ^ | as_json count difference disjoint? each empty? encode_with eql? hash inspect intersect? " \
                      "intersection length size subset? superset? table to_a to_json to_s union",
    "use a snapshot" => "Table snapshot; Snapshot close closed? encoding size",
    "run a transaction" => "Table transaction; ADB tranabort tranbegin trancommit; StringSet transaction",
    "sync or compact a table" => "Table compact stat sync; ADB optimize rnum size sync",
    "back a table up" => "Table backup; ADB copy",
    "dump a table" => "Table dump",
    "load a dump" => "Table load",
    "close a table" => "Table close; ADB close; StringSet close",
    "use a cache" => "Cache. open; Cache [] []= add clear close cull decrement delete each each_key each_pair empty? evict expire fetch get has_key? " \
                     "include? increment inspect key? keys length member? set size store sync take to_s touch transaction volume",
    "run a transaction of a store" => "PStore. convert format_of; PStore [] []= abort close commit delete fetch key? keys root? roots transaction",
    "open a capture" => "Capture. live open; Capture close live_counts stop",
    "walk the packets of a capture" => "Capture [] chain chunk chunk_while compact cycle detect drop drop_while each each_cons each_entry each_row " \
                                       "each_slice each_with_index each_with_object entries filter find find_all first grep grep_v group_by " \
                                       "include? inject lazy max max_by member? min min_by minmax minmax_by partition reduce reject " \
                                       "reverse_each select slice_after slice_before slice_when sort sort_by take take_while tally to_a " \
                                       "to_set uniq zip",
    "read a capture as columns" => "Capture each_batch",
    "sum up a capture" => "Capture. endpoints services; Capture count_by endpoints info services sum",
    "walk the flows or calls of a capture" => "Capture calls flows",
    "merge flows into a store" => "Capture. flows; FlowStore captures merge",
    "walk a store of flows" => "FlowStore. open; FlowStore close each empty? length size",
    "write packets to a capture" => "CaptureWriter. open; CaptureWriter close discard write",
    "write what was read to a file" => "Capture. index report; Capture index write_to",
    "read values from a stream" => "Reader. open; Reader close each each_line each_record eof pos= rewind scan seek tell unpack_records",
    "write values to a stream" => "Writer. open replace; Writer close flush fsync pack pos= seek tell",
    "read a Thrift message" => "Thrift. columns decode decode_many pluck; ThriftColumns. of",
    "write a Thrift message" => "Thrift. encode; Thrift::BinaryProtocolFactory get_protocol; Thrift::CompactProtocolFactory get_protocol",
    "read a Thrift IDL file" => "Thrift. load"
  }.freeze
  # Do no input or output, call nobody and wait for nothing.
  PLAIN = "Table closed? encoding path size; ADB path; Cache closed? path size_limit stats; StringSet closed? freeze path; PStore inspect path ultra_safe ultra_safe=; " \
          "Reader inspect; Writer inspect; CaptureWriter closed? inspect name; Capture closed? damage index_fault inspect name; " \
          "FlowStore closed? inspect name; Thrift::BinaryProtocolFactory to_s; Thrift::CompactProtocolFactory to_s"
  # All methods of these are plain: rows and columns in memory.
  IN_MEMORY = %w[Call Columns Error Flow Packet ThriftColumns View].freeze

  def named_in(text)
    text.split("; ").flat_map do |part|
      place, *methods = part.split
      methods.map { |method| place.end_with?(".") ? "#{place}#{method}" : "#{place}##{method}" }
    end
  end

  def test_every_public_method_is_of_an_operation_or_plain
    assert_equal(TABLE.fetch("operations").map { |row| row["name"] }.sort, METHODS.keys.sort)
    known = (METHODS.values + [PLAIN]).flat_map { |text| named_in(text) }
    PUBLIC.reject { |name| loadable?(name) }.each { |name| known.reject! { |method| method.start_with?("#{name}.", "#{name}#") } }
    assert_empty(known.tally.select { |_, count| count > 1 }.keys, "stand twice")
    advice = "add each to METHODS in #{__FILE__}, for the operation that it does, or to PLAIN if it does no input or output"
    assert_empty(public_names - known, advice)
    assert_empty(known - public_names, "these are not there any more")
  end

  def public_names
    PUBLIC.select { |name| Bytewright.const_defined?(name) && loadable?(name) }.flat_map do |name|
      place = Bytewright.const_get(name)
      of_class = place.singleton_methods(false).map { |method| "#{name}.#{method}" }
      next of_class if IN_MEMORY.include?(name)

      of_class + place.public_instance_methods(false).map { |method| "#{name}##{method}" }
    end
  end

  # False for what is there with the gem of Thrift only, where that is missing.
  def loadable?(name)
    Bytewright.const_get(name) if Bytewright.const_defined?(name)
    true
  rescue LoadError => error
    raise unless error.path == "thrift"
  end

  PUBLIC = (METHODS.values.flat_map { |text| text.split("; ").map { |part| part.split.first.delete_suffix(".") } } + IN_MEMORY).uniq.freeze
end
