# frozen_string_literal: true

require_relative "extension"
Bytewright.send(:define_captures)
require_relative "packet"
require_relative "columns"
require_relative "flow"
require_relative "call"
require_relative "options"
require_relative "questions"
require_relative "capture_writer"
require_relative "since_1970"

module Bytewright
  # A capture file (pcap or pcapng, plain or compressed with gzip or zstd), read in one pass.
  #
  #   Bytewright::Capture.open("trace.pcap.gz") do |capture|
  #     capture.each { |packet| puts packet.src_ip if packet.dst_port == 53 }
  #   end
  #
  # Each iteration over a path reads the file from its beginning. An IO is read once.
  #
  # A damaged file gives every packet before the damage and then raises FormatError, TruncatedError
  # or LimitError, which say where. With +damage: :keep+ it gives the packets, warns, and raises nothing.
  class Capture
    include Undumpable
    include Enumerable

    class << self
      # Opens a capture.
      #
      # @param source [String, #to_path, #readpartial, #read] a path, or an IO or IO-like object
      # @param options those of {Options::CAPTURE}: filter, flow, inner, jobs, index, index_dir and damage
      # @yieldparam capture [Capture] closed when the block ends
      # @return [Capture, Object] the capture, or what the block returns
      # @raise [Errno::ENOENT] and its like where the file cannot be opened
      # @raise [ArgumentError] where the filter is none
      # @raise [MissingLibraryError] where a filter is given and libpcap is not there
      def open(source, **options, &block)
        opener, *of = way_to(source)
        send(opener, *of, options, &block)
      end

      # Captures packets of a network interface as they come, with libpcap, which takes the right to capture (root, or
      # CAP_NET_RAW). An iteration goes on until +break+ or its like, or {#stop}. The first one has the packets from here on,
      # and each later one those from its beginning on.
      #
      #   Bytewright::Capture.live("eth0", filter: "udp port 53") do |capture|
      #     capture.each { |packet| puts packet.src_ip }
      #   end
      #
      # Flows of an interface end with their +idle_timeout+ also while no packet comes.
      #
      # @param interface [String] its name, such as "eth0"; "any" is all of them
      # @param options those of {Options::LIVE} (snaplen, buffer and promiscuous), and of {open}; the system leaves out what the
      #   filter does not match
      # @yieldparam capture [Capture] closed when the block ends
      # @return [Capture, Object] the capture, or what the block returns
      # @raise [ArgumentError] where there is no such interface; the message names those there are
      # @raise [Errno::EPERM] without the right to capture
      # @raise [MissingLibraryError] without libpcap
      def live(interface, **options, &block)
        open_interface(interface, options, &block)
      end

      # Sums up captures by flow.
      #
      # With +into+ the flows of each capture are merged into a file, in one transaction that is on disk
      # when its turn ends; a capture that was counted before is not counted again.
      #
      # With +format+ as well, the flows of all captures are written to that file as another program has them: +:zeek+ (its
      # conn.log), +"zeek-json"+, +:ecs+ (the Elastic Common Schema) or +:ipfix+. The file has its name when it is whole.
      #
      # @param sources [Array<String, #to_path, #readpartial, #read>] captures, read in this order
      # @param into [String, #to_path, FlowStore, nil] a file, or without +format+ a store that is open
      # @param format [Symbol, String, nil] the program that is to read the file
      # @param options those of {Options::FLOWS} (idle_timeout, active_timeout, max_flows and, unless flows are merged, where), of
      #   {open}, and with +format+ force, to replace a capture, a table or a store, too
      # @yieldparam flow [Flow] without +into+: each flow, when it ends
      # @return [Array<Hash>] with +into+: per capture file, added, packets,
      #   packets_without_flow, flows, new_flows, counted_as, content_id, and damage (an Error, or nil)
      # @return [Integer] with +format+: the number of flows
      # @return [Enumerator, nil] otherwise
      # @raise [FormatError, TruncatedError] where a source is no capture, or ends inside of its header; the
      #   store is then as the captures before it left it
      def flows(*sources, into: nil, format: nil, **options, &block)
        if into
          raise ArgumentError, "expected a block or into:, found both: flows of the file are those of its FlowStore" if block

          return format ? log_flows(sources, into, format, options) : merge(sources, into, options)
        end
        raise ArgumentError, "expected the file of the flows as into:, found only their format: #{format.inspect}" if format

        return to_enum(:flows, *sources, **options) unless block

        under_way, options = flows_and_options(options)
        sources.each_with_index do |source, at|
          open(source, **options) { |capture| capture.send(:add_to, under_way, at == sources.size - 1, &block) }
        end
        nil
      end

      # Writes one page of HTML about captures, which needs no network: traffic over time, hosts, conversations, ports,
      # Thrift calls, damage. A file that is there is replaced when the page is whole.
      #
      # @param sources [Array<String, #to_path, #readpartial, #read>] captures, read in this order
      # @param into [String, #to_path] the page's file
      # @param options those of {Options::REPORT} (title, where and force), and of {open}
      # @return [Array<Hash>] per capture file, packets, bytes, and damage (an Error, or nil)
      # @raise [FormatError, TruncatedError] where a source is no capture, or ends inside of its header; then no page is
      #   written
      def report(*sources, into:, **options)
        into = into.to_path if into.respond_to?(:to_path)
        report = OpenReport.new(into, options)
        options = options.slice(*Options::CAPTURE.keys)
        reported = sources.map do |source|
          open(source, **options) { |capture| capture.send(:add_to_report, report) }
        end
        report.write
        reported
      end

      private :open_path, :open_object, :open_interface

      private

      # The answer to the question of that name, over captures that are read in this order as one run.
      def summary(name, sources, options)
        raise ArgumentError, "expected a capture, found none" if sources.empty?

        under_way = OpenSummary.new(name, options, false)
        options = options.slice(*Options::CAPTURE.keys)
        answers = sources.map.with_index(1) do |source, number|
          open(source, **options) { |capture| capture.send(:add_to_summary, under_way, number == sources.size) }
        end
        answers.last
      end

      # Flows under way, and the options that are left for the captures.
      def flows_and_options(options)
        [OpenFlows.new(options, false), options.slice(*Options::CAPTURE.keys)]
      end

      def log_flows(sources, into, format, options)
        flow_log(into, format, options, false) do |log|
          options = options.slice(*Options::CAPTURE.keys)
          sources.each { |source| open(source, **options) { |capture| capture.send(:add_to_flow_log, log) } }
        end
      end

      # Yields a file of flows under way, and gives it its name.
      def flow_log(into, format, options, is_open)
        raise ArgumentError, "expected a path to write flows to, found a FlowStore; leave out format:" if into.is_a?(FlowStore)

        into = into.to_path if into.respond_to?(:to_path)
        log = OpenFlowLog.new(into, format.to_s, options, is_open)
        yield log
        log.finish
      ensure
        log&.discard
      end

      def merge(sources, into, options)
        under_way, options = flows_and_options(options)
        return merge_into_file(sources, into, under_way, options) unless into.is_a?(FlowStore)

        merge_into_store(sources, into, under_way, options)
      end

      def merge_into_store(sources, store, under_way, options)
        sources.map do |source|
          open(source, **options) { |capture| capture.send(:merge_into, store, under_way) }
        end
      end

      # The first capture makes the file, so that sources that are no captures leave none behind.
      def merge_into_file(sources, path, under_way, options)
        path = path.to_path if path.respond_to?(:to_path)
        FlowStore.send(:open_to_count, path) { |store| merge_into_store(sources, store, under_way, options) }
      end

      # The method that opens a source, and what that is given.
      def way_to(source)
        return [:open_path, source] if source.is_a?(String)
        return [:open_object, source, descriptor_of(source)] if source.respond_to?(:readpartial)
        return [:open_path, source.to_path] if source.respond_to?(:to_path)
        return [:open_object, source, descriptor_of(source)] if source.respond_to?(:read)

        raise TypeError, "expected a path or an object with readpartial or read, found #{source.class}"
      end

      # The descriptor of an IO, so that no output replaces its file.
      def descriptor_of(source)
        source.fileno if source.is_a?(IO) && !source.closed?
      end
    end

    # @!method stop
    #   Ends the iterations and sums under way over an interface, as from another thread or a signal's handler: they answer
    #   for the packets that came before. Nothing happens to other captures.
    #   @return [nil]

    # @!method live_counts
    #   Counts of all iterations over an interface together.
    #   @return [Hash{Symbol => Integer}, nil] captured, dropped (there was no room for them) and dropped_by_interface; nil
    #     for other captures

    # @!method index_fault
    #   Reason why the index of the capture was not used, or could not be made beside another answer.
    #   @return [Error, nil] nil where there was no index, or it was used

    # @!method damage
    #   The damage that the latest pass over the capture has kept what is before.
    #   @return [FormatError, TruncatedError, LimitError, nil] nil where there was none, or without +damage: :keep+

    # Yields every packet.
    #
    # The block gets the same Packet each time, moved on to the next packet: use +dup+ to keep one. After the last packet
    # it raises ClosedError. Without a block, and in the methods of Enumerable that keep elements (first, to_a, lazy,
    # sort_by, ...), every packet is a Packet of its own; in those that keep what the block answers (map, to_h, ...)
    # it is not.
    #
    # @yieldparam packet [Packet]
    # @return [Capture, Enumerator] self, or an enumerator of copies
    def each(&block)
      return to_enum(:each_copy) unless block

      pass(read_frames([])) { |reading| reading.each_packet(reading.cursor, &block) }
    end

    # Returns the packet with a number, read up to there, or out of its part where the capture has an index: see {#index}.
    #
    # @param number [Integer] number of the packet in the capture, from 1
    # @return [Packet, nil] a copy, nil where the capture has no such packet, or the options of {open} leave it out
    def [](number)
      raise TypeError, "expected the number of a packet, found #{number.inspect}" unless number.is_a?(Integer)

      found = nil
      if number.between?(1, (1 << 64) - 1)
        pass(read_frame(number)) { |reading| reading.each_packet(reading.cursor) { |packet| found = packet.dup } }
      end
      found
    end

    # Yields an Array of field values per packet.
    #
    # @param fields [Array<Symbol>] which fields, in which order; DEFAULT_FIELDS where none is named
    # @yieldparam row [Array<Integer, String, nil>]
    # @return [Capture, Enumerator] self, or an enumerator of the rows
    def each_row(*fields, &block)
      return to_enum(:each_row, *fields) unless block

      fields = DEFAULT_FIELDS if fields.empty?
      pass(read_frames(fields)) { |reading| reading.each_row(reading.cursor, &block) }
    end

    # Yields packets in batches of columns, the fastest way to hand many packets to Ruby.
    #
    # @param fields [Array<Symbol>] which columns; DEFAULT_FIELDS where none is named
    # @param options those of {Options::PACKETS}: rows, the most packets in a batch, and where, a condition on packets, as the
    #   command's --where
    # @yieldparam columns [Columns]
    # @return [Capture, Enumerator] self, or an enumerator of the batches
    def each_batch(*fields, **options)
      return to_enum(:each_batch, *fields, **options) unless block_given?

      fields = DEFAULT_FIELDS if fields.empty?
      pass(read_columns(fields, options)) do |reading|
        while (columns = reading.take)
          yield columns
        end
      end
    end

    # Counts packets by the value of a field, without an object per packet.
    #
    # @param field [Symbol]
    # @param options those of {Options::COUNTS}: where
    # @return [Hash{Integer, String, nil => Integer}] packets per value, in order of the values; those
    #   that have no such field are counted under nil
    def count_by(field, **options)
      result_of(read_counts(field, options))
    end

    # Adds packets up by the values of fields and by intervals of time, without an object per packet. With a block, it is
    # Enumerable's.
    #
    #   capture.sum(:length, by: [:dst_port], every: 60, top: 5)
    #   # => [{ ts: 1795293420000000000, dst_port: 80, packets: 3120, length: 401221, groups: 1 }, ...]
    #
    # @param fields [Array<Symbol>] fields of numbers, each added up
    # @param options those of {Options::SUMS}: by, every, top and where
    # @return [Array<Hash{Symbol => Object}>] the groups, by time and then the largest first. In +groups+ is how many of them
    #   the row stands for: beyond 262,144 groups the smallest are counted together
    def sum(*fields, **options, &block)
      return super(*fields, &block) if block

      result_of(read_sums(fields.map(&:to_s), options))
    end

    # Writes packets to a new capture. The name says the form: .pcap or .pcapng, with .gz or .zst behind it to compress it.
    # The file has its name when it is whole, and replaces the one that has it. See docs/cut.md for what is kept.
    #
    # @param path [String, #to_path]
    # @param from [Time, DateTime, Numeric, String, nil] only packets of this time or later; text and Integers as in a condition:
    #   seconds since 1970, and from 10^17 on nanoseconds; other numbers are seconds
    # @param to [Time, DateTime, Numeric, String, nil] only packets before this time
    # @param options those of {Options::CUT}, among them where, snaplen, anonymize and force; this capture itself is never replaced
    # @return [Hash{Symbol => Object}] packets, bytes (on the wire), late (packets that are earlier than one before them),
    #   duplicates (that drop_duplicates left out), opaque (packets without a known header, with anonymize), files (that rotate
    #   makes of it), and damage (an Error that ended this capture, or nil)
    def write_to(path, from: nil, to: nil, **options)
      path = path.to_path if path.respond_to?(:to_path)
      result_of(read_cut(path, { from_time: Since1970.text(from), to_time: Since1970.text(to), **options }))
    end

    # Sums up the packets by flow, both directions in one.
    #
    # With +into+ and +format+, the flows are written to that file as another program has them: +:zeek+ (its conn.log),
    # +"zeek-json"+, +:ecs+ (the Elastic Common Schema) or +:ipfix+. The file has its name when it is whole; of an interface, after
    # {#stop}, and also when an exception, an interrupt or {#close} ends it, with the flows so far. It never replaces this capture.
    #
    # @param into [String, #to_path, nil] a file
    # @param format [Symbol, String, nil] the program that is to read the file
    # @param options those of {Options::FLOWS}: idle_timeout, active_timeout, max_flows and where; with +format+ also force, to
    #   replace another capture, a table or a store
    # @yieldparam flow [Flow] each flow, when it ends; those that never do, in the order they began
    # @return [Capture, Enumerator] self, or an enumerator of the flows
    # @return [Integer] with +into+: the number of flows
    # @raise [ArgumentError] where an option is one of {Capture.open}
    def flows(into: nil, format: nil, **options, &block)
      return write_flows(into, format, options, block) if into || format

      open_flows = OpenFlows.new(options, true)
      return to_enum(:flows, **options) unless block

      add_to(open_flows, true, &block)
    end

    # Finds the Thrift calls in the capture's TCP connections: Binary and Compact, framed or not, on any port.
    #
    # @param options those of {Options::CALLS}: idl, service, include, where and method; with an IDL file calls of its service only are given,
    #   with their arguments and results
    # @yieldparam call [Call] each call, when its answer has come; those without one at the end of their connections
    # @return [Capture, Enumerator] self, or an enumerator of the calls
    # @raise [ArgumentError] where the IDL file has no such service, or where there is no IDL file for one
    def calls(**options, &block)
      return to_enum(:calls, **options) unless block

      pass(read_calls(options)) do |reading|
        while (calls = reading.take)
          calls.each(&block)
        end
      end
    end

    # Reads all of the capture and says what it is.
    #
    # @return [Hash{Symbol => Object}] file, format, version, byte_order, compression, file_bytes,
    #   content_bytes, packets, bytes (on the wire), captured_bytes, first_ts and last_ts (nanoseconds
    #   since the epoch), packets_per_second and bytes_per_second (nil where all times are the same), sections,
    #   interfaces and link_types (Arrays of Hashes), content_id (by which a FlowStore counts a capture once), sha256 (of the
    #   file, where the capture was opened with +hash: true+, else nil), and damage (an Error, or nil)
    def info
      result_of(read_info)
    end

    # Methods of Enumerable that keep elements: they get copies, for the one Packet of {#each} moves.
    KEEPING = %i[
      chain chunk chunk_while compact cycle drop drop_while each_cons each_entry each_slice entries first
      grep grep_v group_by include? inject lazy max max_by member? min min_by minmax minmax_by partition
      reduce reverse_each slice_after slice_before slice_when sort sort_by take take_while tally to_a
      to_set uniq zip
    ].freeze
    private_constant :KEEPING

    # A method that a block makes could be called by the main Ractor only.
    KEEPING.each do |name|
      module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        def #{name}(*arguments, **options, &block)
          each.#{name}(*arguments, **options, &block)
        end
      RUBY
    end

    %i[each_with_index each_with_object].each do |name|
      module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        def #{name}(*arguments, &block)
          block ? super(*arguments, &block) : each.#{name}(*arguments)
        end
      RUBY
    end

    # @yieldparam packet [Packet]
    # @return [Packet, nil] the first packet for which the block is true
    def find(if_none = nil)
      return to_enum(:find, if_none) unless block_given?

      each { |packet| return packet.dup if yield packet }
      if_none&.call
    end
    alias detect find

    # @yieldparam packet [Packet]
    # @return [Array<Packet>] the packets for which the block is true
    def select
      return to_enum(:select) unless block_given?

      filter_map { |packet| packet.dup if yield packet }
    end
    alias filter select
    alias find_all select

    # @yieldparam packet [Packet]
    # @return [Array<Packet>] the packets for which the block is false
    def reject
      return to_enum(:reject) unless block_given?

      filter_map { |packet| packet.dup unless yield packet }
    end

    # @return [String] its name, and whether it is closed
    def inspect
      "#<#{self.class} #{name}#{" (closed)" if closed?}>"
    end

    private :read_frames, :read_frame, :read_columns, :read_counts, :read_flows, :read_flow_log, :read_merge, :read_report, :read_info, :read_calls,
            :read_sums, :read_summary, :read_cut

    private

    def each_copy
      each { |packet| yield packet.dup }
    end

    # Runs the block over a pass and ends the pass, however the block ends.
    def pass(reading)
      yield reading
      warn_of(reading)
      self
    ensure
      reading.close
    end

    # Adds the packets to flows under way, and yields those that end.
    def add_to(open_flows, is_last, &block)
      pass(read_flows(open_flows, is_last)) do |reading|
        while (flows = reading.take)
          flows.each(&block)
        end
      end
    end

    def write_flows(into, format, options, block)
      raise ArgumentError, "expected a block or into:, found both" if block
      raise ArgumentError, "expected the file of the flows as into:, found only their format: #{format.inspect}" unless into

      unless format
        raise ArgumentError, "expected format: beside into:, found none; Capture.flows(path, into:) adds flows up in a file"
      end

      self.class.send(:flow_log, into, format, options, true) { |log| add_to_flow_log(log) }
    end

    def add_to_flow_log(log)
      result_of(read_flow_log(log))
    end

    def merge_into(store, under_way)
      result_of(read_merge(store, under_way))
    end

    # The answer to the question of that name.
    def summary(name, options)
      add_to_summary(OpenSummary.new(name, options, true), true)
    end

    # The answer, where the capture is the last.
    def add_to_summary(under_way, is_last)
      result_of(read_summary(under_way, is_last))
    end

    def add_to_report(report)
      result_of(read_report(report))
    end

    # The one result of a pass.
    def result_of(reading)
      reading.take.tap { warn_of(reading) }
    ensure
      reading.close
    end

    def warn_of(reading)
      reading.take_damage.each { |damage| warn("#{damage.message}; what is before it was read") }
    end
  end

  private_constant :Reading, :AddressTexts, :OpenReport, :OpenSummary
end
