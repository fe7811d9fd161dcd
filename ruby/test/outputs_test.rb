# frozen_string_literal: true

require_relative "test_case"
require "timeout"
require "zlib"

# Goal: an output replaces no input, and a capture, a table or a store only with force; and where its end is not reached, the
# older file stays.
class OutputsTest < TestCase
  # Methods that write a file, from a source.
  WRITERS = {
    write_to: ->(source, path, **options) { Bytewright::Capture.open(source) { |capture| capture.write_to(path, **options) } },
    flows: ->(source, path, **options) { Bytewright::Capture.flows(source, into: path, format: :zeek, **options) },
    open_flows: lambda { |source, path, **options|
      Bytewright::Capture.open(source) { |capture| capture.flows(into: path, format: :zeek, **options) }
    },
    report: ->(source, path, **options) { Bytewright::Capture.report(source, into: path, **options) }
  }.freeze

  def in_folder
    Dir.mktmpdir do |folder|
      path = File.join(folder, "in.pcap")
      File.binwrite(path, Zlib.gunzip(File.binread(WEB)))
      yield folder, path
    end
  end

  def test_an_output_that_is_the_input_is_refused_also_with_force
    in_folder do |folder, input|
      content = File.binread(input)
      File.symlink("in.pcap", File.join(folder, "link.pcap"))
      File.link(input, File.join(folder, "hard.pcap"))
      WRITERS.each_value do |write|
        %w[in.pcap link.pcap hard.pcap].each do |name|
          path = File.join(folder, name)
          error = assert_raises(ArgumentError) { write.call(input, path, force: true) }
          assert_match(/expected an output beside the inputs/, error.message)
          File.open(input, "rb") { |io| assert_raises(ArgumentError) { write.call(io, path, force: true) } }
        end
      end
      assert_equal(content, File.binread(input))
    end
  end

  def test_captures_tables_and_stores_are_replaced_with_force_only
    in_folder do |folder, _input|
      path = File.join(folder, "out.pcapng")
      table = File.join(folder, "a.bwt")
      Bytewright::TreeTable.open(table) { |entries| entries["a"] = "1" }
      WRITERS.each_value do |write|
        [File.binread(table), File.binread(WEB), Marshal.dump({ a: 1 })].each do |content|
          File.binwrite(path, content)
          error = assert_raises(ArgumentError) { write.call(WEB, path) }
          assert_match(/replace it with force/, error.message)
          assert_equal(content, File.binread(path))
          write.call(WEB, path, force: true)
          refute_equal(content, File.binread(path))
        end
        File.write(path, "a text")
        write.call(WEB, path)
        refute_equal("a text", File.binread(path))
      end
    end
  end

  def test_a_writer_replaces_a_capture_with_force_only
    with_new_file("out.pcap") do |path|
      [{}, { force: true }].each do |options|
        Bytewright::CaptureWriter.open(path, **options) { |writer| writer.write("a frame", time: 1) }
        assert_raises(ArgumentError) { Bytewright::CaptureWriter.open(path) }
      end
      assert_equal(1, open_capture(path, &:count))
    end
  end

  # Gives the beginning of a capture, and then does something else.
  class Ends
    def initialize(bytes, &block)
      @io, @block = StringIO.new(bytes[0, 100_000]), block
    end

    def read(count)
      @io.read(count) || @block.call
    end
  end

  ENDS = {
    ZeroDivisionError => -> { 1 / 0 },
    Timeout::Error => -> { Timeout.timeout(0.001) { sleep } },
    Interrupt => -> { Process.kill(:INT, Process.pid) && sleep }
  }.freeze

  def test_a_cut_or_flows_that_are_interrupted_or_whose_source_raises_leave_the_older_file
    in_folder do |folder, input|
      bytes = File.binread(input)
      outputs = { "out.pcap" => :write_to, "out.pcapng.zst" => :write_to, "conn.log" => :flows, "open.log" => :open_flows }
      outputs.to_a.product(ENDS.to_a).each do |(name, writer), (error, trouble)|
        path = File.join(folder, name)
        File.write(path, "older")
        assert_raises(error) { WRITERS[writer].call(Ends.new(bytes, &trouble), path) }
        assert_equal("older", File.read(path), error)
        assert_equal(["in.pcap", name].sort, Dir.children(folder).sort)
        File.delete(path)
      end
    end
  end

  def test_an_output_of_a_capture_that_another_thread_closes_leaves_the_older_file
    in_folder do |folder, input|
      path = File.join(folder, "out.pcap")
      File.write(path, "older")
      [->(capture) { capture.write_to(path) }, ->(capture) { capture.flows(into: path, format: :ecs) }].each do |write|
        asked, closed = Queue.new, Queue.new
        source = Ends.new(File.binread(input)) { asked.push(true) && closed.pop }
        capture = open_capture(source)
        closer = Thread.new { [asked.pop, capture.close, closed.push(nil)] }
        assert_raises(Bytewright::ClosedError) { write.call(capture) }
        closer.join
        assert_equal("older", File.read(path))
      end
    end
  end

  # One child ends at once, and one by the error that its call gets.
  FORKING = <<~'RUBY'
    require "bytewright"
    source, children = File.open(ARGV[0], "rb"), []
    source.define_singleton_method(:readpartial) do |count|
      if children.empty?
        children << fork { exit }
        child = fork || exit(File.read(ARGV[1]) == "older")
        children << child
      end
      super(count)
    end
    count = Bytewright::Capture.open(source) { |capture| capture.flows(into: ARGV[1], format: :ecs) }
    print children.map { |each| Process.wait2(each).last.exitstatus }, count == File.readlines(ARGV[1]).size
  RUBY

  def test_a_child_that_is_forked_while_flows_are_written_leaves_them_to_its_parent
    in_folder do |folder, input|
      path = File.join(folder, "conn.log")
      File.write(path, "older")
      program = [RbConfig.ruby, *$LOAD_PATH.map { |load| "-I#{load}" }, "-e", FORKING, input, path]
      assert_equal("[0, 0]true", IO.popen(program, &:read))
      assert_equal(%w[conn.log in.pcap], Dir.children(folder).sort)
    end
  end
end
