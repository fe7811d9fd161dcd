# frozen_string_literal: true

# Writes the figures of README.md, docs/benchmarks.md and docs/compared.md anew, out of the newest record of each
# suite: `ruby bench/readme.rb`. Which rows they show is in harness/readme_rows.rb.

require_relative "harness/readme"

begin
  Bench::Readme::PAGES.each { |path| Bench::Readme.new(path).write }
rescue Bench::Readme::Unfit => error
  abort error.message
end
