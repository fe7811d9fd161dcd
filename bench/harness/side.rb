# frozen_string_literal: true

require "json"
require "tempfile"

require_relative "paths"

module Bench
  # One program of a comparison. It takes an input's path and prints its answer as a JSON line.
  #
  # name::        what the table calls it
  # command::     path of the input -> the command as an Array
  # needs::       the part of the set-up without which it cannot run
  # environment:: variables to set for it
  # answer_command:: for a program that prints no answer of its own: the command that finds it out
  # measures_itself:: its answer has what it measured under "figures", because start and preparation
  #                   must not count
  Side = Struct.new(:name, :command, :needs, :environment, :answer_command, :measures_itself,
                    keyword_init: true) do
    def initialize(environment: {}, **rest)
      super
    end

    # Returns the program's answer, as a Hash. Raises Failed when it does not end well.
    def answer(path)
      run_and_answer(answer_command || command, path).answer
    end

    # One timed run. Unless the program measures itself, what it prints is thrown away: `gzip -dc`
    # prints hundreds of megabytes.
    def time(path)
      measures_itself ? run_and_answer(command, path) : run(command, path, output: File::NULL)
    end

    private

    def run_and_answer(command, path)
      Tempfile.create("bench-answer") do |file|
        run = run(command, path, output: file.path)
        run.answer = JSON.parse(file.readlines.last || raise(Failed, "#{name} printed nothing"))
        run.figures = run.answer.delete("figures")
        run
      end
    rescue JSON::ParserError
      raise Failed, "#{name} printed no JSON"
    end

    def run(command, path, output:)
      runner = [Paths.executable("bench-runner"), output, *command.call(path)]
      line = IO.popen(environment, runner, &:read)
      raise Failed, "#{name} could not be started" if line.empty?

      run = Run.new(**JSON.parse(line, symbolize_names: true))
      run.status.zero? ? run : raise(Failed, "#{name} ended with status #{run.status}")
    end
  end

  # Costs of one run. `peak_kb` is its peak resident memory; `answer` and `figures` are there if the
  # program was asked for them.
  Run = Struct.new(:status, :wall_s, :user_s, :system_s, :peak_kb, :answer, :figures, keyword_init: true) do
    def cpu_s
      user_s + system_s
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
