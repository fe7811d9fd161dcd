# frozen_string_literal: true

require "monitor"

module Moneta
  module Adapters
    class Bytewright < Adapter
      # A table in a file that many objects, threads and processes read and write, by turns.
      #
      # One process at a time writes a table. So this writes in turns of a moment: it opens the table for
      # writing with the first change, makes the changes of the next {TURN} seconds, closes it, and leaves
      # the file to others for {PAUSE} seconds. Reading goes on beside another process that writes. Within
      # a process all objects share what is open, and their threads take turns.
      #
      # Others see each change at once.
      #
      # @private
      class SharedFile
        # Seconds that a process writes before others may.
        TURN = 0.05
        # Seconds that the file is left to others after a turn, who look for it every 5 milliseconds.
        PAUSE = 0.01

        WRITING = { create: true, read_only: false, verify: false, values: :string }.freeze
        READING = { **WRITING, read_only: true }.freeze

        @files = {}
        @lock = Thread::Mutex.new

        class << self
          # @param path [String]
          # @param table [Class] HashTable or TreeTable
          # @param options [Hash] sync and timeout, as for {Table.open}
          # @return [SharedFile] what this process has open of the file, or a new one
          def open(path, table, **options)
            path = ::File.expand_path(path)
            @lock.synchronize { (@files[path] ||= new(path, table, **options)).tap { |file| file.join(table, options[:sync]) } }
          end

          # Forgets a file that nobody uses.
          def leave(file)
            @lock.synchronize { @files.delete(file.path) if file.part.zero? }
          end
        end

        # @return [String]
        attr_reader :path

        def initialize(path, table, sync:, timeout:)
          @path = path
          @table = table
          @options = { sync: sync, timeout: timeout, encoding: Encoding::BINARY }
          @users = 0
          begin_in_process
        end

        # One more object uses it, if it means the same table.
        #
        # @raise [ArgumentError]
        def join(table, sync)
          check(table, sync)
          in_process { write { nil } unless ::File.exist?(path) }
          @users += 1
        end

        # One object less uses it. What was changed is in the file then, whoever goes on: a child has the
        # objects of its parent too, and may never close them.
        def close
          self.class.leave(self)
        end

        # @return [Integer] how many objects use it, after one less
        def part
          in_process { close_all }
          @users -= 1
        end

        # @yieldparam table [Table] to read
        def read
          in_process { yield turning? ? @writer : reader }
        end

        # @yieldparam table [Table] to write
        # @raise [LockError] where another process writes it for all of the timeout
        def write
          in_process { yield writer }
        end

        # @return [String]
        def inspect
          "#<#{self.class} #{path.inspect}>"
        end

        private

        def check(table, sync)
          expected, found = [[@table, @options[:sync]], [table, sync]].map { |kind, mode| "a #{kind} with sync: #{::Bytewright.send(:shown, mode)}" }
          return if expected == found

          raise ArgumentError, "#{::Bytewright.send(:excerpt, path)}: expected #{expected}, as this process has it open, found #{found}"
        end

        # Runs the block with what this process has open: a child has nothing of its parent's.
        def in_process(&block)
          begin_in_process unless @process == Process.pid
          @monitor.synchronize(&block)
        end

        def begin_in_process
          @process = Process.pid
          @monitor = Monitor.new
          @reader = @writer = @turn = nil
          @left = 0
        end

        def reader
          return @reader if @reader

          opened = nil
          begin
            @reader = @table.send(:open_noted, path, **READING, **@options) { |table| opened = table }
          ensure
            opened&.close unless @reader
          end
        end

        def writer
          turning? ? @writer : begin_turn
        end

        def turning?
          @turn && !@writer.closed?
        end

        # An interrupt may come between any two steps: what no thread will close is closed here.
        def begin_turn
          @writer = @turn = nil
          wait = @left + PAUSE - now
          sleep(wait) if wait.positive?
          @table.send(:open_noted, path, **WRITING, **@options) { |opened| @writer = opened }
          @turn = Thread.new(@writer) { |writer| end_turn(writer) }
          @writer
        ensure
          close_writer unless @turn
        end

        def end_turn(writer)
          sleep(TURN)
          @monitor.synchronize { close_writer if writer.equal?(@writer) }
        rescue ::Bytewright::Error, SystemCallError, IOError
          # The next change meets the same, and its caller is told.
          nil
        end

        def close_writer
          @left = now
          @writer&.close
          @writer = @turn = nil
        end

        # Until the file is closed, the thread of the turn would close it.
        def close_all
          turn = @turn
          close_writer
          turn&.kill
          @reader&.close
          @reader = nil
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end

      private_constant :SharedFile
    end
  end
end
