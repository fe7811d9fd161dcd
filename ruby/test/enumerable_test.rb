# frozen_string_literal: true

require_relative "test_case"
require "set"

# Goal: a capture is Enumerable like an Array of its packets would be, though one packet moves.
# Method: every method of Enumerable is called on both.
class EnumerableTest < TestCase
  CALLS = {
    all?: [[], ->(p) { p.length.positive? }], any?: [[], ->(p) { p.vlan }], count: [[], ->(p) { p.proto == 6 }],
    chain: [[[1, 2]]], chunk_while: [[], ->(a, b) { a.proto == b.proto }], collect: [[], ->(p) { p.length }],
    compact: [[]],
    detect: [[], ->(p) { p.proto == 17 }], drop: [[3]], drop_while: [[], ->(p) { p.number < 4 }],
    each_cons: [[2]], each_slice: [[7]], each_entry: [[]], each_with_index: [[]], entries: [[]],
    filter: [[], ->(p) { p.proto == 1 }], filter_map: [[], ->(p) { p.vlan }], find: [[], ->(p) { p.proto == 1 }],
    find_all: [[], ->(p) { p.proto == 1 }], find_index: [[], ->(p) { p.proto == 1 }], first: [[5]],
    flat_map: [[], ->(p) { [p.number] * 2 }], grep: [[->(p) { p.proto == 17 }]], grep_v: [[->(p) { p.proto == 6 }]],
    group_by: [[], ->(p) { p.proto }], map: [[], ->(p) { p.ts }],
    inject: [[], ->(a, b) { a.length > b.length ? a : b }], max_by: [[], ->(p) { p.length }],
    min_by: [[], ->(p) { p.length }], minmax_by: [[], ->(p) { p.length }], none?: [[], ->(p) { p.proto == 99 }],
    one?: [[], ->(p) { p.number == 1 }], partition: [[], ->(p) { p.proto == 6 }],
    reduce: [[0], ->(sum, p) { sum + p.length }], reject: [[], ->(p) { p.proto == 6 }],
    select: [[], ->(p) { p.proto == 17 }], slice_when: [[], ->(a, b) { a.proto != b.proto }],
    sort_by: [[], ->(p) { [p.length, p.number] }], sum: [[], ->(p) { p.length }], take: [[4]],
    take_while: [[], ->(p) { p.number < 5 }], tally: [[]], to_a: [[]], to_set: [[]], uniq: [[]],
    zip: [[[1, 2, 3]]], include?: [[nil]], reverse_each: [[]]
  }.freeze

  def setup
    @capture = open_capture(VLAN)
    @packets = @capture.to_a
  end

  def plain(result)
    result.is_a?(Enumerator) ? result.to_a : result
  end

  CALLS.each do |name, (arguments, block)|
    define_method("test_#{name.to_s.delete("?")}_is_what_it_is_for_an_array") do
      expected = plain(@packets.public_send(name, *arguments, &block))
      assert_equal(expected, plain(@capture.public_send(name, *arguments, &block)))
    end
  end

  def test_each_packet_of_to_a_is_its_own
    assert_equal(316, @packets.size)
    assert_equal((1..316).to_a, @packets.map(&:number))
  end

  def test_each_without_a_block_is_an_enumerator_of_copies
    each = @capture.each
    first, second = each.next, each.next
    assert_equal([1, 2], [first.number, second.number])
    assert_equal(@packets, each.to_a)
  end

  def test_lazy_reads_no_further_than_it_must
    path = File.join(ROOT, "samples/web.pcap.gz")
    cut = File.binread(path)[0, 300_000]
    with_file(cut, ".gz") do |damaged|
      found = open_capture(damaged).lazy.select { |p| p.dst_port == 80 }.map(&:number).first(3)
      assert_equal(open_capture(path).select { |p| p.dst_port == 80 }.first(3).map(&:number), found)
    end
  end

  def test_each_returns_the_capture_and_rows_and_batches_have_enumerators
    assert_same(@capture, @capture.each { nil })
    assert_equal(@packets.map { |p| [p.ts, p.vlan] }, @capture.each_row(:ts, :vlan).to_a)
    assert_equal([316], @capture.each_batch.map(&:size))
    assert_equal(@packets.map { |p| p.to_h.values }, @capture.each_row.to_a)
  end

  def test_iterations_may_be_nested
    pairs = @capture.first(3).size
    @capture.each_row(:number) do |(outer)|
      break if outer > 3

      @capture.each { |inner| pairs += 1 if inner.number == outer }
    end
    assert_equal(6, pairs)
  end
end
