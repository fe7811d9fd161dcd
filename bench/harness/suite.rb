# frozen_string_literal: true

require "etc"

require_relative "measure"
require_relative "shell"

module Bench
  # The rows about one subject. A subclass has the constants FULL_INPUTS and CHECK_INPUTS (recipes by
  # key), all_blocks, and how_measured, a line for the record.
  class Suite
    # only:: text that the titles of the rows that are wanted have in them
    def initialize(only: nil)
      @only = only&.downcase
    end

    # As the command line has it.
    def name
      self.class.name.split("::").last.downcase
    end

    def measures
      blocks.flat_map(&:measures)
    end

    def blocks
      all_blocks.filter_map do |block|
        measures = block.measures.select { |measure| shown?(measure) }
        Block.new(measures: measures, runs_max: block.runs_max) unless measures.empty?
      end
    end

    def full_inputs
      self.class::FULL_INPUTS
    end

    def check_inputs
      self.class::CHECK_INPUTS
    end

    # Returns the agreements that check mode compares.
    def agreements
      measures.map(&:agreement)
    end

    private

    def shown?(measure)
      @only.nil? || measure.title.downcase.include?(@only)
    end

    # A program that measures itself at one task.
    #
    # command:: what to run, but for the path of the input
    def side(task, name, needs, command, environment = {})
      Side.new(name: "#{task}: #{name}", needs: needs, environment: environment, measures_itself: true,
               command: ->(path) { [*pin, *command, path] })
    end

    # Its name without its task.
    def label(side)
      side.name.split(": ", 2).last
    end

    # Returns the words to put before a command that measures itself in small units: one core, or caches
    # and clocks of two would be mixed.
    def pin
      @pin ||= Shell.command?("taskset") ? ["taskset", "-c", (Etc.nprocessors - 1).to_s] : []
    end
  end
end
