# frozen_string_literal: true

# Goal: packets of a network interface come as those of a capture do, while other threads run; an iteration ends by a break,
# by stop and close, and by what ends any wait of Ruby's.
#
# Method: each script runs in a network namespace of its own, where nobody else sends, with real traffic on its loopback
# interface. What must come is waited for without end.

require "open3"
require "test_case"

class LiveTest < TestCase
  NAMESPACE = [%w[unshare -n], %w[unshare -r -n]].find do |command|
    system(*command, "sh", "-c", "ip link set lo up", out: File::NULL, err: File::NULL)
  end

  SETUP = <<~RUBY
    require "bytewright"
    require "socket"
    system("ip link set lo up") or abort
    # Nobody listens: each datagram is answered by ICMP, which the socket is told.
    def send_to(port, count = 1) = count.times { UDPSocket.new.send("data", 0, "127.0.0.1", port) }
    def live(**options, &block) = Bytewright::Capture.live("lo", filter: "udp", **options, &block)
  RUBY

  def setup
    skip_gap unless NAMESPACE
  end

  def test_packets_come_while_they_are_sent_until_a_break
    assert_equal("[[7, 46, 44], [8, 46, 44]]", told(<<~RUBY))
      live(snaplen: 44, buffer: 1 << 20) do |capture|
        found = []
        send_to(7)
        capture.each do |packet|
          found << [packet.dst_port, packet.length, packet.caplen]
          break if found.size == 2
          send_to(8)
        end
        print found
      end
    RUBY
  end

  def test_batches_come_with_what_is_there
    assert_equal("1 1", told(<<~RUBY))
      live do |capture|
        send_to(7)
        batches = capture.each_batch(:dst_port)
        print batches.next.size
        send_to(8)
        print " ", batches.next.size
      end
    RUBY
  end

  def test_flows_end_while_nothing_comes
    assert_equal("7", told(<<~RUBY))
      live { |capture| send_to(7); print capture.flows(idle_timeout: 0.3).first.dst_port }
    RUBY
  end

  def test_stop_ends_sums_and_captures_with_what_came
    assert_equal("same same same 0 nil", told(<<~RUBY))
      require "tmpdir"
      # Returns the block's result when the capture is stopped, and the number of packets until then.
      def stopped(capture)
        before = capture.live_counts[:captured]
        Thread.new do
          (send_to(7); sleep(0.01)) until capture.live_counts[:captured] >= before + 5
          capture.stop
        end
        [yield, capture.live_counts[:captured] - before]
      end
      live do |capture|
        counts, captured = stopped(capture) { capture.count_by(:dst_port) }
        print counts == { 7 => captured } ? "same " : [counts, captured]
        Dir.mktmpdir do |folder|
          file = File.join(folder, "now.pcapng.gz")
          written, captured = stopped(capture) { capture.write_to(file) }
          print written[:packets] == captured ? "same " : [written, captured]
          Bytewright::Capture.open(file) do |again|
            print again.count == captured ? "same " : again.info
            print capture.live_counts[:dropped], " "
            again.stop
            print again.live_counts.inspect
          end
        end
      end
    RUBY
  end

  def test_flows_are_written_until_stop_and_kept_whatever_else_ends_them
    ends = %w[stop close Interrupt Timeout::Error kill]
    assert_equal("1 Bytewright::ClosedError Interrupt Timeout::Error killed #{[true] * ends.size}", told(<<~RUBY))
      require "json"
      require "timeout"
      require "tmpdir"
      Thread.report_on_exception = false
      kept = []
      Dir.mktmpdir do |folder|
        #{ends}.each do |ending|
          capture = live
          file = File.join(folder, "flows")
          File.write(file, "older")
          writer = Thread.new do
            if ending == "Timeout::Error"
              Timeout.timeout(0.5) { capture.flows(into: file, format: :ecs) }
            else
              print capture.flows(into: file, format: :ecs), " "
            end
          rescue Exception => error
            print error.class, " "
          end
          socket = UDPSocket.new
          (socket.send("data", 0, "127.0.0.1", 7); sleep(0.01)) until capture.live_counts[:captured].positive?
          case ending
          when "stop" then capture.stop
          when "close" then capture.close
          when "Interrupt" then writer.raise(Interrupt)
          when "kill" then writer.kill
          end
          writer.join
          print "killed " if ending == "kill"
          lines = File.readlines(file).map { |line| JSON.parse(line) }
          kept << (lines.map { |line| line["destination"]["port"] } == [7] && Dir.children(folder) == ["flows"])
          capture.close
        end
      end
      print kept
    RUBY
  end

  def test_stop_ends_a_pass_whose_interface_is_not_open_yet
    assert_equal("done", told(<<~RUBY))
      live do |capture|
        20.times do
          counting = Thread.new { capture.count_by(:dst_port) }
          Thread.pass until counting.stop?
          capture.stop
          counting.value
        end
        print "done"
      end
    RUBY
  end

  def test_the_handler_of_a_signal_may_stop
    assert_equal("flows 1", told(<<~RUBY))
      live do |capture|
        trap("TERM") { capture.stop }
        Thread.new do
          (send_to(7); sleep(0.01)) until capture.live_counts[:captured].positive?
          Process.kill("TERM", Process.pid)
        end
        print "flows ", capture.flows.map(&:dst_port).uniq.size
      end
    RUBY
  end

  def test_other_threads_run_and_close_kill_and_timeout_end_the_wait
    assert_equal("ran Bytewright::ClosedError killed Timeout::Error Interrupt 1", told(<<~RUBY))
      require "timeout"
      Thread.report_on_exception = false
      def waiting(capture) = Thread.new { capture.each { |_| } }.tap { |thread| Thread.pass until thread.stop? }
      capture = live
      thread = waiting(capture)
      print "ran "
      capture.close
      begin
        thread.join
      rescue Bytewright::ClosedError => error
        print error.class, " "
      end
      thread = waiting(capture = live)
      thread.kill.join
      print "killed "
      begin
        Timeout.timeout(0.1) { capture.each { |_| } }
      rescue Timeout::Error => error
        print error.class, " "
      end
      main = Thread.current
      Thread.new { sleep(0.1); main.raise(Interrupt) }
      begin
        capture.each { |_| }
      rescue Interrupt => error
        print error.class, " "
      end
      # Each iteration captures anew.
      Thread.new { (send_to(9); sleep(0.01)) until capture.live_counts[:captured].positive? }
      print capture.first(1).size
    RUBY
  end

  def test_what_is_no_interface_is_told_with_those_there_are
    assert_match(/\AArgumentError expected the name of an interface, found "eth77"; there are .*\blo\b/, told(<<~RUBY))
      begin
        Bytewright::Capture.live("eth77")
      rescue ArgumentError => error
        print error.class, " ", error.message
      end
    RUBY
  end

  private

  # Returns what a script prints that runs in a namespace of its own.
  def told(script)
    path = $LOAD_PATH.map { |folder| "-I#{folder}" }
    output, status = Open3.capture2(*NAMESPACE, RbConfig.ruby, "-W", *path, stdin_data: SETUP + script)
    assert_predicate(status, :success?)
    output
  end

  def skip_gap
    @@told ||= warn("gap: no network namespace can be made here, so no packets of an interface were read") || true # rubocop:disable Style/ClassVars -- once
    skip
  end
end
