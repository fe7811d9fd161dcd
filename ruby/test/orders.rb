# frozen_string_literal: true

require "rbconfig"

# Runs all Ruby tests in one process in as many orders as the argument says, while objects are moved. An order that
# fails is printed with the command that repeats it.
ORDERS = Integer(ARGV.fetch(0, 10))
MOVING = "GC.auto_compact = true if GC.respond_to?(:auto_compact=); require #{File.join(__dir__, "all.rb").dump}".freeze

failed = (1..ORDERS).map { Random.new_seed % 65_536 }.reject do |seed|
  command = [RbConfig.ruby, "-W", *$LOAD_PATH.map { |path| "-I#{path}" }, "-e", MOVING, "--", "--seed", seed.to_s]
  output = IO.popen([*command, { err: %i[child out] }], &:read).b
  passed = Process.last_status.success?
  puts "order #{seed}: #{output.lines.grep(/runs,/).last}"
  puts output, "again: ruby -Iruby/test -e #{MOVING.dump} -- --seed #{seed}" unless passed
  $stdout.flush
  passed
end
abort("failed in #{failed.size} orders of #{ORDERS}") if failed.any?
