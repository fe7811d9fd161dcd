# frozen_string_literal: true

require_relative "thrift_case"

# Goal: no object that is being made, written or compared is collected or moved from under its user, and Ruby
# code that runs meanwhile does no harm whatever it does.
class ThriftGarbageTest < ThriftCase
  T = Bytewright::Thrift

  def under_stress
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  def test_every_use_works_under_gc_stress
    object, copy = rich, rich
    PROTOCOLS.each_key do |protocol|
      bytes = T.encode(object, protocol: protocol)
      under_stress do
        assert_equal(object, T.decode(Rich, bytes, protocol: protocol))
        assert_equal(bytes, T.encode(object, protocol: protocol))
        assert_equal(["héllo wörld", 1], T.pluck(Rich, bytes, :text, :"inner.id", protocol: protocol))
      end
    end
    under_stress do
      assert_equal(object, copy)
      assert_equal(object.hash, copy.hash)
    end
  end

  def test_compaction_moves_nothing_that_we_hold
    skip unless GC.respond_to?(:verify_compaction_references)
    bytes = T.encode(rich)
    2.times do
      move_all_objects
      assert_equal(rich, T.decode(Rich, bytes))
      assert_equal(bytes, T.encode(rich))
      assert_equal(rich.hash, T.decode(Rich, bytes).hash)
      # The gem makes several times as many objects: it was not left to do it.
      deserializer = ::Thrift::Deserializer.new
      ours, theirs = [-> { deserializer.deserialize(Rich.new, bytes) }, -> { gem_read(Rich.new, bytes, :binary) }].map { |read| allocated(&read) }
      assert_operator(ours * 2, :<, theirs)
    end
  end

  def allocated
    2.times { GC.stat(:total_allocated_objects) && yield }
    before = GC.stat(:total_allocated_objects)
    yield
    GC.stat(:total_allocated_objects) - before
  end

  def test_ruby_code_that_runs_while_objects_are_made_may_do_anything
    bytes = nil
    klass = self.class.generated(f1: ["number", :i32], f2: ["text", :string]) do |made|
      made.define_method(:validate) do
        bytes&.replace("\0" * 1000) if bytes && !bytes.frozen?
        GC.start
        T.decode(Inner, "\0")
      end
    end
    around = self.class.generated(f1: ["first", klass], f2: ["then", [:list, klass]], f3: ["end", :string])
    object = around.new({ "first" => klass.new({ "number" => 1 }), "then" => [klass.new({ "text" => "t" * 100 })], "end" => "end" * 50 })
    written = T.encode(object)
    bytes = written.dup
    assert_equal(object, T.decode(around, bytes))
  end

  def test_what_raises_in_the_middle_leaves_everything_usable
    klass = self.class.generated(f1: ["number", :i32]) { |made| made.define_method(:validate) { raise "no" if @number == 13 } }
    around = self.class.generated(f1: ["all", [:list, klass]])
    good = T.encode(around.new({ "all" => [klass.new({ "number" => 1 })] * 20 }))
    bad = good.sub("\0\0\0\1\0".b + "\x08".b, "\0\0\0\x0d\0\x08".b)
    1000.times { assert_equal("no", assert_raises(RuntimeError) { T.decode(around, bad) }.message) }
    assert_equal(20, T.decode(around, good).all.size)
    klass.class_eval { remove_method(:validate) }
    klass.define_method(:validate) { throw :out, :thrown }
    assert_equal(:thrown, catch(:out) { T.decode(around, good) })
  end

  def test_threads_read_and_write_at_once
    bytes = T.encode(rich)
    expected = rich
    threads = Array.new(4) do
      Thread.new { Array.new(50) { T.decode(Rich, bytes) == expected && T.encode(expected) == bytes }.all? }
    end
    assert(threads.all?(&:value))
  end
end
