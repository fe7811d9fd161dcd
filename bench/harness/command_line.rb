# frozen_string_literal: true

require "optparse"

require_relative "check"
require_relative "record"
require_relative "setup"
require_relative "table"
require_relative "timing"
require_relative "suites/flows"
require_relative "suites/io"
require_relative "suites/perl"
require_relative "suites/pstore"
require_relative "suites/python"
require_relative "suites/spark"
require_relative "suites/tables"
require_relative "suites/thrift"

module Bench
  # The options of `ruby bench/run.rb`.
  class CommandLine
    SUITES = {
      "flows" => Suites::Flows, "tables" => Suites::Tables, "pstore" => Suites::PStore, "thrift" => Suites::Thrift,
      "io" => Suites::IO, "perl" => Suites::Perl, "python" => Suites::Python,
      "spark" => Suites::Spark
    }.freeze
    CLOCKS = { "wall" => :wall_s, "processor" => :cpu_s }.freeze
    RUNS_COUNT_MIN_FOR_RECORD = 5

    def initialize(arguments)
      @arguments = arguments
      @runs_count = 5
      @check = @record = false
      @clock = "wall"
      @only = nil
    end

    # The process's exit status: 0, 1 for a wrong answer, 2 for wrong usage.
    def run
      suite_class = parse
      return usage unless suite_class

      setup = Setup.new
      setup.build_tools
      suite = suite_class.new(only: @only)
      return usage if suite.measures.empty?

      @check ? Check.new(suite, setup).run : time(suite, setup)
    rescue OptionParser::ParseError => error
      warn error.message
      usage
    rescue Shell::Failed => error
      warn error.message
      1
    end

    private

    def parse
      names = parser.parse(@arguments)
      return if names.size != 1 || @runs_count < 1

      SUITES[names.first]
    end

    def parser
      @parser ||= OptionParser.new do |options|
        options.banner = "usage: ruby bench/run.rb #{SUITES.keys.join('|')} [options]"
        options.on("--check", "compare answers on small inputs; nothing is timed") { @check = true }
        options.on("--runs COUNT", Integer, "timed runs of each side (5)") { |count| @runs_count = count }
        options.on("--clock CLOCK", CLOCKS.keys, "of flows: wall, or processor on a busy machine (wall)") do |clock|
          @clock = clock
        end
        options.on("--only TEXT", "only the rows whose title has TEXT in it") { |text| @only = text }
        options.on("--record", "write the table to bench/records/") { @record = true }
      end
    end

    def usage
      warn parser.help
      2
    end

    def time(suite, setup)
      outcomes = Timing.new(suite, setup, runs_count: @runs_count, clock: CLOCKS.fetch(@clock)).run
      table = Table.new(outcomes)
      puts table
      record(suite, table) if @record
      outcomes.any?(&:answer_wrong) ? 1 : 0
    end

    def record(suite, table)
      if @runs_count < RUNS_COUNT_MIN_FOR_RECORD || @only
        warn "no record written: it needs all rows and at least #{RUNS_COUNT_MIN_FOR_RECORD} runs"
      else
        how_measured = suite.how_measured(runs_count: @runs_count, clock: @clock)
        warn "wrote #{Record.new(suite.name, table, how_measured: how_measured).write}"
      end
    end
  end
end
