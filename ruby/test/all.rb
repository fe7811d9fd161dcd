# frozen_string_literal: true

# Runs every test file, against the `bytewright` gem that the load path gives.
Dir[File.join(__dir__, "*_test.rb")].sort.each { |file| require file }
