# frozen_string_literal: true

require_relative "thrift_case"
require "open3"
require "rbconfig"
require "tmpdir"

# Goal: the programs in examples/ print what examples/expected/ has.
#
# Method: each program in Ruby and each of the command runs with the arguments that examples/runs.txt gives it, in a folder
# of its own that holds samples/. The tests of Python and Perl run theirs in the same way, so one result holds for all.
module Examples
  FOLDER = File.join(TestCase::ROOT, "examples")
  RUNS = File.readlines(File.join(FOLDER, "runs.txt"), chomp: true).to_h { |line| line.split(" ", 2) }.freeze
  INTERPRETERS = { ".rb" => [RbConfig.ruby, "-W"], ".sh" => %w[bash] }.freeze
  WITH_THRIFT = %w[log_hosts parquet_sizes span_times].map { |name| File.join(FOLDER, "ruby/#{name}.rb") }.freeze

  # Gives what the program printed on standard error.
  def assert_prints_what_is_expected(program)
    name = File.basename(program, ".*")
    output, warnings, status = Dir.mktmpdir do |folder|
      File.symlink(File.join(TestCase::ROOT, "samples"), File.join(folder, "samples"))
      Open3.capture3(*INTERPRETERS.fetch(File.extname(program)), program, *RUNS.fetch(name).split, chdir: folder)
    end
    assert_predicate(status, :success?, warnings)
    assert_equal(File.read(File.join(FOLDER, "expected", "#{name}.txt"), encoding: Encoding::UTF_8), output)
    warnings
  end
end

class ExamplesTest < TestCase
  include Examples

  (Dir[File.join(Examples::FOLDER, "{ruby,command}/*")] - Examples::WITH_THRIFT).each do |program|
    define_method("test_#{File.basename(program).tr(".", "_")}_prints_what_is_expected") do
      assert_empty(assert_prints_what_is_expected(program))
    end
  end

  def test_every_example_has_arguments_and_an_expected_result
    names = Dir[File.join(Examples::FOLDER, "{ruby,python,perl,command}/*.*")].map { |path| File.basename(path, ".*") }.uniq.sort
    assert_equal(names, Examples::RUNS.keys.sort)
    assert_equal(names, Dir.children(File.join(Examples::FOLDER, "expected")).map { |file| File.basename(file, ".txt") }.sort)
  end
end

# Its example loads the gem thrift, which has warnings of its own.
class ThriftExampleTest < ThriftCase
  include Examples

  def test_log_hosts_rb_prints_what_is_expected
    Examples::WITH_THRIFT.each { |program| assert_prints_what_is_expected(program) }
  end
end
