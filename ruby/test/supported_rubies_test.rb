# frozen_string_literal: true

require "minitest/autorun"

# Goal: the library runs on every Ruby from 3.1 on, in every locale.
#
# Method: its sources are searched for what one of these Rubies lacks or has broken, and for text that is read
# without a named encoding, which fails where no locale is set.
class SupportedRubiesTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  LIBRARY = Dir[File.join(ROOT, "ruby/{lib,exe,ext}/**/*"), File.join(ROOT, "ruby/*.gemspec")].grep(/\.(?:rb|rs|gemspec)\z|exe/)
  TESTS = Dir[File.join(ROOT, "{ruby/test,bench,samples}/**/*.rb")] - [__FILE__]
  UNSAFE = {
    /\bWeakMap\b|\bWeakRef\b|\bWeakKeyMap\b/ => "weak maps are broken under compaction before Ruby 3.3",
    /\bdefine_finalizer\b/ => "a finalizer runs at any place, also inside of a method that holds a lock",
    /\b_id2ref\b/ => "deprecated in Ruby 4.0",
    /\bRactor\b.*\.take\b/ => "removed in Ruby 4.0",
    /\bdouble_heap:/ => "deprecated in Ruby 3.2"
  }.freeze
  # Reads a whole file as text, in the locale's encoding.
  LOCALE = /\bFile\.(?:read|readlines)\((?!.*(?:encoding:|mode: "rb"|"\/proc))/

  def found(files, pattern)
    files.select { |file| File.file?(file) }.flat_map do |file|
      lines = File.readlines(file, encoding: Encoding::UTF_8)
      lines.each_index.select { |at| lines[at].match?(pattern) }.map { |at| "#{file.delete_prefix("#{ROOT}/")}:#{at + 1}" }
    end
  end

  UNSAFE.each_with_index do |(pattern, reason), index|
    define_method("test_no_source_uses_what_is_broken_in_a_supported_ruby_#{index}") do
      assert_empty(found(LIBRARY + TESTS, pattern), reason)
    end
  end

  def test_the_library_reads_no_text_in_the_encoding_of_the_locale
    refute_empty(LIBRARY)
    assert_empty(found(LIBRARY, LOCALE))
  end

  def test_what_is_looked_for_is_found
    assert_match(UNSAFE.keys.first, "OPENED = ObjectSpace::Weak" + "Map.new")
    assert_match(LOCALE, 'File.read("Cargo.toml")')
    refute_match(LOCALE, 'File.read("Cargo.toml", encoding: "UTF-8")')
  end
end
