# frozen_string_literal: true

require "minitest/autorun"
require "tempfile"
require_relative "../../bench/harness/command_line"
require_relative "../../bench/harness/readme"

# Goal: the figures of README and docs/benchmarks.md are those that were measured, and the rows that they show can be measured.
#
# Method: the pages are written anew out of bench/records and compared; the titles are looked for in the benches.
class FiguresTest < Minitest::Test
  def test_readme_has_the_figures_of_the_newest_records
    assert_page_has_the_figures_of_the_newest_records(Bench::Readme::PATH, ["seconds"])
  end

  def test_the_page_of_benchmarks_has_the_figures_of_the_newest_records
    assert_page_has_the_figures_of_the_newest_records(Bench::Readme::ALL_FIGURES, [*Bench::ReadmeRows::ALL.keys, "costs"])
  end

  def test_the_comparison_has_the_figures_of_the_newest_records
    assert_page_has_the_figures_of_the_newest_records(Bench::Readme::COMPARISON, [])
  end

  def test_every_figure_in_a_sentence_is_one_that_a_bench_measures
    marks = Bench::Readme::PAGES.flat_map { |path| File.read(path, encoding: Encoding::UTF_8).scan(Bench::Readme::MARKED_FIGURE) }
    assert_operator(marks.size, :>=, 20)
    marks.group_by { |_mark, suite, _title| suite }.each do |suite, of_suite|
      assert_measured(suite, of_suite.map { |_mark, _suite, title| Bench::ReadmeRows.row(title, title) })
    end
  end

  def test_every_row_of_the_pages_is_one_that_a_bench_measures
    Bench::ReadmeRows::ALL.each { |suite, table| assert_measured(suite, table.rows) }
    assert_measured("flows", Bench::ReadmeRows::SECONDS.keys.map { |title| Bench::ReadmeRows.row(title, title) })
    assert_measured("spark", Bench::ReadmeRows::COSTS.map { |title, sentence| Bench::ReadmeRows.row(sentence, title) })
  end

  def test_readme_is_short
    assert_operator(File.readlines(Bench::Readme::PATH).size, :<=, 130)
  end

  def test_a_figure_in_a_sentence_is_written_from_its_record
    sentence = "It is <!-- bench:figure pstore: 100 k roots: read one / stock -->1×, as fast."
    assert_match(/-->[\d,]{3,}×, as fast/, Bench::Readme.new.updated(sentence))
  end

  def test_a_figure_in_a_sentence_is_a_number_of_a_record
    ["flows: peak memory above Ruby's own: rows, mixed", "nothing: plain"].each do |mark|
      error = assert_raises(Bench::Readme::Unfit) { Bench::Readme.new.updated("<!-- bench:figure #{mark} -->1") }
      assert_includes(error.message, "expected a number")
    end
  end

  def test_a_missed_bar_is_bold_and_the_worst_of_many_is_shown
    rows = Bench::ReadmeRows::Rows.new(["measured"], [
      Bench::ReadmeRows.row("two", "one / peer", "other / peer"),
      Bench::ReadmeRows.row("worst", Bench::ReadmeRows::Worst.new("memory:"))
    ])
    shown = Bench::Readme.new.table(rows, recorded)
    assert_includes(shown, "| two | ≤ 1.1, ≥ 1,000× | **1.20, missed**, 2,000× |")
    assert_includes(shown, "| worst | ≤ 32 MB | +9.5 MB |")
  end

  def test_a_row_that_a_record_has_not_got_is_named
    error = assert_raises(Bench::Readme::Unfit) { recorded.find("third / peer") }
    assert_includes(error.message, "third / peer")
  end

  private

  def assert_page_has_the_figures_of_the_newest_records(path, tables)
    page = File.read(path, encoding: Encoding::UTF_8)
    assert_equal(tables, page.scan(/^<!-- bench:begin (\w+) -->$/).flatten)
    assert_equal(Bench::Readme.new(path).updated(page), page, "ruby bench/readme.rb writes it")
  end

  def assert_measured(suite, rows)
    titles = Bench::CommandLine::SUITES.fetch(suite).new.measures.map(&:title)
    rows.flat_map(&:columns).flatten.each do |title|
      found = title.is_a?(String) ? titles.include?(title) : titles.any? { |one| one.start_with?(title.beginning) }
      assert(found, "#{suite}: #{title}")
    end
  end

  def recorded
    Tempfile.create("record") do |file|
      file.write(<<~PAGE)
        # made, 2026-01-02

        | measure      | ours | peer | ratio   | must reach | reached |
        | ------------ | ---- | ---- | ------- | ---------- | ------- |
        | one / peer   | 12 s | 10 s | 1.20    | ≤ 1.1      | NO      |
        | other / peer | 1 s  | 20 s | 2000×   | ≥ 1000×    | yes     |
        | memory: a    | 9 MB | 1 MB | +9.5 MB | ≤ 32 MB    | yes     |
        | memory: b    | 3 MB | 1 MB | +2.0 MB | ≤ 32 MB    | yes     |

        | measure    | ours, lowest and highest run |
        | ---------- | ---------------------------- |
        | one / peer | 11–13 s                      |
      PAGE
      file.flush
      Bench::RecordedRows.new(file.path)
    end
  end
end
