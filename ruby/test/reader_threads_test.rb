# frozen_string_literal: true

require_relative "test_case"
require "socket"
require "timeout"

# Goal: whatever happens while a Reader or a Writer waits, no byte is lost or doubled, nothing stays locked, and
# nothing of Ruby's is touched that others may change.
#
# Method: interrupts come at random moments, BYTEWRIGHT_INTERRUPTS of them (10,000 have been run), and what is
# read must be what stands at the place where the reader says it is. Other threads change, freeze and collect
# what is in use.
class ReaderThreadsTest < TestCase
  INTERRUPTS = Integer(ENV.fetch("BYTEWRIGHT_INTERRUPTS", 400))
  PIECE = 65_536

  # Exception that interrupts.
  class Interruption < Exception; end # rubocop:disable Lint/InheritException -- no rescue in between takes it

  def setup
    @seed = Integer(ENV.fetch("BYTEWRIGHT_SEED", Random.new_seed % 1_000_000))
    @random = Random.new(@seed)
  end

  def teardown
    puts("\nBYTEWRIGHT_SEED=#{@seed} #{name}") unless passed?
  end

  # Bytes that say where they stand, in lines.
  def numbered(count)
    Array.new(count / 16) { |at| format("%015d\n", at * 16) }.join
  end

  def test_interrupts_lose_no_byte_of_a_pipe_or_a_socket
    bytes = numbered(1 << 20)
    left = INTERRUPTS
    while left.positive?
      [IO.pipe, UNIXSocket.pair].each do |mine, theirs|
        feeding = Thread.new do
          at, random = 0, Random.new(@seed)
          while at < bytes.bytesize
            at += theirs.write(bytes.byteslice(at, random.rand(1..8_000)))
            sleep(0.0002) if random.rand(3).zero?
          end
          theirs.close
        end
        reader = Bytewright::Reader.open(mine)
        seen = nil
        sent = 0
        # Between two operations nothing may come: what one has answered is Ruby's to lose.
        thread = masked_thread { seen = follow(reader, bytes) }
        until thread.join(0.0005)
          thread.raise(Interruption)
          sent += 1
        end
        thread.value
        assert_equal(bytes.bytesize, seen)
        feeding.join
        mine.close
        left -= [sent, 1].max
      end
    end
  end

  # A thread in which interrupts come only where it lets them.
  def masked_thread(&block)
    Thread.handle_interrupt(Interruption => :never) { Thread.new(&block) }
  end

  # Interrupts a thread now and then, not for ever: it may be too slow to do anything in between.
  def interrupt(thread, count = 300)
    until thread.join(@random.rand / 500)
      thread.raise(Interruption) if (count -= 1).positive?
    end
    thread.value
  end

  # Reads all of `bytes`, and again what was interrupted; nothing of that may be gone.
  def follow(reader, bytes)
    random, at = Random.new(@seed), 0
    until at == bytes.bytesize
      length = [1, 8, 3_000, 100_000].sample(random: random)
      kind = random.rand(5)
      begin
        answer = Thread.handle_interrupt(Interruption => random.rand(2).zero? ? :on_blocking : :immediate) do
          case kind
          when 0 then reader.read(length)
          when 1 then reader.gets
          when 2 then reader.read_into(+"", length)
          when 3 then reader.each_line(batch: 20).first&.join
          else bytes.byteslice(at, reader.skip(length))
          end
        end
        raise "#{answer.inspect} at #{at}" unless answer == bytes.byteslice(at, answer.bytesize)

        at += answer.bytesize
        raise "at #{reader.pos}, not #{at}" unless reader.pos == at
      rescue Interruption
        # A result that was there when it came is lost by Ruby, and taken from the reader as a whole.
        taken = reader.pos - at
        raise "took #{taken}" if taken.negative?

        at += taken
      end
    end
    at
  end

  def test_interrupts_lose_no_byte_of_a_file_that_is_not_cached
    bytes = numbered(1 << 20)
    with_file(bytes, ".txt") do |path|
      thread = masked_thread do
        10.times do
          File.open(path, "r+") { |file| file.fdatasync && file.advise(:dontneed) }
          Bytewright::Reader.open(path) { |reader| follow(reader, bytes) == bytes.bytesize or raise "not all" }
        end
      end
      interrupt(thread)
    end
  end

  def test_interrupts_double_and_lose_no_byte_that_is_written
    bytes = numbered(1 << 20)
    with_file("", ".txt") do |path|
      [IO.pipe, UNIXSocket.pair, [nil, path]].each do |theirs, mine|
        collecting = theirs && Thread.new { (+"").tap { |all| all << theirs.readpartial(5_000) && Thread.pass until theirs.eof? } }
        writer = Bytewright::Writer.open(mine)
        thread = masked_thread do
          until (at = writer.pos) == bytes.bytesize
            begin
              Thread.handle_interrupt(Interruption => :on_blocking) { writer << bytes.byteslice(at, 10_000) }
            rescue Interruption
              nil
            end
          end
          begin
            Thread.handle_interrupt(Interruption => :on_blocking) { writer.close }
          rescue Interruption
            retry
          end
        end
        interrupt(thread)
        mine.close if theirs
        assert((theirs ? collecting.value : File.read(path)) == bytes, theirs.class)
      end
    end
  end

  def test_thread_kill_and_timeout_end_a_read_that_waits_and_reading_goes_on
    IO.pipe do |mine, theirs|
      theirs << "ab"
      reader = Bytewright::Reader.open(mine)
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { reader.u32be } }
      thread = Thread.new { reader.gets }
      eventually { thread.status == "sleep" }
      assert_same(thread, thread.kill.join(10))
      theirs << "cdef\n"
      assert_equal([0x61626364, "ef\n"], [reader.u32be, reader.gets])
    end
  end

  def test_a_wait_ends_also_where_another_was_quicker_to_read_what_had_come
    IO.pipe do |mine, theirs|
      reader = Bytewright::Reader.open(mine)
      # As if another process read what had come between waiting and reading.
      mine.define_singleton_method(:wait_readable) do |*arguments|
        super(*arguments).tap { |ready| read_nonblock(100, exception: false) if ready && @steals }
      end
      mine.instance_variable_set(:@steals, true)
      thread = Thread.new { Timeout.timeout(0.3) { reader.u8 } rescue $!.class } # rubocop:disable Style/RescueModifier
      theirs << "stolen"
      assert_same(thread, thread.join(10))
      assert_equal(Timeout::Error, thread.value)
      mine.instance_variable_set(:@steals, false)
      theirs << "a"
      assert_equal(97, reader.u8)
    end
  end

  def test_other_threads_read_on_where_one_has_ended_and_wait_where_it_waits
    IO.pipe do |mine, theirs|
      reader = Bytewright::Reader.open(mine)
      threads = Array.new(4) { Thread.new { Array.new(100) { reader.u32be } } }
      eventually { threads.all? { |thread| thread.status == "sleep" } }
      (0...400).each_slice(7) do |numbers|
        theirs << numbers.pack("N*")
        Thread.pass
      end
      values = threads.map(&:value)
      assert_equal((0...400).to_a, values.flatten.sort)
      assert(values.all? { |own| own == own.sort })
    end
  end

  # Writes bytes in pieces of any size to an IO, which it closes, and lets others run in between.
  def feeding(io, bytes)
    Thread.new do
      at, random = 0, Random.new(@seed)
      while at < bytes.bytesize
        at += io.write(bytes.byteslice(at, random.rand(1..30_000)))
        Thread.pass
      end
      io.close
    end
  end

  # Returns the results of the block in some threads until there is nothing more, all together.
  def answers_of_threads(count = 4)
    Array.new(count) do
      Thread.new do
        answers = []
        while (answer = yield) && !answer.empty?
          answers << answer
          Thread.pass
        end
        answers
      end
    end.flat_map(&:value)
  end

  def test_what_several_threads_read_is_whole_and_nothing_is_read_twice
    bytes = numbered(16 * 40_000)
    reads = {
      "read" => ->(reader) { reader.read(20_000) },
      "read_into" => ->(reader) { reader.read_into(+"", 32_000) },
      "read and a short one" => ->(reader) { reader.read([16, 160, 16_000].sample) },
      "records" => ->(reader) { reader.unpack_records("a16", 500).join },
      "lines" => ->(reader) { reader.each_line(batch: 300).first&.join }
    }
    reads.each do |name, read|
      IO.pipe do |mine, theirs|
        thread = feeding(theirs, bytes)
        reader = Bytewright::Reader.open(mine)
        answers = answers_of_threads { read.call(reader) }
        thread.join
        assert(answers.all? { |answer| answer == bytes.byteslice(answer.to_i, answer.bytesize) }, "#{name} is torn")
        assert_equal(bytes.bytesize, answers.sum(&:bytesize), name)
        assert_equal(answers.size, answers.uniq.size, name)
      end
    end
  end

  def test_a_long_read_of_a_file_is_whole_beside_other_threads
    bytes = numbered(16 * 400_000)
    with_file(bytes, ".txt") do |path|
      Bytewright::Reader.open(path) do |reader|
        answers = answers_of_threads { reader.read([16, 3_200_000].sample) }
        assert(answers.all? { |answer| answer == bytes.byteslice(answer.to_i, answer.bytesize) })
        assert_equal(bytes.bytesize, answers.sum(&:bytesize))
      end
    end
  end

  # A file that the kernel makes up as it is read, which it does not say whether it would wait for: so each
  # read of it is one without Ruby's lock, beside which other threads run.
  ALWAYS_WAITS = "/proc/kallsyms"

  def test_a_read_without_the_lock_is_whole_beside_other_threads
    bytes = File.binread(ALWAYS_WAITS)
    skip("#{ALWAYS_WAITS} has no lines") if bytes.bytesize < 1_000_000
    answers = Bytewright::Reader.open(ALWAYS_WAITS) { |reader| answers_of_threads(3) { reader.read(20_000) } }
    skip("#{ALWAYS_WAITS} has changed") unless File.binread(ALWAYS_WAITS) == bytes
    assert_equal(bytes.bytesize, answers.sum(&:bytesize))
    places = answers.map { |answer| bytes.index(answer) }
    assert_equal(Array.new(answers.size) { |at| at * 20_000 }, places.sort_by(&:to_i))
  end

  # Returns the uses of a reader in a signal handler.
  def uses(reader)
    {
      u8: -> { reader.u8 }, varint: -> { reader.varint }, read: -> { reader.read(3) }, long_read: -> { reader.read(20_000) },
      read_all: -> { reader.read }, read_into: -> { reader.read_into(+"", 2) }, peek: -> { reader.peek(1) },
      skip: -> { reader.skip(1) }, pos: -> { reader.pos }, eof: -> { reader.eof? }, seek: -> { reader.seek(1) },
      seek_end: -> { reader.seek(0, :END) }, rewind: -> { reader.rewind }, gets: -> { reader.gets },
      lines: -> { reader.each_line(batch: 2).first }, record: -> { reader.each_record(2).first },
      records: -> { reader.unpack_records("n", 1) }, scan: -> { reader.scan("x") }, count_lines: -> { reader.count_lines },
      compression: -> { reader.compression }, close: -> { reader.close }
    }
  end

  def test_a_signal_handler_in_the_middle_of_a_read_is_told_that_the_reader_is_busy
    works = { u32be: ->(reader) { reader.u32be }, read: ->(reader) { reader.read(30_000) }, gets: ->(reader) { reader.gets } }
    expected = { u32be: 0x61626364, read: "abcd#{"x" * 29_996}", gets: "abcd#{"x" * 29_996}\n" }
    works.each do |name, work|
      IO.pipe do |mine, theirs|
        reader = Bytewright::Reader.open(mine)
        theirs << "ab"
        found = nil
        answer = in_handler(-> { work.call(reader) }) do
          found = uses(reader).transform_values { |use| outcome(use) }
          theirs << "cd" << "x" * 29_996 << "\n"
        end
        assert_equal([Bytewright::LockError], found.values.uniq, found)
        assert_equal(expected[name], answer)
        theirs.close
        assert_equal(expected[:gets].byteslice(reader.pos..), reader.read)
      end
    end
  end

  def test_a_signal_handler_is_refused_what_another_thread_waits_for_and_has_what_is_at_rest
    IO.pipe do |mine, theirs|
      reader = Bytewright::Reader.open(mine)
      thread = Thread.new { reader.u32be }
      eventually { thread.status == "sleep" }
      found = nil
      in_handler(-> { sleep(0.001) until found }) { found = outcome(-> { reader.u8 }) }
      assert_equal(Bytewright::LockError, found)
      theirs << "abcde"
      assert_equal(0x61626364, thread.value)
      found = nil
      in_handler(-> { sleep(0.001) until found }) { found = outcome(-> { reader.u8 }) }
      assert_equal(101, found)
    end
  end

  def test_closing_wakes_a_thread_that_waits_for_an_io
    [IO.pipe, UNIXSocket.pair].each do |mine, theirs|
      reader = Bytewright::Reader.open(mine)
      theirs << "ab"
      seen = nil
      thread = Thread.new do
        reader.u32be
      rescue IOError => e
        seen = e
        # An interruption that came too late would come here.
        3.times { sleep(0.001) }
        :over
      end
      eventually { thread.status == "sleep" }
      reader.close
      assert_equal(:over, thread.join(10)&.value)
      assert_instance_of(Bytewright::ClosedError, seen)
      refute_predicate(mine, :closed?)
      theirs << "cd"
      assert_includes(%w[abcd cd], mine.readpartial(10))
      [mine, theirs].each(&:close)
    end
  end

  def test_closing_at_any_moment_ends_a_read_and_interrupts_nothing_else
    200.times do
      IO.pipe do |mine, theirs|
        reader = Bytewright::Reader.open(mine)
        thread = Thread.new do
          loop { reader.u8 }
        rescue Bytewright::ClosedError
          3.times { Thread.pass }
          :over
        end
        theirs << "x" * @random.rand(3)
        @random.rand(40).times { Thread.pass }
        reader.close
        assert_equal(:over, thread.join(10)&.value)
      end
    end
  end

  def test_closing_wakes_a_thread_that_waits_for_a_fifo
    with_new_file("fifo") do |path|
      File.mkfifo(path)
      File.open(path, "r+") do
        reader = Bytewright::Reader.open(path)
        thread = Thread.new { outcome(-> { reader.gets }) }
        eventually { thread.status == "sleep" }
        reader.close
        assert_equal(Bytewright::ClosedError, thread.join(10)&.value)
      end
    end
  end

  def test_an_object_that_reads_the_reader_is_refused
    reader = nil
    object = Object.new
    object.define_singleton_method(:read) { |_| reader.u8 }
    reader = Bytewright::Reader.open(object)
    assert_raises(Bytewright::LockError) { reader.u8 }
    assert_raises(Bytewright::LockError) { reader.gets }
  end

  def test_an_object_that_raises_or_answers_nonsense_is_asked_again
    answers = [-> { raise "no" }, -> { 5 }, -> { "" }, -> { "ab" }, -> { throw :out }, -> { "cd" }, -> {}]
    object = Object.new
    object.define_singleton_method(:read) { |_| answers.shift&.call }
    reader = Bytewright::Reader.open(object)
    assert_equal("no", assert_raises(RuntimeError) { reader.u32be }.message)
    assert_raises(TypeError) { reader.u32be }
    catch(:out) { reader.u32be }
    assert_equal(0x61626364, reader.u32be)
    assert_predicate(reader, :eof?)
  end

  def test_a_string_that_is_filled_is_locked_while_others_have_their_turn_and_not_afterwards
    IO.pipe do |mine, theirs|
      reader = Bytewright::Reader.open(mine)
      string = +""
      bytes = numbered(PIECE * 4)
      thread = Thread.new { reader.read_into(string, bytes.bytesize) }
      theirs << bytes.byteslice(0, 1_000)
      eventually { thread.status == "sleep" }
      feeding = Thread.new { theirs << bytes.byteslice(1_000..) }
      while thread.alive?
        [-> { string << "x" }, -> { string.clear }, -> { string.replace("y" * 9_999) }].each do |change|
          assert_raises(RuntimeError, "locked") { change.call } if thread.status == "sleep" && string.bytesize.positive?
        rescue Minitest::Assertion
          raise if thread.alive? && thread.status == "sleep"
        end
        GC.start
        GC.compact
        Thread.pass
        break
      end
      feeding.join
      thread.join
      assert_operator(string.bytesize, :<=, bytes.bytesize)
      string << "changed"
      assert_raises(FrozenError) { reader.read_into(string.freeze, 1) }
    end
  end

  def test_an_interrupted_string_is_empty_and_free_and_its_bytes_come_again
    IO.pipe do |mine, theirs|
      reader = Bytewright::Reader.open(mine)
      string = +"old"
      theirs << "x" * 40_000
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { reader.read_into(string, PIECE * 2) } }
      string << "free"
      theirs.close
      assert_equal("x" * 40_000, reader.read)
    end
  end

  # Script that runs under stress, in a Ruby with little beside it, in which collecting is quick.
  STRESS = <<~'RUBY'.sub("move_all_objects", MOVE_ALL_OBJECTS)
    require "stringio"
    bytes = Array.new(200) { |at| format("%015d\n", at * 16) }.join
    use = lambda do |reader|
      [
        reader.u64be, reader.gets, reader.each_line(batch: 2).first, reader.unpack_records("Na4Q>", 1),
        reader.each_record(16).first, reader.read_into(+"", 100), reader.scan("\n0").first(2), reader.close
      ]
    end
    expected = [
      bytes.unpack1("Q>"), bytes[8, 8], bytes[16, 32].lines, [bytes[48, 16].unpack("Na4Q>")],
      bytes[64, 16], bytes[80, 100], [191, 207], nil
    ]
    opens = [-> { Bytewright::Reader.open(ARGV[0]) }, -> { Bytewright::Reader.open(StringIO.new(bytes)) }]
    opens.each { |open| use.call(open.call) }
    GC.stress = true
    answers = opens.map { |open| use.call(open.call) }
    writer = Bytewright::Writer.open(written = StringIO.new)
    writer.u32be(1).varint(300).f64le(0.5) << "text" * 10
    writer.close
    GC.stress = false
    abort(answers.inspect) unless answers == [expected, expected]
    abort(written.string.inspect) unless written.string.b == [1].pack("N") + "\xac\x02".b + [0.5].pack("E") + "text" * 10
    GC.auto_compact = true if GC.respond_to?(:auto_compact=)
    readers = opens.map(&:call)
    readers.each(&:u8)
    move_all_objects
    readers.each(&:rewind)
    abort("moved") unless readers.map(&use) == [expected, expected]
    puts "as it should be"
  RUBY

  def test_it_works_under_gc_stress_and_compaction
    with_file(numbered(3_200), ".txt") do |path|
      load_path = $LOAD_PATH.join(File::PATH_SEPARATOR)
      output = IO.popen([RbConfig.ruby, "-I#{load_path}", "-rbytewright", "-e", STRESS, path, { err: %i[child out] }], &:read)
      assert_equal("as it should be\n", output)
    end
  end

  # The least that a scheduler of fibers has to do.
  class Scheduler
    attr_reader :waits

    def initialize
      @readable, @writable, @sleeping, @blocked, @ready, @waits = {}, {}, {}, 0, [], 0
      @mutex = Thread::Mutex.new
    end

    def fiber(&block)
      Fiber.new(blocking: false, &block).tap(&:resume)
    end

    def io_wait(io, events, _timeout)
      @waits += 1
      (events & IO::READABLE != 0 ? @readable : @writable)[io] = Fiber.current
      Fiber.yield
      events
    end

    def kernel_sleep(duration = nil)
      @sleeping[Fiber.current] = Process.clock_gettime(Process::CLOCK_MONOTONIC) + duration
      Fiber.yield
    end

    def block(_blocker, _timeout = nil)
      @blocked += 1
      Fiber.yield
    ensure
      @blocked -= 1
    end

    def unblock(_blocker, fiber)
      @mutex.synchronize { @ready << fiber }
    end

    def close
      until @readable.empty? && @writable.empty? && @sleeping.empty? && @blocked.zero? && @ready.empty?
        readable, writable = IO.select(@readable.keys, @writable.keys, nil, 0.001)
        (readable || []).each { |io| @readable.delete(io).resume }
        (writable || []).each { |io| @writable.delete(io).resume }
        now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        @sleeping.select { |_, time| time <= now }.each_key { |fiber| @sleeping.delete(fiber) && fiber.resume }
        @mutex.synchronize { @ready.slice!(0..) }.each(&:resume)
      end
    end
  end

  def test_a_fiber_scheduler_runs_other_fibers_while_one_waits
    bytes = numbered(400_000)
    with_file(bytes, ".txt") do |path|
      seen, ticks, scheduler = [], 0, Scheduler.new
      mine, theirs = IO.pipe
      Thread.new do
        Fiber.set_scheduler(scheduler)
        Fiber.schedule { Bytewright::Reader.open(mine) { |reader| seen << reader.read << reader.eof? } }
        Fiber.schedule { Bytewright::Reader.open(path) { |reader| seen << reader.count_lines } }
        Fiber.schedule do
          Bytewright::Writer.open(theirs) { |writer| bytes.each_line { |line| writer << line } }
          theirs.close
        end
        Fiber.schedule { 5.times { sleep(0.001) && ticks += 1 } }
      end.join
      assert([bytes, true, bytes.count("\n")].sort_by(&:to_s) == seen.sort_by(&:to_s))
      assert_equal(5, ticks)
      assert_operator(scheduler.waits, :>, 5)
    ensure
      mine.close
    end
  end

  def test_two_fibers_that_wait_for_one_reader_have_their_turns
    mine, theirs = IO.pipe
    values = []
    Thread.new do
      Fiber.set_scheduler(Scheduler.new)
      reader = Bytewright::Reader.open(mine)
      2.times { Fiber.schedule { 3.times { values << reader.u8 } } }
      Fiber.schedule { "abcdef".each_char { |char| sleep(0.001) && theirs << char } }
    end.join
    assert_equal("abcdef".bytes, values.sort)
  ensure
    [mine, theirs].each(&:close)
  end

  def test_a_forked_child_reads_the_file_of_its_parent_from_the_same_place
    bytes = numbered(PIECE * 4)
    with_file(bytes, ".txt") do |path|
      reader = Bytewright::Reader.open(path)
      reader.skip(16)
      result, answer = IO.pipe
      child = fork do
        at_exit { exit! }
        answer.write(reader.read.hash == bytes.byteslice(16..).hash)
      end
      assert(reader.read == bytes.byteslice(16..))
      Process.wait(child)
      answer.close
      assert_equal("true", result.read)
    end
  end
end
