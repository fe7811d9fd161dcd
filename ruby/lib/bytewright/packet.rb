# frozen_string_literal: true

require_relative "record"

module Bytewright
  # One packet of a capture: its frame, and the header fields that could be read from it.
  #
  # A field that the packet does not have is nil, never 0. While {Capture#each} runs its block, the
  # same Packet moves from packet to packet; {#dup} keeps one. When the iteration has come to its end, the Packet that
  # moved raises ClosedError. Marshal dumps the packet of the moment with its bytes; what it loads stays, as a copy does.
  #
  # Its getters are the fields of {Capture::FIELDS}; docs/names.md says what each means. Addresses
  # are frozen Strings, all else Integers.
  class Packet
    include FieldNotation

    private_class_method :_load

    # @return [Time, nil] when it was captured, in UTC, to the nanosecond
    def time
      nanoseconds = ts
      nanoseconds && Time.at(0, nanoseconds, :nsec, in: "UTC")
    end

    # For pattern matching: +case packet; in {dst_port: 443, src_ip:}+.
    #
    # @param keys [Array<Symbol>, nil] the fields that the pattern names
    # @return [Hash{Symbol => Object}] those fields, or the ones of {#to_h}
    def deconstruct_keys(keys)
      return to_h unless keys

      known = keys & Capture::FIELDS
      known.zip(values_at(*known)).to_h
    end

    alias eql? ==

    # @return [Integer] equal for equal packets
    def hash
      [number, ts, data].hash
    end

    # @return [String] the fields that it has
    def inspect
      shown = to_h.compact.map { |name, value| "#{name}=#{value}" }
      "#<#{self.class} #{number}: #{shown.join(" ")}>"
    rescue ClosedError
      "#<#{self.class} (closed)>"
    end
  end
end
