# frozen_string_literal: true

require_relative "test_case"
require "open3"
require "zlib"

# Goal: a table that somebody crafted is one error of Ruby's, and nothing on standard error.
#
# Method: an ordered table whose pages name places outside of them and match their checks; in a Ruby of its own, whose
# standard error is looked at.
class PanicsTest < TestCase
  def with_damaged_table
    Dir.mktmpdir do |folder|
      path = File.join(folder, "t.bwt")
      sample = File.join(ROOT, "core/tests/samples/tree_table_crafted.bwt.gz")
      File.binwrite(path, Zlib.gunzip(File.binread(sample)))
      yield path
    end
  end

  # Runs a program; returns its output with standard error, and its status.
  def run_ruby(script, *arguments)
    folders = $LOAD_PATH.map { |path| "-I#{path}" }
    Open3.capture2e(RbConfig.ruby, *folders, "-rbytewright", "-e", script, *arguments)
  end

  def test_a_table_that_somebody_crafted_is_an_error_and_prints_nothing
    with_damaged_table do |path|
      script = <<~'RUBY'
        reads = [->(table) { table.to_a }, ->(table) { 400.times { |n| table[[n].pack("N")] } }, ->(table) { table.keys }]
        reads.each do |read|
          Bytewright::TreeTable.open(ARGV[0], read_only: true) { |table| read.call(table) }
        rescue Bytewright::CorruptError => e
          puts e.message[/fields that do not fit together/]
        end
      RUBY
      output, status = run_ruby(script, path)
      assert_equal("fields that do not fit together\n" * 3, output)
      assert_predicate(status, :success?)
    end
  end

  def test_the_command_of_the_gem_tells_it_in_one_line
    with_damaged_table do |path|
      output, status = run_ruby("exit Bytewright.send(:run_command, %w[table scan] + ARGV)", path)
      assert_equal(1, status.exitstatus)
      assert_match(/^bytewright: #{Regexp.escape(path)}: byte \d+: expected a page of the tree.*\n\z/, output)
    end
  end
end
