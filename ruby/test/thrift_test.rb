# frozen_string_literal: true

require_relative "thrift_case"
require "pathname"
require "stringio"

# Goal: messages become the objects that the gem makes of them, and objects the messages that it writes; what
# is not exactly as the gem made it is left to the gem.
# Method: what the native methods do is compared with what the gem's own do, which are still there under other
# names.
class ThriftTest < ThriftCase
  T = Bytewright::Thrift

  def test_a_message_becomes_the_object_that_the_gem_makes
    PROTOCOLS.each_key do |protocol|
      bytes = gem_write(rich, protocol)
      expected = picture(gem_read(Rich.new, bytes, protocol))
      assert_equal(expected, picture(T.decode(Rich, bytes, protocol: protocol)))
      deserialized = ::Thrift::Deserializer.new(PROTOCOLS[protocol].new).deserialize(Rich.new, bytes.dup)
      assert_equal(expected, picture(deserialized))
    end
  end

  def test_an_object_becomes_the_message_that_the_gem_writes
    PROTOCOLS.each_key do |protocol|
      expected = gem_write(rich, protocol)
      written = [T.encode(rich, protocol: protocol), ::Thrift::Serializer.new(PROTOCOLS[protocol].new).serialize(rich)]
      written.each do |bytes|
        assert_equal(expected, bytes)
        assert_equal(Encoding::BINARY, bytes.encoding)
      end
    end
  end

  def test_as_few_objects_are_made_as_there_are
    flat = self.class.generated(f1: ["number", :i64], f2: ["text", :string], f3: ["share", :double])
    bytes = T.encode(flat.new({ "number" => 5, "text" => "five", "share" => 0.5 }))
    assert_equal(2, allocated { T.decode(flat, bytes) })
    deserializer = ::Thrift::Deserializer.new
    assert_equal(2, allocated { deserializer.deserialize(flat.new, bytes) })
    assert_equal(2, allocated { T.pluck(flat, bytes, :text) })
  end

  def test_fields_that_are_not_there_have_no_variable_and_defaults_are_copies
    klass = self.class.generated(f1: ["a", :i32], f2: ["b", :string, { default: "bee" }], f3: ["c", [:list, :i32], { default: [1] }],
                                 f4: ["d", [:set, :i32], { default: Set[1] }])
    object = T.decode(klass, "\0")
    assert_equal(%i[@b @c @d], object.instance_variables.sort)
    assert_equal(["bee", [1], Set[1]], [object.b, object.c, object.d])
    object.b << "!"
    object.c << 2
    object.d << 2
    assert_equal(["bee", [1], Set[1]], T.decode(klass, "\0").then { |other| [other.b, other.c, other.d] })
    assert_equal(["bee", [1], Set[1]], klass.new.then { |other| [other.b, other.c, other.d] })
  end

  def test_more_than_64_defaults_are_set
    fields = (1..100).to_h { |number| [:"f#{number}", ["n#{number}", :i32, { default: number }]] }
    klass = self.class.generated(**fields)
    bytes = T.encode(klass.new({ "n3" => 1003, "n99" => 1099 }))
    object = T.decode(klass, bytes)
    assert_equal([1, 1003, 64, 65, 1099, 100], [object.n1, object.n3, object.n64, object.n65, object.n99, object.n100])
  end

  def test_new_without_arguments_is_as_the_gem_makes_it_and_with_arguments_too
    [Rich, Inner, Failure].each do |klass|
      assert_equal(picture(klass.allocate.tap { |object| object.send(:initialize_without_bytewright) }), picture(klass.new)) unless klass == Failure
    end
    assert_equal(["hello", 4], Rich.new({ "medium" => 4 }).then { |object| [object.greeting, object.medium] })
    assert_equal(5, Rich.new { |object| object.medium = 5 }.medium)
    assert_raises(::Exception) { Rich.new({ "nothing" => 1 }) }
  end

  def test_wrong_types_are_passed_and_wrong_elements_are_nil
    other = self.class.generated(f1: ["a", :string], f2: ["b", [:list, :string]], f3: ["c", [:map, :i32, :i32]], f4: ["d", [:set, :i32]], f9: ["e", :i32])
    mine = self.class.generated(f1: ["a", :i32], f2: ["b", [:list, :i32]], f3: ["c", [:map, :string, :i32]], f4: ["d", [:set, :string]], f5: ["f", :i32])
    object = other.new({ "a" => "text", "b" => ["x"], "c" => { 1 => 2 }, "d" => Set[3], "e" => 9 })
    PROTOCOLS.each_key do |protocol|
      bytes = T.encode(object, protocol: protocol)
      assert_equal(picture(gem_read(mine.new, bytes, protocol)), picture(T.decode(mine, bytes, protocol: protocol)))
    end
  end

  def test_validate_is_called_for_each_struct_in_both_directions
    required = self.class.generated(f1: ["a", :i32]) do |klass|
      klass.define_method(:validate) { raise ::Thrift::ProtocolException.new(0, "Required field a is unset!") unless @a }
    end
    around = self.class.generated(f1: ["inside", required], f2: ["all", [:list, required]])
    { around => around.new({ "all" => [required.new] }), required => required.new }.each do |_, object|
      assert_raises(::Thrift::ProtocolException) { T.encode(object) }
      assert_raises(::Thrift::ProtocolException) { object.write(BINARY.new.get_protocol(::Thrift::MemoryBufferTransport.new)) }
    end
    assert_raises(::Thrift::ProtocolException) { T.decode(required, "\0") }
    assert_raises(::Thrift::ProtocolException) { T.decode(around, "\x0c\x00\x01\0\0".b) }
    assert_equal(3, T.decode(around, T.encode(around.new({ "inside" => required.new({ "a" => 3 }) }))).inside.a)
  end

  def test_a_union_has_one_field
    [Choice.new(:number, 4), Choice.new(:inner, inner(3))].each do |choice|
      PROTOCOLS.each_key do |protocol|
        bytes = T.encode(choice, protocol: protocol)
        assert_equal(gem_write(choice, protocol), bytes)
        assert_equal(picture(gem_read(Choice.new, bytes, protocol)), picture(T.decode(Choice, bytes, protocol: protocol)))
      end
    end
    two = "\x08\0\1\0\0\0\5\x0b\0\2\0\0\0\1x\0".b
    theirs = assert_raises(RuntimeError, ::Thrift::ProtocolException) { gem_read(Choice.new, two, :binary) }
    ours = assert_raises(theirs.class) { T.decode(Choice, two) }
    assert_match(/too many fields/i, ours.message)
    assert_equal([theirs.message, theirs.respond_to?(:type) && theirs.type], [ours.message, ours.respond_to?(:type) && ours.type])
    object = Choice.new(:text, "before")
    assert_raises(theirs.class) { ::Thrift::Deserializer.new.deserialize(object, two.dup) }
    refute_equal(5, object.get_value)
    assert_match(/not set/, assert_raises(StandardError) { T.decode(Choice, "\0") }.message)
    assert_raises(StandardError) { T.encode(Choice.new) }
  end

  def test_equality_and_hash_go_by_content
    one, other = rich, rich
    assert_equal(one, other)
    assert_equal(one.hash, other.hash)
    assert(one.eql?(other))
    assert_equal({ one => 1 }, { other => 1 })
    changes = [-> { _1.text = "x" }, -> { _1.inner.id = 99 }, -> { _1.by_id[7].name << "!" }, -> { _1.tags << "more" }, -> { _1.ints[100] = 0 },
               -> { _1.choice.text = "other" }, -> { _1.series["s"][0] = 5 }, -> { _1.flag = nil }, -> { _1.by_inner.clear },
               -> { _1.node.children[1].value = 77 }, -> { _1.reals[0] = 0.25 }]
    changes.each do |change|
      changed = rich.tap(&change)
      refute_equal(one, changed)
      refute_equal(one.hash, changed.hash)
    end
    refute_equal(one, nil)
    refute_equal(inner(1), Choice.new(:number, 1))
    assert_equal(Inner.new({ "id" => 1 }), Inner.new({ "id" => 1.0 }))
    assert_equal(1, [inner(4), inner(4)].uniq.size)
  end

  def test_objects_of_another_class_with_the_same_fields_are_equal_where_they_are_for_the_gem
    twin = self.class.generated(f1: ["id", :i32], f2: ["name", :string], f3: ["numbers", [:list, :i32]])
    other = twin.new({ "id" => 1, "name" => "inner 1", "numbers" => [1, 2, 1] })
    assert_equal(inner(1).equal_without_bytewright(other), inner(1) == other)
  end

  def test_objects_that_hold_themselves_do_not_end_the_process
    node = Node.new("value" => 1)
    node.children = [node]
    assert_raises(::Thrift::ProtocolException) { node.write(BINARY.new.get_protocol(::Thrift::MemoryBufferTransport.new)) }
    assert_raises(Bytewright::LimitError) { T.encode(node) }
    assert_kind_of(Integer, node.hash)
    assert_equal(node, node)
  end

  def test_numbers_outside_of_their_range_are_refused
    { "tiny" => [-129, 128], "small" => [-32_769, 32_768], "medium" => [-(1 << 31) - 1, 1 << 31], "large" => [-(1 << 63) - 1, 1 << 63, 1 << 70] }
      .each do |name, numbers|
      numbers.each do |number|
        PROTOCOLS.each_key { |protocol| assert_raises(RangeError, "#{name} #{number}") { T.encode(Rich.new({ name => number }), protocol: protocol) } }
      end
    end
    edges = { "tiny" => -128, "small" => 32_767, "medium" => -(1 << 31), "large" => (1 << 63) - 1 }
    PROTOCOLS.each_key { |protocol| assert_equal(Rich.new(edges), T.decode(Rich, T.encode(Rich.new(edges), protocol: protocol), protocol: protocol)) }
  end

  def test_text_is_written_in_utf_8_and_inputs_stay_as_they_are
    latin = "gr\xFC\xDF".dup.force_encoding("ISO-8859-1").freeze
    bytes = T.encode(Inner.new({ "name" => latin }))
    assert_equal("grüß", T.decode(Inner, bytes).name)
    assert_equal("ISO-8859-1", latin.encoding.name)
    frozen = Rich.new({ "text" => "a", "ints" => [1].freeze, "tags" => Set["a"].freeze, "attributes" => { "a" => "b" }.freeze }).freeze
    assert_equal(gem_write(frozen, :binary), T.encode(frozen))
    assert_raises(EncodingError) { T.encode(Inner.new({ "name" => "\xff".b })) }
    message = T.encode(rich).freeze
    assert_equal(rich, T.decode(Rich, message))
    assert_equal(rich, ::Thrift::Deserializer.new.deserialize(Rich.new, message))
  end

  def test_what_the_gem_takes_for_a_value_is_taken
    objects = [Rich.new({ "tags" => %w[a b] }), Rich.new({ "tags" => { "a" => true } }), Rich.new({ "real" => 3 }), Rich.new({ "flag" => "yes" })]
    objects.each { |object| PROTOCOLS.each_key { |protocol| assert_equal(gem_write(object, protocol), T.encode(object, protocol: protocol)) } }
    # Newer gems refuse this.
    object = Rich.new({ "medium" => 3.0 })
    PROTOCOLS.each_key do |protocol|
      theirs, ours = [-> { gem_write(object, protocol) }, -> { T.encode(object, protocol: protocol) }].map do |write|
        write.call
      rescue ::TypeError
        :refused
      end
      assert_equal(theirs, ours)
    end
    [Rich.new({ "ints" => [nil] }), Rich.new({ "ints" => 5 }), Rich.new({ "text" => 5 }), Rich.new({ "inner" => 5 })].each do |wrong|
      assert_raises(StandardError) { T.encode(wrong) }
    end
  end

  def test_a_class_that_reads_or_writes_in_its_own_way_does_so
    klass = self.class.generated(f1: ["a", :i32]) do |made|
      made.define_method(:read) { |protocol| super(protocol).tap { @a += 1 } }
      made.define_method(:write) { |protocol| @a += 10; super(protocol) }
    end
    object = klass.new({ "a" => 1 })
    bytes = ::Thrift::Serializer.new.serialize(object)
    assert_equal([11, 12], [object.a, ::Thrift::Deserializer.new.deserialize(klass.new, bytes.dup).a])
    assert_equal(12, T.decode(klass, bytes).a)
    assert_equal(11, T.pluck(klass, bytes, :a).first)
  end

  def test_a_method_that_is_added_later_is_called
    klass = self.class.generated(f1: ["a", :i32])
    around = self.class.generated(f1: ["inside", klass])
    object = around.new({ "inside" => klass.new({ "a" => 1 }) })
    bytes = T.encode(object)
    assert_equal(object, T.decode(around, bytes))
    validated = []
    klass.class_eval { remove_method(:validate) }
    klass.define_method(:validate) { validated << @a }
    assert_equal(object, T.decode(around, bytes))
    assert_equal([1], validated)
    extension = Module.new { define_method(:validate) { super() << :extended } }
    klass.prepend(extension)
    T.decode(around, bytes)
    assert_equal([1, 1, :extended], validated)
    klass.define_method(:hash) { 4 }
    assert_equal(around.new({ "inside" => klass.new({ "a" => 7 }) }).hash, object.hash)
  end

  def test_an_object_with_methods_of_its_own_uses_them
    object = inner(1)
    def object.validate = raise("its own")
    assert_equal("its own", assert_raises(RuntimeError) { T.encode(object) }.message)
    transport = ::Thrift::MemoryBufferTransport.new
    def transport.write(bytes) = super(bytes.upcase)
    inner(1).write(BINARY.new.get_protocol(transport))
    assert_includes(transport.read(transport.available), "INNER 1")
  end

  def test_a_subclass_is_made_and_written_as_what_it_is
    subclass = Class.new(Inner)
    bytes = T.encode(inner(1))
    assert_instance_of(subclass, T.decode(subclass, bytes))
    object = Rich.new({ "inner" => subclass.new({ "id" => 4 }) })
    assert_equal(gem_write(object, :binary), T.encode(object))
  end

  def test_a_copy_of_a_class_is_a_class_of_its_own
    original = self.class.generated(f1: ["a", :i32], f2: ["b", :string], f3: ["c", :i32], f4: ["d", :i32], f5: ["e", :i32])
    bytes = T.encode(original.new({ "a" => 1, "b" => "two", "c" => 3, "d" => 4, "e" => 5 }))
    assert_equal("two", T.decode(original, bytes).b)
    copy = original.dup
    copy.new({ "e" => 5, "d" => 4, "c" => 3, "b" => "" })
    object = T.decode(copy, bytes)
    assert_instance_of(copy, object)
    assert_equal([1, "two", 3, 4, 5], [object.a, object.b, object.c, object.d, object.e])
    assert_equal(bytes, T.encode(::Thrift::Deserializer.new.deserialize(copy.new, bytes.dup)))
  end

  def test_a_class_with_many_fields_and_objects_with_few_are_as_others
    fields = (1..300).to_h { |number| [:"f#{number}", ["n#{number}", :i32]] }
    [fields, fields.first(64).to_h, fields.first(4).to_h, fields.first(3).to_h].each do |some|
      klass = self.class.generated(**some)
      last = some.values.last.first
      [{}, { "n1" => 5 }, { last => 7 }, { "n1" => 5, last => 7 }].each do |values|
        object = klass.new(values)
        copy = T.decode(klass, T.encode(object))
        assert_equal([object, object.hash, picture(object)], [copy, copy.hash, picture(copy)])
        copy.remove_instance_variable(:"@#{last}") if copy.instance_variable_defined?(:"@#{last}")
        copy.instance_variable_set(:@other, 1)
        assert_equal(gem_write(copy, :binary), T.encode(copy))
        assert_equal(copy, T.decode(klass, T.encode(copy)))
      end
    end
  end

  def test_a_frozen_object_is_not_changed
    frozen = Inner.new({ "id" => 1 }).freeze
    assert_raises(FrozenError) { ::Thrift::Deserializer.new.deserialize(frozen, T.encode(inner(2))) }
    assert_equal(1, frozen.id)
  end

  # The gem's classes keep things in variables, which are the main Ractor's.
  def test_another_ractor_is_refused_as_by_the_gem
    skip("this Ruby has no Ractors") unless defined?(Ractor)
    script = <<~RUBY
      require "bytewright/thrift"
      place = Bytewright::Thrift.load(ARGV[0])
      entry = place::Entry.new({ "time" => 1 })
      bytes = Bytewright::Thrift.encode(entry).freeze
      uses = [-> { Ractor.new(bytes) { |given| Bytewright::Thrift.decode(Logs::Entry, given) } },
              -> { Ractor.new(bytes) { |given| Bytewright::Thrift.pluck(Logs::Entry, given, :time) } },
              -> { Ractor.new { Logs::Entry.new } }, -> { Ractor.new { Logs::Entry.allocate.hash } }]
      answers = uses.map do |use|
        use.call.then { |ractor| ractor.respond_to?(:take) ? ractor.take : ractor.value }
      rescue Ractor::RemoteError => error
        error.cause.class
      end
      print answers.uniq.join(",")
    RUBY
    load_path = $LOAD_PATH.flat_map { |folder| ["-I", folder] }
    sample = File.expand_path("../../samples/log.thrift", __dir__)
    answer = IO.popen([RbConfig.ruby, *load_path, "-W0", "-e", script, sample], err: File::NULL, &:read)
    assert_equal("Ractor::IsolationError", answer)
  end

  def test_a_class_that_reads_in_its_own_way_does_so_in_frames_too
    klass = self.class.generated(f1: ["a", :i32]) { |made| made.define_method(:read) { |protocol| super(protocol).tap { @a += 1 } } }
    bytes = T.encode(klass.new({ "a" => 1 }))
    framed = ([bytes.bytesize].pack("N") + bytes) * 3
    assert_equal([2, 2, 2], T.decode_many(klass, framed).map(&:a))
    assert_equal([1, 1, 1], T.columns(klass, framed, :a).values(:a))
  end

  def test_protocols_of_others_are_the_gems_matter
    protocol_class = Class.new(::Thrift::BinaryProtocol)
    transport = ::Thrift::MemoryBufferTransport.new
    [protocol_class.new(transport), ::Thrift::JsonProtocol.new(transport)].each do |protocol|
      rich.write(protocol)
      copy = Rich.new
      copy.read(protocol)
      assert_equal(rich.text.b, copy.text.b)
      assert_equal(rich.node, copy.node)
    end
  end

  def test_a_transport_is_left_where_the_struct_ends
    PROTOCOLS.each_value do |factory|
      transport = ::Thrift::MemoryBufferTransport.new
      protocol = factory.new.get_protocol(transport)
      objects = Array.new(20) { |number| number.odd? ? rich : inner(number) }
      objects.each { |object| object.write(protocol) }
      objects.each do |object|
        copy = object.class.new
        assert_nil(copy.read(protocol))
        assert_equal(object, copy)
      end
      assert_equal(0, transport.available)
      assert_raises(EOFError) { inner(1).read(protocol) }
    end
  end

  def test_an_object_that_is_read_into_again_is_as_with_the_gem
    first, second = T.encode(Inner.new({ "id" => 1, "name" => "one" })), T.encode(Inner.new({ "id" => 2 }))
    ours, theirs = Inner.new, Inner.new
    [first, second].each do |bytes|
      ::Thrift::Deserializer.new.deserialize(ours, bytes.dup)
      gem_read(theirs, bytes, :binary)
    end
    assert_equal(picture(theirs), picture(ours))
  end

  def test_errors_are_the_gems_through_its_methods_and_ours_through_ours
    bytes = T.encode(rich)
    cut = bytes[0, 50]
    assert_raises(EOFError) { ::Thrift::Deserializer.new.deserialize(Rich.new, cut.dup) }
    error = assert_raises(Bytewright::TruncatedError) { T.decode(Rich, cut) }
    assert_operator(error.offset, :<=, 50)
    negative = "\x0b\0\7\xff\xff\xff\xff".b
    error = assert_raises(::Thrift::ProtocolException) { ::Thrift::Deserializer.new.deserialize(Rich.new, negative.dup) }
    assert_equal(::Thrift::ProtocolException::NEGATIVE_SIZE, error.type)
    assert_raises(Bytewright::FormatError) { T.decode(Rich, negative) }
  end

  def test_plucking_gives_fields_by_their_paths
    PROTOCOLS.each_key do |protocol|
      bytes = T.encode(rich, protocol: protocol)
      assert_equal([rich.text, 1, rich.ints, nil, rich.by_id], T.pluck(Rich, bytes, :text, :"inner.id", :ints, :unset, :by_id, protocol: protocol))
      assert_equal([rich.node], T.pluck(Rich, bytes, "node", protocol: protocol))
    end
    assert_equal([], T.pluck(Rich, "\0"))
    assert_raises(ArgumentError) { T.pluck(Rich, "\0", :nothing) }
    assert_raises(ArgumentError) { T.pluck(Rich, "\0", *(0..70).map { |number| :"f#{number}" }) }
    assert_raises(TypeError) { T.pluck(Rich, "\0", 5) }
  end

  def test_columns_and_objects_come_of_framed_messages_wherever_those_are
    objects = Array.new(100) { |number| Inner.new({ "id" => number, "name" => number.odd? ? "n#{number}" : nil }) }
    PROTOCOLS.each_key do |protocol|
      framed = objects.map { |object| T.encode(object, protocol: protocol).then { |bytes| [bytes.bytesize].pack("N") + bytes } }.join
      with_file(framed, ".thrift") do |path|
        [framed, StringIO.new(framed), Pathname(path), File.open(path, "rb")].each do |source|
          columns = T.columns(Inner, source, :id, :name, protocol: protocol)
          assert_equal([100, %i[id name], 50], [columns.size, columns.names, columns.null_count(:name)])
          assert_equal({ id: objects.map(&:id), name: objects.map(&:name) }, columns.to_h)
          assert_equal((0...100).to_a, columns[:id].unpack("l<*"))
          source.rewind if source.respond_to?(:rewind)
          assert_equal(objects, T.decode_many(Inner, source, protocol: protocol))
          source.close if source.is_a?(File)
        end
      end
      error = assert_raises(Bytewright::TruncatedError) { T.decode_many(Inner, framed[0..-3], protocol: protocol) }
      assert_operator(error.available, :<, error.needed)
      assert_raises(Bytewright::TruncatedError) { T.columns(Inner, framed[0..-3], :id, protocol: protocol) }
    end
    assert_raises(ArgumentError) { T.columns(Inner, "", :nothing) }
    assert_raises(Bytewright::FormatError) { T.decode_many(Inner, "\0\0\0\5\x63\0\1\0\0") }
  end

  def test_columns_of_lists_structs_and_maps_are_arrays_and_hashes
    objects = [
      Rich.new({ "inner" => Inner.new({ "id" => 1 }), "inners" => [Inner.new({ "id" => 2 }), Inner.new({ "name" => "x" })] }),
      Rich.new({ "inners" => [] }),
      Rich.new({ "inners" => [Inner.new({ "id" => 3 })] })
    ]
    PROTOCOLS.each_key do |protocol|
      framed = objects.map { |object| T.encode(object, protocol: protocol).then { |bytes| [bytes.bytesize].pack("N") + bytes } }.join
      options = { protocol: protocol }
      rows = T.columns(Rich, framed, "inners[].id", "inner.id", **options)
      assert_equal({ "inners[].id": [2, nil, 3], "inner.id": [1, 1, nil] }, rows.to_h)
      assert_equal([2, 0, 3], rows[:"inners[].id"].unpack("l<*"))
      lists = T.columns(Rich, framed, :"inners.id", :inner, **options)
      assert_equal([[2, nil], [], [3]], lists.values(:"inners.id"))
      assert_equal([1, nil, nil], lists.values(:inner).map { |inner| inner && inner[:id] })
      assert_equal([0, 2, "\x01".b], [lists.null_count(:"inners.id"), lists.null_count(:inner), lists.validity(:inner)])
      error = assert_raises(ArgumentError) { lists[:inner] }
      assert_match(/found the struct :inner; values\(:inner\)/, error.message)
      error = assert_raises(ArgumentError) { T.columns(Rich, framed, **options) }
      assert_match(/expected structs that do not hold themselves for columns, found .*Node in node\.children\[\]/, error.message)
      inner = T.encode(Inner.new({ "id" => 5 }), **options)
      whole = T.columns(Inner, inner, framed: false, **options)
      assert_equal(Inner::FIELDS.values.map { |field| field[:name].to_sym }, whole.names)
      assert_equal([5], whole.values(:id))
      assert_equal([[2, nil]], T.pluck(Rich, T.encode(objects.first, **options), :"inners.id", **options))
      assert_raises(ArgumentError) { T.pluck(Rich, "\0", "inners[].id", **options) }
      assert_raises(ArgumentError) { T.columns(Rich, "", "inners[].id", "ints[]", **options) }
    end
  end

  def test_messages_without_frames_are_read_as_those_with_frames_are
    objects = Array.new(100) { |number| Inner.new({ "id" => number, "name" => number.odd? ? "n#{number}" * 500 : nil }) }
    # Longer than what is read at once.
    objects[50] = Inner.new({ "id" => 50, "name" => "long" * 400_000 })
    PROTOCOLS.each_key do |protocol|
      messages = objects.map { |object| T.encode(object, protocol: protocol) }
      bytes = messages.join
      with_file(bytes, ".thrift") do |path|
        [bytes, StringIO.new(bytes), Pathname(path), File.open(path, "rb")].each do |source|
          columns = T.columns(Inner, source, :id, :name, protocol: protocol, framed: false)
          assert_equal({ id: objects.map(&:id), name: objects.map(&:name) }, columns.to_h)
          source.rewind if source.respond_to?(:rewind)
          assert_equal(objects, T.decode_many(Inner, source, protocol: protocol, framed: false))
          source.close if source.is_a?(File)
        end
      end
      [bytes[0..-2], StringIO.new(bytes[0..-2])].each do |cut|
        seen = []
        error = assert_raises(Bytewright::TruncatedError) do
          T.decode_many(Inner, cut, protocol: protocol, framed: false) { |object| seen << object.id }
        end
        assert_equal([(0..98).to_a, messages[0..98].sum(&:bytesize)], [seen, error.offset])
        assert_operator(error.available, :<, error.needed)
        cut.rewind if cut.is_a?(StringIO)
        assert_raises(Bytewright::TruncatedError) { T.columns(Inner, cut, :id, protocol: protocol, framed: false) }
      end
    end
    assert_empty(T.decode_many(Inner, "", framed: false))
    assert_equal(0, T.columns(Inner, StringIO.new(""), :id, framed: false).size)
    error = assert_raises(Bytewright::FormatError) { T.decode_many(Inner, "\0\x63\0\1\0", framed: false) }
    assert_operator(error.offset, :>=, 1)
    claims = "\x0b\0\2\x7f\xff\xff\xf0".b
    assert_raises(Bytewright::LimitError) { T.decode_many(Inner, StringIO.new(claims), framed: false) }
  end

  def test_a_wrong_argument_is_told
    assert_raises(TypeError) { T.decode(5, "") }
    assert_raises(ArgumentError) { T.decode(String, "") }
    assert_raises(ArgumentError) { T.decode(Inner, "\0", protocol: :xml) }
    assert_raises(ArgumentError) { T.decode(Inner, "\0", compact: true) }
    assert_raises(ArgumentError) { T.decode(Inner) }
    assert_raises(TypeError) { T.decode(Inner, 5) }
    assert_raises(TypeError) { T.encode("text") }
    assert_raises(TypeError) { T.encode(nil) }
    assert_raises(ArgumentError) { T.decode_many(String, "") }
  end

  def test_the_gem_is_not_loaded_without_being_asked_for
    script = "require 'bytewright'; Bytewright::Thrift; print defined?(::Thrift::Struct).inspect"
    load_path = $LOAD_PATH.flat_map { |folder| ["-I", folder] }
    assert_equal("nil", IO.popen([RbConfig.ruby, *load_path, "-e", script], &:read))
  end

  private

  # Objects that the block makes once it has run a few times.
  def allocated
    Array.new(5) do
      GC.disable
      before = GC.stat(:total_allocated_objects)
      yield
      GC.stat(:total_allocated_objects) - before
    ensure
      GC.enable
    end.min
  end
end
