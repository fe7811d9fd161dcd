# frozen_string_literal: true

require_relative "left_out_of_gc"

# Runs every test file, against the `bytewright` gem that the load path gives; with `left-out-of-gc`, those that
# all_with_garbage.rb leaves out.
names = ARGV.delete("left-out-of-gc") ? "{#{LEFT_OUT_OF_GC.join(",")}}" : "*"
Dir[File.join(__dir__, "#{names}_test.rb")].sort.each { |file| require file }
