# frozen_string_literal: true

require_relative "test_case"
require "open3"

# Goal: what `gem install` leaves of the source gem is small, nothing of the build is in it, and its command says what it lacks.
#
# Method: the gem that these tests run against is looked at, where it was compiled when it was installed (`make test-gem`). That of
# `make test-ruby` brings a library that was compiled for tests, and with all features.
class InstalledTest < TestCase
  MEGABYTE = 1_000_000
  # This keeps it from growing. Of the 9.5 MB, which have no symbols, a third is the core, a tenth each the face, the command, what
  # reads the command line, and zstd's compressor, which writes captures (0.6 MB), and a seventh what the system needs to unwind and to
  # relocate. Regular expressions in conditions took 0.35 MB, shared tables, indexes of captures and nested columns 0.9 MB, flows in
  # the words of other programs, rotated captures and frames of THeader 0.2 MB, labels of networks, Thrift's JSON and the eviction of
  # caches 0.3 MB, caches in Ruby 0.13 MB, flows for other programs from Ruby, interfaces in order of time and Compact by its first
  # bytes 0.16 MB, the sample that `bytewright demo` writes 0.44 MB. What would make it smaller costs speed or time to install: the command for size takes 0.2 MB
  # off and a tenth longer to print JSON, all crates optimized as one 0.35 MB and about twice the time to build.
  EXTENSION_MAX = 9.6 * MEGABYTE
  # The sources, the sample among them, and the extension twice, as RubyGems keeps it.
  INSTALLED_MAX = 25.3 * MEGABYTE

  def setup
    @gem = Gem.loaded_specs["bytewright"]
    return if @gem&.extensions&.any? && $LOADED_FEATURES.any? { |file| file.start_with?(@gem.full_gem_path) }

    @@told ||= warn("left to make test-gem: the library is not that of an installed source gem") || true # rubocop:disable Style/ClassVars -- once
    skip "the library is not that of an installed source gem"
  end

  def test_the_extension_is_small
    extension = $LOADED_FEATURES.find { |file| file.end_with?("bytewright/bytewright.so") }
    assert_operator(File.size(extension), :<=, EXTENSION_MAX, extension)
  end

  def test_the_gem_with_its_extension_is_small
    files = Dir[File.join(@gem.full_gem_path, "**/*"), File.join(@gem.extension_dir, "**/*")].select { |path| File.file?(path) }
    assert_operator(files.sum { |path| File.size(path) }, :<=, INSTALLED_MAX)
  end

  def test_nothing_of_the_build_is_left
    assert_empty(Dir[File.join(@gem.full_gem_path, "**/target")])
    extensions = Dir[File.join(@gem.full_gem_path, "**/*.so")].map { |path| path.delete_prefix("#{@gem.full_gem_path}/") }
    assert_equal(["ruby/lib/bytewright/bytewright.so"], extensions)
  end

  def test_the_command_says_that_it_has_no_parquet_and_how_to_get_it
    with_new_file("packets.parquet") do |path|
      out, err, status = Open3.capture3(*command("packets", WEB, "--parquet", path))
      assert_equal(["", 2, false], [out, status.exitstatus, File.exist?(path)])
      assert_includes(err, "expected a build with Parquet, found one without; install the command")
    end
  end
end
