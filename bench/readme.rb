# frozen_string_literal: true

# Writes README's tables of figures anew, out of the newest record of each suite: `ruby bench/readme.rb`.
# Which rows it shows is in harness/readme_rows.rb.

require_relative "harness/readme"

begin
  Bench::Readme.new.write
rescue Bench::Readme::Unfit => error
  abort error.message
end
