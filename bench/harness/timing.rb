# frozen_string_literal: true

require_relative "answers"
require_relative "inputs"
require_relative "measure"

module Bench
  # Timing mode: each row's two sides by turns, A B A B, and the medians of their runs.
  class Timing
    # How a row came out. Without a ratio, `remark` says why.
    Outcome = Struct.new(:measure, :ours, :peer, :ratio, :remark, :answer_wrong, keyword_init: true)

    def initialize(measures, setup, runs_count:, clock:)
      @measures = measures
      @setup = setup
      @runs_count = runs_count
      @clock = clock
      @inputs = Inputs.full
      @answers = Answers.new(@inputs)
    end

    def run
      @measures.map do |measure|
        warn "running #{measure.title}"
        outcome(measure)
      end
    end

    private

    def outcome(measure)
      reason = measure.parts.filter_map { |part| @setup.missing(part) }.first
      return Outcome.new(measure: measure, remark: "not run: #{reason}") if reason

      difference = @answers.difference(measure.agreement)
      timed_outcome(measure, difference)
    rescue Failed, Shell::Failed => error
      Outcome.new(measure: measure, remark: "failed: #{error.message}", answer_wrong: true)
    end

    def timed_outcome(measure, difference)
      ours, peer = alternate(measure)
      Outcome.new(
        measure: measure, ours: ours, peer: peer, ratio: measure.ratio(ours, peer),
        remark: difference&.text, answer_wrong: difference && !difference.known
      )
    end

    def alternate(measure)
      ours_path = @inputs.path(measure.input)
      peer_path = @inputs.path(measure.peer_input)
      warm_up(measure, ours_path, peer_path)
      runs = Array.new(@runs_count) { [measure.ours.time(ours_path), measure.peer.time(peer_path)] }
      ours_runs, peer_runs = runs.transpose
      [
        timed(measure, measure.ours, measure.input, ours_runs),
        timed(measure, measure.peer, measure.peer_input, peer_runs)
      ]
    end

    def timed(measure, side, input, runs)
      packets = @answers.of(side, input).fetch("packets") if measure.kind == Kind::Rate
      Timed.new(Run.median(runs), @clock, packets)
    end

    def warm_up(measure, ours_path, peer_path)
      measure.ours.time(ours_path)
      measure.peer.time(peer_path)
    end
  end
end
