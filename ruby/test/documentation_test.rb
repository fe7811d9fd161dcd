# frozen_string_literal: true

require_relative "test_case"
require "open3"
require "tmpdir"

# Goal: every example in README and docs runs as it stands.
# Method: each ```ruby and ```sh block is run in a folder of its own that holds samples/. In a ruby
# block, `expression # => value` must hold: the value is evaluated too, because releases of Ruby print
# a Hash differently. Blocks marked ```console or ```text only show.
class DocumentationTest < TestCase
  DOCUMENTS = [File.join(ROOT, "README.md"), *Dir[File.join(ROOT, "docs/**/*.md")]].freeze

  INTERPRETERS = { "ruby" => %w[ruby -W], "sh" => %w[bash -euo pipefail] }.freeze

  DOCUMENTS.each do |document|
    blocks = File.read(document, encoding: Encoding::UTF_8).scan(/^```(ruby|sh)\n(.*?)^```/m)
    blocks.each_with_index do |(language, source), at|
      name = "#{document.delete_prefix("#{ROOT}/").gsub(/\W+/, "_")}_example_#{at + 1}"
      define_method("test_#{name}") { run_example(language, source) }
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
