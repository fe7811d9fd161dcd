# frozen_string_literal: true

require_relative "test_case"
require_relative "markdown_blocks"
require "open3"
require "tmpdir"

# Goal: every example in README and docs runs as it stands.
# Method: each ```ruby and ```sh block is run in a folder of its own that holds samples/. In a ruby
# block, `expression # => value` must hold: the value is evaluated too, because releases of Ruby print
# a Hash differently. Blocks marked ```console or ```text only show. What installs something is in blocks marked
# ```sh install, which packages/documents.sh runs on new systems.
class DocumentationTest < TestCase
  DOCUMENTS = [File.join(ROOT, "README.md"), *Dir[File.join(ROOT, "docs/**/*.md")]].freeze

  INTERPRETERS = { "ruby" => %w[ruby -W], "sh" => %w[bash -euo pipefail] }.freeze

  DOCUMENTS.each do |document|
    MarkdownBlocks.of(document, *INTERPRETERS.keys).each_with_index do |block, at|
      name = "#{document.delete_prefix("#{ROOT}/").gsub(/\W+/, "_")}_example_#{at + 1}"
      define_method("test_#{name}") { run_example(block.language, block.source) }
    end
  end

  # Indented blocks count, too: they look the same on a page.
  INSTALLS = /\b(?:gem|pip3?|apt-get) install\b|\bmake (?:install|demo|wheel|packages|perl-dist)\b/

  def test_commands_that_install_are_run_on_new_systems
    DOCUMENTS.each do |document|
      text = File.read(document, encoding: Encoding::UTF_8)
      code = text.scan(/^```(?!sh install$)[^\n]+\n(.*?)^```$|((?:^ {4,}\S.*\n)+)/m).flatten.compact
      assert_empty(code.grep(INSTALLS), "#{document}: mark the block as ```sh install, which packages/documents.sh runs")
    end
  end

  def run_example(language, source)
    Dir.mktmpdir do |folder|
      File.symlink(File.join(ROOT, "samples"), File.join(folder, "samples"))
      # From a file: an argument of the command line would be in the locale's encoding.
      example = File.join(folder, "example")
      File.write(example, language == "ruby" ? checked(source) : source)
      output, status = Open3.capture2e(*INTERPRETERS.fetch(language), example, chdir: folder)
      assert_predicate(status, :success?, "#{source}\n#{output}")
    end
  end

  # Turns `expression # => value` into a check.
  def checked(source)
    check = "def shows(value, shown) = value.inspect == shown || value.inspect == eval(shown).inspect || abort(\"expected \#{shown}, found \#{value.inspect}\")\n"
    check + source.gsub(/^(\s*)(\S.*?)\s+# => (.+)$/) { "#{$1}shows((#{$2}), #{$3.inspect})" }
  end
end
