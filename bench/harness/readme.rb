# frozen_string_literal: true

require_relative "paths"
require_relative "readme_rows"

module Bench
  # The figures of README.md, docs/benchmarks.md and docs/compared.md, out of the newest record of each suite.
  # A table stands between `<!-- bench:begin SUITE -->` and `<!-- bench:end -->`; README's one, `seconds`, has what both sides
  # took, and `costs`, of docs/benchmarks.md, has no bars. A single number follows
  # `<!-- bench:figure SUITE: TITLE -->`. Nothing of these is written by hand.
  class Readme
    PATH = File.join(Paths::ROOT, "README.md")
    ALL_FIGURES = File.join(Paths::ROOT, "docs/benchmarks.md")
    COMPARISON = File.join(Paths::ROOT, "docs/compared.md")
    PAGES = [PATH, ALL_FIGURES, COMPARISON].freeze
    BETWEEN_MARKS = /^<!-- bench:begin (\w+) -->\n.*?^<!-- bench:end -->$/m
    MARKED_FIGURE = /(<!-- bench:figure (\w+): (.+?) -->)(?:\d+(?:[.,]\d+)*×?)?/

    # A record that cannot be shown, with what is wrong.
    class Unfit < StandardError; end

    def initialize(path = PATH)
      @path = path
    end

    # The page as it is, with the figures that the records give.
    def updated(text = File.read(@path, encoding: Encoding::UTF_8))
      with_tables = text.gsub(BETWEEN_MARKS) { "<!-- bench:begin #{$1} -->\n#{section($1)}<!-- bench:end -->" }
      with_tables.gsub(MARKED_FIGURE) { "#{$1}#{single_figure($2, $3)}" }
    end

    def write
      File.write(@path, updated)
    end

    # The rows as Markdown, with what the record has for them.
    def table(rows, record)
      headings = ["measure", "bar", *rows.headings]
      lines = rows.rows.map do |row|
        columns = row.columns.map { |titles| titles.map { |title| record.find(title) } }
        [row.sentence, bars(columns.first), *columns.map { |found| figures(found) }]
      end
      [headings, headings.map { "---" }, *lines].map { |cells| "| #{cells.join(" | ")} |".squeeze(" ") }.join("\n")
    end

    private

    def section(suite_name)
      return seconds if suite_name == "seconds"
      return costs if suite_name == "costs"

      rows = ReadmeRows::ALL.fetch(suite_name) { raise Unfit, "#{@path} has a table of #{suite_name}, which is no suite" }
      record = newest_record(suite_name)
      return without_record(suite_name) unless record

      "#{origin(record, suite_name)}\n\n#{table(rows, record)}\n"
    end

    def single_figure(suite_name, title)
      ratio = newest_record(suite_name)&.find(title)&.ratio
      ratio&.[](/\A(\d[\d.,]*×?)(?: \w+)?\z/, 1) || raise(Unfit, "#{suite_name}: #{title}: expected a number, found #{ratio.inspect}")
    end

    # Returns the table of what a terabyte costs on Spark.
    def costs
      record = newest_record("spark")
      return without_record("spark") unless record

      lines = ReadmeRows::COSTS.map { |title, sentence| "| #{sentence} | #{record.find(title).ratio} |" }
      [origin(record, "spark"), "", "| work | measured |", "| --- | --- |", *lines].join("\n") << "\n"
    end

    def without_record(suite_name)
      "There is no record yet; `make bench-#{suite_name}` measures.\n"
    end

    # Returns the rows of README, with the seconds of both sides.
    def seconds
      record = newest_record("flows")
      lines = ReadmeRows::SECONDS.map do |title, (question, peer)|
        row = record.find(title)
        "| #{question} | #{row.ours} | #{row.peer} | #{peer} |"
      end
      ["| | Bytewright | without | |", "| --- | --- | --- | --- |", *lines].join("\n") << "\n"
    end

    def newest_record(suite_name)
      path = Dir[File.join(Paths::RECORDS, "*-#{suite_name}.md")].max
      path && RecordedRows.new(path)
    end

    def origin(record, suite_name)
      "#{record.date}, #{record.machine} ([record](../#{record.path.delete_prefix("#{Paths::ROOT}/")}), `make bench-#{suite_name}`):"
    end

    # Each bar, or one for all where it is the same.
    def bars(found)
      bars = found.map { |recorded| recorded.bar || "–" }
      return "" if bars.uniq == ["–"]

      (bars.uniq.size == 1 ? bars.uniq : bars).join(", ")
    end

    # Returns the ratios that were measured, those that miss their bars in bold.
    def figures(found)
      found.slice_when { |one, next_one| one.missed? != next_one.missed? }.map do |run|
        text = run.map(&:ratio).join(", ")
        run.first.missed? ? "**#{text}, missed**" : text
      end.join(", ")
    end
  end

  # The first table of a record, row by row, and on which machine it was made.
  class RecordedRows
    # A row: its title, what came out on both sides and between them, the bar or nil, and whether that was reached.
    Recorded = Struct.new(:title, :ours, :peer, :ratio, :bar, :reached) do
      def missed?
        !%w[yes –].include?(reached)
      end

      # For the worst of many.
      def number
        ratio.delete("^0-9.").to_f
      end
    end

    attr_reader :path

    def initialize(path)
      @path = path
      @text = File.read(path, encoding: Encoding::UTF_8)
      @rows = @text[/^\| measure .*?(?=^$|\z)/m].lines.drop(2).map { |line| recorded(line) }
    end

    def date
      @text[/\A# \w+, (.*)$/, 1]
    end

    # Describes the machine, as far as it counts for times.
    def machine
      [about("processor"), "Ruby #{about("ruby")[/[\d.]+/]}", "Rust #{about("rustc")[/[\d.]+/]}"].join(", ")
    end

    # The row of that title, or the worst of those that begin so.
    def find(title)
      found = title.is_a?(ReadmeRows::Worst) ? worst(title.beginning) : @rows.find { |row| row.title == title }
      found || raise(Readme::Unfit, "#{path} has no row \"#{title}\", which a page shows")
    end

    private

    def about(name)
      @text[/^- #{name}: (.*)$/, 1] || raise(Readme::Unfit, "#{path} does not say its #{name}")
    end

    def worst(beginning)
      @rows.select { |row| row.title.start_with?(beginning) }.max_by(&:number)
    end

    def recorded(line)
      title, ours, peer, ratio, bar, reached = line.delete_prefix("|").split(" | ").map { |cell| cell.delete("|").strip }
      Recorded.new(title, ours, peer, grouped(ratio), bar == "for scale" ? nil : grouped(bar), reached)
    end

    # 24946 as 24,946.
    def grouped(text)
      text.gsub(/(?<![\d.])\d{4,}/) { |digits| digits.reverse.scan(/\d{1,3}/).join(",").reverse }
    end
  end
end
