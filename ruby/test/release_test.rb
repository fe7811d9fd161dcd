# frozen_string_literal: true

require_relative "test_case"
require "open3"
require "tmpdir"

# Goal: a release has its version in every place that names one, and a checkout that is not ready is refused as it is.
# Method: packages/release.sh writes the version in clones of this repository. Its checks are the goals of the Makefile.
class ReleaseTest < TestCase
  OLD = File.read(File.join(ROOT, "Cargo.toml"))[/^version = "(.+)"/, 1]
  NEW = "98.7.65"

  def setup
    skip "no repository" unless File.exist?(File.join(ROOT, ".git"))

    @folder = Dir.mktmpdir
    git("clone", "--quiet", "--shared", ROOT, ".")
    # A script that is not committed yet is tried, too.
    FileUtils.cp(File.join(ROOT, "packages/release.sh"), File.join(@folder, "packages"))
    edit("CHANGELOG.md") { |text| text.sub(/^## \S+, unreleased$/, "## #{NEW}, unreleased") }
    commit
  end

  def teardown = @folder && FileUtils.rm_rf(@folder)

  def test_the_version_and_the_date_are_in_every_place_that_names_them
    output, status = release("--write", NEW)
    assert_predicate(status, :success?, output)
    assert_match(/^## #{NEW}, \d{4}-\d\d-\d\d$/, read("CHANGELOG.md"))
    naming = git("grep", "-lE", "(version = |VERSION = |[Bb]ytewright[-_]).{0,2}#{Regexp.escape(OLD)}").split
    assert_empty(naming.grep_v(/CHANGELOG\.md|Cargo\.lock/), "they name the version of before")
    %w[Cargo.lock bench/Cargo.lock core/fuzz/Cargo.lock].each do |path|
      assert_equal([NEW], read(path).scan(/^name = "bytewright(?!-fuzz).*"\nversion = "(.+)"/).flatten.uniq, path)
    end
  end

  def test_what_is_not_ready_is_refused_and_stays_as_it_is
    assert_refused("expected a version such as VERSION=0.2.0, found ''")
    assert_refused("expected a version such as VERSION=0.2.0, found '1.0-rc'", "1.0-rc")
    assert_refused("expected the line '## 97.0.0, unreleased' in CHANGELOG.md", "97.0.0")
    git("tag", "v#{NEW}")
    assert_refused("expected a new version, found the tag v#{NEW}", NEW)
    needed = { "DEBEMAIL" => "a@example.org", "RUBY_SOURCES" => "ruby-4.0.5", "RUBIES" => "ruby" }
    needed.each_key do |name|
      output, = Open3.capture2e(needed.merge(name => nil), "packages/release.sh", "97.0.0", chdir: @folder)
      assert_includes(output, "expected #{name}, ")
    end
    edit("README.md") { |text| "#{text}more\n" }
    assert_refused("expected a checkout without changes", NEW)
  end

  private

  def assert_refused(message, *version)
    before = git("diff")
    output, status = release("--write", *version)
    refute_predicate(status, :success?)
    assert_includes(output, "release: #{message}")
    assert_equal(before, git("diff"))
  end

  def release(*arguments) = Open3.capture2e("packages/release.sh", *arguments, chdir: @folder)

  def git(*arguments)
    output, status = Open3.capture2("git", "-c", "safe.directory=*", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments, chdir: @folder)
    assert_predicate(status, :success?, arguments.join(" ")) unless arguments.first == "grep"
    output
  end

  def commit
    git("add", "--all")
    git("commit", "--quiet", "--message", "Made ready")
  end

  def read(path) = File.read(File.join(@folder, path), encoding: Encoding::UTF_8)

  def edit(path) = File.write(File.join(@folder, path), yield(read(path)))
end
