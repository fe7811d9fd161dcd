# frozen_string_literal: true

require_relative "thrift_case"

# Goal: `hash` is the gem's number, so that no Hash and no Set loses what it got before the native methods came.
# Method: a process of its own has the gem alone, keeps objects of all kinds by their hashes, loads the native
# methods in one of the ways in which that happens, and looks for the objects.
class ThriftHashTest < ThriftCase
  WAYS = {
    "a late require" => 'require "bytewright/thrift"',
    "the first mention of a protocol" => 'require "bytewright"; Bytewright::Thrift::BinaryProtocolFactory'
  }.freeze

  # Objects, and what each was found by before and is found by after.
  SCRIPT = <<~'RUBY'
    require "thrift_classes"
    include ThriftClasses
    Special = Class.new(Inner)
    make = lambda do
      each_field = Rich::FIELDS.each_value.map { |field| Rich.new({ field[:name] => rich.send(field[:name]) }) }
      numbers = [0, -1, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 80].map { |number| Rich.new({ "large" => number }) }
      doubles = [0.0, -0.0, 1.5, 1e300, Float::INFINITY, 3].map { |number| Rich.new({ "real" => number, "reals" => [number] }) }
      texts = ["", "a", "w\u00f6rt", "w\u00f6rt".encode("UTF-16LE"), "\xff".b, :symbol].map { |text| Rich.new({ "text" => text, "strings" => [text] }) }
      empty = [Rich.new, Rich.new({ "ints" => [], "tags" => Set[], "attributes" => {} }), Inner.new, Choice.new]
      odd = [Rich.new({ "ints" => [nil, [1, [2]]], "attributes" => { "a" => { 1 => nil } }, "tags" => ["x"] }),
             Rich.new({ "inner" => Special.new({ "id" => 1 }), "kind" => 1.0 }), Rich.new({ "attributes" => Hash.new(5).merge!("a" => "b") })]
      unions = [Choice.new(:number, 1), Choice.new(:text, "t"), Choice.new(:inner, inner(3)), Choice.new("number", 1)]
      [rich, tree(4), inner(1), Failure.new("failed"), chain(300)] + each_field + numbers + doubles + texts + empty + odd + unions
    end
    def chain(depth) = (1..depth).reduce(nil) { |inside, value| Node.new({ "value" => value, "children" => [inside].compact }) }
    own = Class.new { def hash = -(1 << 100); def eql?(other) = other.class == self.class }
    holder = Node.new({ "value" => 1 })
    holder.children = [Node.new({ "value" => 2, "children" => [holder] })]
    objects = make.call << Inner.new({ "name" => own.new, "numbers" => [own.new] })
    numbers = objects.map(&:hash) << holder.hash
    cache, set = objects.each_with_index.to_h, objects.to_set
  RUBY

  WAYS.each do |name, way|
    define_method(:"test_objects_in_a_hash_or_a_set_are_found_after_#{name.tr(" ", "_")}") do
      answer = run_script(<<~RUBY)
        #{SCRIPT}
        #{way}
        abort("nothing is native") unless Thrift::Struct.method_defined?(:hash_without_bytewright)
        lost = objects.each_index.reject { |at| cache[objects[at]] && set.include?(objects[at]) }
        lost += make.call.each_with_index.reject { |object, at| cache.key?(object) || at == objects.size }.map(&:last)
        lost << :holder unless numbers.last == holder.hash
        print(lost.uniq.map { |at| at.is_a?(Integer) ? objects[at].inspect[0, 60] : at }.inspect)
      RUBY
      assert_equal("[]", answer)
    end
  end

  def test_random_objects_have_the_numbers_of_the_gem
    answer = run_script(<<~RUBY)
      require "thrift_classes"
      include ThriftClasses
      random = Random.new(#{seed = random_seed})
      invent = lambda do |field, depth|
        count = depth.negative? ? 0 : random.rand(5)
        case field[:type]
        when 2 then [true, false, nil].sample(random: random)
        when 4 then random.rand * 10**random.rand(-300..300)
        when 11 then random.bytes(random.rand(20)).then { |bytes| field[:binary] ? bytes : bytes.unpack("C*").pack("U*") }
        when 12
          fields = field[:class]::FIELDS.values
          if field[:class] < Thrift::Union
            chosen = fields.sample(random: random)
            next field[:class].new(chosen[:name].to_sym, invent.call(chosen, depth - 1) || 0)
          end
          field[:class].allocate.tap { |made| fields.each { |inner| made.send(inner[:name] + "=", invent.call(inner, depth - 1)) if random.rand(4) > 0 } }
        when 13 then Array.new(count) { [invent.call(field[:key], depth - 1), invent.call(field[:value], depth - 1)] }.to_h
        when 14 then Array.new(count) { invent.call(field[:element], depth - 1) }.to_set
        when 15 then Array.new(count) { invent.call(field[:element], depth - 1) }
        else random.rand(3) == 0 ? random.rand(-(1 << 70)..(1 << 70)) : random.rand(-100..100)
        end
      end
      objects = Array.new(300) { invent.call({ type: 12, class: [Rich, Choice, Inner, Failure, Node].sample(random: random) }, 3) }
      before = objects.map(&:hash)
      require "bytewright/thrift"
      print(objects.each_index.count { |at| objects[at].hash != before[at] })
    RUBY
    assert_equal("0", answer, "seed #{seed}")
  end

  def test_a_union_whose_class_has_another_name_method_is_left_to_the_gem
    klass = self.class.generated(:union, f1: ["name", :string])
    union = klass.new(:name, "n")
    assert_equal(union.hash_without_bytewright, union.hash)
    klass.define_singleton_method(:name) { |value| new(:name, value) }
    assert_raises(ArgumentError) { union.hash_without_bytewright }
    assert_raises(ArgumentError) { union.hash }
  end

  def test_an_object_that_holds_itself_has_the_number_of_the_gem
    node = Node.new({ "value" => 1 })
    node.children = [node, Node.new({ "value" => 2 })]
    node.by_name = { "a" => Node.new({ "children" => [node] }) }
    assert_equal(node.hash_without_bytewright, node.hash)
  end

  private

  def random_seed
    Integer(ENV.fetch("BYTEWRIGHT_SEED", Random.new_seed % (1 << 32)))
  end

  def run_script(script)
    load_path = [__dir__, *$LOAD_PATH].flat_map { |folder| ["-I", folder] }
    IO.popen([RbConfig.ruby, *load_path, "-W0", "-e", script], &:read)
  end
end
