# frozen_string_literal: true

require_relative "test_case"
require "socket"
require "stringio"
require "zlib"

# Goal: a Reader gives the bytes that are there, as IO and String#unpack1 give them, wherever they come from
# and wherever its buffer ends.
#
# Method: random bytes are read by random operations, and each answer is compared with Ruby's own over the
# same bytes.
class ReaderTest < TestCase
  UNPACK = {
    u8: "C", u16le: "S<", u16be: "S>", u32le: "L<", u32be: "L>", u64le: "Q<", u64be: "Q>",
    i8: "c", i16le: "s<", i16be: "s>", i32le: "l<", i32be: "l>", i64le: "q<", i64be: "q>",
    f32le: "e", f32be: "g", f64le: "E", f64be: "G"
  }.freeze
  WIDTH = UNPACK.to_h { |name, _| [name, name[/\d+/].to_i / 8] }.freeze
  PIECE = 65_536

  def setup
    @seed = Integer(ENV.fetch("BYTEWRIGHT_SEED", Random.new_seed % 1_000_000))
    @random = Random.new(@seed)
  end

  def teardown
    puts("\nBYTEWRIGHT_SEED=#{@seed} #{name}") unless passed?
  end

  # Yields readers of the same bytes from each kind of input, with a name for it.
  def each_input(bytes)
    with_file(bytes, ".bin") do |path|
      Bytewright::Reader.open(path) { |reader| yield reader, "a path" }
      File.open(path, "rb") { |file| Bytewright::Reader.open(file) { |reader| yield reader, "a file" } }
    end
    Bytewright::Reader.open(StringIO.new(bytes)) { |reader| yield reader, "a StringIO" }
    with_file(Zlib.gzip(bytes), ".gz") { |path| Bytewright::Reader.open(path) { |reader| yield reader, "gzip" } }
    with_pipe(bytes) { |io| Bytewright::Reader.open(io) { |reader| yield reader, "a pipe" } }
    with_socket(bytes) { |io| Bytewright::Reader.open(io) { |reader| yield reader, "a socket" } }
  end

  def with_pipe(bytes)
    reader, writer = IO.pipe
    thread = Thread.new { writing(writer, bytes) }
    yield reader
  ensure
    reader.close
    thread&.join
  end

  def with_socket(bytes)
    mine, theirs = UNIXSocket.pair
    thread = Thread.new { writing(theirs, bytes) }
    yield mine
  ensure
    mine.close
    thread&.join
  end

  # Writes pieces of any size, so that values are cut everywhere.
  def writing(io, bytes)
    at, random = 0, Random.new(@seed)
    while at < bytes.bytesize
      at += io.write(bytes.byteslice(at, random.rand(1..20_000)))
      Thread.pass if random.rand(4).zero?
    end
  rescue Errno::EPIPE, Errno::ECONNRESET
    # The reader has seen enough.
  ensure
    io.close
  end

  # Minitest would compare long Strings line by line, which takes minutes.
  def same_bytes(expected, found, message)
    return pass if expected.nil? ? found.nil? : expected == found

    flunk("#{message}: expected #{expected&.bytesize.inspect} bytes, found #{found&.bytesize.inspect}, other ones or of #{found&.encoding}")
  end

  def same_number(expected, found, message)
    expected.is_a?(Float) && expected.nan? ? assert(found.nan?, message) : assert_equal(expected, found, message)
  end

  def test_each_accessor_reads_what_unpack1_does_at_every_boundary_of_the_buffer
    bytes = @random.bytes(PIECE * 2 + 40)
    with_file(bytes, ".bin") do |path|
      Bytewright::Reader.open(path) do |reader|
        UNPACK.each do |name, letter|
          [0, PIECE, PIECE * 2].each do |boundary|
            (-9..9).each do |distance|
              at = boundary + distance
              next if at.negative?

              reader.rewind
              reader.skip(at)
              same_number(bytes.byteslice(at, WIDTH[name]).unpack1(letter), reader.public_send(name), "#{name} at #{at}")
              assert_equal(at + WIDTH[name], reader.pos)
            end
          end
        end
      end
    end
  end

  def test_any_sequence_of_operations_gives_what_ruby_gives
    bytes = @random.bytes(PIECE * 3)
    each_input(bytes) do |reader, from|
      at = 0
      while at < bytes.bytesize - 30_000
        case @random.rand(8)
        when 0
          length = @random.rand(20_000)
          same_bytes(bytes.byteslice(at, length), reader.read(length), "read(#{length}) at #{at} of #{from}")
          at += length
        when 1
          length = @random.rand(1..3_000)
          same_bytes(bytes.byteslice(at, length), reader.peek(length), "peek(#{length}) at #{at} of #{from}")
        when 2
          length = @random.rand(4_000)
          assert_equal(length, reader.skip(length))
          at += length
        when 3
          length, string = @random.rand(1..9_000), +"old"
          assert_same(string, reader.read_into(string, length))
          same_bytes(bytes.byteslice(at, length), string.b, "read_into(#{length}) at #{at} of #{from}")
          at += length
        else
          name = UNPACK.keys.sample(random: @random)
          expected = bytes.byteslice(at, WIDTH[name]).unpack1(UNPACK[name])
          same_number(expected, reader.public_send(name), "#{name} at #{at} of #{from}")
          at += WIDTH[name]
        end
        assert_equal(at, reader.pos)
      end
      same_bytes(bytes.byteslice(at..), reader.read.b, "the rest of #{from}")
      assert_predicate(reader, :eof?)
      assert_nil(reader.read(1))
      assert_equal("", reader.read)
    end
  end

  def test_numbers_of_24_bits_are_read_at_every_boundary_of_the_buffer
    bytes = @random.bytes(PIECE + 14)
    each_input(bytes) do |reader, from|
      reader.skip(PIECE - 8)
      (PIECE - 8).step(PIECE + 4, 6) do |at|
        one, other = bytes.byteslice(at, 6).unpack("a3a3")
        assert_equal([1, at, "\0#{one}".unpack1("N"), "#{other}\0".unpack1("V")], [1, reader.pos, reader.u24be, reader.u24le], from)
      end
      reader.skip(2)
      error = assert_raises(Bytewright::TruncatedError) { reader.u24be }
      assert_equal([3, 2, bytes.bytesize - 2], [error.needed, error.available, reader.pos])
    end
  end

  # Returns the outcome of a call of the reader or of IO: result or error, the string passed to it, and the position.
  def outcome_of(io, call, string = nil)
    [io.public_send(*call, *string), string&.b, io.pos]
  rescue EOFError, ArgumentError, TypeError, FrozenError, NoMethodError => e
    [e.class, e.is_a?(FrozenError) ? nil : e.message, string&.b, io.pos]
  end

  def test_parts_and_bytes_are_those_of_io
    bytes = @random.bytes(PIECE / 2)
    with_file(bytes, ".bin") do |path|
      File.open(path, "rb") do |file|
        Bytewright::Reader.open(path) do |reader|
          300.times do
            length = @random.rand(10).zero? ? [-1, 0, nil, "x"].sample(random: @random) : @random.rand(500)
            call = @random.rand(3).zero? ? [:getbyte] : [:readpartial, length]
            strings = [+"old", +"old"] if call.size == 2 && @random.rand(2).zero?
            strings = %w[frozen frozen] if strings && @random.rand(10).zero?
            expected, found = [file, reader].zip(strings || []).map { |io, string| outcome_of(io, call, string) }
            assert_equal(expected, found, call.inspect)
          end
          [file, reader].each { |io| io.seek(0, :END) }
          [[:getbyte], [:readpartial, 0], [:readpartial, 5], [:readpartial], [:readpartial, 1, +"", 2]].each do |call|
            assert_equal(outcome_of(file, call), outcome_of(reader, call), call.inspect)
          end
          string = +"old"
          assert_equal("end of file reached", assert_raises(EOFError) { reader.readpartial(3, string) }.message)
          assert_equal("", string)
          # The end is no state: what is added is read.
          File.binwrite(path, "more", mode: "ab")
          assert_equal([109, "ore"], [reader.getbyte, reader.readpartial(100)])
        end
      end
    end
  end

  def test_a_part_is_what_there_is_and_waits_only_where_there_is_nothing
    [IO.pipe, UNIXSocket.pair].each do |mine, theirs|
      Bytewright::Reader.open(mine) do |reader|
        assert_equal("", reader.readpartial(0))
        theirs << "abc"
        assert_equal([97, "bc"], [reader.getbyte, reader.readpartial(1_000)])
        later = Thread.new { reader.readpartial(1_000) }
        Thread.pass until later.stop?
        theirs << "later"
        assert_equal("later", later.value)
        waiting = Thread.new { reader.getbyte }
        Thread.pass until waiting.stop?
        waiting.kill.join
        theirs << "x"
        theirs.close
        assert_equal(["x".ord, nil], [reader.getbyte, reader.getbyte])
        assert_raises(EOFError) { reader.readpartial(1) }
      end
      mine.close
    end
    # A thread that waits is told when the reader is closed.
    IO.pipe do |mine, _theirs|
      reader = Bytewright::Reader.open(mine)
      waiting = Thread.new { assert_raises(Bytewright::ClosedError) { reader.readpartial(1) } }
      Thread.pass until waiting.stop?
      reader.close
      waiting.join
    end
  end

  def test_parts_of_compressed_input_and_of_objects_give_all_bytes_once
    bytes = @random.bytes(PIECE * 2 + 100)
    each_input(bytes) do |reader, from|
      all, part = "".b, "".b
      all << reader.getbyte
      assert_raises(EOFError) { loop { all << reader.readpartial(@random.rand(1..100_000), part) } }
      same_bytes(bytes, all.b, from)
    end
  end

  def test_the_size_is_known_where_it_takes_no_reading
    bytes = @random.bytes(1_000)
    sizes = { "a path" => 1_000, "a file" => 1_000, "a StringIO" => 1_000, "gzip" => nil, "a pipe" => nil, "a socket" => nil }
    each_input(bytes) do |reader, from|
      assert_equal([sizes[from], 0], [reader.size, reader.pos], from) if sizes[from]
      assert_nil(reader.size, from) unless sizes[from]
      assert_equal(bytes.byteslice(0, 10), reader.read(10))
      assert_equal([sizes[from]], [reader.size], from)
    end
    # It is counted from where the reader began, and of a file as it is now.
    with_file(bytes, ".bin") do |path|
      File.open(path, "rb") do |file|
        file.seek(300)
        Bytewright::Reader.open(file) do |reader|
          assert_equal(700, reader.size)
          File.binwrite(path, "more", mode: "ab")
          assert_equal(704, reader.size)
        end
      end
    end
  end

  def test_a_value_that_the_input_ends_within_is_not_taken
    each_input("abc") do |reader, from|
      %i[u32be f64le u64le].each do |name|
        error = assert_raises(Bytewright::TruncatedError, from) { reader.public_send(name) }
        assert_equal([0, WIDTH[name], 3], [error.offset, error.needed, error.available])
        assert_equal(0, reader.pos)
      end
      assert_equal(0x6162, reader.u16be)
      error = assert_raises(Bytewright::TruncatedError) { reader.u16be }
      assert_equal([2, 2, 1], [error.offset, error.needed, error.available])
      assert_equal(99, reader.u8)
      assert_equal(0, assert_raises(Bytewright::TruncatedError) { reader.u8 }.available)
      assert_raises(Bytewright::TruncatedError) { reader.varint }
    end
  end

  def test_varints_are_read_across_pieces_and_refused_where_they_are_too_long
    numbers = Array.new(3_000) { @random.rand(1 << @random.rand(1..64)) }
    varint = lambda do |number|
      bytes = []
      loop do
        bytes << (number & 0x7f | (number > 0x7f ? 0x80 : 0))
        number >>= 7
        break bytes.pack("C*") if number.zero?
      end
    end
    padding = "\x01" * (PIECE - 4_000)
    each_input(padding + numbers.map(&varint).join) do |reader, from|
      reader.skip(padding.bytesize)
      assert_equal(numbers, Array.new(numbers.size) { reader.varint }, from)
      assert_predicate(reader, :eof?)
    end
    Bytewright::Reader.open(StringIO.new("\x00\x01\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01".b)) do |reader|
      assert_equal([0, -1, 1, (1 << 63) - 1], Array.new(4) { reader.zigzag })
    end
    Bytewright::Reader.open(StringIO.new("a#{"\xff".b * 11}".b)) do |reader|
      reader.u8
      assert_equal(1, assert_raises(Bytewright::FormatError) { reader.varint }.offset)
      assert_equal(1, reader.pos)
    end
  end

  def random_text
    words = ["", "a", "ä", "\u{1f600}", "line", "\r", "x" * @random.rand(200), "\n", "\n\n", "--", "-"]
    text = +""
    text << words.sample(random: @random) << (@random.rand(3).zero? ? "\n" : "") while text.bytesize < 2_000
    text << "x" * PIECE << "\n" << "end"
  end

  def test_pipes_are_read_and_written_where_nothing_else_is_loaded
    script = "r, w = IO.pipe; Bytewright::Writer.open(w) { |writer| writer.u32be(7) }; w.close; " \
             "abort unless Bytewright::Reader.open(r).u32be == 7"
    assert(system(RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "-rbytewright/extension", "-e", script))
  end

  def test_a_file_whose_name_is_no_text_is_read_and_one_without_a_name
    with_file("abcd", "n\xff.bin".b) do |path|
      File.open(path, "rb") { |file| assert_equal("abcd", Bytewright::Reader.open(file).read) }
    end
    File.open(Dir.tmpdir, File::RDWR | File::TMPFILE) do |file|
      file.write("abcd")
      file.rewind
      assert_equal("abcd", Bytewright::Reader.open(file).read)
    end
  end

  def test_a_string_may_be_copied_while_it_is_filled
    IO.pipe do |input, output|
      reader = Bytewright::Reader.open(input)
      output << "x" * 20_000
      string = +""
      thread = Thread.new { reader.read_into(string, 1_000_000) }
      Thread.pass until string.bytesize == 20_000 && thread.status == "sleep"
      copy = string.dup
      thread.kill.join
      assert_equal(["x" * 20_000, ""], [copy, string])
      output.close
      assert_equal("x" * 20_000, reader.read)
    end
  end

  def test_records_that_are_cut_take_nothing_whatever_they_come_from
    each_input("abcde") do |reader, from|
      assert_raises(Bytewright::TruncatedError, from) { reader.unpack_records("n") }
      assert_equal([0, "abcde"], [reader.pos, reader.read], from)
    end
  end

  def test_a_limit_is_kept_whatever_the_separator
    Bytewright::Reader.open(StringIO.new("\none\ntwo\n\nthree--four")) do |reader|
      assert_equal(["one\nt", "wo\n\n", "three", "--"], [["", 5], ["", 5], ["--", 5], ["--", 5]].map { |rule| reader.gets(*rule) })
    end
  end

  def test_lines_are_those_of_io
    # Not with a limit and a separator of several bytes, such as a paragraph's: IO passes a limit that
    # cuts one in two.
    # A piece ends in the middle of it.
    before = PIECE - 1_000
    # Versions of Ruby differ in whether a newline at the end of the file is one that a paragraph is chomped of.
    text = "x" * before + random_text.byteslice(0, 2_000).scrub + "end"
    rules = [[], ["\n"], ["--"], ["-"], [""], [nil], [7], [1], ["\n", 10], [nil, 100], ["\r\n"], ["x"], [-1]]
    rules.product([true, false]).each do |rule, chomp|
      each_input(text) do |reader, from|
        with_file(text, ".txt") do |path|
          File.open(path, external_encoding: reader.external_encoding) do |io|
            io.seek(before)
            reader.skip(before)
            loop do
              line = reader.gets(*rule, chomp: chomp)
              expected = io.gets(*rule, chomp: chomp)
              assert_equal(expected.inspect, line.inspect, "gets(#{rule}, chomp: #{chomp}) of #{from}") unless expected == line
              break unless line

              assert_equal(expected.encoding, line.encoding)
            end
          end
        end
      end
    end
  end

  # Newlines everywhere around the end of a piece.
  def paragraphs(before)
    words = ["\n", "\n\n", "\n\n\n\n", "a", "bc", "x\n"]
    text = "y" * before
    text << words.sample(random: @random) while text.bytesize < PIECE + 60
    # Versions of Ruby differ in whether a newline at the end of the file is one that a paragraph is chomped of.
    text << "end"
  end

  def test_paragraphs_leave_the_reader_where_io_is
    40.times do |round|
      text = paragraphs(PIECE - @random.rand(60))
      each_input(text) do |reader, from|
        io, chomp = StringIO.new(text), round.odd?
        with_file(text, ".txt") do |path|
          File.open(path, external_encoding: reader.external_encoding) do |file|
            while (expected = file.gets("", chomp: chomp))
              same_bytes(expected.b, reader.gets("", chomp: chomp)&.b, "#{from}, to #{file.pos}")
              assert_equal([file.pos, file.eof?], [reader.pos, reader.eof?], from)
            end
            assert_nil(reader.gets(""))
          end
        end
        io.close
      end
    end
  end

  def test_lines_of_encodings_with_longer_newlines_are_refused
    text = "one\ntwo \u010a three\n".encode("UTF-16LE")
    %w[UTF-16LE UTF-16BE UTF-32LE].each do |encoding|
      Bytewright::Reader.open(StringIO.new(text.b), encoding: encoding) do |reader|
        [-> { reader.gets }, -> { reader.gets("\n") }, -> { reader.gets(5) }, -> { reader.gets(nil, 5) }, -> { reader.each_line {} },
         -> { reader.each_line(batch: 5) {} }, -> { reader.count_lines }].each do |use|
          assert_match(/#{encoding}/, assert_raises(ArgumentError, &use).message)
        end
        assert_equal(0, reader.pos)
        assert_equal(Encoding.find(encoding), reader.gets(nil).encoding)
      end
    end
  end

  def test_a_block_that_leaves_has_had_what_it_was_given_and_no_more
    lines = Array.new(20) { |at| format("%03d\n", at) }
    # A batch of a pipe has fewer lines where those that are there would wait for others.
    uses = {
      "each_line" => [->(reader, &block) { reader.each_line(&block) }, ->(_) { 4 }],
      "batches" => [->(reader, &block) { reader.each_line(batch: 5, &block) }, ->(batch) { batch.join.bytesize }],
      "records" => [->(reader, &block) { reader.each_record(8, &block) }, ->(_) { 8 }],
      "values" => [->(reader, &block) { reader.unpack_records("a6", &block) }, ->(_) { 6 }],
      "scan" => [->(reader, &block) { reader.scan("\n", &block) }, ->(_) { 4 }]
    }
    uses.each do |name, (use, size)|
      each_input(lines.join) do |reader, from|
        given = 0
        [-> { raise "no" }, -> { throw :out }].each do |leave|
          catch(:out) do
            assert_raises(RuntimeError) do
              use.call(reader) do |*item|
                given += size.call(item.first)
                leave.call
              end
            end
          end
          assert_equal(given, reader.pos, "#{name} of #{from}")
        end
        use.call(reader) do |*item|
          given += size.call(item.first)
          break
        end
        assert_equal(lines.join.byteslice(given..), reader.read, "#{name} of #{from}")
      end
    end
  end

  def test_batches_give_all_lines_before_damage
    lines = Array.new(30_000) { |at| format("%06d %s\n", at, @random.bytes(6).unpack1("H*")) }
    whole = Zlib.gzip(lines.join)
    cut = whole.byteslice(0, whole.bytesize / 2)
    one_by_one, in_batches = [nil, 700].map do |batch|
      found = []
      Bytewright::Reader.open(StringIO.new(cut)) do |reader|
        assert_raises(Bytewright::TruncatedError) { reader.each_line(batch: batch) { |given| found.concat(Array(given)) } }
        assert_equal(found.sum(&:bytesize), reader.pos)
      end
      found
    end
    assert_operator(one_by_one.size, :>, 1_000)
    assert(lines.first(one_by_one.size) == one_by_one)
    assert(one_by_one == in_batches, "#{in_batches.size} lines of #{one_by_one.size}")
  end

  def test_batches_are_the_lines_in_their_order
    text = random_text
    each_input(text) do |reader, from|
      batches = reader.each_line(batch: 100).to_a
      same_bytes(text.b, batches.flatten.map(&:b).join, from)
      assert(batches.all? { |batch| batch.size <= 100 })
      assert(batches[..-2].all? { |batch| batch.size == 100 }, from) if from.start_with?("a path", "a file")
    end
    with_file(text, ".txt") do |path|
      Bytewright::Reader.open(path) do |reader|
        lines = text.lines.map { |line| line.force_encoding(Encoding.default_external) }
        assert_equal(lines.map(&:chomp), reader.each_line(chomp: true).to_a)
        reader.rewind
        assert_equal(lines.first(3), reader.first(3))
        assert_raises(ArgumentError) { reader.each_line(batch: 0) {} }
        assert_raises(ArgumentError) { reader.each_line(0) {} }
        assert_raises(TypeError) { reader.gets([]) }
        assert_raises(ArgumentError) { reader.gets("a", 1, 2) }
      end
    end
  end

  def test_lines_are_counted_as_each_line_does
    ["", "a", "a\n", "\n\n", "a\nb", random_text, "ab\n" * 800_000].each do |text|
      each_input(text) do |reader, from|
        assert_equal(text.count("\n") + (text.empty? || text.end_with?("\n") ? 0 : 1), reader.count_lines, from)
        assert_predicate(reader, :eof?)
        assert_equal(text.bytesize, reader.pos)
        assert_equal(0, reader.count_lines)
      end
    end
  end

  def test_the_last_line_is_that_of_gets
    Bytewright::Reader.open(StringIO.new("one\ntwo")) do |reader|
      reader.gets
      assert_equal("one\n", $_)
    end
  end

  def test_records_and_their_values
    plain = ->(records) { records.map { |record| record.map { |value| value.is_a?(Float) ? [value].pack("G") : value } } }
    template = "NnvQ>eGa2"
    size = 4 + 2 + 2 + 8 + 4 + 8 + 2
    bytes = @random.bytes(size * 5_000)
    expected = plain.(bytes.unpack(template * 5_000).each_slice(7).to_a)
    each_input(bytes) do |reader, from|
      assert_equal(expected.first(10), plain.(reader.unpack_records(template, 10)), from)
      yielded = []
      assert_same(reader, reader.unpack_records(template, 100) { |values| yielded << values })
      assert_equal(expected[10, 100], plain.(yielded))
      assert_equal(expected.drop(110), plain.(reader.unpack_records(template)), from)
      assert_empty(reader.unpack_records(template))
    end
    each_input("#{bytes.byteslice(0, size * 20)}rest") do |reader, _|
      records = []
      assert_raises(Bytewright::TruncatedError) { reader.each_record(size) { |record| records << record } }
      assert_equal(bytes.byteslice(0, size * 20), records.join)
      assert_equal([size * 20, Encoding::BINARY], [reader.pos, records.first.encoding])
      assert_raises(Bytewright::TruncatedError) { reader.unpack_records(template) }
      assert_equal(size * 20, reader.pos)
      assert_equal("rest", reader.read(9))
    end
    Bytewright::Reader.open(StringIO.new("")) do |reader|
      assert_raises(ArgumentError) { reader.unpack_records("a*") }
      assert_raises(ArgumentError) { reader.each_record(0) {} }
      assert_raises(Bytewright::LimitError) { reader.unpack_records("a9999999") }
    end
  end

  def test_records_of_any_number_of_values
    bytes = @random.bytes(4_000)
    [1, 3, 4, 15, 16, 17, 300].each do |count|
      Bytewright::Reader.open(StringIO.new(bytes)) do |reader|
        template = "C#{count}x"
        expected = bytes.unpack(template * 8).each_slice(count).to_a
        yielded = []
        reader.unpack_records(template, 0) { flunk }
        reader.unpack_records(template, 5) { |values| yielded << values }
        assert_equal(expected, yielded + reader.unpack_records(template, 3))
        assert_raises(ArgumentError) { reader.unpack_records(template, -1) {} }
        assert_raises(TypeError) { reader.unpack_records(template, "1") {} }
      end
    end
    numbers = [0, 1, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    Bytewright::Reader.open(StringIO.new(numbers.pack("Q>*") * 2)) do |reader|
      assert_equal(numbers.map { |number| [number] }, reader.unpack_records("Q>", 7))
      assert_equal(numbers.pack("Q*").unpack("q*"), Array.new(7) { reader.i64be })
    end
  end

  def test_enumerators_know_their_size_where_it_is_known
    with_file("x" * 1_000, ".bin") do |path|
      Bytewright::Reader.open(path, compressed: false) do |reader|
        reader.skip(100)
        assert_equal(90, reader.each_record(10).size)
        assert_equal(129, reader.each_record(7).size)
        assert_nil(reader.each_line.size)
      end
    end
    assert_nil(Bytewright::Reader.open(StringIO.new("x")).each_record(1).size)
  end

  def test_a_sequence_is_found_wherever_pieces_end
    pattern = "needle"
    bytes = "x" * (PIECE * 2 + 100)
    places = [0, 10, PIECE - 16, PIECE - 6, PIECE * 2 - 3, PIECE + 7, bytes.bytesize - 6].sort
    places.each { |at| bytes[at, 6] = pattern }
    each_input(bytes) do |reader, from|
      seen = []
      reader.scan(pattern) do |at|
        seen << at
        assert_equal(at + 6, reader.pos)
      end
      assert_equal(places, seen, from)
      assert_predicate(reader, :eof?)
    end
    Bytewright::Reader.open(StringIO.new("aXaaXaX")) do |reader|
      assert_equal([1, 4, 6], reader.scan("X"))
      assert_raises(ArgumentError) { reader.scan("") }
      assert_raises(TypeError) { reader.scan(/x/) }
    end
  end

  def test_what_is_refused_takes_nothing_of_compressed_input
    bytes = @random.bytes(10_000)
    with_file(Zlib.gzip(bytes).byteslice(0, 5_000), ".gz") do |path|
      Bytewright::Reader.open(path) do |reader|
        assert_raises(Bytewright::TruncatedError) { reader.skip(9_000) }
        assert_equal([0, bytes.byteslice(0, 4)], [reader.pos, reader.read(4)])
      end
    end
    with_file(Zlib.gzip(bytes), ".gz") do |path|
      Bytewright::Reader.open(path) do |reader|
        reader.skip(3)
        assert_raises(Errno::EINVAL) { reader.seek(-20_000, IO::SEEK_END) }
        assert_equal([3, bytes.byteslice(3, 4)], [reader.pos, reader.read(4)])
      end
    end
  end

  def test_input_that_is_read_once_goes_on_from_where_it_ended
    pieces = ["abc", nil, "def"]
    object = Object.new
    object.define_singleton_method(:read) { |_length| pieces.shift }
    reader = Bytewright::Reader.open(object)
    reader.seek(10)
    assert_equal([3, "def", 6], [reader.pos, reader.read(3), reader.pos])
  end

  def test_it_goes_back_and_forth_where_the_input_can
    bytes = @random.bytes(PIECE * 4)
    each_input(bytes) do |reader, from|
      if ["a pipe", "a socket"].include?(from)
        reader.seek(PIECE * 2)
        assert_equal(bytes.byteslice(PIECE * 2, 8), reader.read(8))
        reader.read(PIECE * 1.5)
        assert_raises(Errno::ESPIPE) { reader.rewind }
        next
      end
      50.times do
        at = @random.rand(bytes.bytesize - 10)
        case @random.rand(3)
        when 0 then assert_equal(0, reader.seek(at))
        when 1 then reader.seek(at - reader.pos, IO::SEEK_CUR)
        else reader.seek(at - bytes.bytesize, :END)
        end
        assert_equal([at, bytes.byteslice(at, 8)], [reader.pos, reader.peek(8)], from)
      end
      reader.rewind
      same_bytes(bytes, reader.read.b, from)
      assert_raises(Errno::EINVAL) { reader.seek(-1) }
      reader.pos = 5
      assert_equal(bytes.getbyte(5), reader.u8)
    end
  end

  def test_beyond_the_end_of_a_file_there_is_nothing_as_in_io
    with_file("abc", ".bin") do |path|
      Bytewright::Reader.open(path) do |reader|
        reader.seek(100)
        assert_equal(100, reader.pos)
        assert_nil(reader.read(1))
        assert_equal("", reader.read)
        assert_equal(0, reader.skip(5))
        reader.seek(1)
        assert_equal("bc", reader.read)
      end
    end
  end

  def test_places_are_those_of_a_file_that_grew_or_was_cut
    with_file("x" * PIECE, ".bin") do |path|
      Bytewright::Reader.open(path) do |reader|
        reader.u8
        File.write(path, "y" * PIECE * 4, mode: "a")
        reader.seek(-3, IO::SEEK_END)
        assert_equal([PIECE * 5 - 3, "yyy"], [reader.pos, reader.read(9)])
        reader.seek(0)
        assert_equal(PIECE * 5, reader.skip(PIECE * 9))
        reader.seek(0)
        File.truncate(path, PIECE * 2)
        assert_equal([PIECE * 2, PIECE * 2], [reader.skip(PIECE * 4), reader.pos])
        reader.seek(PIECE * 3)
        reader.seek(-1, :END)
        assert_equal(["y", PIECE * 2], [reader.read, reader.pos])
        File.truncate(path, 0)
        reader.seek(0, :END)
        assert_equal([0, nil], [reader.pos, reader.read(1)])
        File.write(path, "new")
        reader.seek(-2, :END)
        assert_equal("ew", reader.read)
        assert_raises(Errno::EINVAL) { reader.seek(-4, :END) }
      end
    end
    Bytewright::Reader.open("/proc/self/status") do |reader|
      reader.seek(-1, :END)
      assert_equal("\n", reader.read)
    end
  end

  def test_what_can_be_read_once_is_gone_forwards_in_and_refuses_the_rest_before_reading
    [IO.pipe, UNIXSocket.pair].each do |mine, theirs|
      Bytewright::Reader.open(mine) do |reader|
        # Nothing comes: who waited would do so for ever.
        [[-1], [-1, :CUR], [0, :END], [-1, :END]].each { |place| assert_raises(Errno::ESPIPE, place.inspect) { reader.seek(*place) } }
        assert_equal([0, 0, 0], [reader.seek(0), reader.seek(0, :CUR), reader.rewind])
        theirs << "abcdef"
        assert_equal(["ab", 0, "d"], [reader.read(2), reader.seek(1, :CUR), reader.read(1)])
        [[3], [-1, :CUR], [0, :END]].each { |place| assert_raises(Errno::ESPIPE, place.inspect) { reader.seek(*place) } }
        assert_raises(Errno::ESPIPE) { reader.rewind }
        assert_equal([4, 0, "f"], [reader.pos, reader.seek(5), reader.read(1)])
      end
      [mine, theirs].each(&:close)
    end
  end

  def test_places_are_taken_as_by_io
    with_file("abc", ".bin") do |path|
      Bytewright::Reader.open(path) do |reader|
        assert_raises(TypeError) { reader.seek("1") }
        assert_raises(TypeError) { reader.seek(nil) }
        assert_raises(RangeError) { reader.seek(1 << 70) }
        assert_raises(ArgumentError) { reader.seek(1, :END_OF_IT) }
        assert_raises(Errno::EINVAL) { reader.seek(-4, :END) }
        assert_equal([0, 1], [reader.seek(1.9), reader.pos])
      end
    end
  end

  def test_beyond_the_end_of_compressed_input_there_is_nothing
    bytes = @random.bytes(1_000)
    Bytewright::Reader.open(StringIO.new(Zlib.gzip(bytes))) do |reader|
      reader.seek(5_000)
      assert_equal([5_000, nil, "", true], [reader.pos, reader.read(1), reader.read, reader.eof?])
      assert_equal(0, reader.skip(3))
      reader.seek(-10, :END)
      assert_equal([990, bytes.byteslice(990, 10)], [reader.pos, reader.read])
      reader.seek(500, :END)
      assert_equal([1_500, true], [reader.pos, reader.eof?])
      reader.seek(-1_000, :CUR)
      assert_equal(bytes.byteslice(500..), reader.read(5_000))
    end
  end

  def test_damage_that_was_repaired_is_read_anew
    bytes = @random.bytes(1_000)
    whole = Zlib.gzip(bytes)
    [whole.byteslice(0, 700), whole.byteslice(0, 5), whole.byteslice(0, 20) + ("\xff".b * 990)].each do |damaged|
      [->(reader) { reader.seek(0) }, ->(reader) { reader.seek(-reader.pos, :CUR) }, :rewind.to_proc].each do |back|
        with_file(damaged, ".gz") do |path|
          Bytewright::Reader.open(path, compressed: :gzip) do |reader|
            assert_kind_of(Bytewright::Error, assert_raises(Bytewright::TruncatedError, Bytewright::FormatError) { reader.skip(2_000) })
            File.binwrite(path, whole)
            back.call(reader)
            same_bytes(bytes, reader.read.b, "after #{damaged.bytesize}")
          end
        end
      end
    end
  end

  def test_compressed_input_is_told_by_its_bytes_or_taken_as_is_asked
    bytes = @random.bytes(1_000)
    gzip = Zlib.gzip(bytes)
    read = ->(input, **options) { Bytewright::Reader.open(StringIO.new(input), **options) { |reader| [reader.compression, reader.read(9_999)] } }
    assert_equal([:gzip, bytes], read.(gzip))
    assert_equal([:none, gzip], read.(gzip, compressed: false))
    assert_equal([:none, gzip], read.(gzip, compressed: :none))
    assert_equal([:none, gzip], read.(gzip, compressed: nil))
    assert_equal([:gzip, bytes], read.(gzip, compressed: true))
    assert_equal([:gzip, bytes], read.(gzip, compressed: :gzip))
    assert_equal([:none, "PK\x03\x04zip"], read.("PK\x03\x04zip".b))
    assert_raises(Bytewright::FormatError) { read.(bytes, compressed: :gzip) }
    { { compressed: :gzp } => /compressed to be auto, gzip, zstd or none, found "gzp"; did you mean gzip\?/,
      { compresed: :gzip } => /found compresed; did you mean compressed\?/ }.each do |options, message|
      assert_match(message, assert_raises(ArgumentError) { read.(bytes, **options) }.message)
    end
    assert_match(/found Integer/, assert_raises(TypeError) { read.(bytes, compressed: 1) }.message)
    Bytewright::Reader.open(LOOPBACK) { |reader| assert_equal([:zstd, 24], [reader.compression, reader.read(24).bytesize]) }
    cut = Bytewright::Reader.open(StringIO.new(gzip.byteslice(0, 700)))
    assert_raises(Bytewright::TruncatedError) { cut.read }
    cut.rewind
    assert_equal(bytes.byteslice(0, 100), cut.read(100))
  end

  def test_a_file_is_read_from_where_it_is_and_stays_there
    with_file("0123456789", ".bin") do |path|
      File.open(path) do |file|
        file.getc
        reader = Bytewright::Reader.open(file)
        assert_equal(["123", 3, 1], [reader.read(3), reader.pos, file.pos])
        file.close
        assert_equal("456789", reader.read)
        reader.rewind
        assert_equal("1", reader.read(1))
        reader.close
      end
      File.open(path, "a") { |file| assert_raises(IOError) { Bytewright::Reader.open(file) } }
      assert_raises(IOError) { Bytewright::Reader.open(File.open(path).tap(&:close)) }
    end
    assert_raises(Errno::ENOENT) { Bytewright::Reader.open("/nonexistent") }
    assert_raises(Errno::EISDIR) { Bytewright::Reader.open("/") }
    assert_raises(TypeError) { Bytewright::Reader.open(5) }
  end

  def test_a_file_that_grows_is_read_on_and_one_that_shrinks_ends
    with_file("abc\n", ".bin") do |path|
      Bytewright::Reader.open(path) do |reader|
        assert_equal(["abc\n", nil], [reader.gets, reader.gets])
        File.write(path, "de", mode: "a")
        assert_equal(["de", nil], [reader.gets, reader.gets])
        File.write(path, "f\n", mode: "a")
        refute_predicate(reader, :eof?)
        assert_equal(["f\n", 8], [reader.gets, reader.pos])
        File.truncate(path, 0)
        assert_predicate(reader, :eof?)
        File.write(path, "x" * PIECE * 3)
        reader.rewind
        reader.u8
        File.truncate(path, PIECE / 2)
        assert_operator(reader.read.bytesize, :<, PIECE)
        assert_raises(Bytewright::TruncatedError) { reader.u32be }
      end
    end
  end

  def test_strings_that_are_read_into_are_checked_and_left_whole
    with_file("x" * PIECE * 3, ".bin") do |path|
      Bytewright::Reader.open(path) do |reader|
        [10, PIECE * 2].each do |length|
          assert_raises(FrozenError) { reader.read_into("frozen", length) }
          assert_raises(TypeError) { reader.read_into(5, length) }
        end
        assert_equal(0, reader.pos)
        shared = "y" * 100
        copy = shared.dup
        reader.read_into(copy, 50)
        assert_equal(["y" * 100, "x" * 50], [shared, copy])
        text = +"ä" * 40
        assert_predicate(text, :valid_encoding?)
        assert_equal("x" * 7, reader.read(7, text))
        assert_equal(["x" * (PIECE * 2), 7 + 50], [reader.read_into(text, PIECE * 2), reader.pos - PIECE * 2])
        reader.read
        assert_nil(reader.read_into(text, 1))
        assert_empty(text)
        assert_equal(["", ""], [reader.read(0), reader.read_into(text, 0)])
        assert_raises(ArgumentError) { reader.read(-1) }
        assert_raises(ArgumentError) { reader.skip(-1) }
        assert_raises(RangeError) { reader.read(1 << 70) }
        assert_raises(TypeError) { reader.read("1") }
      end
    end
  end

  def test_a_length_that_is_wrong_costs_no_memory
    each_input("abc") { |reader, _| assert_equal("abc", reader.read((1 << 62) - 1)) }
    each_input("abc") { |reader, _| assert_equal("abc", reader.peek((1 << 61))) }
    each_input("abc") { |reader, _| assert_equal(3, reader.skip((1 << 62) - 1)) }
  end

  def test_encodings_are_those_of_io
    with_file("grün\n", ".txt") do |path|
      Bytewright::Reader.open(path) do |reader|
        assert_equal([Encoding.default_external] * 2, [reader.peek(1) && reader.gets.encoding, reader.read.encoding])
      end
      Bytewright::Reader.open(path, encoding: "ISO-8859-1") { |reader| assert_equal(Encoding::ISO_8859_1, reader.gets.encoding) }
      File.open(path, "r:windows-1252") { |file| assert_equal(Encoding::Windows_1252, Bytewright::Reader.open(file).gets.encoding) }
      Bytewright::Reader.open(path) { |reader| assert_equal([Encoding::BINARY, "gr".b], [(s = reader.read(2)).encoding, s]) }
    end
  end

  def test_a_closed_reader_says_so
    reader = Bytewright::Reader.open(WEB)
    refute_predicate(reader, :closed?)
    assert_match(/web.pcap.gz>\z/, reader.inspect)
    assert_nil(reader.close)
    assert_nil(reader.close)
    assert_predicate(reader, :closed?)
    [:u8, :u24le, :getbyte, :size, :gets, :read, :eof?, :pos, :rewind, :count_lines, :varint, :to_a].each do |name|
      assert_raises(Bytewright::ClosedError, name.to_s) { reader.public_send(name) }
    end
    assert_raises(Bytewright::ClosedError) { reader.skip(0) }
    assert_raises(Bytewright::ClosedError) { reader.peek(0) }
    error = assert_raises(Bytewright::ClosedError) { reader.gets(0) }
    assert_equal([true, true], [error.is_a?(IOError), error.is_a?(Bytewright::Error)])
    [[:read, 0], [:readpartial, 0], [:readpartial, 1, +""], [:gets, "", 0], [:seek, 0], [:unpack_records, "n"], [:scan, "x"], [:read_into, +"", 0]].each do |call|
      assert_raises(IOError, call.inspect) { reader.public_send(*call) }
    end
    assert_equal(:value, Bytewright::Reader.open(WEB) { :value })
    kept = nil
    assert_raises(RuntimeError) { Bytewright::Reader.open(WEB) { |r| (kept = r) && raise("no") } }
    assert_predicate(kept, :closed?)
  end

  def test_a_fifo_by_its_path
    with_new_file("fifo") do |path|
      File.mkfifo(path)
      writer = Thread.new { File.write(path, "abc" * 50_000) }
      Bytewright::Reader.open(path) do |reader|
        assert_equal("abca", reader.read(4))
        assert_equal(149_996, reader.read.bytesize)
      end
      writer.join
    end
  end
end
