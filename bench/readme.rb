# frozen_string_literal: true

# Writes the figures of README.md and docs/benchmarks.md anew, out of the newest record of each suite:
# `ruby bench/readme.rb`. Which rows they show is in harness/readme_rows.rb.

require_relative "harness/readme"

begin
  [Bench::Readme::PATH, Bench::Readme::ALL_FIGURES].each { |path| Bench::Readme.new(path).write }
rescue Bench::Readme::Unfit => error
  abort error.message
end
