# frozen_string_literal: true

require_relative "record"

module Bytewright
  # A conversation between two endpoints: what went each way, and when. Its source is the side that
  # sent the first packet seen.
  #
  # Its getters are the fields of {Flow::FIELDS}; docs/names.md says what each means.
  class Flow
    include Record

    private_class_method :_load
  end

  # Flows of many captures, added up in one file. A capture that was counted before is recognised by
  # its content, whatever its name and compression, and not counted again.
  #
  #   Bytewright::Capture.flows("monday.pcap.gz", "tuesday.pcapng.zst", into: "week.bwt")
  #   Bytewright::FlowStore.open("week.bwt") { |store| store.max_by(10, &:bytes) }
  class FlowStore
    include Undumpable
    include Enumerable

    class << self
      # Opens the store in a file, and makes it where it is missing.
      #
      # @param path [String, #to_path]
      # @param read_only [Boolean] to read it beside others who do
      # @yieldparam store [FlowStore] closed when the block ends
      # @return [FlowStore, Object] the store, or what the block returns
      # @raise [LockError] where another process has it open
      # @raise [FormatError, CorruptError] where the file is something else, or damaged
      def open(path, read_only: false, &block)
        path = path.to_path if path.respond_to?(:to_path)
        open_path(path, read_only ? true : false, &block)
      end

      private :open_path, :open_to_count
    end

    # Yields every flow, in the order of addresses.
    #
    # @yieldparam flow [Flow]
    # @return [FlowStore, Enumerator] self, or an enumerator with a size
    def each(&block)
      return to_enum(:each) { size } unless block

      reading = read_flows
      begin
        while (flows = reading.take)
          flows.each(&block)
        end
      ensure
        reading.close
      end
      self
    end

    # Adds the flows of other stores up in this one, each store whole or not at all. Captures count once: a store of which
    # all captures were counted before adds nothing.
    #
    # @param paths [Array<String, #to_path>] files of other stores, which are read
    # @return [Array<Hash{Symbol => Object}>] for each store file, added, captures, flows, new_flows and counted_as
    # @raise [ArgumentError] where some captures of a store were counted before and others were not: their sums cannot be told
    #   apart. Stores before it stay merged
    def merge(*paths)
      reading = read_merges(paths.map { |path| path.respond_to?(:to_path) ? path.to_path : path })
      merges = []
      while (merge = reading.take)
        merges << merge
      end
      merges
    ensure
      reading&.close
    end

    alias length size

    # @return [Boolean] whether it holds no flow
    def empty?
      size.zero?
    end

    # @return [String] its name, and whether it is closed
    def inspect
      "#<#{self.class} #{name}#{" (closed)" if closed?}>"
    end

    private :read_flows, :read_merges
  end

  private_constant :OpenFlows, :OpenFlowLog
end
