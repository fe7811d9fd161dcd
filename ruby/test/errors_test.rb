# frozen_string_literal: true

require "minitest/autorun"
require "tempfile"
require_relative "error_texts"

# Goal: docs/errors.md has every text of an error that the sources make, and no other.
#
# Method: the texts are read out of the sources (error_texts.rb) and compared with the rows of the page. What the reader of
# sources must find is tried on made sources.
class ErrorsTest < Minitest::Test
  PAGE = File.join(ErrorTexts::ROOT, "docs/errors.md")

  # The errors and texts of the page, and its rows as they stand.
  def rows
    lines = File.readlines(PAGE, chomp: true, encoding: Encoding::UTF_8).grep(/^\| .* \| `/)
    lines.map { |line| line.gsub("\\|", "\0").split("|").map { |cell| cell.tr("\0", "|").strip } }
         .select { |cells| cells.size == 4 }
         .map { |_, error, text, meaning| [error.delete("`"), text.gsub(/\A`+ ?| ?`+\z/, ""), meaning] }
  end

  def test_the_page_has_every_text_of_the_sources_and_no_other
    found = ErrorTexts.all.to_h { |one| [[one.error, one.text], one.file] }
    listed = rows.map { |error, text, _| [error, text] }
    missing = found.keys - listed
    assert_empty(missing.map { |error, text| "#{found[[error, text]]}: | `#{error}` | `#{text}` | |" })
    assert_empty(listed - found.keys, "of no source")
    assert_equal(listed.uniq.size, listed.size)
  end

  def test_every_row_says_what_it_means
    rows.each { |error, text, meaning| assert_match(/\w.*[.?]\z/, meaning, "#{error}: #{text}") }
  end

  def test_a_text_is_found_through_the_functions_that_pass_it_on
    assert_equal(
      [["FormatError", "expected a head of … bytes, found …"], ["LimitError", "expected … of at most …, found …"],
       ["LockError", "expected nobody, found one that waits"], ["ClosedError", "expected an open one, found it closed"],
       ["CorruptError", "cut short, twice"], ["CorruptError", "cut short, once"]].sort,
      texts_of_rust(<<~'RUST')
        fn refused(expected: &str, found: u8) -> Error { Error::format(expected, found) }
        fn head(found: u8) -> Error { refused(&format!("a head of {HEAD_LEN} bytes"), found) }
        fn size(what: &str) -> Error { Error::limit(what, MAX, 9) }
        fn locked() -> Error {
            // "not this"
            let message = "expected nobody, \
                           found one that waits";
            Error::new(ErrorKind::Lock, message)
        }
        fn pair(&self) -> Result<()> {
            let (kind, text) = match self.state {
                State::Closed => (ErrorKind::Closed, "expected an open one, found it closed".to_owned()),
            };
            Err(Error::new(kind, text))
        }
        fn either(twice: bool) -> Error {
            let how = if twice == ("not" == "this") { "twice" } else { "once" };
            Error::new(ErrorKind::Corrupt, format!("cut short, {how}"))
        }
        #[cfg(test)]
        mod tests {
            fn tested() -> Error { Error::format("not", "this") }
        }
      RUST
    )
  end

  def test_what_ruby_raises_is_found
    source = <<~'RUBY'
      def open(path)
        raise ArgumentError, "expected a path, found #{path.inspect}" unless path
        raise Errno::ENOENT, "#{path}, which is not there" if path == "not this"
        raise
      end
    RUBY
    with_file(source, ".rb") do |path|
      assert_equal([["ArgumentError", "expected a path, found …"], ["Errno", "…, which is not there"]],
                   ErrorTexts::RubySource.new(path).errors.map { |one| [one.error, one.text] })
    end
  end

  def test_what_perl_dies_with_is_found
    perl = <<~'PERL'
      sub open {
          Bytewright::Error::_refuse("expected @{[join(', ', @known)]} as an option, found $unknown[0]") if @unknown;
          my $ours = $KINDS{$kind} // Bytewright::Error::_refuse("expected a name, found \"$self->{name}\"");
          die Bytewright::Error::_new("missing_library", "expected zstd, found none", $path);
      }
      __END__
      _refuse("not this")
    PERL
    assert_equal([["ArgumentError", "expected … as an option, found …"], ["ArgumentError", 'expected a name, found "…"'],
                  ["MissingLibraryError", "expected zstd, found none"]], texts_of_perl(perl, ".pm"))
    xs = <<~'XS'
      if (!x) die_with(aTHX_ "format", "expected UTF-8, found 0x%02X after %" UVuf " bytes; "
                       "open without utf8", *end, (UV)x);
      die_with(aTHX_ "closed", "expected a %s", what);
    XS
    assert_equal([["FormatError", "expected UTF-8, found 0x… after … bytes; open without utf8"], ["ClosedError", "expected a …"]],
                 texts_of_perl(xs, ".h"))
  end

  private

  def texts_of_perl(source, suffix)
    with_file(source, suffix) { |path| ErrorTexts::PerlSource.new(path).errors.map { |one| [one.error, one.text] } }
  end

  def texts_of_rust(source)
    with_file(source, ".rs") do |path|
      errors = ErrorTexts::RustSources.new([path]).errors.map { |one| [one.error, ErrorTexts.tidy(one.text)] }
      errors.reject { |_, text| text == ErrorTexts::UNKNOWN }.sort
    end
  end

  def with_file(source, suffix)
    Tempfile.create(["source", suffix]) do |file|
      file.write(source)
      file.close
      yield file.path
    end
  end
end
