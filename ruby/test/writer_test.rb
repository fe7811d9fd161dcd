# frozen_string_literal: true

require_relative "test_case"
require "socket"
require "stringio"

# Goal: a Writer writes what Array#pack makes, to a file, an IO or an object, and a file that it replaces is
# the old one or the new one.
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
        when "u" then [-1, 1 << bits, 1 << 80, -(1 << 80)].each { |value| assert_raises(RangeError, name) { writer.public_send(name, value) } }
        when "i"
          [1 << bits - 1, -(1 << bits - 1) - 1, 1 << 80].each { |value| assert_raises(RangeError, name) { writer.public_send(name, value) } }
        end
        assert_raises(TypeError, name) { writer.public_send(name, "1") }
        assert_raises(TypeError, name) { writer.public_send(name, nil) }
      end
      assert_match(/expected 0\.\.255 for u8, found 256/, assert_raises(RangeError) { writer.u8(256) }.message)
      assert_raises(RangeError) { writer.varint(-1) }
      assert_equal(0, writer.pos)
      writer.u64be((1 << 64) - 1).i64be(-(1 << 63)).u16be(2.9)
    end
    assert_equal([(1 << 64) - 1, -(1 << 63), 2].pack("Q>q>S>"), object.string.b)
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

  def test_a_full_disk_is_told_and_nothing_is_forgotten
    skip("no /dev/full") unless File.exist?("/dev/full")
    writer = Bytewright::Writer.open("/dev/full")
    writer << "abc"
    assert_raises(Errno::ENOSPC) { writer.flush }
    assert_equal(3, writer.pos)
    assert_raises(Errno::ENOSPC) { writer.close }
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
        assert_equal(0o640, File.stat(Dir[File.join(folder, ".data.bin*")].first).mode & 0o777)
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
end
