# frozen_string_literal: true

# Tasks for every Thrift of the benches in Ruby, and how they are measured. The engines stand in
# ours/messages.rb and peers/messages.rb. Classes are those that Thrift's compiler made of messages.thrift,
# in a folder that is on the load path.

require "digest"
require "set"
require "thrift"
require "messages_types"

require_relative "program"

module MessageWorkload
  # Three fields for those who want no more, by the struct's name.
  PATHS = { "rich" => %i[flag large text], "flat" => %i[time path ok] }.freeze

  # The messages of an input, whose name says what they are: rich_binary.messages.
  class Input
    attr_reader :name, :protocol, :klass, :framed, :messages

    def initialize(path)
      @name, protocol = File.basename(path).match(/\A(rich|flat)_(binary|compact)[_.]/).captures
      @protocol = protocol.to_sym
      @klass = { "rich" => BenchMessages::Rich, "flat" => BenchMessages::Flat }.fetch(@name)
      @framed = File.binread(path)
      @messages = MessageWorkload.each_frame(@framed).to_a
    end

    def paths
      PATHS.fetch(name)
    end

    # Small inputs are those of check mode, where nothing is timed in earnest.
    def small?
      messages.size < 50
    end
  end

  # The messages in frames.
  def self.each_frame(framed)
    return enum_for(:each_frame, framed) unless block_given?

    at = 0
    while at < framed.bytesize
      len = framed.byteslice(at, 4).unpack1("N")
      yield framed.byteslice(at + 4, len)
      at += 4 + len
    end
  end

  # The gem as programs use it; what is required decides whose code does the work.
  class GemEngine
    FACTORIES = { binary: Thrift::BinaryProtocolAcceleratedFactory, compact: Thrift::CompactProtocolFactory }.freeze

    def initialize(input, factory = FACTORIES.fetch(input.protocol).new)
      @klass, @paths, @factory = input.klass, input.paths, factory
      @deserializer = Thrift::Deserializer.new(factory)
      @serializer = Thrift::Serializer.new(factory)
    end

    def decode(bytes)
      @deserializer.deserialize(@klass.new, bytes)
    end

    def decode_all(messages)
      messages.each { |bytes| @deserializer.deserialize(@klass.new, bytes) }
    end

    def encode(object)
      @serializer.serialize(object)
    end

    def encode_all(objects)
      objects.each { |object| @serializer.serialize(object) }
    end

    def pluck(bytes)
      object = decode(bytes)
      @paths.map { |path| object.send(path) }
    end

    def pluck_all(messages)
      first, second, third = @paths
      messages.each do |bytes|
        object = @deserializer.deserialize(@klass.new, bytes)
        [object.send(first), object.send(second), object.send(third)]
      end
    end

    # Each field of all messages of a file, as an Array. Cutting the file up oneself is faster than the gem's
    # framed transport.
    def columns(framed)
      first, second, third = @paths
      firsts, seconds, thirds = columns = [[], [], []]
      MessageWorkload.each_frame(framed) do |bytes|
        object = @deserializer.deserialize(@klass.new, bytes)
        firsts << object.send(first)
        seconds << object.send(second)
        thirds << object.send(third)
      end
      columns
    end

    alias column_values columns
  end

  # Each task gives its answer, with what it measured under :figures.
  class Tasks
    NAMES = %w[decode objects encode pluck columns hash equal ten_thousand].freeze
    TIMED_S = 0.4
    TEN_THOUSAND = 10_000

    # engine:: Input -> an engine
    def initialize(engine, path)
      @input = Input.new(path)
      @engine = engine.call(@input)
      @messages = @input.messages
    end

    def run(name)
      { messages: @messages.size, **send(name) }
    end

    # A value as JSON has it in every language of the benches.
    def self.plain(value)
      case value
      when Thrift::Struct then value.struct_fields.to_h { |_, field| [field[:name], plain(value.send(field[:name]))] }
      when Array then value.map { |each| plain(each) }
      when Set then value.map { |each| plain(each) }.sort
      when Hash then value.to_h { |key, each| [key.to_s, plain(each)] }.sort.to_h
      when String then value.encoding == Encoding::BINARY ? value.unpack1("H*") : value
      else value
      end
    end

    def self.sorted(plain)
      case plain
      when Array then plain.map { |each| sorted(each) }
      when Hash then plain.sort.to_h { |key, each| [key, sorted(each)] }
      else plain
      end
    end

    private

    def decode
      { **decoded, figures: { message_s: seconds_per_message { @engine.decode_all(@messages) } } }
    end

    def decoded
      digest(@messages.map { |bytes| Tasks.plain(@engine.decode(bytes)) })
    end

    # Garbage is not collected meanwhile, and nothing else makes any.
    def objects
      GC.start
      GC.disable
      # Strings that are keys are shared with those of before.
      @engine.decode_all(@messages)
      count = allocated { @engine.decode_all(@messages) } - allocated { @engine.decode_all([]) }
      GC.enable
      { **decoded, figures: { objects: count.fdiv(@messages.size) } }
    end

    def allocated
      before = GC.stat(:total_allocated_objects)
      yield
      GC.stat(:total_allocated_objects) - before
    end

    def encode
      objects = @messages.map { |bytes| @engine.decode(bytes) }
      encoded = objects.map { |object| @engine.encode(object) }
      raise "encoded messages are not what was decoded" unless encoded == @messages

      { sha256: Digest::SHA256.hexdigest(encoded.join),
        figures: { message_s: seconds_per_message { @engine.encode_all(objects) } } }
    end

    def pluck
      { **digest(@messages.map { |bytes| @engine.pluck(bytes) }),
        figures: { message_s: seconds_per_message { @engine.pluck_all(@messages) } } }
    end

    def columns
      { **digest(@engine.column_values(@input.framed)),
        figures: { message_s: seconds_per_message { @engine.columns(@input.framed) } } }
    end

    def hash
      objects, others = twice
      distinct = (objects + others).map(&:hash).uniq.size
      { distinct: distinct, figures: { message_s: seconds_per_message { objects.each(&:hash) } } }
    end

    def equal
      objects, others = twice
      pairs = objects.zip(others)
      same = objects.sum { |object| others.count { |other| object == other } }
      { same: same, figures: { message_s: seconds_per_message { pairs.each { |object, other| object == other } } } }
    end

    # Measures what the reporter of THRIFT-1189 did.
    def ten_thousand
      count = @input.small? ? @messages.size : TEN_THOUSAND
      messages = @messages.cycle.first(count)
      objects = nil
      decode_s = clocked { objects = messages.map { |bytes| @engine.decode(bytes) } }
      others = messages.map { |bytes| @engine.decode(bytes) }
      hash_s = clocked { objects.each(&:hash) }
      same = 0
      equal_s = clocked { objects.each_index { |at| same += 1 if objects[at] == others[at] } }
      { **decoded, same: same, figures: { decode_s: decode_s, hash_s: hash_s, equal_s: equal_s } }
    end

    def twice
      Array.new(2) { @messages.map { |bytes| @engine.decode(bytes) } }
    end

    def digest(plain)
      { sha256: Digest::SHA256.hexdigest(JSON.generate(Tasks.sorted(plain))) }
    end

    # `pass` does what is measured once for each message.
    def seconds_per_message(&pass)
      pass.call
      timed_s = @input.small? ? 0 : TIMED_S
      passes = 0
      seconds = clocked do
        ending = now + timed_s
        loop do
          pass.call
          passes += 1
          break if now >= ending
        end
      end
      seconds / passes / @messages.size
    end

    # Processor time, as nothing waits here. Garbage of before is collected first, and that of the block
    # counts as it comes.
    def clocked
      GC.start
      start = now
      yield
      now - start
    end

    def now
      Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    end
  end

  # The program of `engines`, a Hash of name to what makes an engine of an Input.
  def self.main(engines, arguments)
    WorkloadProgram.run(Tasks, engines, arguments, "MESSAGES")
  end
end
