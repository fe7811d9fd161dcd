# frozen_string_literal: true

module Bytewright
  class ADB
    # Keeps a table in memory within the tuning "capnum", entries, and "capsiz", bytes: what comes first in
    # the table's order goes first, which of a hashed table is what was not written for longest.
    class Capacity
      # Between this many changes the bytes are counted, which takes longer than a change.
      CHANGES_BETWEEN_COUNTS = 256

      # @return [Capacity, nil] nil where the name sets no bound
      def self.of(table, name)
        new(table, name) if name.in_memory? && (name.capnum.positive? || name.capsiz.positive?)
      end

      def initialize(table, name)
        @table = table
        @capnum = name.capnum
        @capsiz = name.capsiz
        @changes = 0
      end

      # Takes out what is too much after a change.
      def keep
        @table.shift while @capnum.positive? && @table.size > @capnum
        @changes += 1
        return unless @capsiz.positive? && (@changes % CHANGES_BETWEEN_COUNTS).zero?

        @table.shift while bytes > @capsiz && !@table.empty?
      end

      private

      def bytes
        @table.stat.values_at(:live_bytes, :index_bytes).sum
      end
    end

    private_constant :Capacity
  end
end
