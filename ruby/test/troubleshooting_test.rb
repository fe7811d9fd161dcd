# frozen_string_literal: true

require_relative "test_case"
require "fileutils"
require "open3"

# Goal: each message in docs/guides/troubleshooting.md is one that a user sees.
#
# Method: each trouble is made, in a folder of its own, and what is said of it is compared with the rows of its section, in
# which `…` stands for any text. A row that nothing says fails, and so does a trouble that has no row. Those of the system cannot be
# made on every machine: their words are looked for in the sources. python/tests/test_troubleshooting.py and
# perl/xt/troubleshooting.t make those of their languages.
class TroubleshootingTest < TestCase
  PAGE = File.join(ROOT, "docs/guides/troubleshooting.md")
  SOURCES = Dir[File.join(ROOT, "{core,cli}/src/**/*.rs")].freeze
  ANY = "…"

  COMMANDS = [
    "info absent.pcap",
    "info text.pcap",
    "info packed.pcap.xz",
    "flows cut.pcapng",
    "packets web.pcap.gz --fields src_ip,dst_prot",
    "packets web.pcap.gz --where 'ip.src == 10.0.0.1'",
    "packets web.pcap.gz --filter 'dst_port == 53'",
    "packets web.pcap.gz tcp port 80",
    "packets -r web.pcap.gz",
    "packets --interface eth77",
    "packets web.pcap.gz --where 'dst_port == 1'",
    "cut web.pcap.gz -o vlan.pcapng",
    "cut vlan.pcapng -o vlan.pcapng --force",
    "cut vlan.pcapng -o vlan.txt",
    "cut vlan.pcapng raw.pcap -o both.pcap",
    "table scan hashed.bwh --reverse",
    "table put old.tch key value",
    "thrift decode text.pcap --idl log.thrift"
  ].freeze

  RUBY = {
    "a table of Strings gets an Integer" => -> { Bytewright::HashTable.new["a"] = 1 },
    "a table is opened with other values" => -> { Bytewright::HashTable.open("json.bwh") },
    "another process has the file" => lambda {
      Bytewright::TreeTable.open("one.bwt", exclusive: true) do
        Open3.capture2e("bytewright", "table", "put", "one.bwt", "a", "1", "--wait", "0").first
      end
    },
    "another process is in a transaction" => lambda {
      table = Bytewright::TreeTable.open("turn.bwt")
      table.transaction { Open3.capture2e("bytewright", "table", "put", "turn.bwt", "a", "1", "--wait", "0").first }
    },
    "a table is closed" => -> { Bytewright::HashTable.open("closed.bwh") { |table| table }.size },
    "a packet is kept" => lambda {
      kept = nil
      Bytewright::Capture.open("vlan.pcapng") { |capture| capture.each { |packet| kept = packet } }
      kept.src_ip
    },
    "a hashed table is asked for a range" => -> { Bytewright::HashTable.new.keys(prefix: "a") },
    "a file is damaged" => lambda {
      Bytewright::TreeTable.open("bad.bwt") { |table| 1000.times { |n| table["key #{n}"] = "value" * 20 } }
      bytes = File.binread("bad.bwt")
      File.binwrite("bad.bwt", bytes.gsub("key 500value", "key 5o0value"))
      Bytewright::TreeTable.open("bad.bwt", verify: true, &:to_a)
    }
  }.freeze

  def test_each_message_of_the_command_is_one_that_it_prints
    in_folder do
      assert_told("Captures, and the command", COMMANDS.to_h { |line| [line, printed_by(line)] })
    end
  end

  def test_each_message_of_ruby_is_one_that_it_raises
    in_folder { assert_told("Ruby", RUBY.transform_values { |trouble| said(trouble) }) }
  end

  def test_each_message_of_the_system_is_in_the_sources
    sources = SOURCES.map { |path| File.read(path, encoding: Encoding::UTF_8) }.join("\n").gsub(/\\\n\s*/, "").gsub(/\{\w*\}/, ANY)
    messages("The system").each { |message| assert_includes(sources, message) }
  end

  def test_every_section_has_a_test
    assert_equal(["Captures, and the command", "Ruby", "Python", "Perl", "The system"], File.read(PAGE, encoding: "UTF-8").scan(/^## (.+)$/).flatten)
  end

  private

  # The messages in the section with that title.
  def messages(title)
    section = File.read(PAGE, encoding: Encoding::UTF_8)[/^## #{title}\n(.*?)(?=^## |\z)/m, 1]
    found = section.scan(/^\| `([^`]+)` \|/).flatten
    refute_empty(found)
    found
  end

  # Compares what is told of each trouble with the messages of a section.
  def assert_told(title, told)
    patterns = messages(title).to_h { |message| [message, /#{message.split(ANY, -1).map { |part| Regexp.escape(part) }.join(".*")}/] }
    patterns.each { |message, pattern| assert(told.values.any? { |text| text.match?(pattern) }, "nothing says: #{message}") }
    told.each { |trouble, text| assert(patterns.values.any? { |pattern| text.match?(pattern) }, "no row has: #{trouble}: #{text}") }
  end

  # Returns what a line of the command prints, which is UTF-8 in every locale.
  def printed_by(line)
    Open3.capture2e("bash", "-c", "bytewright #{line}").first.force_encoding(Encoding::UTF_8)
  end

  # Returns the message of the error that a trouble raises, or the text that it gives.
  def said(trouble)
    trouble.call.to_s
  rescue Bytewright::Error, ArgumentError, TypeError => error
    error.message
  end

  def in_folder
    Dir.mktmpdir do |folder|
      Dir.chdir(folder) do
        FileUtils.cp([WEB, VLAN, File.join(ROOT, "samples/log.thrift")], ".")
        File.binwrite("cut.pcapng", File.binread(VLAN, 20_000))
        File.binwrite("text.pcap", "no capture, but a text")
        File.binwrite("packed.pcap.xz", "\xfd7zXZ\0".b + "\0" * 64)
        File.binwrite("old.tch", "ToKyO CaBiNeT\n1.0:911\n".b.ljust(4096, "\0"))
        File.binwrite("raw.pcap", pcap("").byteslice(0, 20) + [101].pack("L<") + [0, 0, 1, 1, 0x45].pack("L<4C"))
        Bytewright::HashTable.open("hashed.bwh") { |table| table["a"] = "1" }
        Bytewright::HashTable.open("json.bwh", values: :json) { |table| table["a"] = [1] }
        yield
      end
    end
  end
end
