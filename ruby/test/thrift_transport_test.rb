# frozen_string_literal: true

require_relative "thrift_case"
require "socket"
require "timeout"

# Goal: clients and servers understand each other, with native methods on either side; and however a message
# comes in pieces, it is read, and nobody waits for a byte behind it.
class ThriftTransportTest < ThriftCase
  TRANSPORTS = %i[buffered framed].freeze

  def setup
    super
    @ours = { binary: Bytewright::Thrift::BinaryProtocolFactory, compact: Bytewright::Thrift::CompactProtocolFactory }
  end

  # A transport over what gives its bytes as they come, as the gem's Socket does.
  class Pieces
    attr_reader :asked

    def initialize(*pieces)
      @pieces = pieces
      @asked = 0
    end

    def read(size)
      @asked += 1
      raise "asked for a byte behind the message" if @pieces.empty?

      piece = @pieces.shift
      @pieces.unshift(piece.byteslice(size..)) if piece.bytesize > size
      piece.byteslice(0, size)
    end

    def read_all(size)
      read(size).tap { |bytes| bytes << read(size - bytes.bytesize) while bytes.bytesize < size }
    end
  end

  def test_a_message_is_read_wherever_it_is_split_and_nothing_behind_it_is_waited_for
    (PROTOCOLS.values + @ours.values).each do |factory|
      bytes = written(rich, factory)
      (1...bytes.bytesize).each do |at|
        inner = Pieces.new(bytes[0, at], bytes[at..])
        assert_equal(rich_once, read(Rich, factory, ::Thrift::BufferedTransport.new(inner)))
      end
      assert_equal(rich_once, read(Rich, factory, ::Thrift::BufferedTransport.new(Pieces.new(*bytes.chars))))
    end
  end

  def test_messages_over_a_socket_are_read_when_they_are_there
    PROTOCOLS.each_value do |factory|
      bytes = written(inner(5), factory)
      (1...bytes.bytesize).each do |at|
        one, other = UNIXSocket.pair
        socket = ::Thrift::Socket.new.tap { |made| made.handle = other }
        transport = ::Thrift::BufferedTransport.new(socket)
        one.write(bytes[0, at])
        writer = Thread.new { one.write(bytes[at..] + bytes) }
        2.times { assert_equal(inner(5), Timeout.timeout(10) { read(Inner, factory, transport) }) }
        writer.join
      ensure
        [one, other].each(&:close)
      end
    end
  end

  def test_what_is_behind_a_message_is_left_in_the_buffer
    PROTOCOLS.each_value do |factory|
      bytes = written(inner(1), factory) + written(rich, factory)
      transport = ::Thrift::BufferedTransport.new(Pieces.new(bytes))
      assert_equal(inner(1), read(Inner, factory, transport))
      assert_equal(rich_once, read(Rich, factory, transport))
    end
  end

  def test_an_end_in_the_middle_is_an_end_of_file
    PROTOCOLS.each_value do |factory|
      bytes = written(rich, factory)
      [5, 50, bytes.bytesize - 1].each do |len|
        stream = ::Thrift::IOStreamTransport.new(StringIO.new(bytes[0, len]), StringIO.new)
        assert_raises(EOFError) { read(Rich, factory, ::Thrift::BufferedTransport.new(stream)) }
        frame = [len].pack("N") + bytes[0, len]
        assert_raises(EOFError) { read(Rich, factory, ::Thrift::FramedTransport.new(::Thrift::MemoryBufferTransport.new(frame))) }
      end
    end
  end

  def test_frames_are_read_and_written_one_after_the_other
    PROTOCOLS.each_value do |factory|
      memory = ::Thrift::MemoryBufferTransport.new
      transport = ::Thrift::FramedTransport.new(memory)
      protocol = factory.new.get_protocol(transport)
      3.times do |number|
        inner(number).write(protocol)
        transport.flush
      end
      3.times { |number| assert_equal(inner(number), Inner.new.tap { |object| object.read(protocol) }) }
    end
  end

  def test_bytes_that_were_read_are_let_go
    transport = ::Thrift::MemoryBufferTransport.new
    protocol = BINARY.new.get_protocol(transport)
    200.times { inner(1).write(protocol) }
    200.times { Inner.new.read(protocol) }
    assert_operator(transport.instance_variable_get(:@buf).bytesize, :<, 4096 + 100)
    assert_equal(0, transport.available)
  end

  def test_pieces_may_be_marked_with_any_encoding
    bytes = written(Inner.new({ "name" => "größer" * 30 }), BINARY)
    pieces = bytes.scan(/.{1,7}/mn).map { |piece| piece.dup.force_encoding("UTF-8") }
    assert_equal("größer" * 30, read(Inner, BINARY, ::Thrift::BufferedTransport.new(Pieces.new(*pieces))).name)
  end

  # In a process of its own, as it is for good.
  def test_a_class_of_the_gem_that_is_changed_is_left_to_it_from_then_on
    script = <<~RUBY
      require "bytewright/thrift"
      $LOAD_PATH.unshift(#{__dir__.inspect})
      klass = Class.new { include Thrift::Struct, Thrift::Struct_Union }
      klass.const_set(:FIELDS, { 1 => { type: 11, name: "text" } })
      klass.define_method(:struct_fields) { klass::FIELDS }
      klass.define_method(:validate) {}
      Thrift::Struct.generate_accessors(klass)
      bytes = Thrift::Serializer.new.serialize(klass.new({ "text" => "a" }))
      read = -> { Thrift::Deserializer.new.deserialize(klass.new, bytes.dup).text }
      answers = [read.call]
      Thrift::BinaryProtocol.prepend(Module.new { def read_string = super.upcase })
      Thrift::Deserializer.prepend(Module.new { def deserialize(object, bytes) = super.tap { object.text += "!" } })
      answers << read.call
      Thrift::Struct.class_eval { def read(protocol) = @text = "patched" }
      answers << read.call
      print answers.join(",")
    RUBY
    load_path = $LOAD_PATH.flat_map { |folder| ["-I", folder] }
    assert_equal("a,A!,patched!", IO.popen([RbConfig.ruby, *load_path, "-W0", "-e", script], &:read))
  end

  # A service as the compiler generates it: one function, which answers a struct or throws.
  module Echo
    if defined?(::Thrift)
      Arguments = ThriftCase.generated(f1: ["given", ThriftCase::Rich])
      Result = ThriftCase.generated(f0: ["success", ThriftCase::Rich], f1: ["failure", ThriftCase::Failure])

      class Client
        include ::Thrift::Client

        def echo(given)
          send_message("echo", Arguments, given: given)
          begin_answer
          result = receive_message(Result)
          raise result.failure if result.failure

          result.success
        end

        # Up to 0.18, 0.22, and the newest, as their compilers write it.
        def begin_answer
          return unless respond_to?(:receive_message_begin)

          name, type, sequence_id = receive_message_begin
          return validate_message_begin(name, type, sequence_id, "echo") if respond_to?(:validate_message_begin)

          handle_exception(type)
          raise "another sequence id" unless reply_seqid(sequence_id)
        end
      end

      class Processor
        include ::Thrift::Processor

        def process_echo(seqid, iprot, oprot)
          arguments = read_args(iprot, Arguments)
          result = Result.new
          begin
            result.success = @handler.echo(arguments.given)
          rescue ThriftCase::Failure => failure
            result.failure = failure
          end
          write_result(result, oprot, "echo", seqid)
        end
      end
    end
  end

  class Handler
    def echo(given)
      raise(ThriftCase::Failure.new("no text").tap { |failure| failure.code = 3 }) unless given.text

      given
    end
  end

  # Makes a class whose reading and writing is not native, but by the gem's own methods.
  def without_native(protocol_class)
    Class.new(protocol_class)
  end

  def test_clients_and_servers_understand_each_other
    theirs = { binary: [::Thrift::BinaryProtocol, ::Thrift::BinaryProtocolAccelerated], compact: [::Thrift::CompactProtocol] }
    theirs.each do |name, classes|
      own = @ours[name].new.get_protocol(::Thrift::MemoryBufferTransport.new).class
      sides = classes + [own] + classes.map { |protocol_class| without_native(protocol_class) }
      sides.product(sides, TRANSPORTS).each { |client, server, transport| converse(client, server, transport) }
    end
  end

  private

  def rich_once
    @rich_once ||= rich
  end

  def written(object, factory)
    transport = ::Thrift::MemoryBufferTransport.new
    object.write(factory.new.get_protocol(transport))
    transport.read(transport.available)
  end

  def read(klass, factory, transport)
    klass.new.tap { |object| object.read(factory.new.get_protocol(transport)) }
  end

  def wrapped(transport, socket)
    (transport == :framed ? ::Thrift::FramedTransport : ::Thrift::BufferedTransport).new(socket)
  end

  def converse(client_class, server_class, transport)
    one, other = UNIXSocket.pair
    server = Thread.new do
      protocol = server_class.new(wrapped(transport, ::Thrift::Socket.new.tap { |socket| socket.handle = other }))
      processor = Echo::Processor.new(Handler.new)
      3.times { processor.process(protocol, protocol) }
    end
    client = Echo::Client.new(client_class.new(wrapped(transport, ::Thrift::Socket.new.tap { |socket| socket.handle = one })))
    Timeout.timeout(20) do
      assert_equal(rich_once, client.echo(rich_once))
      assert_equal(3, assert_raises(Failure) { client.echo(Rich.new) }.code)
      assert_equal("small", client.echo(Rich.new({ "text" => "small" })).text)
    end
    server.join(10)
  ensure
    server&.kill
    [one, other].each { |socket| socket.close unless socket.closed? }
  end
end
