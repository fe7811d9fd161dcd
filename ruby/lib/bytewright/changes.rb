# frozen_string_literal: true

module Bytewright
  # Changes of a table in a file, up to the moment when they were asked for: {Table#changes_since}. They can be gone over once.
  class Changes
    include Enumerable
    include Undumpable

    # @yieldparam change [Symbol] +:put+, +:delete+, or +:clear+, which deletes all entries
    # @yieldparam key [String, nil] nil with +:clear+
    # @yieldparam value [String, Object, nil] nil but with +:put+
    # @return [self, Enumerator]
    def each
      return to_enum(:each) unless block_given?

      while (change = advance)
        yield(*change)
      end
      self
    end

    private

    def instead_of_dump
      "its position"
    end
  end
end
