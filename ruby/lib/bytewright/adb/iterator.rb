# frozen_string_literal: true

module Bytewright
  class ADB
    # Where {ADB#iternext} is in a tree. Each step looks the next key up, so that entries that were put in
    # or taken out meanwhile are seen as they are.
    class OrderedIterator
      def initialize(table, from)
        @table = table
        @from = from || "".b
      end

      # @return [String, nil] the next key
      def next
        key, = @from && @table.ceiling(@from)
        @from = key && "#{key}\0".b
        key
      end

      def close
        @from = nil
      end
    end

    # Where {ADB#iternext} is in a hashed table: in the entries as they were, without those that went.
    class Iterator
      def initialize(table, from)
        @table = table
        @snapshot = table.snapshot
        @scan = @snapshot.send(:scan, nil)
        @pushed_back = from&.b
        skip_to(@pushed_back) if from
      end

      # @return [String, nil] the next key
      def next
        if @pushed_back
          key, @pushed_back = @pushed_back, nil
          return key
        end
        while (key = step)
          return key if @table.key?(key)
        end
      end

      def close
        @scan&.close
        @snapshot.close
        @scan = nil
      end

      private

      def step
        key, = @scan&.first(1)&.first
        close unless key
        key
      end

      def skip_to(key)
        passed = step until passed == key || @scan.nil?
      end
    end

    private_constant :Iterator, :OrderedIterator
  end
end
