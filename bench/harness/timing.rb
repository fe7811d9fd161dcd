# frozen_string_literal: true

require_relative "answers"
require_relative "inputs"
require_relative "measure"

module Bench
  # Timing mode: the sides of each block by turns, A B A B, and the medians of their runs.
  class Timing
    # Outcome of a row. Without a ratio, `remark` says why.
    Outcome = Struct.new(:measure, :ours, :peer, :ratio, :remark, :answer_wrong, keyword_init: true)

    # A side with its input, its runs so far, and the error that ended them.
    Place = Struct.new(:side, :input, :runs, :error)

    def initialize(suite, setup, runs_count:, clock:)
      @suite = suite
      @setup = setup
      @runs_count = runs_count
      @clock = clock
      @inputs = Inputs.new("full", suite.full_inputs)
      @answers = Answers.new(@inputs)
    end

    def run
      @suite.blocks.flat_map { |block| outcomes(block) }
    end

    private

    def outcomes(block)
      not_run, measures = block.measures.partition { |measure| reason(measure) }
      warn "running #{measures.map(&:title).join("\n        ")}" unless measures.empty?
      places = run_by_turns(measures, [@runs_count, block.runs_max].compact.min)
      block.measures.map do |measure|
        next Outcome.new(measure: measure, remark: "not run: #{reason(measure)}") if not_run.include?(measure)

        outcome(measure, places)
      end
    end

    # Returns the reason why a row cannot be run, or nil.
    def reason(measure)
      measure.parts.filter_map { |part| @setup.missing(part) }.first
    end

    def run_by_turns(measures, runs_count)
      places = measures.flat_map { |measure| places_of(measure) }.to_h
      places.each_value { |place| warm_up(place) }
      runs_count.times { places.each_value { |place| run_once(place) } }
      places
    end

    def places_of(measure)
      pairs = [[measure.ours, measure.input]]
      pairs << [measure.peer, measure.peer_input] if measure.peer
      pairs.map { |side, input| [[side.name, input], Place.new(side, input, [])] }
    end

    # Runs a side once, unless it measures itself: then it warms up by itself, before it begins to count.
    def warm_up(place)
      place.side.time(@inputs.path(place.input)) unless place.side.measures_itself
    rescue Failed, Shell::Failed => error
      place.error = error
    end

    def run_once(place)
      return if place.error

      run = place.side.time(@inputs.path(place.input))
      @answers.add(place.side, place.input, run.answer) if run.answer
      place.runs << run
    rescue Failed, Shell::Failed => error
      place.error = error
    end

    def outcome(measure, places)
      ours, peer = [[measure.ours, measure.input], [measure.peer, measure.peer_input]].map do |side, input|
        side && timed(measure, places.fetch([side.name, input]))
      end
      difference = @answers.difference(measure.agreement)
      Outcome.new(
        measure: measure, ours: ours, peer: peer, ratio: measure.ratio(ours, peer),
        remark: difference&.text, answer_wrong: difference && !difference.known
      )
    rescue Failed, Shell::Failed => error
      Outcome.new(measure: measure, remark: "failed: #{error.message}", answer_wrong: true)
    end

    def timed(measure, place)
      raise place.error if place.error

      packets = @answers.of(place.side, place.input).fetch("packets") if measure.kind == Kind::Rate
      Timed.new(place.runs, @clock, packets)
    end
  end
end
