# frozen_string_literal: true

require_relative "markdown_blocks"
require_relative "thrift_case"
require "open3"
require "socket"
require "timeout"

# Goal: the classes that load makes of IDL are those of the compiler, and work with the gem.
# Method: both are made of the same files and compared: names, constants, fields, methods, validity. Where
# the compiler is not installed, that is printed.
class ThriftLoadTest < ThriftCase
  MAIN = <<~IDL
    namespace rb Loaded.shop_parts
    include "shared.thrift"

    enum Color { RED = 1, green = 2, BLUE }
    typedef list<shared.Money> Prices
    const i32 MAX_SIZE = 10
    const map<string, list<i32>> table = {"a": [1, 2], "b": []}
    const Color favourite = Color.green
    const set<string> words = ["x", "y"]

    struct article_t {
      1: i32 a = 5, 2: optional Color c = Color.RED, 3: list<Color> cs, 4: required string name, 5: required bool on,
      6: binary raw, 7: map<i32, binary> raws, 8: Prices prices, 9: shared.Money price = {"amount": 7},
      10: double share = 0.5, 11: set<i16> sizes = [1, 2], 12: optional article_t parent, 13: i64 big = 4294967296
    }
    union choice { 1: string word, 2: article_t article, 3: i32 number }
    exception Failed { 1: string message }
    exception Refused { 1: i32 code, 2: string message }
    exception Missing { 1: string why }
    exception Torn { 3: binary part }
    exception Numbered { 1: i32 message }

    service Shop extends shared.Base {
      i32 add(1: i32 a, 2: i32 b) throws (1: Failed failed, 2: Refused refused)
      article_t find(1: string name)
      void forget(1: string name) throws (1: Failed failed)
      oneway void hint(1: choice choice)
    }
  IDL
  SHARED = <<~IDL
    namespace rb Loaded.Common
    struct Money { 1: i64 amount, 2: string currency = "EUR" }
    service Base { void ping() }
  IDL

  def with_files
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "shop.thrift"), MAIN)
      File.write(File.join(folder, "shared.thrift"), SHARED)
      yield folder
    end
  end

  def test_a_field_that_is_called_fields_is_loaded_without_a_warning
    with_file("struct Log { 1: i64 time, 2: list<string> fields }", ".thrift") do |path|
      into = Module.new
      _, told = capture_io { Bytewright::Thrift.load(path, into: into) }
      assert_equal(["", %w[time fields]], [told, into::Log::FIELDS.values.map { |field| field[:name] }])
      assert_equal(["a"], into::Log.new({ "fields" => ["a"] }).fields)
    end
  end

  def loaded
    with_files { |folder| Bytewright::Thrift.load(File.join(folder, "shop.thrift"), into: Module.new) }
  end

  # The modules of the compiler's code, or nil without the compiler.
  def compiled
    verbose, $VERBOSE = $VERBOSE, nil
    with_files do |folder|
      _, status = Open3.capture2e("thrift", "-r", "--gen", "rb", "-out", folder, File.join(folder, "shop.thrift"))
      assert_predicate(status, :success?)
      into = Module.new
      # The compiler's code begins at the top; here it is to begin in a module of this test.
      @compiled_client = File.read(File.join(folder, "shop.rb"))
      %w[shared_types shop_types shop_constants base shop].each do |name|
        source = File.read(File.join(folder, "#{name}.rb")).gsub(/^require .*/, "").gsub("::Loaded", "Loaded")
        into.module_eval(source.gsub(/^module Loaded$/, "module Loaded"), name)
      end
      into::Loaded::Shop_parts
    end
  rescue Errno::ENOENT
    nil
  ensure
    $VERBOSE = verbose
  end

  def test_the_classes_are_those_of_the_compiler
    theirs = compiled or return warn("gap: classes are not compared with the compiler's: it is not installed (apt-get install thrift-compiler)")
    ours = loaded
    assert_equal(outline(theirs), outline(ours))
  end

  def test_objects_are_valid_as_with_the_compiler
    theirs = compiled or return
    [theirs, loaded].each do |place|
      article = place::Article_t.new
      refusal = assert_raises(::Thrift::ProtocolException) { article.validate }
      assert_match(/name is unset/, refusal.message)
      article.name, article.on = "n", false
      assert_nil(article.validate)
      article.c = 9
      assert_match(/Invalid value of field c/, assert_raises(::Thrift::ProtocolException) { article.validate }.message)
      assert_match(/not set/, assert_raises(StandardError) { place::Choice.new.validate }.message)
    end
  end

  def test_exceptions_with_one_string_keep_it_whatever_the_field_is_called
    [loaded, compiled].compact.each do |place|
      { place::Missing => :why, place::Torn => :part, place::Failed => :message }.each do |klass, field|
        raised = assert_raises(klass) { raise klass, "text" }
        assert_equal(%w[text text], [raised.public_send(field), raised.message])
        assert_nil(klass.new.public_send(field))
        PROTOCOLS.each_key do |protocol|
          bytes = Bytewright::Thrift.encode(raised, protocol: protocol)
          assert_equal(gem_write(raised, protocol), bytes)
          read = Bytewright::Thrift.decode(klass, bytes, protocol: protocol)
          assert_equal(%w[text text], [read.public_send(field), read.message])
          assert_equal("text", gem_read(klass.new, bytes, protocol).message)
        end
      end
      assert_equal(7, place::Numbered.new({ "message" => 7 }).message)
    end
  end

  # Loads a text; what it defines.
  def load_text(text, into = Module.new)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "names.thrift")
      File.write(path, text)
      return Bytewright::Thrift.load(path, into: into)
    end
  end

  def test_names_that_ruby_cannot_have_are_spelled_in_another_way
    made = load_text(<<~IDL)
      namespace rb _outer.inner
      const i32 _try = 123
      struct _Odd { 1: i32 x = _try }
      enum _E { _A = 1, b = 2 }
      union _U { 1: _Odd odd }
      service _S { i32 _f(1: _Odd odd), oneway void g() }
      const map<string, _E> by_name = { "a": _E._A }
    IDL
    assert_equal(%i[Idl__E Idl__Odd Idl__S Idl__U Idl__try By_name].sort, made.constants.sort)
    assert_equal([123, 123, { "a" => 1 }], [made::Idl__try, made::Idl__Odd.new.x, made::By_name])
    assert_equal({ 1 => "Idl__A", 2 => "B" }, made::Idl__E::VALUE_MAP)
    assert_equal(%i[Client G_args G_result Idl__f_args Idl__f_result Processor], made::Idl__S.constants.sort)
    assert_includes(made::Idl__S::Client.instance_methods, :_f)
    assert(made.name.nil? || made.name.end_with?("Idl__outer::Inner"))
  end

  def test_definitions_whose_names_differ_by_a_capital_are_all_there
    made = load_text(<<~IDL)
      struct Email { 1: string subject }
      const Email email = {"subject": "Hello"}
      const i32 Email = 5
      struct lower { 1: i32 x }
      struct Lower { 1: i32 y }
      service lOWER {}
      const i32 both = 1
      service both { void get(), void Get() }
      enum Kind { a = 1, A = 2, vALUE = 3, VALUE_MAP = 4 }
    IDL
    assert_equal(["Hello", 5], [made::Idl_email.subject, made::Idl_Email])
    assert_kind_of(made::Email, made::Idl_email)
    assert_equal([%w[x], %w[y]], [made::Idl_lower, made::Lower].map { |klass| klass::FIELDS.values.map { |field| field[:name] } })
    assert_equal([1, Module], [made::Idl_both, made::Both.class])
    assert_includes(made::Both.constants, :Idl_get_args)
    assert_equal({ 1 => "Idl_a", 2 => "A", 3 => "VALUE", 4 => "Idl_VALUE_MAP" }, made::Kind::VALUE_MAP)
  end

  def test_a_struct_beside_a_namespace_of_its_name_is_there
    into = Module.new
    load_text("namespace rb a.b\nstruct Inside {}", into)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "one.thrift"), "namespace rb c.d\nstruct Inside {}")
      File.write(File.join(folder, "two.thrift"), "namespace rb c\ninclude 'one.thrift'\nstruct d { 1: one.Inside x }")
      made = Bytewright::Thrift.load(File.join(folder, "two.thrift"), into: into)
      assert_equal(made::D::Inside, made::Idl_d::FIELDS[1][:class])
    end
  end

  def test_a_name_that_is_taken_is_told_with_file_and_line
    into = Module.new
    into.const_set(:Taken, 1)
    ["struct Taken {}", "const i32 taken = 1", "enum Taken { A }", "service Taken {}"].each do |text|
      error = assert_raises(ArgumentError) { load_text("\n\n#{text}", into) }
      assert_match(/names\.thrift: line 3: expected no Taken in #<Module:.*> yet, found one\z/, error.message)
    end
    error = assert_raises(ArgumentError) { load_text("namespace py taken.more\nnamespace rb taken.more", into) }
    assert_match(/names\.thrift: line 2: expected a module Taken for the namespace taken\.more, found 1\z/, error.message)
  end

  def test_messages_go_between_classes_of_both
    theirs, ours = compiled, loaded
    return unless theirs

    [[theirs, ours], [ours, theirs]].each do |from, to|
      article = from::Article_t.new({ "name" => "n", "on" => true, "cs" => [1, 3], "raws" => { 1 => "\xff".b }, "parent" => from::Article_t.new({ "name" => "p", "on" => false }) })
      PROTOCOLS.each_key do |protocol|
        bytes = Bytewright::Thrift.encode(article, protocol: protocol)
        assert_equal(gem_write(article, protocol), bytes)
        read = Bytewright::Thrift.decode(to::Article_t, bytes, protocol: protocol)
        assert_equal(["n", [1, 3], "p", 7], [read.name, read.cs, read.parent.name, read.price.amount])
      end
    end
  end

  class Handler
    def initialize(place)
      @place = place
    end

    def ping; end

    def add(a, b)
      raise @place::Failed, "none" if a.zero?
      raise @place::Refused.new({ "code" => b }) if a.negative?

      a + b
    end

    def find(name)
      @place::Article_t.new({ "name" => name, "on" => true })
    end

    def forget(name)
      raise @place::Failed, name
    end

    def hint(choice)
      @hinted = choice.get_value
    end
  end

  def test_clients_and_processors_talk_to_each_other_and_to_the_compilers
    theirs = compiled
    places = [loaded, theirs].compact
    places.product(places).each do |client_place, server_place|
      next unless client_place != theirs || compiled_for_this_gem?

      one, other = UNIXSocket.pair
      server = Thread.new do
        protocol = protocol_over(other)
        processor = server_place::Shop::Processor.new(Handler.new(server_place))
        7.times { processor.process(protocol, protocol) }
      end
      client = client_place::Shop::Client.new(protocol_over(one))
      Timeout.timeout(20) { talk(client, client_place) }
      server.join(10)
    ensure
      server&.kill
      [one, other].compact.each(&:close)
    end
  end

  # A client that was compiled before 0.19 does not understand the gem since then, nor the other way round.
  def compiled_for_this_gem?
    reads_the_beginning = ::Thrift::Client.method_defined?(:receive_message_begin)
    return true if @compiled_client.include?("receive_message_begin") == reads_the_beginning

    @told ||= warn("gap: the compiler's clients are not tested: they are of another time than the gem") || true
    false
  end

  def test_an_answer_to_something_else_is_refused_as_by_the_gem
    place = loaded
    answer = place::Shop.const_get(:Add_result).new({ "success" => 5 })
    exception = ::Thrift::ApplicationException.new(::Thrift::ApplicationException::INTERNAL_ERROR, "broken")
    assert_equal(5, answered(place, "add", ::Thrift::MessageTypes::REPLY, 0, answer))
    error = assert_raises(::Thrift::ApplicationException) { answered(place, "add", ::Thrift::MessageTypes::EXCEPTION, 0, exception) }
    assert_equal([::Thrift::ApplicationException::INTERNAL_ERROR, "broken"], [error.type, error.message])
    return assert_equal(5, answered(place, "add", ::Thrift::MessageTypes::REPLY, 77, answer)) unless ::Thrift::Client.method_defined?(:receive_message_begin)

    error = assert_raises(::Thrift::ApplicationException) { answered(place, "add", ::Thrift::MessageTypes::REPLY, 77, answer) }
    assert_equal([::Thrift::ApplicationException::BAD_SEQUENCE_ID, "add failed: out of sequence response"], [error.type, error.message])
    return unless ::Thrift::Client.method_defined?(:validate_message_begin)

    error = assert_raises(::Thrift::ApplicationException) { answered(place, "find", ::Thrift::MessageTypes::REPLY, 0, answer) }
    assert_equal(::Thrift::ApplicationException::WRONG_METHOD_NAME, error.type)
  end

  # Returns what a client makes of these bytes as the answer to its first call, of add.
  def answered(place, name, type, sequence_id, body)
    bytes = ::Thrift::MemoryBufferTransport.new
    protocol = ::Thrift::CompactProtocol.new(bytes)
    protocol.write_message_begin(name, type, sequence_id)
    body.write(protocol)
    client = place::Shop::Client.new(::Thrift::CompactProtocol.new(bytes), ::Thrift::CompactProtocol.new(::Thrift::MemoryBufferTransport.new))
    client.add(2, 3)
  end

  def talk(client, place)
    assert_nil(client.ping)
    assert_equal(5, client.add(2, 3))
    assert_equal("none", assert_raises(place::Failed) { client.add(0, 1) }.message)
    assert_equal(8, assert_raises(place::Refused) { client.add(-1, 8) }.code)
    assert_nil(client.hint(place::Choice.new(:word, "w")))
    assert_equal("thing", client.find("thing").name)
    assert_raises(place::Failed) { client.forget("all") }
    assert_raises(ArgumentError) { client.add(1) }
  end

  def test_a_union_is_made_by_the_name_of_its_field
    choice = loaded::Choice.word("w")
    assert_equal([:word, "w"], [choice.get_set_field, choice.get_value])
  end

  # The gem may be missing, so that the test of the documents does not run these.
  def test_the_examples_of_the_documents_are_true
    documents = Dir[File.join(ROOT, "{README.md,docs/**/*.md}")]
    blocks = documents.flat_map { |document| MarkdownBlocks.of(document, "ruby thrift").map(&:source) }
    assert_operator(blocks.size, :>=, 4)
    blocks.each do |block|
      checked = block.gsub(/^(\s*)(\S.*?\S)\s+# => (.*)$/) { "#{$1}assert_equal((#{$3}), (#{$2}))" }
      Dir.chdir(ROOT) { eval(checked, binding, "an example") } # rubocop:disable Security/Eval -- of our document
    ensure
      Object.send(:remove_const, :Logs) if Object.const_defined?(:Logs)
    end
  end

  def test_what_cannot_be_loaded_is_told
    Dir.mktmpdir do |folder|
      path = File.join(folder, "bad.thrift")
      File.write(path, "struct A {\n  1: i32 a,\n  1: i32 b\n}\n")
      error = assert_raises(Bytewright::FormatError) { Bytewright::Thrift.load(path) }
      assert_match(/3/, error.message)
      File.write(path, "include \"nothing.thrift\"\n")
      assert_raises(Errno::ENOENT) { Bytewright::Thrift.load(path) }
      assert_raises(Errno::ENOENT) { Bytewright::Thrift.load(File.join(folder, "none.thrift")) }
      File.write(path, "struct A { 1: i32 a }")
      into = Module.new { const_set(:A, 1) }
      assert_raises(ArgumentError) { Bytewright::Thrift.load(path, into: into) }
    end
  end

  private

  def protocol_over(socket)
    transport = ::Thrift::BufferedTransport.new(::Thrift::Socket.new.tap { |made| made.handle = socket })
    ::Thrift::CompactProtocol.new(transport)
  end

  # Describes the contents of a module, without its place. A field's id is in a constant that compilers call A,
  # and since 0.24 A_FIELD_ID.
  def outline(place)
    described = place.constants.to_h do |name|
      value = place.const_get(name)
      [name.to_s.delete_suffix("_FIELD_ID"), value.is_a?(Module) ? outline_of(value) : text(value)]
    end
    described.sort.to_h
  end

  def outline_of(place)
    fields = place.const_defined?(:FIELDS, false) ? text(place::FIELDS) : nil
    methods = place.instance_methods(false).sort
    constants = outline(place).reject { |name, _| name == "FIELDS" }
    [place.class, (short(place.superclass) if place.is_a?(Class)), fields, methods, constants]
  end

  def short(place)
    place.name.to_s.split("::").last
  end

  def text(value)
    case value
    when Hash then value.map { |key, element| [text(key), text(element)] }.sort_by(&:inspect)
    when Array then value.map { |element| text(element) }
    when Set then [:set, *value.to_a]
    when Module then short(value)
    when ::Thrift::Struct then [short(value.class), value.class::FIELDS.values.map { |field| value.send(field[:name]) }]
    else value
    end
  end
end
