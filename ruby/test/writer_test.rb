# frozen_string_literal: true

require_relative "test_case"
require "fcntl"
require "socket"
require "stringio"
require "timeout"

# Goal: a Writer writes what Array#pack makes, to a file, an IO or an object, each byte once, whatever fails or
# comes between; and a file that it replaces is the old one or the new one.
#
# Method: what could hang, or needs limits, signals or an end of its own, runs in a process of its own.
class WriterTest < TestCase
  PACK = {
    u8: "C", u16le: "S<", u16be: "S>", u32le: "L<", u32be: "L>", u64le: "Q<", u64be: "Q>",
    i8: "c", i16le: "s<", i16be: "s>", i32le: "l<", i32be: "l>", i64le: "q<", i64be: "q>",
    f32le: "e", f32be: "g", f64le: "E", f64be: "G"
  }.freeze

  def setup
    @seed = Integer(ENV.fetch("BYTEWRIGHT_SEED", Random.new_seed % 1_000_000))
    @random = Random.new(@seed)
  end

  def teardown
    puts("\nBYTEWRIGHT_SEED=#{@seed} #{name}") unless passed?
  end

  # A name of an accessor and a value for it.
  def random_value
    name = PACK.keys.sample(random: @random)
    bits = name[/\d+/].to_i
    value =
      case name[0]
      when "u" then @random.rand(1 << bits)
      when "i" then @random.rand(1 << bits) - (1 << bits - 1)
      else @random.rand
      end
    [name, value]
  end

  # Writes at random and answers the bytes that must come of it.
  def write_at_random(writer, count)
    expected = +"".b
    count.times do
      case @random.rand(6)
      when 0
        text = @random.bytes(@random.rand(@random.rand(50).zero? ? 400_000 : 100))
        assert_same(writer, writer << text)
        expected << text
      when 1
        assert_equal(5, writer.write("ab", :c, 12))
        expected << "abc12"
      when 2 then writer.flush if @random.rand(30).zero?
      else
        name, value = random_value
        assert_same(writer, writer.public_send(name, value))
        expected << [value].pack(PACK[name])
      end
      assert_equal(expected.bytesize, writer.pos) if @random.rand(100).zero?
    end
    expected
  end

  def test_what_is_written_to_a_file_is_what_pack_makes
    with_new_file("out.bin") do |path|
      expected = Bytewright::Writer.open(path) { |writer| write_at_random(writer, 20_000) }
      assert_equal(expected, File.binread(path))
      Bytewright::Writer.open(path, append: true) { |writer| assert_equal(expected.bytesize + 1, writer.u8(7).pos) }
      assert_equal("#{expected}\x07".b, File.binread(path))
      Bytewright::Writer.open(path) { nil }
      assert_equal(0, File.size(path))
    end
  end

  def test_what_an_io_has_buffered_itself_comes_first_whether_it_blocks_or_not
    [true, false].each do |blocks|
      IO.pipe do |mine, theirs|
        theirs.sync = false
        flags = theirs.fcntl(Fcntl::F_GETFL)
        theirs.fcntl(Fcntl::F_SETFL, blocks ? flags & ~File::NONBLOCK : flags | File::NONBLOCK)
        writer = Bytewright::Writer.open(theirs)
        theirs.write("a")
        writer << "b"
        writer.flush
        theirs.write("c")
        theirs.close
        assert_equal("abc", mine.read, "blocks: #{blocks}")
      end
    end
  end

  def test_the_block_of_a_replacement_is_as_interruptible_as_its_caller
    with_new_file("out.bin") do |path|
      go = Queue.new
      thread = Thread.new do
        Thread.handle_interrupt(RuntimeError => :never) do
          Bytewright::Writer.replace(path) do |writer|
            go.pop
            writer << "whole"
          end
        end
      rescue RuntimeError
        "later"
      end
      eventually { thread.status == "sleep" }
      thread.raise("now")
      go << true
      assert_equal(["later", "whole"], [thread.value, File.read(path)])
    end
  end

  def test_to_a_pipe_a_socket_an_object_and_a_file_that_is_open
    [IO.pipe, UNIXSocket.pair].each do |mine, theirs|
      reading = Thread.new { mine.read }
      theirs << "before"
      expected = Bytewright::Writer.open(theirs) { |writer| write_at_random(writer, 3_000) }
      refute_predicate(theirs, :closed?)
      theirs.close
      assert_equal("before".b + expected, reading.value.b)
      mine.close
    end
    object = StringIO.new
    expected = Bytewright::Writer.open(object) { |writer| write_at_random(writer, 3_000) }
    assert_equal(expected, object.string.b)
    with_new_file("out.bin") do |path|
      File.open(path, "wb") do |file|
        file << "before"
        expected = Bytewright::Writer.open(file) { |writer| write_at_random(writer, 3_000) }
        file << "after"
      end
      assert_equal("before".b + expected + "after".b, File.binread(path))
    end
  end

  def test_values_that_do_not_fit_are_refused_and_write_nothing
    object = StringIO.new
    Bytewright::Writer.open(object) do |writer|
      PACK.each_key do |name|
        bits = name[/\d+/].to_i
        case name[0]
        when "u" then [-1, 1 << bits, 1 << 80, -(1 << 80)].each { |value| assert_raises(RangeError, name.to_s) { writer.public_send(name, value) } }
        when "i"
          [1 << bits - 1, -(1 << bits - 1) - 1, 1 << 80].each { |value| assert_raises(RangeError, name.to_s) { writer.public_send(name, value) } }
        end
        assert_raises(TypeError, name.to_s) { writer.public_send(name, "1") }
        assert_raises(TypeError, name.to_s) { writer.public_send(name, nil) }
      end
      assert_match(/expected 0\.\.255 for u8, found 256/, assert_raises(RangeError) { writer.u8(256) }.message)
      assert_raises(RangeError) { writer.varint(-1) }
      assert_equal(0, writer.pos)
      writer.u64be((1 << 64) - 1).i64be(-(1 << 63)).u16be(2.9)
    end
    assert_equal([(1 << 64) - 1, -(1 << 63), 2].pack("Q>q>S>"), object.string.b)
  end

  def test_numbers_beyond_floats_of_32_bits_are_refused_and_all_others_are_as_pack_writes_them
    largest = [0x7f7fffff].pack("N").unpack1("g")
    written = [largest, -largest, 0.1, 1e-300, -0.0, 1, 1r / 3, Float::INFINITY, -Float::INFINITY, Float::NAN]
    refused = [1e300, -1e300, Float::MAX, largest * 1.0000001, 10**39]
    object = StringIO.new
    Bytewright::Writer.open(object) do |writer|
      refused.each { |number| %i[f32be f32le].each { |name| assert_raises(RangeError) { writer.public_send(name, number) } } }
      assert_match(/expected -3.4028235e38..3.4028235e38 for f32be, found 1e300/,
                   assert_raises(RangeError) { writer.f32be(1e300) }.message)
      written.each { |number| writer.f32be(number).f64be(number) }
    end
    assert_equal(written.flat_map { |number| [number, number] }.pack("gG" * written.size), object.string.b)
  end

  def test_a_signal_handler_is_refused_while_another_thread_writes
    IO.pipe do |theirs, mine|
      writer = Bytewright::Writer.open(mine)
      thread = Thread.new { (writer << "x" * 300_000).flush }
      eventually { thread.status == "sleep" }
      found = nil
      uses = [-> { writer.u8(1) }, -> { writer.flush }, -> { writer.close }]
      in_handler(-> { sleep(0.001) until found }) { found = uses.map { |use| outcome(use) } }
      assert_equal([Bytewright::LockError], found.uniq, found)
      reader = Thread.new { theirs.read }
      thread.join
      writer.close
      mine.close
      assert_equal(300_000, reader.value.size)
    end
  end

  def test_numbers_of_24_bits_are_those_that_a_reader_reads
    numbers = [0, 1, 0xff_ffff] + Array.new(50) { @random.rand(1 << 24) }
    with_new_file("out.bin") do |path|
      Bytewright::Writer.open(path) do |writer|
        numbers.each { |number| assert_same(writer, writer.u24be(number).u24le(number)) }
        [-1, 1 << 24, 1 << 80].each { |number| assert_raises(RangeError) { writer.u24le(number) } }
        assert_raises(RangeError) { writer.u24be(1 << 24) }
        assert_raises(TypeError) { writer.u24be(nil) }
      end
      assert_equal(numbers.map { |n| [n].pack("N")[1..] + [n].pack("V")[0, 3] }.join, File.binread(path))
      Bytewright::Reader.open(path) { |reader| assert_equal(numbers, numbers.map { [reader.u24be, reader.u24le].uniq.first }) }
    end
  end

  def test_values_are_packed_as_by_array
    with_new_file("out.bin") do |path|
      Bytewright::Writer.open(path) do |writer|
        assert_same(writer, writer.pack("n a4 C w U m0", 2, "body", 7, 300, 0x20ac, "text"))
        assert_same(writer, writer.pack("x3"))
        assert_raises(ArgumentError) { writer.pack("nn", 1) }
        assert_raises(TypeError) { writer.pack("n", "1") }
      end
      assert_equal([2, "body", 7, 300, 0x20ac, "text"].pack("n a4 C w U m0").b + "\0\0\0", File.binread(path))
    end
  end

  # Does the same to a file and a writer, and compares the results.
  def go_and_write(writer, file)
    200.times do
      case @random.rand(6)
      when 0, 1
        place = [@random.rand(-20..120), [:SET, :CUR, :END, IO::SEEK_SET].sample(random: @random)]
        # A file that is opened to append has its place where it was last written, or nowhere.
        expected, found = [file, writer].map do |io|
          io.seek(*place)
        rescue Errno::EINVAL
          :invalid
        end
        assert_equal(expected, found, place.inspect)
      when 2 then assert_equal(file.pos, writer.pos)
      when 3
        place = @random.rand(120)
        assert_equal([place, place], [file, writer].map { |io| io.pos = place })
      else
        bytes = @random.bytes(@random.rand(1..15))
        assert_equal(file.write(bytes), writer.write(bytes))
        # Before that, a place that was gone to is the place of what is written, which is the end.
        assert_equal(file.pos, writer.pos)
      end
    end
  end

  def test_places_are_those_of_a_file
    with_new_file("file") do |file_path|
      { "wb" => {}, "ab" => { append: true } }.each do |mode, options|
        with_new_file("out.bin") do |path|
          [file_path, path].each { |each| File.binwrite(each, "before") }
          Bytewright::Writer.open(path, **options) do |writer|
            File.open(file_path, mode) { |file| file.seek(0, :END) && go_and_write(writer, file) }
          end
          assert_equal(File.binread(file_path), File.binread(path), mode)
        end
      end
      with_new_file("out.bin") do |path|
        Bytewright::Writer.replace(path) { |writer| File.open(file_path, "wb") { |file| go_and_write(writer, file) } }
        assert_equal(File.binread(file_path), File.binread(path))
      end
    end
  end

  def test_places_in_an_object_are_counted_from_where_it_was
    with_new_file("file") do |file_path|
      with_new_file("out.bin") do |path|
        [File.open(path, "wb"), StringIO.new(+"".b)].each do |object|
          object.write("head")
          writer = Bytewright::Writer.open(object)
          File.open(file_path, "wb") { |file| go_and_write(writer, file) }
          writer.flush
          object.flush
          written = object.is_a?(StringIO) ? object.string : File.binread(path)
          assert_equal("head".b + File.binread(file_path), written, object.class.name)
          object.close
        end
      end
    end
  end

  def test_a_header_is_written_when_its_length_is_known
    with_new_file("out.bin") do |path|
      Bytewright::Writer.open(path) do |writer|
        writer.u32be(0)
        1_000.times { writer << "x" * 1_000 }
        length = writer.pos - 4
        writer.pos = 0
        writer.u32be(length)
      end
      Bytewright::Reader.open(path) { |reader| assert_equal("x" * 1_000_000, reader.read(reader.u32be)) }
    end
  end

  def test_a_place_is_refused_where_there_is_none
    out = Object.new
    def out.write(bytes) = bytes.bytesize
    IO.pipe do |_mine, theirs|
      ours, _theirs = UNIXSocket.pair
      [theirs, ours, out].each do |target|
        Bytewright::Writer.open(target) do |writer|
          writer << "abc"
          [[0], [0, :CUR], [0, :END]].each { |place| assert_raises(Errno::ESPIPE) { writer.seek(*place) } }
          assert_equal(3, writer.pos)
        end
      end
    end
    with_new_file("out.bin") do |path|
      writer = Bytewright::Writer.open(path)
      writer << "abc"
      assert_raises(ArgumentError) { writer.seek(0, :MIDDLE) }
      assert_raises(TypeError) { writer.seek("1") }
      assert_raises(RangeError) { writer.seek(1 << 70) }
      assert_raises(Errno::EINVAL) { writer.seek(-4, :CUR) }
      assert_equal(3, writer.pos)
      writer.close
      assert_raises(Bytewright::ClosedError) { writer.seek(0) }
    end
  end

  def test_varints_are_those_that_a_reader_reads
    numbers = Array.new(1_000) { @random.rand(1 << @random.rand(1..64)) }
    signed = Array.new(1_000) { @random.rand(1 << @random.rand(1..63)) * [1, -1].sample(random: @random) } << -(1 << 63)
    object = StringIO.new
    Bytewright::Writer.open(object) do |writer|
      numbers.each { |number| writer.varint(number) }
      signed.each { |number| writer.zigzag(number) }
    end
    Bytewright::Reader.open(StringIO.new(object.string), compressed: false) do |reader|
      assert_equal(numbers, Array.new(numbers.size) { reader.varint })
      assert_equal(signed, Array.new(signed.size) { reader.zigzag })
    end
  end

  def test_bytes_are_in_the_file_when_it_is_flushed_and_not_many_calls_before
    with_new_file("out.bin") do |path|
      writer = Bytewright::Writer.open(path, fsync: true)
      writer << "abc"
      assert_equal(0, File.size(path))
      assert_same(writer, writer.flush)
      assert_equal(3, File.size(path))
      writer << "def"
      assert_equal([0, 6], [writer.fsync, File.size(path)])
      writer.u8(1)
      assert_nil(writer.close)
      assert_nil(writer.close)
      assert_equal(7, File.size(path))
      [-> { writer.u8(1) }, -> { writer << "" }, -> { writer.flush }, -> { writer.pos }].each { |use| assert_raises(Bytewright::ClosedError, &use) }
      assert_match(/out.bin \(closed\)>\z/, writer.inspect)
    end
  end

  def test_a_writer_that_is_forgotten_writes_what_it_has
    with_new_file("out.bin") do |path|
      system(*command_of('Bytewright::Writer.open(ARGV[0]) << "kept"; Process.wait(fork { })', path))
      assert_equal("kept", File.read(path))
    end
  end

  def command_of(script, *arguments)
    load_path = $LOAD_PATH.join(File::PATH_SEPARATOR)
    [RbConfig.ruby, "-W", "-I#{load_path}", "-rbytewright", "-e", script, *arguments]
  end

  # Runs a script in a Ruby of its own, which has half a minute, and expects what it prints.
  def assert_prints(expected, script, *arguments)
    IO.popen([*command_of(script, *arguments), { err: %i[child out] }]) do |output|
      printed = Thread.new { output.read }
      Process.kill(:KILL, output.pid) unless printed.join(30)
      assert_equal(expected, printed.value)
    end
  end

  # Limits the size of files of this process, writes what comes above that, and writes on without the limit.
  FULL_FOR_A_WHILE = <<~'RUBY'
    trap("XFSZ", "IGNORE")
    limited = Process.getrlimit(:FSIZE)
    bytes = Array.new(8_000) { |at| format("%015d\n", at * 16) }.join
    [true, false].each do |append|
      path = File.join(ARGV[0], append.to_s)
      File.write(path, "before\n")
      writer = Bytewright::Writer.open(path, append: append)
      writer << bytes
      place = writer.pos
      Process.setrlimit(:FSIZE, 50_000, limited[1])
      failures = Array.new(3) do |at|
        Process.setrlimit(:FSIZE, 50_000 + at * 10_000, limited[1])
        writer.flush
      rescue Errno::EFBIG
        writer.pos - place
      end
      size = File.size(path)
      Process.setrlimit(:FSIZE, *limited)
      writer << "after\n"
      writer.close
      written = append ? "before\n#{bytes}after\n" : "#{bytes}after\n"
      puts [append, failures, size, File.read(path) == written].inspect
    end
  RUBY

  def test_a_write_that_failed_in_part_goes_on_where_it_failed
    Dir.mktmpdir do |folder|
      assert_prints("[true, [0, 0, 0], 70000, true]\n[false, [0, 0, 0], 70000, true]\n", FULL_FOR_A_WHILE, folder)
    end
  end

  def test_what_a_block_could_not_write_at_its_end_is_not_written_later
    with_new_file("out.bin") do |path|
      [true, false].each do |raising|
        assert_prints("failed\n", <<~RUBY, path, raising.to_s)
          trap("XFSZ", "IGNORE")
          limited = Process.getrlimit(:FSIZE)
          Process.setrlimit(:FSIZE, 1_000, limited[1])
          begin
            Bytewright::Writer.open(ARGV[0]) { |writer| writer << "old" * 1_000; raise "no" if ARGV[1] == "true" }
          rescue Errno::EFBIG, RuntimeError
            puts "failed"
          end
          Process.setrlimit(:FSIZE, *limited)
          File.write(ARGV[0], "new")
        RUBY
        assert_equal("new", File.read(path))
      end
    end
  end

  def test_processes_that_append_to_one_file_write_over_nothing_and_tear_no_flush
    with_new_file("log") do |path|
      File.write(path, "0 begin\n")
      script = <<~'RUBY'
        Bytewright::Writer.open(ARGV[0], append: true) do |writer|
          300.times { |at| (writer << "#{ARGV[1]} " << at << " " << "x" * (at * 7) << "\n").flush }
        end
      RUBY
      Array.new(4) { |process| spawn(*command_of(script, path, (process + 1).to_s)) }.each { |child| Process.wait(child) }
      lines = File.readlines(path, chomp: true)
      assert_equal("0 begin", lines.shift)
      expected = (1..4).flat_map { |process| Array.new(300) { |at| "#{process} #{at} #{"x" * (at * 7)}" } }
      assert_equal(expected, lines.sort_by { |line| line.split.first(2).map(&:to_i) })
    end
  end

  # Signals come while a file is written, in as many moments as it takes until one is in the middle of a write.
  SIGNALS = <<~'RUBY'
    writer = Bytewright::Writer.open(ARGV[0])
    long = "a" * 4_000_000
    outcomes, marks, written = Hash.new(0), 0, 0
    uses = [
      -> { writer.u8(46) && marks += 1 }, -> { writer.flush }, -> { writer.pos },
      -> { (writer << "." * 200_000) && marks += 200_000 }, -> { writer.fsync }
    ]
    trap("USR1") do
      uses.rotate!.first.call
      outcomes[:worked] += 1
    rescue Bytewright::LockError => e
      outcomes[e.message[/already using/]] += 1
    rescue Exception => e
      outcomes[e.class] += 1
    end
    parent = $$
    storm = fork { loop { Process.kill("USR1", parent) && sleep(0.0002) } }
    until outcomes["already using"] >= 20 && outcomes[:worked] >= 20
      3.times { writer << "a" * 1_000 and written += 1_000 }
      writer.flush
      # Long enough for signals to come in the middle of it, however fast the machine is.
      writer << long and written += long.bytesize
      break unless (outcomes.keys - ["already using", :worked]).empty?
    end
    trap("USR1", "IGNORE")
    Process.kill("KILL", storm)
    Process.wait(storm)
    writer.close
    text = File.binread(ARGV[0])
    # A long one that is refused in its second part has its first part written.
    puts [outcomes.keys.map(&:to_s).sort, text.count("a") == written, text.count(".") >= marks].inspect
  RUBY

  def test_a_signal_handler_is_refused_in_the_middle_of_a_write_and_works_otherwise
    with_new_file("out.bin") { |path| assert_prints("#{[["already using", "worked"], true, true].inspect}\n", SIGNALS, path) }
  end

  def test_a_signal_handler_that_comes_while_a_pipe_is_full_is_refused
    assert_prints("#{["already using"] * 5 + [true]}\n", <<~'RUBY')
      mine, theirs = IO.pipe
      writer = Bytewright::Writer.open(theirs)
      answers = []
      trap("USR1") do
        [-> { writer.u8(1) }, -> { writer.write("x" * 300_000) }, -> { writer.flush }, -> { writer.fsync }, -> { writer.close }].each do |use|
          use.call
        rescue Bytewright::LockError => e
          answers << e.message[/already using/]
        end
        # Its place is known, because what the pipe took is.
        answers << writer.pos.between?(131_072, 500_000)
      end
      main = Thread.current
      reading = Thread.new do
        Thread.pass until main.status == "sleep"
        Process.kill("USR1", $$)
        Thread.pass until answers.size == 6
        mine.read
      end
      writer << "a" * 500_000
      writer.close
      theirs.close
      puts answers.inspect
      abort("lost") unless reading.value == "a" * 500_000
    RUBY
  end

  def test_an_object_that_writes_to_its_writer_is_refused
    writer, answers = nil
    object = StringIO.new
    object.define_singleton_method(:write) do |bytes|
      answers = [-> { writer.flush }, -> { writer.u8(1) }, -> { writer.close }].map do |use|
        use.call
      rescue Bytewright::LockError => e
        e.class
      end
      super(bytes)
    end
    writer = Bytewright::Writer.open(object)
    writer << "abc"
    writer.flush
    assert_equal([[Bytewright::LockError] * 3, "abc"], [answers, object.string])
    writer.close
  end

  # Yields a pipe that is full, and a writer that has more for it.
  def with_full_pipe
    IO.pipe do |mine, theirs|
      bytes = Array.new(20_000) { |at| format("%015d\n", at) }.join
      yield mine, Bytewright::Writer.open(theirs), bytes
    end
  end

  def test_thread_kill_and_timeout_end_a_write_to_a_full_pipe_and_writing_goes_on
    with_full_pipe do |mine, writer, bytes|
      killed = Thread.new { writer << bytes }
      eventually { killed.status == "sleep" }
      assert_same(killed, killed.kill.join(10))
      assert_raises(Timeout::Error) { Timeout.timeout(0.02) { writer.flush } }
      assert_raises(Timeout::Error) { Timeout.timeout(0.02) { writer.close } }
      refute_predicate(writer, :closed?)
      at = writer.pos
      reading = Thread.new { mine.read(bytes.bytesize) }
      writer << bytes.byteslice(at..)
      writer.close
      assert(reading.value == bytes)
    end
  end

  def test_closing_waits_for_another_thread_that_writes_and_refuses_what_comes_later
    with_full_pipe do |mine, writer, bytes|
      writing = Thread.new { writer << bytes }
      eventually { writing.status == "sleep" }
      closing = Thread.new { writer.close }
      eventually { closing.status == "sleep" }
      assert(mine.read(bytes.bytesize) == bytes)
      [writing, closing].each { |thread| assert_same(thread, thread.join(10)) }
      assert_raises(Bytewright::ClosedError) { writer << "late" }
    end
  end

  def test_what_another_thread_writes_while_the_writer_is_closed_is_written_or_refused
    writer, late = nil
    object = StringIO.new
    object.define_singleton_method(:flush) do
      late = Thread.new { writer << "late" }
      late.report_on_exception = false
      Thread.pass until [false, nil, "sleep"].include?(late.status)
    end
    writer = Bytewright::Writer.open(object)
    writer << "abc"
    writer.close
    assert_raises(Bytewright::ClosedError) { late.value }
    assert_equal("abc", object.string)
  end

  def test_a_forked_child_can_neither_write_nor_lose_what_its_parent_gathered
    with_new_file("out.bin") do |path|
      [path, File.join(File.dirname(path), "fifo")].each do |target|
        reading = target == path ? nil : File.mkfifo(target) && Thread.new { File.read(target) }
        Bytewright::Writer.open(target) do |writer|
          writer << "parent"
          assert_child_is_refused(writer)
          writer << "'s"
        end
        assert_equal("parent's", reading ? reading.value : File.read(target))
      end
    end
  end

  def assert_child_is_refused(writer)
    answer, answering = IO.pipe
    child = fork do
      at_exit { exit! }
      refused = [-> { writer.u8(1) }, -> { writer << "child" }, -> { writer.flush }, -> { writer.pos }].map do |use|
        use.call
      rescue Bytewright::ClosedError => e
        e.message[/fork/]
      end
      answering.write([refused, writer.close, writer.closed?].inspect)
    end
    Process.wait(child)
    answering.close
    assert_equal([["fork"] * 4, nil, true].inspect, answer.read)
  ensure
    [answer, answering].each(&:close)
  end

  def test_a_forked_child_that_leaves_the_block_writes_nothing
    with_new_file("out.bin") do |path|
      assert_prints("left\nleft\n", <<~'RUBY', path)
        $stdout.sync = true
        # Another thread is in the middle of a write when the process is forked.
        mine, theirs = IO.pipe
        full = Bytewright::Writer.open(theirs)
        writing = Thread.new { full << "x" * 1_000_000 }
        Thread.pass until writing.status == "sleep"
        child = nil
        Bytewright::Writer.open(ARGV[0]) do |writer|
          writer << "once"
          child = fork
          full.close unless child
        end
        puts "left"
        exit!(0) unless child
        Process.wait(child)
        exit!(0)
      RUBY
      assert_equal("once", File.read(path))
    end
  end

  def test_a_full_disk_is_told_and_nothing_is_forgotten
    skip("no /dev/full") unless File.exist?("/dev/full")
    writer = Bytewright::Writer.open("/dev/full")
    writer << "abc"
    assert_raises(Errno::ENOSPC) { writer.flush }
    assert_equal(3, writer.pos)
    2.times { assert_raises(Errno::ENOSPC) { writer.close } }
    assert_raises(Errno::ENOSPC) { Bytewright::Writer.open("/dev/full", append: true) { |full| full << "abc" } }
    assert_raises(Errno::ENOENT) { Bytewright::Writer.open("/nonexistent/out") }
    assert_raises(Errno::EISDIR) { Bytewright::Writer.open("/") }
    assert_raises(TypeError) { Bytewright::Writer.open(5) }
  end

  def test_what_the_block_wrote_before_it_raised_is_written
    with_new_file("out.bin") do |path|
      assert_raises(RuntimeError) { Bytewright::Writer.open(path) { |writer| (writer << "abc") && raise("no") } }
      assert_equal("abc", File.read(path))
    end
  end

  def test_a_replacement_keeps_mode_and_link_and_leaves_nothing_behind
    with_new_file("data.bin") do |path|
      folder = File.dirname(path)
      link = File.join(folder, "link")
      File.symlink("data.bin", link)
      assert_equal(:made, Bytewright::Writer.replace(path) { |writer| (writer << "first") && :made })
      assert_equal(["first", 0o666 & ~File.umask], [File.read(path), File.stat(path).mode & 0o777])
      File.chmod(0o640, path)
      old = File.stat(path).ino
      Bytewright::Writer.replace(link) do |writer|
        writer << "second" * 100_000
        writer.flush
        assert_equal("first", File.read(path))
        # If the file system knows no files without a name, it has a hidden one.
        hidden = Dir.children(folder) - %w[data.bin link]
        assert_equal([0o640] * hidden.size, hidden.map { |name| File.stat(File.join(folder, name)).mode & 0o777 })
      end
      assert_equal(["second" * 100_000, 0o640], [File.read(link), File.stat(path).mode & 0o777])
      refute_equal(old, File.stat(path).ino)
      assert_predicate(File.lstat(link), :symlink?)
      assert_equal(%w[data.bin link], Dir.children(folder).sort)
    end
  end

  def test_a_block_that_is_left_hides_no_failure
    leave = -> { Bytewright::Writer.open("/dev/full") { |writer| writer << "data"; break :left } }
    assert_raises(Errno::ENOSPC) { leave.call }
    assert_raises(RuntimeError) { Bytewright::Writer.open("/dev/full") { |writer| writer << "data"; raise "first" } }
  end

  def test_a_replacement_that_does_not_end_leaves_the_old_file
    with_new_file("data.bin") do |path|
      File.write(path, "old")
      assert_raises(RuntimeError) { Bytewright::Writer.replace(path) { |writer| (writer << "new") && raise("no") } }
      catch(:out) { Bytewright::Writer.replace(path) { |writer| (writer << "new").flush && throw(:out) } }
      [nil].each { Bytewright::Writer.replace(path) { break } }
      thread = Thread.new { Bytewright::Writer.replace(path) { Thread.stop } }
      eventually { thread.status == "sleep" }
      thread.kill.join
      system(*command_of('Bytewright::Writer.replace(ARGV[0]) { |w| (w << "new").flush; Process.wait(fork { exit!(0) }); exit(0) }', path))
      assert_equal(["old", ["data.bin"]], [File.read(path), Dir.children(File.dirname(path))])
      assert_raises(ArgumentError) { Bytewright::Writer.replace(path) }
      assert_raises(ArgumentError) { Bytewright::Writer.replace(File.dirname(path)) { nil } }
      assert_raises(Errno::ENOENT) { Bytewright::Writer.replace("/nonexistent/x") { nil } }
    end
  end

  def test_appending_to_an_object_that_is_open_is_refused
    object = StringIO.new(+"old")
    assert_match(/found StringIO; open it to append/, assert_raises(ArgumentError) { Bytewright::Writer.open(object, append: true) }.message)
    with_new_file("data.bin") do |path|
      File.write(path, "old")
      File.open(path, "r+b") { |file| assert_raises(ArgumentError) { Bytewright::Writer.open(file, append: true) } }
      File.open(path, "ab") { |file| Bytewright::Writer.open(file) { |writer| writer << "new" } }
      assert_equal(["old", "oldnew"], [object.string, File.read(path)])
    end
  end
end
