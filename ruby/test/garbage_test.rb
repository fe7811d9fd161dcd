# frozen_string_literal: true

require_relative "test_case"
require "objspace"

# Goal: no object is collected or moved from under us, and memory does not grow with use.
class GarbageTest < TestCase
  def under_stress
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  def small_capture
    with_file(pcap(*Array.new(20) { |port| udp_frame(port) })) { |path| yield path }
  end

  def test_every_way_of_asking_works_under_gc_stress
    small_capture do |path|
      under_stress do
        capture = open_capture(path)
        assert_equal(20, capture.count)
        assert_equal([0, 1], capture.first(2).map(&:dst_port))
        assert_equal("10.0.0.1", capture.map(&:src_ip).uniq.first)
        assert_equal(20, capture.each_row.to_a.size)
        assert_equal(20, capture.each_batch.first.values(:dst_ip).size)
        assert_equal({ "10.0.0.2" => 20 }, capture.count_by(:dst_ip))
        assert_equal(20, capture.info[:packets])
        assert_raises(Errno::ENOENT) { open_capture("/nonexistent") }
      end
    end
  end

  def test_compaction_moves_nothing_that_we_hold
    small_capture do |path|
      capture = open_capture(path)
      packets = []
      capture.each do |packet|
        packets << packet.dup
        GC.compact
        assert_equal("10.0.0.1", packet.src_ip)
      end
      assert_equal((0...20).to_a, packets.map(&:dst_port))
      batch = capture.each_batch.first
      move_all_objects
      assert_equal(["10.0.0.2"], batch.values(:dst_ip).uniq)
      assert_equal(["10.0.0.1"], packets.map(&:src_ip).uniq)
    end
  end

  def test_ruby_is_told_how_large_our_objects_are
    columns = open_capture(WEB).each_batch.first
    assert_operator(ObjectSpace.memsize_of(columns), :>, 8760 * 50)
    packet = open_capture(WEB).first
    assert_operator(ObjectSpace.memsize_of(packet), :>=, packet.caplen)
  end

  def test_memory_does_not_grow_with_the_number_of_passes
    resident = -> { File.read("/proc/self/statm").split[1].to_i * 4096 }
    pass = proc do
      open_capture(VLAN) { |capture| capture.each(&:src_ip) }
      open_capture(VLAN) { |capture| capture.each_batch(:length, :src_ip) { |columns| columns[:length] } }
    end
    100.times(&pass)
    GC.start
    before = resident.call
    600.times(&pass)
    GC.start
    # The C library's allocator keeps some memory per thread; a lost piece per pass would be far more.
    assert_operator(resident.call - before, :<, 48 << 20)
  end

  # Uses that are abandoned. Their memory is freed when the pass ends, or soon collected: not when Ruby's own has grown.
  ABANDONED = {
    "first" => "Bytewright::Capture.open(ARGV[0], &:first)",
    "break" => "Bytewright::Capture.open(ARGV[0]).each { break }",
    "rows" => "Bytewright::Capture.open(ARGV[0]).each_row { break }",
    "next" => "Bytewright::Capture.open(ARGV[0]).each.next",
    "opened" => "Bytewright::Capture.open(ARGV[0])",
    "reader" => "Bytewright::Reader.open(ARGV[0]).u8"
  }.freeze
  ABANDONED.each do |name, abandon|
    define_method("test_memory_does_not_grow_with_the_number_of_abandoned_passes_#{name}") do
      script = <<~RUBY
        resident = -> { File.read("/proc/self/statm").split[1].to_i * 4096 }
        10.times { #{abandon} }
        before = resident.call
        Integer(ARGV[1]).times { #{abandon} }
        puts resident.call - before
      RUBY
      rounds = ENV.fetch("BYTEWRIGHT_ABANDONED", "500")
      load_path = $LOAD_PATH.flat_map { |path| ["-I", path] }
      grown = IO.popen([RbConfig.ruby, *load_path, "-rbytewright", "-e", script, WEB, rounds], &:read)
      # It was 150 to 750 MB.
      assert_operator(Integer(grown), :<, 100 << 20)
    end
  end

  def test_the_packet_of_a_pass_that_was_left_stays_at_its_place
    last = nil
    open_capture(WEB) { |capture| capture.each { |packet| break if (last = packet).dst_port == 80 } }
    found = open_capture(WEB).find { |packet| packet.dst_port == 80 }
    assert_equal([80, found.data], [last.dst_port, last.data])
  end
end
