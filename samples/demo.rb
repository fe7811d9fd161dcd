# frozen_string_literal: true

# The main job, on a capture of this folder: a compressed capture becomes a flow table. `make demo`
# runs it with the gem installed as a user would have it; any step that fails ends it.

require "bytewright"
require "tmpdir"

# Shows what is done before it is done, and what came of it.
class Demo
  WEB = "samples/web.pcap.gz"
  WAREHOUSE = "samples/warehouse.pcap.zst"
  IDL = "samples/warehouse.thrift"
  VLAN = "samples/vlan.pcapng"
  TABLE = "flows.bwt"
  WIDTH = 78

  def initialize
    @steps = 0
  end

  def run
    describe_the_capture
    sum_it_up
    sum_it_up_from_ruby
    find_thrift_calls
    keep_the_flows
    add_another_capture
    count_nothing_twice
    say "That was it. README.md tells what else there is."
  end

  private

  def describe_the_capture
    step "What is in #{WEB}?", <<~WORDS
      A capture of DNS, HTTP and Redis traffic, compressed with gzip. It is read
      once, from its first byte to its last, and never unpacked on disk.
    WORDS
    command "info", WEB
  end

  def sum_it_up
    step "Who talked most?", <<~WORDS
      The packets of the same file, summed up by conversation: both directions in
      one row, the side that sent the first packet on the left, what came back
      under rev_. Ten rows, by bytes both ways.
    WORDS
    command "flows", WEB, "--top", "10"
  end

  def sum_it_up_from_ruby
    step "The same from Ruby", <<~WORDS
      The same ten conversations, this time as Ruby objects.
    WORDS
    flows = ruby <<~RUBY
      flows = Bytewright::Capture.flows("#{WEB}")
      flows.max_by(10) { |flow| flow.bytes + flow.rev_bytes }
    RUBY
    flows.each do |flow|
      from, to = ["#{flow.src_ip} #{flow.src_port}", "#{flow.dst_ip} #{flow.dst_port}"]
      puts format("  %-22s %-18s %7d bytes there %8d back", from, to, flow.bytes, flow.rev_bytes)
    end
    check flows.size == 10, "ten flows"
  end

  def find_thrift_calls
    step "Calls of a Thrift service", <<~WORDS
      Another capture: twelve clients of a Thrift service, in four protocols. TCP
      segments are put in order, messages found in them, and each call gets its
      answer. By method, the slowest first; then one call with what it carries.
    WORDS
    command "rpc", WAREHOUSE, "--by", "p99"
    puts ""
    calls = ruby <<~RUBY
      Bytewright::Capture.open("#{WAREHOUSE}") { |capture| capture.calls(idl: "#{IDL}", service: "Store").to_a }
    RUBY
    failed = calls.find { |call| call.method_name == "reserve" && call.error? }
    puts "  #{failed.method_name} #{failed.arguments} answered #{failed.result} after #{failed.latency} microseconds"
    check calls.size == 2351, "2351 calls of the service"
  end

  def keep_the_flows
    step "Keep the flows in a file", <<~WORDS
      The flows go into a table file, in one transaction: a crash leaves all of the
      capture in it, or nothing of it.
    WORDS
    command "flows", WEB, "--into", TABLE
  end

  def add_another_capture
    step "Add another capture", <<~WORDS
      A second run, over another capture, adds to what is there: a flow that is
      there already grows, any other is new.
    WORDS
    before = flows_in_table
    command "flows", VLAN, "--into", TABLE
    after = flows_in_table
    puts "", "The file held #{before} flows and holds #{after} now."
    check after > before, "more flows than before"
  end

  def count_nothing_twice
    step "The first capture again", <<~WORDS
      Once more, from Ruby. It is recognised by its content, not by its name, and
      not counted twice.
    WORDS
    before = flows_in_table
    results = ruby %(Bytewright::Capture.flows("#{WEB}", into: "#{TABLE}")\n)
    results.each { |result| puts "  #{result.slice(:file, :added, :flows, :packets)}" }
    puts "", "Added: #{results.first[:added]}. The file still holds #{flows_in_table} flows."
    check results.none? { |result| result[:added] } && flows_in_table == before, "nothing added"
  end

  def step(title, words)
    @steps += 1
    puts "" if @steps > 1
    puts "#{@steps}. #{title}", "-" * WIDTH, words, ""
  end

  # Runs the command that the gem installed.
  def command(*arguments)
    puts "$ bytewright #{arguments.join(" ")}"
    $stdout.flush
    system("bytewright", *arguments) or fail_with "bytewright #{arguments.join(" ")}"
  end

  # Shows lines of Ruby, runs them, and gives what they give.
  def ruby(lines)
    lines.each_line { |line| puts "> #{line}" }
    puts ""
    eval(lines, binding, "demo") # rubocop:disable Security/Eval -- lines of this file
  end

  def flows_in_table
    Bytewright::FlowStore.open(TABLE, read_only: true, &:size)
  end

  def say(words)
    puts "", words
  end

  def check(holds, expected)
    holds or fail_with "expected #{expected}"
  end

  def fail_with(what)
    $stdout.flush
    abort "demo: step #{@steps} failed: #{what}"
  end
end

# It writes into a folder that goes afterwards.
Dir.mktmpdir("bytewright-demo") do |folder|
  Dir.chdir(folder) do
    File.symlink(__dir__, "samples")
    Demo.new.run
  end
end
