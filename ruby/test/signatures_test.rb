# frozen_string_literal: true

require_relative "test_case"

# Goal: what is public is documented with its types, and what is documented exists.
# Method: the methods that Ruby knows are compared with the names in sig/bytewright.rbs, which the library rbs validates.
class SignaturesTest < TestCase
  FOLDER = File.join(ROOT, "ruby/sig")
  RBS = File.read(File.join(FOLDER, "bytewright.rbs"), encoding: Encoding::UTF_8)

  # Class name => names of its methods, with "self." before those of the class itself.
  def documented
    RBS.scan(/^  (?:class|module) (\w+).*?\n(.*?)^  end/m).to_h do |name, body|
      names = body.scan(/^    (?:def|attr_reader|alias) ((?:self\.)?[^\s:(]+)/).flatten - ["initialize"]
      [name, names.sort]
    end
  end

  def defined_methods(klass)
    own = klass.public_instance_methods(false).map(&:to_s)
    singleton = klass.singleton_methods(false).map { |name| "self.#{name}" }
    (own + singleton).sort
  end

  def test_public_methods_and_signatures_are_the_same
    classes = Bytewright.constants.map { |name| Bytewright.const_get(name) }.grep(Module)
    enumerable = Enumerable.instance_methods.map(&:to_s)
    classes.each do |klass|
      name = klass.name.split("::").last
      expected = defined_methods(klass) - (klass < Enumerable ? enumerable : [])
      assert_equal(expected, (documented[name] || []) - (klass < Enumerable ? enumerable : []), klass)
    end
  end

  def test_public_constants_are_in_the_signatures
    [Bytewright, Bytewright::Capture, Bytewright::Columns, Bytewright::Flow].each do |place|
      place.constants(false).each do |name|
        next if place == Bytewright && place.const_get(name).is_a?(Module)

        assert_match(/^ +#{name}:/, RBS, "#{place}::#{name}")
      end
    end
  end

  # Words that begin a declaration. Up to version 3.4 of rbs they cannot be names of types.
  KEYWORDS = %w[alias attr_accessor attr_reader attr_writer bool bot boolish class def end extend false in include instance
                interface module nil out prepend private public self singleton top true type unchecked untyped void].freeze

  def test_no_type_has_the_name_of_a_keyword
    assert_empty(RBS.scan(/^\s*type (\w+)/).flatten & KEYWORDS)
  end

  # With the signatures of Ruby's core and no others, as in a program that uses no library.
  def test_the_library_rbs_finds_no_fault_in_the_signatures
    validate = 'require "rbs"; require "rbs/cli"; RBS::CLI.new(stdout: $stdout, stderr: $stderr).run(ARGV)'
    said = IO.popen([RbConfig.ruby, "-W0", "-e", validate, "--", "-I", FOLDER, "validate", { err: %i[child out] }], &:read)
    return warn("gap: signatures are not validated: Ruby's bundled rbs is not installed") if said.match?(/cannot load such file -- rbs\b/)

    assert_predicate($?, :success?, said.lines.grep_v(/\AValidating/).join)
  end

  # A Ruby type for each type of docs/names.md, which the core's tests compare with the schemas.
  TYPES = { "address" => "String", "text" => "String", "name" => "String", "double" => "Float", "bool" => "bool" }.freeze
  NAMES = File.read(File.join(ROOT, "docs/names.md"), encoding: Encoding::UTF_8)

  # Name => type, of the fields in a section of that page that have one value.
  def fields(title)
    section = NAMES[/^## #{Regexp.escape(title)}\n(.*?)(?=^## |\z)/m, 1]
    cells = section.scan(/^\| `\w+::\w+` \| `(\w+)` \| (\w+)[^|]* \| *(yes)? *\|/)
    refute_empty(cells, title)
    cells.to_h { |name, type, null| [name, type == "json" ? nil : "#{TYPES.fetch(type, "Integer")}#{"?" if null}"] }
  end

  def test_records_have_the_members_of_their_schemas
    { "merge" => "What a merge says", "info" => "What `info` says", "stat" => "What `stat` says" }.each do |record, title|
      members = RBS[/^  type #{record} = \{(.*?)\}/m, 1].scan(/(\w+): ([^,\n]+)/).map { |name, type| [name, type.strip] }
      assert_equal(fields(title).keys, members.map(&:first), record)
      types = members.to_h.reject { |_, type| type.start_with?(":") }
      fields(title).compact.slice(*types.keys).each { |name, type| assert_equal(type, types[name], "#{record}: #{name}") }
    end
  end
end
