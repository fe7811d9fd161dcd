# frozen_string_literal: true

# The benches' one door: `ruby bench/run.rb SUITE`. bench/README.md explains the options and the rows.

require_relative "harness/command_line"

exit Bench::CommandLine.new(ARGV).run
