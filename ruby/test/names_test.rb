# frozen_string_literal: true

require_relative "test_case"
require "json"
require "open3"

# Goal: docs/names.md tells every name there is, and none that is not.
# Method: its tables are read, and compared with what Ruby, the command and the core's sources say.
class NamesTest < TestCase
  NAMES = File.read(File.join(ROOT, "docs/names.md"), encoding: Encoding::UTF_8)
  CORE = Dir[File.join(ROOT, "core/src/**/*.rs")].sort.map { |file| File.read(file, encoding: Encoding::UTF_8) }.join("\n")

  # The rows of a section's table, each an Array of its cells.
  def rows(title)
    section = NAMES[/^## #{Regexp.escape(title)}\n(.*?)(?=^## |\z)/m, 1]
    lines = section.lines.grep(/^\|/).drop(2)
    refute_empty(lines, title)
    lines.map { |line| line.strip.delete_prefix("|").delete_suffix("|").split("|", -1).map(&:strip) }
  end

  # Returns the texts in backticks.
  def quoted(cell)
    cell.scan(/`([^`]+)`/).flatten
  end

  def column(title, index)
    rows(title).flat_map { |cells| quoted(cells[index]) }
  end

  # The names of a section's fields with their types, without the meaning of the types.
  def fields(title)
    rows(title).to_h { |_, name, type, _, _| [quoted(name).first.to_sym, (type[/\((\w+)\)/, 1] || type).to_sym] }
  end

  def test_the_fields_of_a_packet_are_those_of_ruby
    types = fields("Fields of a packet")
    assert_equal(Bytewright::Capture::FIELDS, types.keys)
    assert_equal(Bytewright::Capture::FIELD_TYPES, types)
    assert_equal(Bytewright::Capture::DEFAULT_FIELDS, types.keys.first(12))
  end

  def test_the_fields_of_a_flow_and_of_a_call_are_those_of_ruby
    assert_equal(Bytewright::Flow::FIELDS, fields("Fields of a flow").keys)
    assert_equal(Bytewright::Call::FIELDS + %i[arguments result], fields("Fields of a call").keys)
  end

  def test_the_status_bits_are_those_of_the_core
    in_core = CORE.scan(%r{/// (.*)\n    pub const (\w+): Status = Status\((\d+)\);}).map do |meaning, name, bit|
      [["Status::#{name}"], bit, ["Packet##{name.downcase}?"], meaning]
    end
    refute_empty(in_core)
    assert_equal(in_core, rows("Status bits").map { |core, bit, ruby, meaning| [quoted(core), bit, quoted(ruby), meaning] })
  end

  def test_every_method_on_the_page_exists_in_ruby
    each_ruby_name do |place, mark, name|
      found = mark == "#" ? place.public_method_defined?(name) : place.singleton_methods.include?(name.to_sym)
      assert(found, "#{place}#{mark}#{name}")
    end
  end

  def test_every_method_of_ruby_is_on_the_page
    named = each_ruby_name.map { |place, mark, name| "#{place}#{mark}#{name}" }
    fields = { Bytewright::Packet => Bytewright::Capture::FIELDS, Bytewright::Flow => Bytewright::Flow::FIELDS,
               Bytewright::Call => Bytewright::Call::FIELDS }
    classes.each do |place|
      enumerable = place < Enumerable ? Enumerable.instance_methods : []
      own = place.public_instance_methods(false) - fields.fetch(place, []) - enumerable
      all = own.map { |name| "#{place}##{name}" } + place.singleton_methods(false).map { |name| "#{place}.#{name}" }
      assert_empty(all - named)
    end
  end

  def test_every_class_of_ruby_is_on_the_page
    classes.each { |place| assert_includes(NAMES, "`#{place.name.delete_prefix("Bytewright::")}`") }
  end

  def test_every_core_name_on_the_page_exists
    declared = CORE.scan(/\b(?:mod|struct|enum|trait|fn|const|type) (?=(\w+))|^\s+(?:pub )?(\w+)(?::|,|\(| \{)|\bas (\w+);/)
                   .flatten.compact.uniq
    ["Types", "Operations", "Options", "Options of a table", "Errors"].each do |title|
      column(title, 0).each { |path| assert_empty(path.split("::") - declared, path) }
    end
  end

  def test_every_option_of_captures_is_one_of_the_command
    help = %w[packets flows cut report rpc index info].map { |name| Open3.capture2(*command(name, "--help")).first }.join
    groups = Bytewright::Options.constants - %i[TABLE CACHE PACKETS SUMS CALL_COLUMNS READER WRITTEN_PACKET]
    names = groups.flat_map { |group| Bytewright::Options.const_get(group).keys } - [:damage]
    names.each { |name| assert_match(/^ +(-\w, )?--#{name.to_s.tr("_", "-")}\b/, help) }
  end

  def test_the_options_of_a_table_and_its_stat_are_what_the_page_says
    own = Bytewright::Table.method(:open).parameters.filter_map { |kind, name| name if kind == :key }
    options = (own + Bytewright::Options::TABLE.keys).map { |name| "#{name}:" }
    assert_equal(options.sort, column("Options of a table", 1).grep(/:\z/).sort)
    assert_equal(Bytewright::HashTable.new.stat.keys, fields("What `stat` says").keys)
  end

  def test_info_says_what_the_page_says
    json, = Open3.capture2(*command("info", "--json", WEB))
    assert_equal(column("What `info` says", 1), JSON.parse(json).keys)
    assert_equal(fields("What `info` says").keys, open_capture(WEB).info.keys)
  end

  def test_a_merge_says_what_the_page_says
    with_new_file("flows.bwt") do |path|
      json, = Open3.capture2(*command("flows", "--into", path, "--json", WEB))
      lines = json.lines.map { |line| JSON.parse(line) }
      assert_equal(column("What a merge says", 1), lines.first.keys)
      assert_equal(%w[table flows captures], lines.last.keys)
      result = Bytewright::Capture.flows(WEB, into: path).first
      assert_equal(fields("What a merge says").keys, result.keys)
    end
  end

  def test_error_classes_are_those_of_the_core
    kinds = CORE[/pub enum ErrorKind \{(.*?)^\}/m, 1].scan(/^    ([A-Z]\w+)(?:,|\(| \{)/).flatten
    assert_equal(kinds.map { |kind| "ErrorKind::#{kind}" }.sort, column("Errors", 0).sort)
    ours = classes.select { |place| place < Bytewright::Error }.map { |place| place.name.split("::").last }
    assert_equal(ours.sort, (column("Errors", 2) - %w[Errno IOError ArgumentError TypeError]).sort)
  end

  private

  def classes
    Bytewright.constants.map { |name| Bytewright.const_get(name) }.grep(Module)
  end

  # Every `Class#method` and `Class.method` on the page.
  def each_ruby_name(&block)
    names = NAMES.scan(/`([A-Z]\w+)([#.])([^`\s]+)`/).map { |place, mark, name| [Bytewright.const_get(place), mark, name] }
    block ? names.each(&block) : names
  end
end
