# frozen_string_literal: false

# Answers what Ruby itself makes of tables: random ones, random changes of them, and any stream.
# Reads commands, one to a line, and writes answers as a length of four bytes and as many bytes.

require "bigdecimal"
require "date"
require "ostruct"
require "set"

Pair = Struct.new(:left, :right)
Named = Struct.new(:name, keyword_init: true)
Loud = Module.new
Quiet = Module.new
class Text < String; end
class List < Array; end
class Map < Hash; end
class Failure < StandardError; end

class Point
  attr_accessor :x, :y

  def initialize(x, y)
    @x = x
    @y = y
  end
end

class Dumped
  def initialize(parts) = @parts = parts
  def marshal_dump = @parts
  def marshal_load(parts) = @parts = parts
end

class Packed
  def initialize(text) = @text = text
  def _dump(_limit) = @text.dup
  def self._load(text) = new(text)
end

# Random objects, many of them alike, and some of them shared.
class Maker
  WORDS = ["a", "b", "name", "UTC", "zone", "E", "encoding", "value", "é", "日本", "", "x" * 130].freeze
  ENCODINGS = %w[UTF-8 UTF-8 UTF-8 US-ASCII BINARY Shift_JIS EUC-JP UTF-16LE ISO-8859-1].freeze
  FLOATS = [0.0, -0.0, 1.0, 1.5, 2.5, 0.1, 1e100, -1e-100, Float::INFINITY, Float::NAN, 123456.789,
            1e15, 1e16, 0.0001, 0.00001, 3.0, 100.0, 1.7e-77, 5e-324].freeze
  CLASSES = [String, Kernel, Comparable, Integer, Pair].freeze

  # With `plain`, there are no objects that the code of their class dumps: what that makes of bytes that
  # it did not write is anybody's guess.
  def initialize(seed, plain: false)
    @plain = plain
    @random = Random.new(seed)
    @shared = []
    # Small tables of few kinds take the quick ways, others the slow ones.
    @kinds = @random.rand(4)
    @sharing = [0, 0, 3, 12][@random.rand(4)]
  end

  attr_reader :random

  def below(count) = @random.rand(count)
  def once_in(count) = below(count).zero?
  def pick(from) = from[below(from.size)]
  def forget = @shared.clear

  def word
    text = pick(WORDS).dup
    text << below(30).to_s if once_in(2)
    text
  end

  def text
    text = word
    encoding = @kinds < 2 ? "UTF-8" : pick(ENCODINGS)
    return text if encoding == "UTF-8"
    return text.b if encoding == "BINARY"

    text.encode(encoding, undef: :replace, invalid: :replace)
  end

  def symbol = text.to_sym

  def integer
    pick([0, 1, -1, 122, 123, -123, -124, 255, 256, 65_536, 2**30 - 1, 2**30, -2**30, -2**30 - 1,
          2**40, 2**62 - 1, 2**62, -2**62, -2**62 - 1, 2**70, below(1000)])
  end

  def float = once_in(3) ? below(10_000) / 8.0 : pick(FLOATS)

  def time
    time = Time.at(below(10**9), below(10**9), :nsec)
    case below(3)
    when 0 then time.utc
    when 1 then time.localtime("+0#{below(9)}:00")
    else time
    end
  end

  def key
    return "key#{below(500)}" if @kinds.zero? || once_in(2)

    case below(14)
    when 0 then symbol
    when 1 then integer
    when 2 then float
    when 3 then pick([nil, true, false])
    when 4 then pick(CLASSES)
    when 5 then @kinds == 3 ? [word, below(9)] : symbol
    when 6 then @kinds == 3 ? Text.new(word) : word
    else text
    end
  end

  def scalar
    case below(12)
    when 0, 1, 2 then text
    when 3 then symbol
    when 4, 5 then float
    when 6 then pick([nil, true, false])
    when 7 then @kinds == 3 ? pick(CLASSES) : integer
    else integer
    end
  end

  def record
    { "name" => text, "size" => integer, "price" => float, kind: symbol, "tags" => [word, word] }
      .to_a.shuffle(random: @random).first(below(5) + 1).to_h
  end

  def list(depth) = Array.new(below(4)) { value(depth) }

  def hash(depth)
    hash = once_in(6) ? Hash.new(value(depth)) : {}
    below(4).times { hash[key] = value(depth) }
    hash
  end

  PLAIN = [0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17].freeze

  def rare(depth)
    case @plain ? pick(PLAIN) : below(20)
    when 0 then Pair.new(value(depth), value(depth))
    when 1 then Named.new(name: text)
    when 2 then Point.new(value(depth), value(depth))
    when 3 then Dumped.new([value(depth), text])
    when 4 then Packed.new(text)
    when 5 then time
    when 6 then Rational(below(10) + 1, 7)
    when 7 then Complex(float, below(9))
    when 8 then (below(5)..below(9))
    # Not as a literal, whose Strings are interned, which is not to be seen in a dump of them alone.
    when 9 then Range.new(word, "xyz".dup)
    when 10 then Set[key, key, value(depth)]
    when 11 then pick([/a/, /b/i, /\//mx, /é/, /a/n, /a/u, Regexp.new("b")])
    when 12 then Text.new(text)
    when 13 then List.new(list(depth))
    when 14 then Map.new.merge!(hash(depth))
    when 15 then Object.new.extend(pick([Loud, Quiet]))
    when 16 then [value(depth)].extend(Loud).tap { |list| list.instance_variable_set(:@note, text) }
    when 17 then text.tap { |text| text.instance_variable_set(:@note, value(depth)) }
    when 18 then pick([Date.new(2024, 2, 3), DateTime.new(2024, 2, 3, 4, 5, 6), BigDecimal("1.25")])
    else pick([Failure.new(word), OpenStruct.new(name: text)])
    end
  end

  def fresh(depth)
    case below(10)
    when 0, 1, 2, 3 then scalar
    when 4, 5 then record
    when 6, 7 then list(depth - 1)
    when 8 then hash(depth - 1)
    else @kinds < 2 ? scalar : rare(depth - 1)
    end
  end

  def value(depth = 3)
    return scalar if depth <= 0
    return pick(@shared) if @sharing > 0 && !@shared.empty? && once_in(20 - @sharing)

    made = fresh(depth)
    @shared << made if @sharing > 0 && once_in(3)
    if @sharing > 0 && made.instance_of?(Array) && once_in(15)
      made << made
    end
    made
  end

  def table
    table = once_in(6) ? Hash.new(value(1)) : {}
    (once_in(10) ? 130 : below(9)).times do
      forget if @sharing < 5 || once_in(3)
      table[key] = value
    end
    table
  end

  # Changes the value of a root as a program may.
  def changed(value)
    case below(6)
    when 0 then value
    when 1 then same_length(value)
    when 2 then inside(value)
    else self.value
    end
  end

  def same_length(value)
    return value if value.frozen? || (value.is_a?(String) && value.encoding != Encoding::UTF_8)
    return value.replace(value.tr("a-y", "b-z")) if value.instance_of?(String)
    return value.map! { |each| each.is_a?(Integer) ? 5 : each } if value.instance_of?(Array)

    value
  end

  def inside(value)
    case value
    when Hash then value[key] = self.value(1) if value.instance_of?(Hash)
    when Array then value << self.value(1)
    when Point then value.x = self.value(1)
    when Pair then value.left = self.value(1)
    when String then value << "x" if value.instance_of?(String) && value.encoding == Encoding::UTF_8
    end
    value
  end
end

# The state of one case.
class Oracle
  def table(seed, plain = nil)
    maker = Maker.new(seed.to_i, plain: plain)
    first = Marshal.dump(maker.table)
    @stream = first
    nil until @stream == (@stream = Marshal.dump(Marshal.load(@stream)))
    [first, @stream]
  end

  def lift(*roots) = [Marshal.dump(Marshal.load(@stream).values.values_at(*roots.map(&:to_i)))]
  def lift_one(root) = [Marshal.dump(Marshal.load(@stream).values[root.to_i])]
  def key(root) = [Marshal.dump(Marshal.load(@stream).keys[root.to_i])]
  def keys = [Marshal.dump(Marshal.load(@stream).keys)]
  def default = [Marshal.dump(Marshal.load(@stream).default)]

  # Changes the roots of these numbers, which share nothing with others, and adds some.
  def change(seed, *roots)
    maker = Maker.new(seed.to_i)
    table = Marshal.load(@stream)
    keys = table.keys
    changes = {}
    edits = []
    # As a program that reads each root by itself, but those of a group together.
    roots.map(&:to_i).shuffle(random: maker.random).each do |root|
      key = keys[root]
      if maker.once_in(5)
        table.delete(key)
        edits << "D #{root}"
      else
        table[key] = maker.changed(table[key])
        changes[key] = table[key]
        edits << "R #{root} #{changes.size - 1}"
      end
    end
    (maker.once_in(2) ? maker.below(3) : 0).times do
      key = maker.key
      next if table.key?(key) || changes.key?(key) || complex?(key)

      changes[key] = table[key] = maker.value
      edits << "A #{changes.size - 1}"
    end
    # Hash keys that were deleted and come back are of no interest here.
    @expected = Marshal.dump(table)
    [Marshal.dump(changes), edits.join(";"), @expected]
  end

  def accept
    @stream = @expected
    []
  end

  # Loads and dumps the stream that was last changed, to compare both.
  def settle
    @stream = Marshal.dump(Marshal.load(@expected))
    [@stream]
  end

  def roundtrip(length)
    stream = $stdin.read(length.to_i)
    [Marshal.dump(Marshal.load(stream))]
  rescue StandardError, SystemStackError, NoMemoryError => e
    ["!#{e.class}: #{e.message}".b]
  end

  private

  def complex?(key) = key.instance_of?(Array) || key.instance_of?(Text) || (key.is_a?(Float) && (key.nan? || key.zero?))
end

$stdin.binmode
$stdout.binmode
$stderr = File.open(File::NULL, "w")
ENV["TZ"] = "Asia/Tokyo"
oracle = Oracle.new
# Ruby 3.1 may intern a String twice if garbage is swept meanwhile, and then writes it in full twice.
GC.disable
asked = 0
while (line = $stdin.gets)
  GC.start if (asked += 1) % 500 == 0
  oracle.public_send(*line.split).each { |answer| $stdout.write([answer.bytesize].pack("L<"), answer) }
  $stdout.flush
end
