# frozen_string_literal: true

require "minitest/autorun"

# Goal: comments of documentation begin with the noun of a type or the verb of a function, as STYLE.md says.
class DocCommentsTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)

  # Beginnings of sentences that name nothing.
  WRONG = %r{^\s*(?:///|//!|##?|\*|""")\s+?(?:What|Whether|Where|Which|How|Why|The same)\b}

  # The command's help, which clap makes of comments: sentences to people.
  HELP = %r{\Acli/src/args}

  def sources
    paths = IO.popen(%w[git ls-files], chdir: ROOT, &:readlines).map(&:chomp)
    paths.select { |path| path.match?(/\.(rs|rb|py|pyi|rbs|c|h|xs|pm|pl|t)\z/) && File.file?(File.join(ROOT, path)) }
  end

  def test_no_comment_of_documentation_begins_with_a_question
    found = sources.grep_v(HELP).flat_map do |path|
      lines = File.readlines(File.join(ROOT, path), encoding: "UTF-8").each_with_index
      lines.filter_map { |line, index| "#{path}:#{index + 1}" if line.scrub.match?(WRONG) }
    end
    assert_empty(found)
  end
end
