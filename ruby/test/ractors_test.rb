# frozen_string_literal: true

require_relative "test_case"

# Goal: each class works in a Ractor of its own, where Ruby loads nothing.
#
# Method: another Ruby for each use: Ruby 3.1 crashes, later and elsewhere, when a Ractor that has ended is collected.
class RactorsTest < TestCase
  USES = {
    "capture" => "Bytewright::Capture.open(file) { |c| [c.first(2).size, c.each_row(:ts).first.size, c.lazy.map(&:length).first, " \
                 "c.each_with_index.first.size, c.each_slice(3).first.size, c.select(&:truncated?).size] }",
    "flows" => "[Bytewright::Capture.flows(file, into: path).size, Bytewright::FlowStore.open(path, &:size)]",
    "writing" => "Bytewright::Capture.open(file) { |c| c.write_to(\"\#{path}.pcap\", where: 'length > 1e3')[:packets] }",
    "reader" => "Bytewright::Reader.open(file) { |r| [r.u8, r.peek(1), r.gets.size, r.each_line.first.size, r.each_line(9).first.size] }",
    "writer" => "[Bytewright::Writer.open(path) { |w| w.u8(1).pack('n', 2) }, Bytewright::Writer.replace(path) { 3 }].size",
    "tables" => "[Bytewright::HashTable.new({ 'a' => '1' }).map(&:first), Bytewright::TreeTable.new({ 'a' => '1' }).each(from: 'a').to_a, " \
                "Bytewright::Table.open(\"\#{path}.bwt\") { |t| t['a'] = '1' }]",
    "values" => "[:json, :marshal, :integer].map { |values| Bytewright::HashTable.new({ 'a' => 1 }, values: values)['a'] }",
    "set" => "[Bytewright::StringSet['a'].include?('a'), (Bytewright::StringSet['a'] | ['b']).to_a.size]",
    "cache" => "[nil, path].map { |file| Bytewright::Cache.open(file) { |c| c['a'] = [:b, { 1 => Set[2] }]; " \
               "[c['a'], c.fetch('n') { 3 }, c.increment('n'), c.keys, c.stats] } }",
    "adb" => "Bytewright::ADB.new.then { |a| [a.open('*'), a.put('a', '1'), a['a'], a.addint('n', 1), a.fwmkeys('a'), a.close] }",
    "pstore" => "Bytewright::PStore.new(path).transaction { |s| s['a'] = [1]; s.keys }",
    "pstore of roots" => "Bytewright::PStore.new(path, format: :roots).transaction { |s| s['a'] = [1]; s.keys }",
    "pstore of some classes" => "Bytewright::PStore.new(path, permitted_classes: []).transaction { |s| s['a'] = [1]; s.keys }",
    "version" => "Bytewright::VERSION.size"
  }.freeze

  USES.each do |name, use|
    define_method("test_another_ractor_uses_#{name.tr(" ", "_")}_as_the_main_one_does") do
      skip("this Ruby has no Ractors") unless defined?(Ractor)
      result = "r.respond_to?(:value) ? r.value : r.take"
      main, other = [use, "Ractor.new(file, path) { |file, path| #{use} }.then { |r| #{result} }"].map { |code| answer(code) }
      assert_equal(main, other)
    end
  end

  def answer(code)
    Dir.mktmpdir do |folder|
      script = "require 'bytewright'; require 'bytewright/adb'; require 'bytewright/cache'; require 'bytewright/pstore'; require 'json'; " \
               "file, path = #{VLAN.dump}, #{File.join(folder, "new").dump}; p((#{code}))"
      said = IO.popen([RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "-W0", "-e", script, { err: %i[child out] }], &:read)
      assert_predicate($?, :success?, said)
      said
    end
  end
end
