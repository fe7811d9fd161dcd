# frozen_string_literal: true

require_relative "answers"
require_relative "inputs"
require_relative "setup"

module Bench
  # Check mode: every side runs once on small inputs and only its answer counts.
  class Check
    def initialize(suite, setup)
      @suite = suite
      @setup = setup
      @answers = Answers.new(Inputs.new("check", suite.check_inputs))
      @passed = @failed = 0
      @not_run = []
    end

    # The process's exit status.
    def run
      @suite.agreements.uniq(&:to_s).each { |agreement| check(agreement) }
      puts "#{@passed} passed, #{@failed} failed"
      puts "#{@not_run.size} not run: #{@not_run.uniq.join('; ')}" unless @not_run.empty?
      @failed.zero? ? 0 : 1
    end

    private

    def check(agreement)
      reason = agreement.parts.filter_map { |part| @setup.missing(part) }.first
      return missing(agreement, reason) if reason

      report(agreement, @answers.difference(agreement))
    rescue Failed, Shell::Failed => error
      failed(agreement, error.message)
    end

    # A peer that is missing only leaves a gap. Our own side has no excuse.
    def missing(agreement, reason)
      product_parts = agreement.parts & Setup::PRODUCT
      if product_parts.any? { |part| @setup.missing(part) }
        failed(agreement, reason)
      else
        @not_run << reason
      end
    end

    def report(agreement, difference)
      return failed(agreement, difference.text) if difference && !difference.known

      @passed += 1
      puts "ok      #{agreement}#{" - #{difference.text}" if difference}"
    end

    def failed(agreement, reason)
      @failed += 1
      puts "FAILED  #{agreement}: #{reason}"
    end
  end
end
