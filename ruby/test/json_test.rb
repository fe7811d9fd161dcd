# frozen_string_literal: true

require_relative "test_case"
require "yaml"

# Goal: what has entries or fields becomes a JSON object, and a mapping in YAML, in a program with and without Rails.
#
# Method: another Ruby with the library that is named.
class JsonTest < TestCase
  PROGRAM = <<~'RUBY'
    require "bytewright"
    table, capture = Bytewright::TreeTable.new({ "a" => "1" }), Bytewright::Capture.open(ARGV[0])
    flow, packet, columns = capture.flows.first, capture.first, capture.each_batch(:length).first
    objects = { table: table, snapshot: table.snapshot, set: Bytewright::StringSet["a"], flow: flow, packet: packet, columns: columns }
    puts({ objects: objects, list: [table, flow] }.to_json, flow.to_json, [table.as_json, flow.as_json, packet.as_json, columns.as_json].to_json)
  RUBY

  def run_with(library, program = PROGRAM)
    IO.popen([RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "-W0", "-e", library + program, VLAN], &:readlines)
  end

  def assert_whole(lines)
    whole, alone, parts = lines.map { |line| JSON.parse(line) }
    capture = open_capture(VLAN)
    flow, packet = [capture.flows.first, capture.first].map { |row| row.to_h.transform_keys(&:to_s) }
    columns = { "length" => capture.each_row(:length).map(&:first) }
    assert_equal({ "a" => "1" }, whole["objects"]["table"])
    assert_equal({ "a" => "1" }, whole["objects"]["snapshot"])
    assert_equal(["a"], whole["objects"]["set"])
    assert_equal([flow, packet, columns], whole["objects"].values_at("flow", "packet", "columns"))
    assert_equal([[{ "a" => "1" }, flow], flow], [whole["list"], alone])
    assert_equal([{ "a" => "1" }, flow, packet, columns], parts)
  end

  def test_with_the_json_library_alone
    require "json"
    assert_whole(run_with("require 'json'; "))
  end

  def test_with_active_support
    require "json"
    library = "require 'active_support'; require 'active_support/core_ext/object/json'; require 'active_support/json'; "
    if run_with("begin; #{library}; rescue LoadError; puts :gap; end; ", "") == ["gap\n"]
      return warn("gap: JSON in Rails is not tested: ActiveSupport is not installed (apt-get install ruby-activesupport)")
    end

    assert_whole(run_with(library))
    only = run_with(library, PROGRAM.sub(/^puts.*\z/m, "puts [table.to_json(except: ['a']), flow.as_json(only: ['proto']).to_json]"))
    assert_equal(["{}\n", "{\"proto\":#{open_capture(VLAN).flows.first.proto}}\n"], only)
  end

  def test_fields_in_yaml_are_a_mapping
    capture = open_capture(VLAN)
    [capture.flows.first, capture.first].each do |row|
      assert_equal({ "row" => row.to_h.transform_keys(&:to_s) }, YAML.safe_load(YAML.dump({ "row" => row })))
    end
    assert_raises(TypeError) { YAML.dump(capture.each_batch.first) }
  end
end
