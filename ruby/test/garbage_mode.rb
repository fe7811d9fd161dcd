# frozen_string_literal: true

require "rbconfig"

# Modes of BYTEWRIGHT_GC, in which tests run while objects are collected and moved all the time.
#
# - +compact+: a collection of all objects moves them, too, and comes soon. Calls of native methods collect at
#   every allocation: of each method the first call in a file of tests, its fourth, its sixteenth and so on. After
#   each test Ruby moves what it can, and verifies that nothing refers to where it was.
# - +stress+: every allocation of a test collects, whoever makes it. It collects young objects only, which finds
#   what is not marked and what Ruby was not told of: to collect all takes fifty times as long.
module GarbageMode
  MODE = ENV["BYTEWRIGHT_GC"]
  # Collections after so many bytes, for Ruby to read when it starts.
  OFTEN = {
    "RUBY_GC_MALLOC_LIMIT" => "65536", "RUBY_GC_MALLOC_LIMIT_MAX" => "65536",
    "RUBY_GC_OLDMALLOC_LIMIT" => "262144", "RUBY_GC_OLDMALLOC_LIMIT_MAX" => "262144"
  }.freeze
  # Of GC.stress: young objects only, because to collect and move all takes fifty times as long.
  MINOR_ONLY = 1
  # These count the objects that are made, the memory that they take or the time, or collect by themselves.
  ASIDE = /under_gc_stress|memory_does_not_grow|that_nobody_has_any_more|as_few_objects|every_allocation/

  # Has calls of native methods collect at every allocation.
  class NativeCalls
    # Most collections of a call that calls other native methods.
    COLLECTIONS_MAX = 100

    # A call under way.
    Window = Struct.new(:thread, :method_id, :owner, :began) do
      def ended_by?(point)
        method_id == point.method_id && owner.equal?(point.defined_class) && thread.equal?(Thread.current)
      end
    end

    attr_reader :count
    # True while calls are let alone.
    attr_writer :rests

    def initialize
      @calls, @ours, @count, @window, @rests = Hash.new(0), {}.compare_by_identity, 0, nil, true
    end

    # Events of native methods only: with those of Ruby's own methods too, runs crashed now and then inside of
    # Ruby 3.1.2 before their first test. What it was is not known.
    def watch
      TracePoint.new(:c_call, :c_return) do |point|
        window = @window
        if window.nil?
          open(point) if !@rests && point.event == :c_call && ours?(point.defined_class)
        elsif point.event == :c_return
          close if window.ended_by?(point)
        elsif GC.count - window.began > COLLECTIONS_MAX
          close
        end
      end.enable
    end

    # Also where a call was left without an end.
    def close
      GC.stress = false
      @window = nil
    end

    private

    def open(point)
      calls = @calls[[point.defined_class, point.method_id]] += 1
      return unless (calls & (calls - 1)).zero? && calls.bit_length.odd?

      @count += 1
      @window = Window.new(Thread.current, point.method_id, point.defined_class, GC.count)
      GC.start if calls == 1
      GC.stress = MINOR_ONLY
    end

    def ours?(owner)
      @ours.fetch(owner) { @ours[owner] = Module.instance_method(:to_s).bind_call(owner).match?(/\A(#<Class:)?Bytewright/) }
    end
  end

  CALLS = NativeCalls.new

  def self.start
    raise "BYTEWRIGHT_GC: expected compact or stress, found #{MODE}" unless %w[compact stress].include?(MODE)

    exec(OFTEN, RbConfig.ruby, "-W", "-I#{$LOAD_PATH.join(File::PATH_SEPARATOR)}", $PROGRAM_NAME, *ARGV) unless OFTEN <= ENV.to_h
    # Programs that tests start would each say that they read them.
    OFTEN.each_key { |name| ENV.delete(name) }
    Minitest::Test.prepend(self)
    say_what_was_done
    CALLS.watch if MODE == "compact"
    GC.auto_compact = true
  end

  def self.say_what_was_done
    process = Process.pid
    Minitest.after_run do
      next unless Process.pid == process

      puts "#{MODE}: #{GC.count} collections, #{GC.stat(:compact_count)} of them moved objects"
      puts "#{CALLS.count} native calls collected at every allocation" if MODE == "compact"
    end
  end

  def before_setup
    super
    return if name.match?(ASIDE)

    CALLS.rests = false
    GC.stress = MINOR_ONLY if MODE == "stress"
  end

  def after_teardown
    CALLS.rests = true
    CALLS.close
    GC.verify_compaction_references(toward: :empty)
    super
  end
end
