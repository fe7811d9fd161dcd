# frozen_string_literal: true

require "digest"
require "json"
require "stringio"
require_relative "thrift_case"

# Goal: Ruby does what every face must do alike.
# Method: the cases of conformance/, which its README explains. What this runner does not know fails.
class ConformanceTest < TestCase
  FOLDER = File.join(ROOT, "conformance")
  ERRORS = %w[Format Truncated Limit Argument Lock].to_h { |kind| [kind, "#{kind}Error"] }.freeze
  TABLES = { "hash" => [Bytewright::HashTable, "bwh"], "tree" => [Bytewright::TreeTable, "bwt"] }.freeze

  def self.cases(name)
    JSON.parse(File.read(File.join(FOLDER, "#{name}.json"), encoding: Encoding::UTF_8)).fetch("cases")
  end

  # Loaded when a case needs them: without the gem thrift, all other cases still run.
  def self.messages
    @messages ||= Bytewright::Thrift.load(File.join(FOLDER, "messages.thrift"), into: Module.new)
  end

  %w[adb tables captures records thrift].each do |file|
    cases(file).each do |test|
      define_method("test_#{file}: #{test.fetch("name")}") { send(:"run_#{file}", test) }
    end
  end

  def test_every_file_has_a_runner
    # troubles_test.rb runs the last one.
    files = Dir[File.join(FOLDER, "*.json")].map { |path| File.basename(path, ".json") }
    assert_equal(%w[adb captures records tables thrift troubles], files.sort)
  end

  private

  def check_keys(test, *known)
    assert_empty(test.keys - known, "a key that the runner does not know")
  end

  # The kind of the error of a block, and what it says of the place; nil where there is none.
  def failure
    yield
    nil
  rescue StandardError => error
    [error.class.name.split("::").last, error.respond_to?(:offset) ? error.offset : nil]
  end

  # Tables.

  def run_tables(test)
    check_keys(test, "name", "kinds", "steps")
    Dir.mktmpdir do |folder|
      test.fetch("kinds").each do |kind|
        klass, extension = TABLES.fetch(kind)
        [klass.new, klass.open(File.join(folder, "table.#{extension}"))].each do |table|
          test.fetch("steps").each { |step| run_step(table, step) }
          table.close if table.respond_to?(:close)
        end
      end
    end
  end

  def run_step(table, step)
    check_keys(step, "do", "key", "value", "by", "from", "to", "prefix", "text", "steps", "gives", "raises", "outer", "beside", "inner", "end")
    return overlap(table, step) if step["do"] == "overlap"

    found = nil
    error, = failure { found = done(table, step) }
    return assert_equal(ERRORS.fetch(step["raises"]), error, step.inspect) if step.key?("raises")

    assert_nil(error, step.inspect)
    assert(step["gives"] == found, "#{step.inspect}: found #{found.inspect}") if step.key?("gives")
  end

  def run_steps(table, steps)
    steps.each { |step| run_step(table, step) }
  end

  # The first transaction is a fiber's.
  def overlap(table, step)
    outer = Fiber.new do
      table.transaction do
        run_steps(table, step.fetch("outer"))
        Fiber.yield
        break if step.fetch("end") == "take back"
      end
    end
    outer.resume
    run_steps(table, step.fetch("beside"))
    error, = failure { table.transaction { run_steps(table, step.fetch("inner")) } }
    assert_includes(ERRORS.values_at(*step.fetch("raises")), error)
    outer.resume
    refute(outer.alive?)
  end

  def done(table, step)
    key = step["key"]
    case step.fetch("do")
    when "get" then table[key]
    when "put" then table[key] = step.fetch("value")
    when "delete" then table.delete(key)
    when "size" then table.size
    when "entries" then step.key?("prefix") ? table.to_a(prefix: step["prefix"]) : table.to_a
    when "delete range" then table.delete_range(**step.slice("from", "to", "prefix").transform_keys(&:to_sym))
    when "load" then Tempfile.create("dump") { |file| (file << step.fetch("text")).flush && table.load(file.path) }
    when "floor" then table.floor(key)
    when "ceiling" then table.ceiling(key)
    when "increment" then table.increment(key, step.fetch("by"))
    when "keep" then table.transaction { run_steps(table, step.fetch("steps")) }
    when "take back"
      catch(:back) { table.transaction { run_steps(table, step.fetch("steps")) && throw(:back) } }
    else flunk("an operation that the runner does not know: #{step["do"]}")
    end
  end

  # Tokyo Cabinet's methods.

  def run_adb(test)
    check_keys(test, "name", "names", "tuning", "steps")
    test.fetch("names").each do |name|
      Dir.mktmpdir do |folder|
        Dir.chdir(folder) do
          place = name.start_with?(".") ? "casket#{name}" : name
          adb = Bytewright::ADB.new
          assert(adb.open("#{place}#{test["tuning"]}"))
          test.fetch("steps").each { |step| run_adb_step(adb, place, step) }
          adb.close
        end
      end
    end
  end

  def run_adb_step(adb, place, step)
    check_keys(step, "do", "with", "as", "tuning", "gives", "error")
    adb = Bytewright::ADB.new if step["do"] == "open another"
    arguments = step["do"].start_with?("open") ? ["#{step.fetch("as", place)}#{step["tuning"]}"] : step["with"]
    found = nil
    # The name of a file of Tokyo Cabinet's warns.
    capture_io { found = adb.public_send(step["do"][/\w+/], *arguments) }
    assert(step["gives"] == found, "#{step.inspect}: found #{found.inspect}")
    check_adb_error(adb.error, step["error"]) if step.key?("error")
    adb.close if step["do"] == "open another"
  end

  # Checks the error. A refusal of the system is no class of ours.
  def check_adb_error(error, kind)
    kind == "Io" ? assert_kind_of(SystemCallError, error) : assert_equal(ERRORS.fetch(kind), error.class.name.split("::").last)
  end

  # Captures.

  def run_captures(test)
    check_keys(test, "name", "capture", "cut", "indexed", "do", "fields", "field", "number", "rows", "count", "counts", "by", "every",
               "question", "options", "raises", "format", "sha256")
    path = File.join(ROOT, "samples", test.fetch("capture"))
    return run_indexed(path, test) if test["indexed"]
    return compare_written(path, test) if test.fetch("do") == "write flows"

    source = test.key?("cut") ? StringIO.new(File.binread(path)[0...-test["cut"]]) : path
    Bytewright::Capture.open(source) { |capture| compare_capture(capture, test) }
  end

  # The file is that of the command, and the same from an open capture and from a path.
  def compare_written(path, test)
    format, options = test.fetch("format"), test.fetch("options", {})
    with_new_file("flows") do |into|
      source = -> { test.key?("cut") ? StringIO.new(File.binread(path)[0...-test["cut"]]) : path }
      keywords = { into: into, format: format, **options.transform_keys(&:to_sym) }
      ways = [-> { Bytewright::Capture.flows(source.call, **keywords) }, -> { Bytewright::Capture.open(source.call) { |capture| capture.flows(**keywords) } }]
      ways.each do |way|
        count = nil
        error, = failure { count = way.call }
        if test.key?("raises")
          assert_equal(ERRORS.fetch(test["raises"]), error)
          next refute_path_exists(into)
        end
        assert_nil(error)
        assert_equal([test.fetch("count"), test.fetch("sha256")], [count, Digest::SHA256.hexdigest(settled(File.binread(into), format))])
        File.unlink(into)
      end
      next if test.key?("raises")

      flags = options.flat_map { |name, value| ["--#{name.tr("_", "-")}", value.to_s] }
      printed = IO.popen(command("flows", path, "--as", format, *flags), "rb", &:read)
      assert_equal(test["sha256"], Digest::SHA256.hexdigest(settled(printed, format)), "of the command")
    end
  end

  # The bytes of a file of flows without the times at which it was written.
  def settled(bytes, format)
    return bytes.lines.grep_v(/\A#(open|close)/).join unless format == "ipfix"

    place = 0
    while place < bytes.bytesize
      bytes[place + 4, 4] = "\0\0\0\0"
      place += bytes[place + 2, 2].unpack1("n")
    end
    bytes
  end

  # The capture in a folder of its own, with its index.
  def run_indexed(path, test)
    Dir.mktmpdir do |folder|
      copy = File.join(folder, "indexed")
      File.binwrite(copy, File.binread(path)[0...(test.key?("cut") ? -test["cut"] : nil)])
      failure { Bytewright::Capture.index(copy) }
      assert_path_exists("#{copy}.bwi")
      Bytewright::Capture.open(copy) { |capture| compare_capture(capture, test) }
    end
  end

  def compare_capture(capture, test)
    if test.fetch("do") == "count_by"
      counts = capture.count_by(test.fetch("field").to_sym).first(test.fetch("counts").size)
      return assert_equal(test["counts"], counts)
    end
    fields, rows = test.fetch("fields", []).map(&:to_sym), []
    error, = failure do
      case test["do"]
      when "packets" then capture.each { |packet| rows << packet.values_at(*fields) }
      when "sum" then rows = capture.sum(*fields, by: test.fetch("by").map(&:to_sym), every: test["every"]).map(&:values)
      when "ask" then rows = capture.public_send(test.fetch("question"), **test.fetch("options").transform_keys(&:to_sym)).map(&:values)
      when "frame" then rows = [capture[test.fetch("number")]].compact.map { |packet| packet.values_at(*fields) }
      when "flows" then capture.flows(**test.fetch("options", {}).transform_keys(&:to_sym)).each { |flow| rows << fields.map { |field| flow.public_send(field) } }
      when "calls" then capture.calls(**test.fetch("options", {}).transform_keys(&:to_sym)).each { |call| rows << call.to_h.values_at(*fields) }
      else flunk("an operation that the runner does not know: #{test["do"]}")
      end
    end
    test.key?("raises") ? assert_equal(ERRORS.fetch(test["raises"]), error) : assert_nil(error)
    assert_equal(test.fetch("count"), rows.size)
    assert_equal(test.fetch("rows"), rows.first(test["rows"].size))
  end

  # Records.

  def run_records(test)
    check_keys(test, "name", "template", "bytes", "count", "gives", "raises", "offset")
    reader, found = Bytewright::Reader.open(StringIO.new([test.fetch("bytes")].pack("H*"))), nil
    told = failure { found = reader.unpack_records(test.fetch("template"), test["count"]) }
    return assert_equal([ERRORS.fetch(test["raises"]), test.fetch("offset", told[1])], told) if test.key?("raises")

    assert_nil(told)
    values = found.map { |record| record.map { |value| value.is_a?(String) ? { "hex" => value.unpack1("H*") } : value } }
    assert_equal(test.fetch("gives"), values)
  end

  # Thrift.

  def run_thrift(test)
    check_keys(test, "name", "type", "protocol", "message", "gives", "encodes", "raises", "offset", "columns", "plucks")
    skip unless defined?(::Thrift)
    klass, bytes = self.class.messages.const_get(test.fetch("type")), [test.fetch("message")].pack("H*")
    protocol, found = test.fetch("protocol").to_sym, nil
    return check_fields(test, klass, bytes, protocol) if test.key?("columns") || test.key?("plucks")

    told = failure { found = Bytewright::Thrift.decode(klass, bytes, protocol: protocol) }
    return assert_equal([ERRORS.fetch(test["raises"]), test.fetch("offset")], told) if test.key?("raises")

    assert_nil(told)
    assert_equal(test.fetch("gives"), plain(found))
    assert_equal(bytes, Bytewright::Thrift.encode(found, protocol: protocol)) if test.fetch("encodes", true)
  end

  def check_fields(test, klass, bytes, protocol)
    found = if test.key?("columns")
              columns = Bytewright::Thrift.columns(klass, bytes, *test["columns"], protocol: protocol, framed: false)
              columns.names.map { |name| columns.values(name) }.transpose
            else
              Bytewright::Thrift.pluck(klass, bytes, *test["plucks"], protocol: protocol)
            end
    assert_equal(test.fetch("gives"), plain(found))
  end

  def plain(value)
    case value
    when Symbol then value.name
    when Thrift::Struct
      fields = value.struct_fields.values.map { |field| [field[:name], value.send(field[:name])] }
      fields.reject { |_, each| each.nil? }.to_h { |name, each| [name, plain(each)] }
    when Array then value.map { |each| plain(each) }
    when Set then value.sort
    when Hash then value.sort.map { |key, each| [plain(key), plain(each)] }
    when String then value.encoding == Encoding::BINARY ? { "hex" => value.unpack1("H*") } : value
    else value
    end
  end
end
