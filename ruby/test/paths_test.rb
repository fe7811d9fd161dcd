# frozen_string_literal: true

require "minitest/autorun"

# Goal: every file that the documents for contributors name is there, and every test that an invariant names.
#
# Method: names in backticks that look like a path are looked for from the root, from the folders that the documents take
# for granted, and, where a name stands without its folder, as the name of any file. In each invariant of ARCHITECTURE.md, the
# tests that follow the name of a file are looked for in the files of that name.
class PathsTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  DOCUMENTS = %w[ARCHITECTURE.md CONTRIBUTING.md STYLE.md docs/bounds.md bench/README.md samples/README.md].freeze
  FOLDERS = ["", "bench/", "core/", "core/src/", "core/src/thrift/idl/", "core/src/pstore/", "core/tests/", "cli/src/",
             "ruby/", "ruby/ext/bytewright/src/", "samples/"].freeze
  FILE_NAMES = Dir[File.join(ROOT, "{core/src,core/tests,cli,ruby,docs}/**/*")].to_h { |path| [File.basename(path), true] }.freeze
  # Made when they are needed.
  BUILT = %w[target pkg env].freeze
  MADE = %r{\A(?:core/fuzz/artifacts|(?:bench/)?(?:target|data)|pkg/|ruby/lib/bytewright/bytewright\.so|bench/records/DATE)}
  LOOKS_LIKE_A_PATH = %r{\A[\w.-]+(?:/[\w.-]*)+\z|\A[\w-]+\.(?:rs|rb|rbs|md|toml|sh)\z}

  DOCUMENTS.each do |document|
    define_method("test_every_path_in_#{document.gsub(/\W/, "_")}_exists") do
      names = File.read(File.join(ROOT, document), encoding: Encoding::UTF_8).scan(/`([^`\n]+)`/).flatten.flat_map { |text| spelled_out(text) }
      missing = names.grep(LOOKS_LIKE_A_PATH).reject { |name| name.match?(MADE) || there?(name) }
      assert_empty(missing)
    end
  end

  def test_every_file_that_readme_links_to_exists_and_is_in_the_gem
    links = File.read(File.join(ROOT, "README.md"), encoding: Encoding::UTF_8).scan(/\]\(([^)#:]+)\)/).flatten.uniq
    assert_operator(links.size, :>, 10)
    packed = Dir.chdir(ROOT) { Gem::Specification.load("ruby/bytewright.gemspec").files }
    links.each { |link| assert(packed.any? { |file| file == link || file.start_with?("#{link}/") }, link) }
  end

  def test_every_link_of_the_documents_leads_to_a_file
    documents = Dir[File.join(ROOT, "*.md"), File.join(ROOT, "{docs,bench,samples}/**/*.md")]
    dead = documents.flat_map do |document|
      links = File.read(document, encoding: Encoding::UTF_8).scan(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/).flatten
      links.reject { |link| File.exist?(File.expand_path(link, File.dirname(document))) }.map { |link| "#{document}: #{link}" }
    end
    assert_empty(dead)
  end

  TEST_FILES = Dir[File.join(ROOT, "{core/tests,ruby/test}/**/*.{rs,rb}")].freeze

  def test_every_invariant_of_the_architecture_names_tests_that_exist
    rules = invariants(architecture)
    assert_equal(10, rules.size)
    rules.each { |rule, tests| assert_empty(missing_tests(tests.to_s), rule) }
  end

  def test_the_architecture_is_short_and_its_map_has_every_folder
    assert_operator(architecture.lines.size, :<=, 180)
    folders = Dir.children(ROOT).select { |name| File.directory?(File.join(ROOT, name)) && !name.start_with?(".") }
    assert_empty((folders - BUILT).reject { |folder| architecture[/^## Map$.*/m].match?(/`#{folder}\//) })
  end

  def test_an_invariant_without_a_test_that_exists_is_found
    page = "## Invariants\n\n1. **It lasts.** Tests:\n   `power.rs`: `a`,\n   `b`; `core/fuzz/`.\n2. **It is fast.**\n\n## Map\n"
    assert_equal([["It lasts.", "`power.rs`: `a`, `b`; `core/fuzz/`."], ["It is fast.", nil]], invariants(page))
    assert_empty(missing_tests("`core/tests/table_file_hash/damage.rs`: `the_files_of_every_format_are_readable`"))
    assert_empty(missing_tests("all of `names_test.rb`; `paths_test.rb`: `test_a_path_that_is_not_there_is_found_missing`"))
    assert_equal(["no test"], missing_tests("we are sure of it"))
    assert_equal(%w[damage.rs:the_files nowhere.rs:a], missing_tests("`damage.rs`: `the_files`; `nowhere.rs`: `a`"))
    assert_equal(%w[nowhere.rs], missing_tests("all of `nowhere.rs`"))
  end

  def test_a_path_that_is_not_there_is_found_missing
    assert(there?("core/src/error.rs"))
    assert(there?("error.rs"))
    refute(there?("core/src/errors.rs"))
    refute(there?("nothing_of_this_name.rs"))
    assert_equal(%w[a/b.rs a/c.rs], spelled_out("a/{b,c}.rs"))
  end

  private

  def architecture
    @architecture ||= File.read(File.join(ROOT, "ARCHITECTURE.md"), encoding: Encoding::UTF_8)
  end

  # Each invariant with the tests that it names.
  def invariants(page)
    page[/^## Invariants$(.*?)^## /m, 1].split(/^\d+\. /).drop(1).map do |text|
      rule, tests = text.gsub(/\s+/, " ").strip.split(" Tests: ", 2)
      [rule[/\*\*(.*?)\*\*/, 1], tests]
    end
  end

  # Returns the tests that a text names and that do not exist.
  def missing_tests(text)
    named = text.scan(/`([\w\/]+\.r[sb])`((?::? ?,? ?`[a-z]\w*`)*)/)
    return ["no test"] if named.empty?

    named.flat_map do |file, names|
      sources = TEST_FILES.select { |path| path.end_with?("/#{file}") }.map { |path| File.read(path, encoding: Encoding::UTF_8) }
      tests = names.scan(/\w+/).reject { |test| sources.any? { |source| source.match?(/\b(?:fn|def) #{test}\b/) } }
      sources.empty? && names.empty? ? [file] : tests.map { |test| "#{file}:#{test}" }
    end
  end

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
