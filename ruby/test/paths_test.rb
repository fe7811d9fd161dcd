# frozen_string_literal: true

require "minitest/autorun"

# Goal: every file that the documents for contributors name is there.
#
# Method: names in backticks that look like a path are looked for from the root, from the folders that the documents take
# for granted, and, where a name stands without its folder, as the name of any file.
class PathsTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  DOCUMENTS = %w[ARCHITECTURE.md CONTRIBUTING.md STYLE.md bench/README.md samples/README.md].freeze
  FOLDERS = ["", "bench/", "core/", "core/src/", "core/src/thrift/idl/", "core/src/pstore/", "core/tests/", "cli/src/",
             "ruby/", "ruby/ext/bytewright/src/", "samples/"].freeze
  FILE_NAMES = Dir[File.join(ROOT, "{core/src,core/tests,cli,ruby,docs}/**/*")].to_h { |path| [File.basename(path), true] }.freeze
  # Made when they are needed.
  MADE = %r{\A(?:core/fuzz/artifacts|(?:bench/)?(?:target|data)|ruby/lib/bytewright/bytewright\.so|bench/records/DATE)}.freeze
  LOOKS_LIKE_A_PATH = %r{\A[\w.-]+(?:/[\w.-]*)+\z|\A[\w-]+\.(?:rs|rb|rbs|md|toml|sh)\z}.freeze

  DOCUMENTS.each do |document|
    define_method("test_every_path_in_#{document.gsub(/\W/, "_")}_exists") do
      names = File.read(File.join(ROOT, document), encoding: Encoding::UTF_8).scan(/`([^`\n]+)`/).flatten.flat_map { |text| spelled_out(text) }
      missing = names.grep(LOOKS_LIKE_A_PATH).reject { |name| name.match?(MADE) || there?(name) }
      assert_empty(missing)
    end
  end

  def test_a_path_that_is_not_there_is_found_missing
    assert(there?("core/src/error.rs"))
    assert(there?("error.rs"))
    refute(there?("core/src/errors.rs"))
    refute(there?("nothing_of_this_name.rs"))
    assert_equal(%w[a/b.rs a/c.rs], spelled_out("a/{b,c}.rs"))
  end

  private

  # `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
  def spelled_out(text)
    return [text] unless text =~ /\{([^{}]*)\}/

    before, after = $`, $'
    $1.split(",").flat_map { |part| spelled_out("#{before}#{part}#{after}") }
  end

  def there?(name)
    return true if FOLDERS.any? { |folder| File.exist?(File.join(ROOT, folder, name)) }
    # As `require` has it.
    return true if File.exist?(File.join(ROOT, "ruby/lib", "#{name}.rb"))

    !name.delete_suffix("/").include?("/") && FILE_NAMES.include?(name.delete_suffix("/"))
  end
end
