# frozen_string_literal: true

# Signals from a process beside this one, at random moments fractions of a millisecond apart.
module Interruptions
  # Exception that a signal raises.
  class Interruption < Exception; end # rubocop:disable Lint/InheritException -- no rescue in between takes it

  module_function

  # Runs the block while signals come, each of which calls the handler in the main thread.
  def with_signals(handler, seed:)
    parent = Process.pid
    before = trap("USR1") { handler.call }
    child = fork do
      trap("USR1", "DEFAULT")
      random = Random.new(seed)
      loop do
        sleep(0.0001 + random.rand * 0.0008)
        Process.kill(:USR1, parent)
      end
    rescue Errno::ESRCH
      exit!
    end
    yield
  ensure
    Process.kill(:KILL, child)
    Process.wait(child)
    trap("USR1", before || "DEFAULT")
  end

  # Yields what runs an operation again and again until it is interrupted, as Timeout interrupts.
  def with_interruptions(seed)
    is_due, thread = false, Thread.current
    raising = lambda do
      next unless is_due

      is_due = false
      thread.raise(Interruption, "seed #{seed}")
    end
    with_signals(raising, seed: seed) do
      yield lambda { |operation|
        begin
          is_due = true
          operation.call while is_due
          # One that was held back comes here.
          Thread.pass
          raise "expected an interruption, found it lost on its way; seed #{seed}"
        rescue Interruption
          nil
        ensure
          # An error is told, and not interrupted.
          is_due = false
        end
      }
    ensure
      is_due = false
    end
  end
end
