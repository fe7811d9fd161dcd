# frozen_string_literal: true

require_relative "test_case"
require "open3"
require "timeout"

# Goal: reading neither blocks other threads nor outlives its reader, however the reading ends.
#
# Method: threads that wait are waited for, then ended. What would leave all of the process waiting if it
# failed, with Ruby's lock held, runs in a process of its own, which is killed then.
class ThreadsTest < TestCase
  # Runs a script in a process of its own, and answers what it prints; fails where it does not end.
  def output_of(script, *arguments)
    load_path = $LOAD_PATH.join(File::PATH_SEPARATOR)
    ruby = [RbConfig.ruby, "-W", "-I#{load_path}", "-rbytewright", "-e", script]
    Open3.popen2e(*ruby, *arguments) do |_, output, process|
      unless process.join(30)
        Process.kill(:KILL, process.pid)
        flunk "it did not end within 30 seconds"
      end
      output.read
    end
  end

  # A capture that never ends and never gives a whole packet: the reader waits for ever.
  def with_endless_capture
    reader, writer = IO.pipe
    writer.write(pcap(udp_frame(1)) + "\0")
    yield reader
  ensure
    reader.close unless reader.closed?
    writer.close
  end

  # A capture of that kind as a named pipe, which the core reads by itself.
  def with_endless_fifo
    Dir.mktmpdir do |folder|
      path = File.join(folder, "fifo")
      File.mkfifo(path)
      writer = Thread.new do
        File.open(path, "wb") do |file|
          file.sync = true
          file.write(pcap(udp_frame(1)) + "\0")
          Thread.stop
        end
      rescue Errno::EPIPE
        # The reader may be gone before it was told anything.
      end
      yield path
    ensure
      writer&.kill&.join
    end
  end

  def test_other_threads_run_while_the_core_reads
    with_endless_fifo do |path|
      ticks = 0
      reading = Thread.new { open_capture(path).each { |_| nil } }
      eventually { (ticks += 1) > 20 && reading.status == "sleep" }
      reading.kill.join
    end
  end

  def test_timeout_ends_a_reading_that_waits
    with_endless_fifo do |path|
      assert_raises(Timeout::Error) { Timeout.timeout(0.2) { open_capture(path).each { |_| nil } } }
    end
    with_endless_capture do |io|
      assert_raises(Timeout::Error) { Timeout.timeout(0.2) { open_capture(io).each { |_| nil } } }
    end
  end

  def test_thread_raise_and_kill_end_a_reading_that_waits
    with_endless_fifo do |path|
      seen = Queue.new
      thread = Thread.new { open_capture(path).each { |_| seen << :packet } }
      thread.report_on_exception = false
      seen.pop
      thread.raise(ArgumentError, "enough")
      assert_equal("enough", assert_raises(ArgumentError) { thread.join }.message)
    end
    with_endless_fifo do |path|
      thread = Thread.new { open_capture(path).count }
      eventually { thread.status == "sleep" }
      assert_same(thread, thread.kill.join(10))
    end
  end

  def test_several_threads_read_several_captures
    counts = [WEB, VLAN, TUNNELS, WEB].map { |path| Thread.new { open_capture(path, &:count) } }.map(&:value)
    assert_equal([8760, 316, 389, 8760], counts)
  end

  def test_one_capture_serves_several_threads
    capture = open_capture(WEB)
    sums = Array.new(4) { Thread.new { capture.sum(&:length) } }.map(&:value)
    assert_equal(1, sums.uniq.size)
  end

  def test_closing_from_another_thread_ends_the_reading
    with_endless_fifo do |path|
      capture = open_capture(path)
      seen = Queue.new
      thread = Thread.new { capture.each { |_| seen << :packet } }
      thread.report_on_exception = false
      seen.pop
      capture.close
      assert_raises(Bytewright::ClosedError) { thread.join }
    end
  end

  def test_several_threads_may_make_the_first_objects_at_once
    # A lookup by name may let other threads run: here it always does.
    assert_equal("[316, 316]\n", output_of(<<~'RUBY', VLAN))
      Object.singleton_class.prepend(Module.new { def const_get(*) = super.tap { sleep 0.05 } })
      counts = Array.new(2) do
        Thread.new do
          Bytewright::Capture.flows(ARGV[0]).first
          Bytewright::Capture.open(ARGV[0]) { |capture| [capture.first, capture.each_batch.first, capture.count].last }
        end
      end
      p counts.map(&:value)
    RUBY
  end

  def test_a_merge_that_waits_for_its_turn_to_write_holds_nobody_up_when_it_is_ended
    with_new_file("flows.bwt") do |path|
      assert_equal("true nil\n", output_of(<<~'RUBY', VLAN, path))
        store = Bytewright::FlowStore.open(ARGV[1])
        reader, writer = IO.pipe
        writer.write(IO.binread(ARGV[0], 1024))
        asked = Queue.new
        source = Object.new
        source.define_singleton_method(:read) { |_| (asked << true) && reader.readpartial(64) }
        first = Thread.new { Bytewright::Capture.flows(source, into: store).first }
        # By the last of 1024 bytes, 64 at a time, it has begun to merge.
        17.times { asked.pop }
        second = Thread.new { Bytewright::Capture.flows(ARGV[0], into: store) }
        Thread.pass until second.status == "sleep"
        # Long enough for it to begin to end.
        second.kill.join(0.2)
        writer.close
        puts [first.value[:added], second.value.inspect].join(" ")
      RUBY
    end
  end

  def test_no_reading_thread_is_left_when_the_block_breaks_or_raises
    before = thread_count
    20.times do
      open_capture(WEB) { |capture| capture.each { break } }
      assert_raises(RuntimeError) { open_capture(WEB) { |capture| capture.each { raise "no" } } }
      catch(:done) { open_capture(WEB).each { throw :done } }
      open_capture(WEB).first
    end
    eventually { thread_count <= before }
  end

  def test_an_abandoned_enumerator_gives_its_thread_back_to_the_collector
    before = thread_count
    5.times { open_capture(WEB).each.next }
    eventually do
      GC.start
      thread_count <= before + 1
    end
  end

  def test_a_forked_child_opens_its_own_and_is_told_so_otherwise
    capture = open_capture(WEB)
    enumerator = capture.each_row(:number)
    enumerator.next
    reader, writer = IO.pipe
    child = fork do
      at_exit { exit! }
      writer.puts(open_capture(WEB).count)
      4000.times { enumerator.next }
      writer.puts("read on")
    rescue Bytewright::ClosedError => e
      writer.puts(e.message)
    end
    writer.close
    Process.wait(child)
    count, message = reader.read.lines(chomp: true)
    assert_equal("8760", count)
    assert_match(/found one forked from it: open it again here\z/, message)
  end

  def test_a_capture_opened_before_a_fork_serves_parent_and_child
    capture = open_capture(WEB)
    reader, writer = IO.pipe
    child = fork do
      at_exit { exit! }
      writer.puts(capture.sum(&:length))
    end
    mine = capture.sum(&:length)
    writer.close
    Process.wait(child)
    assert_equal(mine, reader.read.to_i)
  end

  def test_a_fork_leaves_the_reading_of_the_parent_alone
    with_new_file("fifo") do |path|
      File.mkfifo(path)
      # The child frees its copies of everything when it ends.
      assert_equal("316\n", output_of(<<~'RUBY', VLAN, path))
        bytes = IO.binread(ARGV[0])
        seen = Queue.new
        reading = Thread.new { Bytewright::Capture.open(ARGV[1]).each_row(:number) { |row| seen << row } }
        File.open(ARGV[1], "wb") do |file|
          file.write(bytes.byteslice(0, 1024))
          file.flush
          seen.pop
          Process.wait(fork { nil })
          file.write(bytes.byteslice(1024..))
        end
        reading.join
        puts seen.size + 1
      RUBY
    end
  end

  # Ruby before 3.3 leaves the signals of a program to those threads of it that were there when a wait began.
  %w[INT TERM].each do |signal|
    define_method("test_sig#{signal.downcase}_ends_a_wait_during_which_the_other_thread_has_ended") do
      with_endless_fifo do |path|
        script = <<~RUBY
          trap(#{signal.dump}) { puts "heard"; exit!(0) }
          $stdout.sync = true
          child = fork { sleep 0.5; Process.kill(#{signal.dump}, Process.ppid) }
          Thread.new { sleep 0.2 }
          Bytewright::Capture.open(ARGV[0]).each { |_| nil }
        RUBY
        assert_equal("heard\n", output_of(script, path))
      end
    end
  end

  def test_a_second_pass_ends_while_each_allocation_collects
    script = <<~RUBY
      GC.stress = true
      capture = Bytewright::Capture.open(ARGV[0])
      counts = Array.new(2) { capture.flows { nil }; capture.count_by(:proto).size }
      GC.stress = false
      puts counts.uniq.size
    RUBY
    assert_equal("1\n", output_of(script, VLAN))
  end

  # In a process of its own: Ruby 3.1 crashes, later and elsewhere, when a Ractor that has ended is collected.
  def test_a_ractor_reads_a_capture_of_its_own
    script = <<~'RUBY'
      Warning[:experimental] = false
      ractor = Ractor.new(ARGV[0]) { |path| Bytewright::Capture.open(path, &:count) }
      puts ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
    assert_equal("8760\n", output_of(script, WEB))
  end
end
