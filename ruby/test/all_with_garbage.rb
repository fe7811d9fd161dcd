# frozen_string_literal: true

require "etc"
require "rbconfig"
require_relative "left_out_of_gc"

# Runs the test files while objects are collected and moved, as BYTEWRIGHT_GC says (garbage_mode.rb). Each has a
# Ruby of its own, because a small heap is quickly collected, and there are as many at once as processors.
#
# Random tests make fewer rounds than usual, unless their variables say otherwise. With +compact+, the files of LEFT_OUT_OF_GC are
# left out.
ENV["BYTEWRIGHT_GC"] ||= "compact"
FEWER = {
  "BYTEWRIGHT_OPERATIONS" => "100", "BYTEWRIGHT_TRANSACTIONS" => "200", "BYTEWRIGHT_CASES" => "20",
  "BYTEWRIGHT_MESSAGES" => "300", "BYTEWRIGHT_INCREMENTS" => "20"
}.freeze
# Runs a file and answers whether its tests passed; says how it went.
def passed?(file)
  load_path = $LOAD_PATH.join(File::PATH_SEPARATOR)
  output = IO.popen([FEWER.merge(ENV.to_h), RbConfig.ruby, "-W", "-I#{load_path}", file, { err: %i[child out] }], &:read).b
  passed = Process.last_status.success?
  puts "#{File.basename(file)}: #{passed ? output.lines.grep(/runs,|collect/).map(&:chomp).join("; ") : output}"
  passed
end

wanted = ARGV.empty? ? "*" : "{#{ARGV.join(",")}}"
files = Dir[File.join(__dir__, "#{wanted}_test.rb")].sort
if ENV["BYTEWRIGHT_GC"] == "compact"
  left, files = files.partition { |file| LEFT_OUT_OF_GC.include?(File.basename(file, "_test.rb")) }
  puts "left out: #{left.map { |file| File.basename(file) }.join(", ")}"
end
# Those that take long begin first.
waiting = Queue.new(files.sort_by { |file| -File.size(file) }).close
failed = Array.new(Etc.nprocessors) do
  Thread.new { [].tap { |mine| while (file = waiting.pop) do mine << file unless passed?(file) end } }
end.flat_map(&:value)
abort("failed with BYTEWRIGHT_GC=#{ENV["BYTEWRIGHT_GC"]}: #{failed.map { |file| File.basename(file) }.join(", ")}") if failed.any?
