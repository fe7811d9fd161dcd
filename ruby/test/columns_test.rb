# frozen_string_literal: true

require_relative "test_case"

# Goal: columns say the same as rows, in the layout that the documentation gives.
class ColumnsTest < TestCase
  def test_columns_say_what_rows_say
    [WEB, VLAN, TUNNELS, LOOPBACK].each do |path|
      capture = open_capture(path)
      fields = Bytewright::Capture::FIELDS
      rows = capture.each_row(*fields).to_a
      columns = capture.each_batch(*fields, rows: 100).map(&:to_h)
      fields.each_with_index do |field, at|
        assert_equal(rows.map { |row| row[at] }, columns.flat_map { |batch| batch[field] }, "#{field} of #{path}")
      end
    end
  end

  def test_values_are_packed_little_endian_with_validity_bits
    frames = [udp_frame(53), "\x00".b * 60, udp_frame(80)]
    with_file(pcap(*frames)) do |path|
      columns = open_capture(path).each_batch(:dst_port, :src_ip).first
      assert_equal([3, %i[dst_port src_ip]], [columns.size, columns.names])
      assert_equal([53, 80], columns.unpack(:dst_port).values_at(0, 2))
      assert_equal("101", columns.validity(:dst_port).unpack1("b3"))
      assert_equal(1, columns.null_count(:dst_port))
      assert_equal([53, nil, 80], columns.values(:dst_port))
      assert_equal([false, true], [columns.null?(:dst_port, 0), columns.null?(:dst_port, 1)])
      assert_equal("#{"\0" * 10}\xff\xff\x0a\0\0\1".b, columns[:src_ip][0, 16])
      assert_predicate(columns[:src_ip], :frozen?)
    end
  end

  def test_batches_hold_as_many_rows_as_were_asked_for
    sizes = open_capture(WEB).each_batch(:ts, rows: 4000).map(&:size)
    assert_equal([4000, 4000, 760], sizes)
  end

  def test_wrong_questions_are_refused
    capture = open_capture(WEB)
    assert_raises(ArgumentError) { capture.each_batch(:port) { nil } }
    assert_raises(ArgumentError) { capture.each_batch(:ts, rows: 0) { nil } }
    columns = capture.each_batch(:ts).first
    assert_match(/batch's columns/, assert_raises(ArgumentError) { columns[:dst_port] }.message)
    assert_match(/expected a field/, assert_raises(ArgumentError) { columns.unpack(:port) }.message)
    assert_raises(IndexError) { columns.null?(:ts, columns.size) }
  end

  def test_a_batch_outlives_its_capture
    columns = open_capture(WEB) { |capture| capture.each_batch(:length).first }
    assert_equal(8760, columns.unpack(:length).size)
  end
end
