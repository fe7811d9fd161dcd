# frozen_string_literal: true

require "bytewright"
require "minitest/autorun"
require "rbconfig"
require "tempfile"
require "tmpdir"
require_relative "garbage_mode"

GarbageMode.start if GarbageMode::MODE
# A shell starts jobs in its background with Ctrl-C ignored, and so would the tests, which wait for it.
trap("INT", "DEFAULT")

# Common part of the tests: sample captures, and small captures made to measure.
class TestCase < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  WEB = File.join(ROOT, "samples/web.pcap.gz")
  VLAN = File.join(ROOT, "samples/vlan.pcapng")
  TUNNELS = File.join(ROOT, "samples/tunnels.pcap")
  LOOPBACK = File.join(ROOT, "samples/loopback.pcap.zst")

  # Moves every object that may be moved, and verifies that nothing refers to where it was. The option has another
  # name since Ruby 3.2; some platforms move nothing.
  MOVE_ALL_OBJECTS = "GC.verify_compaction_references(toward: :empty, #{RUBY_VERSION < "3.2" ? "double" : "expand"}_heap: true)".freeze

  def move_all_objects
    eval(MOVE_ALL_OBJECTS) if GC.respond_to?(:verify_compaction_references) # rubocop:disable Security/Eval -- the constant above
  end

  # Ethernet, IPv4 and UDP around a payload, from 10.0.0.1:1000 to 10.0.0.2:port, or +back+.
  def udp_frame(port, payload = "payload", back: false)
    hosts, ports = [[10, 0, 0, 1], [10, 0, 0, 2]], [1000, port]
    hosts, ports = hosts.reverse, ports.reverse if back
    udp = [*ports, 8 + payload.bytesize, 0].pack("n4") + payload
    ip = [0x45, 0, 20 + udp.bytesize, 0, 0, 64, 17, 0, *hosts.flatten].pack("CCnnnCCnC8")
    "#{"\x02" * 12}\x08\x00".b + ip + udp
  end

  # A pcap file of these frames, one a second or at the seconds given, in microseconds and
  # little-endian; +cut+ bytes of each are left out of the capture.
  def pcap(*frames, cut: 0, seconds: 0...frames.size)
    header = [0xa1b2c3d4, 2, 4, 0, 0, 65_535, 1].pack("L<S<S<l<L<L<L<")
    records = frames.zip(seconds).map do |frame, second|
      captured = frame[0, frame.bytesize - cut]
      [second, 0, captured.bytesize, frame.bytesize].pack("L<4") + captured
    end
    header + records.join
  end

  # Runs the block with random numbers from a few seeds, or from the one in BYTEWRIGHT_SEED; a failure
  # prints its seed.
  def with_seeds(count)
    seeds = ENV["BYTEWRIGHT_SEED"] ? [Integer(ENV["BYTEWRIGHT_SEED"])] : Array.new(count) { Random.new_seed % 2**32 }
    seeds.each do |seed|
      yield Random.new(seed)
    rescue Minitest::Assertion, StandardError
      warn "failed with BYTEWRIGHT_SEED=#{seed}"
      raise
    end
  end

  # Writes bytes to a file and yields its path.
  def with_file(bytes, suffix = ".pcap")
    Tempfile.create(["bytewright", suffix]) do |file|
      file.binmode
      file.write(bytes)
      file.close
      yield file.path
    end
  end

  # Yields a folder. It goes afterwards, whatever goes of it by itself meanwhile: stores that nobody has
  # any more take their journals with them.
  def with_folder
    folder = Dir.mktmpdir
    yield folder
  ensure
    FileUtils.rm_rf(folder)
  end

  # Yields the path of a file that is not there yet, in a folder that goes afterwards.
  def with_new_file(name)
    with_folder { |folder| yield File.join(folder, name) }
  end

  def open_capture(...)
    Bytewright::Capture.open(...)
  end

  # The command line of the command that the gem installs, run by the Ruby and with the load path of
  # these tests.
  def command(*arguments)
    load_path = $LOAD_PATH.join(File::PATH_SEPARATOR)
    [RbConfig.ruby, "-W", "-I#{load_path}", File.join(ROOT, "ruby/exe/bytewright"), *arguments]
  end

  # Threads of this process, by the kernel's count: the reading threads are not Ruby's.
  def thread_count
    Dir.children("/proc/self/task").size
  end

  # Runs the block, and raises where a method or a block of the library returns for that time: Ruby handles interrupts
  # there. Answers whether there was such a return.
  def interrupted_at?(number)
    returns = 0
    library = File.dirname(Bytewright::Table.instance_method(:transaction).source_location[0])
    trace = TracePoint.new(:return, :b_return) do |point|
      raise Interrupt if point.path.start_with?(library) && (returns += 1) == number
    end
    trace.enable(target_thread: Thread.current) { yield }
    false
  rescue Interrupt
    true
  end

  # The class of what a use raises, or what it answers.
  def outcome(use)
    use.call
  rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is, it is the outcome
    e.class
  end

  # Calls the block in a signal handler, which comes when this thread sleeps in the work that is given.
  def in_handler(work, &handler)
    main = Thread.current
    old = trap("USR1", &handler)
    Thread.new do
      eventually { main.status == "sleep" }
      Process.kill("USR1", Process.pid)
    end
    work.call
  ensure
    trap("USR1", old)
  end

  # Waits until the block is true, for at most ten seconds.
  def eventually
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
    until yield
      flunk "it did not become true within 10 seconds" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      Thread.pass
    end
    pass
  end
end
