# frozen_string_literal: true

require_relative "test_case"

# Goal: a file may have any name that the system allows, one that it does not allow is refused as Ruby refuses it, and no
# name in a message tells a terminal what to do.
class NamesOfFilesTest < TestCase
  HARMFUL = "x\e[31m\u{9d}0;title\u{202e}\u{7f}"
  OPENINGS = {
    capture: ->(path) { Bytewright::Capture.open(path) },
    flows: ->(path) { Bytewright::Capture.flows(WEB, into: path) },
    flow_store: ->(path) { Bytewright::FlowStore.open(path) },
    hash_table: ->(path) { Bytewright::HashTable.open(path, create: false) },
    tree_table: ->(path) { Bytewright::TreeTable.open(path, create: false) },
    table: ->(path) { Bytewright::Table.open(path, create: false) },
    reader: ->(path) { Bytewright::Reader.open(path) },
    writer: ->(path) { Bytewright::Writer.open(path) },
    store: ->(path) { Bytewright::PStore.new(path).transaction { |store| store["a"] } },
    store_with_steps: ->(path) { Class.new(Bytewright::PStore) { def dump(table) = super }.new(path).transaction { 1 } },
    store_format: ->(path) { Bytewright::PStore.format_of(path) }
  }.freeze

  OPENINGS.each do |name, opening|
    define_method("test_#{name}_refuses_a_name_with_a_zero_byte") do
      Dir.mktmpdir do |folder|
        assert_raises(ArgumentError) { opening.call(File.join(folder, "a\0b")) }
        assert_empty(Dir.children(folder))
      end
    end

    define_method("test_#{name}_says_no_name_that_a_terminal_would_act_on") do
      Dir.mktmpdir do |folder|
        Dir.mkdir(File.join(folder, "there#{HARMFUL}"))
        [[HARMFUL, "missing"], ["there#{HARMFUL}"]].each do |names|
          error = assert_raises(StandardError) { opening.call(File.join(folder, *names)) }
          [error, error.cause].compact.each do |shown|
            refute_match(/[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/, shown.message)
          end
        end
      end
    end
  end
end
