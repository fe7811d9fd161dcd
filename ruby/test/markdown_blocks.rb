# frozen_string_literal: true

# The fenced blocks of a Markdown file, by what stands behind the fence: "ruby", "sh", "sh install". As a program, it prints one:
#
#   ruby ruby/test/markdown_blocks.rb docs/c.md "sh install" 1
module MarkdownBlocks
  Block = Struct.new(:language, :source)

  def self.of(path, *languages)
    blocks = File.read(path, encoding: Encoding::UTF_8).scan(/^```([^\n]+)\n(.*?)^```$/m)
    blocks.map { |language, source| Block.new(language, source) }.select { |block| languages.include?(block.language) }
  end
end

if $PROGRAM_NAME == __FILE__
  path, language, number = ARGV
  blocks = MarkdownBlocks.of(path, language)
  block = blocks[Integer(number) - 1] or abort "markdown_blocks: expected block #{number} of #{language} in #{path}, found #{blocks.size}"
  print block.source
end
