# frozen_string_literal: true

require_relative "test_case"

# Goal: what `gem install` leaves is small, and nothing of the build is in it.
#
# Method: the gem that these tests run against is looked at, where it is one that was installed.
class InstalledTest < TestCase
  MEGABYTE = 1_000_000
  # Wanted are 4 MB; ARCHITECTURE.md says what the rest is. This keeps it from growing.
  EXTENSION_MAX = 7.6 * MEGABYTE
  INSTALLED_MAX = 19.4 * MEGABYTE

  def setup
    @gem = Gem.loaded_specs["bytewright"]
    skip "the library is not an installed gem" unless @gem && $LOADED_FEATURES.any? { |file| file.start_with?(@gem.full_gem_path) }
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
end
