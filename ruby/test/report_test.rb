# frozen_string_literal: true

require "json"
require "open3"
require "stringio"
require_relative "test_case"

# Goal: Capture.report writes the page that the command writes, of whatever captures come from, or none at all.
class ReportTest < TestCase
  def test_a_report_is_a_page_about_captures
    with_new_file("page.html") do |path|
      reported = Bytewright::Capture.report(WEB, VLAN, into: path, title: "Both <links>")
      infos = [WEB, VLAN].map { |file| Bytewright::Capture.open(file, &:info) }
      assert_equal(infos.map { |info| info.slice(:file, :packets, :bytes).merge(damage: nil) }, reported)
      page = File.read(path, encoding: "UTF-8")
      assert_includes(page, "<title>Both &lt;links&gt;</title>")
      assert_equal(infos.sum { |info| info[:packets] }, data(page)["packets"])
      assert_operator(page.bytesize, :<=, 500_000)
    end
  end

  def test_a_report_is_about_the_packets_that_were_asked_for
    with_new_file("page.html") do |path|
      flow = Bytewright::Capture.flows(WEB).first.community_id
      reported = Bytewright::Capture.report(WEB, into: path, flow: flow, where: "length > 100")
      lengths = Bytewright::Capture.open(WEB, flow: flow) { |capture| capture.map(&:length) }
      assert_equal(lengths.count { |length| length > 100 }, reported.first[:packets])
      assert_includes(File.read(path, encoding: "UTF-8"), "<title>web.pcap.gz: flow #{flow}, where length &gt; 100</title>")
      error = assert_raises(ArgumentError) { Bytewright::Capture.report(WEB, into: path, where: "lenght > 1") }
      assert_includes(error.message, "did you mean length")
    end
  end

  def test_a_report_reads_objects_and_damaged_captures
    with_new_file("page.html") do |path|
      bytes = File.binread(TUNNELS)
      reported = Bytewright::Capture.report(StringIO.new(bytes[0...-9]), into: path)
      assert_instance_of(Bytewright::TruncatedError, reported.first[:damage])
      shown = data(File.read(path, encoding: "UTF-8"))
      assert_equal(1, shown["captures_damaged"])
      assert_equal(reported.first[:packets], shown["packets"])
    end
  end

  def test_what_is_no_capture_leaves_the_page_that_was_there
    with_file("before") do |path|
      assert_raises(Bytewright::FormatError) { Bytewright::Capture.report(WEB, StringIO.new("no capture"), into: path) }
      assert_raises(Errno::ENOENT) { Bytewright::Capture.report("missing.pcap", into: path) }
      assert_raises(ArgumentError) { Bytewright::Capture.report(into: path) }
      assert_raises(TypeError) { Bytewright::Capture.report(WEB, into: 1) }
      assert_equal("before", File.read(path))
    end
  end

  def test_an_output_that_cannot_be_is_refused_before_a_capture_is_read
    unread = Object.new
    def unread.read(*) = raise("read")
    with_new_file("page.pcap") do |path|
      File.binwrite(path, File.binread(TUNNELS))
      error = assert_raises(ArgumentError) { Bytewright::Capture.report(unread, into: path) }
      assert_includes(error.message, "found a packet capture")
      error = assert_raises(ArgumentError) { Bytewright::Capture.report(path, into: path, force: true) }
      assert_includes(error.message, "expected an output beside the inputs")
      assert_raises(Errno::ENOENT) { Bytewright::Capture.report(unread, into: File.join(File.dirname(path), "missing", "page.html")) }
      assert_equal(File.binread(TUNNELS), File.binread(path))
    end
  end

  def test_a_report_survives_the_garbage_collector
    with_new_file("page.html") do |path|
      with_file(pcap(*Array.new(30) { |port| udp_frame(port) })) do |capture|
        GC.stress = true
        Bytewright::Capture.report(capture, into: path)
      ensure
        GC.stress = false
      end
      assert_equal(30, data(File.read(path, encoding: "UTF-8"))["packets"])
    end
  end

  private

  def data(page)
    JSON.parse(page[%r{<script type="application/json" id="data">(.*?)</script>}m, 1])
  end
end
