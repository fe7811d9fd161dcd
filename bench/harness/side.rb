# frozen_string_literal: true

require "json"
require "tempfile"

require_relative "paths"

module Bench
  # One program of a comparison. It takes a capture's path and prints its answer as a JSON line.
  #
  # name::        what the table calls it
  # command::     path of the input -> the command as an Array
  # needs::       the part of the set-up without which it cannot run
  # environment:: variables to set for it
  # answer_command:: for a program that prints no answer of its own: the command that finds it out
  Side = Struct.new(:name, :command, :needs, :environment, :answer_command, keyword_init: true) do
    def initialize(environment: {}, **rest)
      super
    end

    # What the program answers, as a Hash. Raises Failed when it does not end well.
    def answer(path)
      Tempfile.create("bench-answer") do |file|
        run(answer_command || command, path, output: file.path)
        JSON.parse(file.readlines.last || raise(Failed, "#{name} printed nothing"))
      end
    rescue JSON::ParserError
      raise Failed, "#{name} printed no JSON"
    end

    # One timed run. What it prints is thrown away: `gzip -dc` prints hundreds of megabytes.
    def time(path)
      run(command, path, output: File::NULL)
    end

    private

    def run(command, path, output:)
      runner = [Paths.executable("bench-runner"), output, *command.call(path)]
      line = IO.popen(environment, runner, &:read)
      raise Failed, "#{name} could not be started" if line.empty?

      run = Run.new(**JSON.parse(line, symbolize_names: true))
      run.status.zero? ? run : raise(Failed, "#{name} ended with status #{run.status}")
    end
  end

  # What one run took. `peak_kb` is its peak resident memory.
  Run = Struct.new(:status, :wall_s, :user_s, :system_s, :peak_kb, keyword_init: true) do
    def cpu_s
      user_s + system_s
    end

    # The median of each number on its own.
    def self.median(runs)
      new(**members.to_h { |member| [member, Bench.median(runs.map(&member))] })
    end
  end

  def self.median(numbers)
    sorted = numbers.sort
    middle = sorted.size / 2
    sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
  end

  # A side that could not do its work.
  class Failed < StandardError; end
end
