# frozen_string_literal: true

require_relative "test_case"
require "json"
require "open3"

# Goal: the command that the gem installs behaves like any other command of the system. What it
# prints is tested beside it, in cli/tests.
class CommandTest < TestCase
  # Output, errors and exit code of a run.
  def run_command(*arguments, stdin: "")
    out, err, status = Open3.capture3(*command(*arguments), stdin_data: stdin, binmode: true)
    [out, err, status.exitstatus]
  end

  # Runs the command on a standard input that stays open, and yields its process id and output.
  def with_waiting_command(*arguments)
    Open3.popen3(*command(*arguments)) do |stdin, stdout, _, process|
      stdin.write(pcap(udp_frame(53)))
      stdin.flush
      yield process, stdout
    end
  end

  def test_it_prints_its_version_and_what_serves
    out, err, code = run_command("--version")
    assert_equal(["bytewright #{Bytewright::VERSION}", "", 0], [out.lines.first.chomp, err, code])
    assert_match(/^gzip: /, out)
    assert_match(/^filters: /, out)
  end

  def test_it_prints_the_same_flows_as_ruby
    out, _, code = run_command("flows", WEB, "--json")
    flows = out.lines.map { |line| JSON.parse(line, symbolize_names: true) }
    assert_equal(0, code)
    assert_equal(open_capture(WEB).flows.map(&:to_h), flows)
  end

  def test_it_prints_the_same_packets_as_ruby
    fields = Bytewright::Capture::FIELDS
    out, _, code = run_command("packets", VLAN, "--json", "--fields", fields.join(","))
    assert_equal(0, code)
    assert_equal(open_capture(VLAN).each_row(*fields).to_a, out.lines.map { |line| JSON.parse(line).values })
  end

  def test_a_store_of_the_command_is_one_of_ruby
    with_new_file("flows.bwt") do |path|
      assert_equal(0, run_command("flows", WEB, "--into", path).last)
      again = Bytewright::Capture.flows(WEB, into: path).first
      refute(again[:added])
      out, = run_command("flows", "--from", path, "--json")
      assert_equal(Bytewright::FlowStore.open(path) { |store| store.map(&:to_h) },
                   out.lines.map { |line| JSON.parse(line, symbolize_names: true) })
    end
  end

  def test_its_demo_is_the_sample_that_the_examples_read
    assert_equal([File.binread(WEB), "", 0], run_command("demo"))
  end

  def test_standard_input_is_read_where_a_dash_stands
    out, _, code = run_command("packets", "-", "--csv", "--fields", "dst_port", stdin: pcap(udp_frame(53), udp_frame(80)))
    assert_equal(["dst_port\n53\n80\n", 0], [out, code])
  end

  def test_bad_data_exits_with_1_after_what_was_read
    out, err, code = run_command("packets", "-", "--csv", "--fields", "dst_port", stdin: pcap(udp_frame(53), udp_frame(80))[0...-1])
    assert_equal(["dst_port\n53\n", 1], [out, code])
    assert_match(/\Abytewright: standard input: byte \d+: expected a packet record/, err)
    assert_equal(1, run_command("info", "/nonexistent/trace.pcap").last)
  end

  def test_wrong_usage_exits_with_2
    [[], ["stows"], ["packets"], ["packets", WEB, "--fields", "port"], ["flows", WEB, "--filter", "tcp prt 80"]].each do |arguments|
      out, err, code = run_command(*arguments)
      assert_equal(["", 2], [out, code], arguments.inspect)
      refute_empty(err)
    end
  end

  def test_output_that_nobody_reads_ends_it_quietly
    reader, writer = IO.pipe
    errors_reader, errors_writer = IO.pipe
    pid = spawn(*command("packets", *[WEB] * 20), out: writer, err: errors_writer)
    [writer, errors_writer].each(&:close)
    reader.gets
    reader.close
    _, status = Process.wait2(pid)
    assert_equal(Signal.list["PIPE"], status.termsig || status.exitstatus - 128)
    assert_equal("", errors_reader.read)
  end

  def test_an_interrupt_ends_the_input_while_it_waits_for_more
    with_waiting_command("packets", "-", "--csv", "--fields", "dst_port") do |process, stdout|
      # The row is there, so it has begun to wait for the next.
      assert_equal(%W[dst_port\n 53\n], [stdout.gets, stdout.gets])
      Process.kill("INT", process.pid)
      assert_equal([nil, 0], [process.value.termsig, process.value.exitstatus])
    end
  end

  def test_a_store_whose_merge_was_killed_is_as_it_was
    with_new_file("flows.bwt") do |path|
      Bytewright::Capture.flows(VLAN, into: path)
      before = Bytewright::FlowStore.open(path, &:to_a)
      with_waiting_command("flows", "-", "--into", path) do |process, _|
        eventually { opened?(process.pid, path) }
        Process.kill("KILL", process.pid)
        process.value
      end
      assert_equal(before, Bytewright::FlowStore.open(path, &:to_a))
    end
  end

  # Returns true if the process has the file open, by the kernel's account: asking with a lock of our
  # own would keep it out.
  def opened?(pid, path)
    Dir.glob("/proc/#{pid}/fd/*").any? do |link|
      File.readlink(link) == path
    rescue Errno::ENOENT
      false
    end
  end
end
