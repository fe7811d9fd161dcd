# frozen_string_literal: true

module Bench
  # The outcomes as a Markdown table that also reads well in a terminal.
  class Table
    HEADINGS = ["measure", "ours", "peer", "ratio", "must reach", "reached"].freeze
    CPU_HEADINGS = ["measure", "ours, processor time", "peer, processor time", "ratio"].freeze
    RANGE_HEADINGS = ["measure", "ours, lowest and highest run", "peer, lowest and highest run"].freeze

    def initialize(outcomes)
      @outcomes = outcomes
    end

    def to_s
      remarks = @outcomes.select(&:remark).map { |outcome| "- #{outcome.measure.title}: #{outcome.remark}" }
      parts = [render(HEADINGS, @outcomes.map { |outcome| row(outcome) })]
      parts << remarks.join("\n") unless remarks.empty?
      measured, timed = @outcomes.select(&:ratio).partition { |outcome| outcome.measure.kind.figure }
      parts << processor_times(timed) unless timed.empty?
      parts << ranges(measured) unless measured.empty?
      parts.join("\n\n")
    end

    private

    def row(outcome)
      measure = outcome.measure
      return [measure.title, "–", "–", "not run", bar(measure), "–"] unless outcome.ratio

      kind = measure.kind
      [measure.title, kind.show(outcome.ours), outcome.peer ? kind.show(outcome.peer) : "–",
       kind.show_ratio(outcome.ratio), bar(measure), verdict(outcome)]
    end

    def bar(measure)
      bar = measure.bar
      return "for scale" unless bar.relation

      number = [bar.number, measure.kind.unit].compact.join(" ")
      "#{bar.relation == :<= ? '≤' : '≥'} #{number}#{'×' if bar.relation == :>=}"
    end

    def verdict(outcome)
      return "WRONG ANSWER" if outcome.answer_wrong

      case outcome.measure.bar.reached?(outcome.ratio)
      when true then "yes"
      when false then "NO"
      else "–"
      end
    end

    # Wall time suffers from other work on the machine; processor time shows whether it did.
    def processor_times(outcomes)
      rows = outcomes.map do |outcome|
        ours, peer = [outcome.ours, outcome.peer].map { |timed| timed.median(:cpu_s) }
        [outcome.measure.title, format("%.3f s", ours), format("%.3f s", peer),
         format("%.2f", ours / [peer, 1e-6].max)]
      end
      render(CPU_HEADINGS, rows)
    end

    # Renders the ranges of the runs of sides that measure themselves.
    def ranges(outcomes)
      rows = outcomes.map do |outcome|
        figure = outcome.measure.kind.figure
        [outcome.measure.title, figure.show_range(outcome.ours),
         outcome.peer ? figure.show_range(outcome.peer) : "–"]
      end
      render(RANGE_HEADINGS, rows)
    end

    def render(headings, rows)
      widths = [headings, *rows].transpose.map { |column| column.map(&:length).max }
      rule = widths.map { |width| "-" * width }
      [headings, rule, *rows].map do |cells|
        "| #{cells.zip(widths).map { |cell, width| cell.ljust(width) }.join(' | ')} |"
      end.join("\n")
    end
  end
end
