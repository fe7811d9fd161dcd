# frozen_string_literal: true

# Made by ruby/ri/generate.rb of ruby/sig/bytewright.rbs. It is for ri, and never loaded.

module Bytewright
  class Capture
    ##
    # :method: damage
    # :call-seq:
    #   damage() -> (FormatError | TruncatedError | LimitError)?
    #
    # The damage that the latest pass over the capture has kept what is before.
    # @return [FormatError, TruncatedError, LimitError, nil] nil where there was none, or without +damage: :keep+

    ##
    # :method: stop
    # :call-seq:
    #   stop() -> nil
    #
    # Ends the iterations and sums under way over an interface, as from another thread or a signal's handler: they answer
    # for the packets that came before. Nothing happens to other captures.
    # @return [nil]

    ##
    # :method: live_counts
    # :call-seq:
    #   live_counts() -> Hash[Symbol, Integer]?
    #
    # Counts of all iterations over an interface together.
    # @return [Hash{Symbol => Integer}, nil] captured, dropped (there was no room for them) and dropped_by_interface; nil
    #   for other captures

    ##
    # :method: name
    # :call-seq:
    #   name() -> String
    #
    # The path, the name of the interface, or what stands for an object.

    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Closes the capture.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the capture was closed.

    ##
    # :method: to_set
    # :call-seq:
    #   to_set() -> untyped
    #
    # A Set of copies. Before Ruby 3.2 it takes `require "set"`.
  end
end

module Bytewright
  class Packet
    ##
    # :method: ts
    # :call-seq:
    #   ts() -> Integer?
    #
    # Time of capture, nanoseconds since 1970-01-01 00:00 UTC; null where the file keeps none.

    ##
    # :method: src_ip
    # :call-seq:
    #   src_ip() -> String?
    #
    # Source address of the IP header.

    ##
    # :method: dst_ip
    # :call-seq:
    #   dst_ip() -> String?
    #
    # Destination address of the IP header.

    ##
    # :method: src_port
    # :call-seq:
    #   src_port() -> Integer?
    #
    # Source port of TCP, UDP or SCTP.

    ##
    # :method: dst_port
    # :call-seq:
    #   dst_port() -> Integer?
    #
    # Destination port of TCP, UDP or SCTP.

    ##
    # :method: proto
    # :call-seq:
    #   proto() -> Integer?
    #
    # Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).

    ##
    # :method: length
    # :call-seq:
    #   length() -> Integer
    #
    # Bytes of the frame on the wire.

    ##
    # :method: caplen
    # :call-seq:
    #   caplen() -> Integer
    #
    # Bytes of the frame in the capture.

    ##
    # :method: vlan
    # :call-seq:
    #   vlan() -> Integer?
    #
    # VLAN id of the outermost tag before the IP header, 0 to 4095.

    ##
    # :method: ttl
    # :call-seq:
    #   ttl() -> Integer?
    #
    # Time to live (IPv4) or hop limit (IPv6).

    ##
    # :method: tcp_flags
    # :call-seq:
    #   tcp_flags() -> Integer?
    #
    # The 12 flag bits of TCP (0x002 SYN, 0x010 ACK).

    ##
    # :method: payload_len
    # :call-seq:
    #   payload_len() -> Integer?
    #
    # Bytes of payload after the TCP, UDP or SCTP header, as the headers state them.

    ##
    # :method: number
    # :call-seq:
    #   number() -> Integer
    #
    # Number of the packet in its capture, from 1.

    ##
    # :method: status
    # :call-seq:
    #   status() -> Integer
    #
    # Bits that say what is unusual about the packet; see the table of status bits.

    ##
    # :method: link_type
    # :call-seq:
    #   link_type() -> Integer
    #
    # Link-layer type of the frame (LINKTYPE_ number, 1 Ethernet).

    ##
    # :method: ethertype
    # :call-seq:
    #   ethertype() -> Integer?
    #
    # EtherType that the link layer ends in, after VLAN tags.

    ##
    # :method: ip_version
    # :call-seq:
    #   ip_version() -> Integer?
    #
    # 4 or 6.

    ##
    # :method: ip_len
    # :call-seq:
    #   ip_len() -> Integer?
    #
    # Bytes of the IP packet as its header states them.

    ##
    # :method: frag_offset
    # :call-seq:
    #   frag_offset() -> Integer?
    #
    # Offset of the fragment in bytes; null where the packet is whole.

    ##
    # :method: seq
    # :call-seq:
    #   seq() -> Integer?
    #
    # TCP sequence number as on the wire.

    ##
    # :method: ack
    # :call-seq:
    #   ack() -> Integer?
    #
    # TCP acknowledgement number as on the wire.

    ##
    # :method: icmp_type
    # :call-seq:
    #   icmp_type() -> Integer?
    #
    # Type of ICMP or ICMPv6.

    ##
    # :method: icmp_code
    # :call-seq:
    #   icmp_code() -> Integer?
    #
    # Code of ICMP or ICMPv6.

    ##
    # :method: arp_op
    # :call-seq:
    #   arp_op() -> Integer?
    #
    # ARP operation (1 request, 2 reply).

    ##
    # :method: arp_src_ip
    # :call-seq:
    #   arp_src_ip() -> String?
    #
    # Sender's protocol address in ARP over IPv4.

    ##
    # :method: arp_dst_ip
    # :call-seq:
    #   arp_dst_ip() -> String?
    #
    # Target's protocol address in ARP over IPv4.

    ##
    # :method: src_mac
    # :call-seq:
    #   src_mac() -> String?
    #
    # Source MAC address of the link layer, as aa:bb:cc:dd:ee:ff.

    ##
    # :method: dst_mac
    # :call-seq:
    #   dst_mac() -> String?
    #
    # Destination MAC address of the link layer, as aa:bb:cc:dd:ee:ff.

    ##
    # :method: interface
    # :call-seq:
    #   interface() -> Integer?
    #
    # Number of the interface in its section of a pcapng file, from 0; null in pcap.

    ##
    # :method: interface_name
    # :call-seq:
    #   interface_name() -> String?
    #
    # Name of that interface; null where the file keeps none.

    ##
    # :method: dns_query
    # :call-seq:
    #   dns_query() -> String?
    #
    # Name in the first question of a DNS message over UDP.

    ##
    # :method: dns_type
    # :call-seq:
    #   dns_type() -> Integer?
    #
    # Type of that question (IANA: 1 A, 28 AAAA, 65 HTTPS).

    ##
    # :method: dns_id
    # :call-seq:
    #   dns_id() -> Integer?
    #
    # Identification of the DNS message, the same in a query and its response.

    ##
    # :method: dns_rcode
    # :call-seq:
    #   dns_rcode() -> Integer?
    #
    # Response code of a DNS response (IANA: 0 no error, 3 no such name); null for a query.

    ##
    # :method: dns_answers
    # :call-seq:
    #   dns_answers() -> String?
    #
    # Addresses in the answers of the DNS message, with commas between them.

    ##
    # :method: tls_sni
    # :call-seq:
    #   tls_sni() -> String?
    #
    # Server name in a TLS ClientHello that the packet begins.

    ##
    # :method: http_host
    # :call-seq:
    #   http_host() -> String?
    #
    # Host header of an HTTP/1 request that the packet begins.

    ##
    # :method: truncated?
    # :call-seq:
    #   truncated?() -> bool
    #
    # Returns whether a header ends after the last captured byte. The fields before it are good.

    ##
    # :method: bad_header?
    # :call-seq:
    #   bad_header?() -> bool
    #
    # Returns whether a header contradicts itself: a wrong version, a length below its own minimum.

    ##
    # :method: fragment?
    # :call-seq:
    #   fragment?() -> bool
    #
    # Returns whether the IP packet is a fragment.

    ##
    # :method: tunnel?
    # :call-seq:
    #   tunnel?() -> bool
    #
    # Returns whether the packet carries another IP packet or frame (GRE, IPIP, 6in4, VXLAN, ...).

    ##
    # :method: bad_time?
    # :call-seq:
    #   bad_time?() -> bool
    #
    # Returns whether the time of capture cannot be right: microseconds above a second, or out of range.

    ##
    # :method: unknown_link?
    # :call-seq:
    #   unknown_link?() -> bool
    #
    # Returns whether the headers of this link type are not decoded.

    ##
    # :method: unknown_header?
    # :call-seq:
    #   unknown_header?() -> bool
    #
    # Returns whether what follows is of a type that is not decoded. The fields before it are good.

    ##
    # :method: data
    # :call-seq:
    #   data() -> String
    #
    # Returns the captured bytes of the frame.

    ##
    # :method: payload
    # :call-seq:
    #   payload() -> String?
    #
    # Returns the captured bytes after the TCP, UDP or SCTP header; nil if there is no such header.

    ##
    # :method: []
    # :call-seq:
    #   [](Symbol) -> value
    #
    # Returns the field of that name; raises ArgumentError for another name.

    ##
    # :method: values_at
    # :call-seq:
    #   values_at(*Symbol) -> Array[value]
    #
    # Returns the fields of these names.

    ##
    # :method: to_h
    # :call-seq:
    #   to_h() -> Hash[Symbol, value]
    #
    # Returns the fields of Capture::DEFAULT_FIELDS by their names.

    ##
    # :method: dup
    # :call-seq:
    #   dup() -> Packet
    #
    # Returns a copy that stays when the capture moves on.

    ##
    # :method: clone
    # :call-seq:
    #   clone() -> Packet
    #
    # Returns a copy that stays when the capture moves on.

    ##
    # :method: ==
    # :call-seq:
    #   ==(untyped) -> bool
    #
    # Returns whether the other packet has the same fields and bytes.

    ##
    # :method: eql?
    # :call-seq:
    #   eql?(untyped) -> bool
    #
    # Returns whether the other packet has the same fields and bytes.
  end
end

module Bytewright
  class Columns
    ##
    # :method: size
    # :call-seq:
    #   size() -> Integer
    #
    # The number of rows.

    ##
    # :method: length
    # :call-seq:
    #   length() -> Integer
    #
    # The number of rows.

    ##
    # :method: names
    # :call-seq:
    #   names() -> Array[Symbol]
    #
    # The names of the columns.

    ##
    # :method: []
    # :call-seq:
    #   [](Symbol) -> String
    #
    # Returns the values of a column as packed bytes, little-endian and without gaps; the bytes of a null mean
    # nothing.

    ##
    # :method: validity
    # :call-seq:
    #   validity(Symbol) -> String
    #
    # Returns a bit for each row, the lowest of each byte first: 1 where there is a value.

    ##
    # :method: null_count
    # :call-seq:
    #   null_count(Symbol) -> Integer
    #
    # Returns the number of rows without a value in a column.

    ##
    # :method: values
    # :call-seq:
    #   values(Symbol) -> Array[value]
    #
    # Returns a column as an Array, with nil where there is no value.
  end
end

module Bytewright
  class Flow
    ##
    # :method: ts
    # :call-seq:
    #   ts() -> Integer?
    #
    # Time of the earliest packet, nanoseconds since 1970-01-01 00:00 UTC; null where the capture keeps none.

    ##
    # :method: src_ip
    # :call-seq:
    #   src_ip() -> String
    #
    # Address of the initiator, the side that sent the first packet seen.

    ##
    # :method: dst_ip
    # :call-seq:
    #   dst_ip() -> String
    #
    # Address of the other side.

    ##
    # :method: src_port
    # :call-seq:
    #   src_port() -> Integer?
    #
    # The initiator's port of TCP, UDP or SCTP; null for other protocols and later fragments.

    ##
    # :method: dst_port
    # :call-seq:
    #   dst_port() -> Integer?
    #
    # The other side's port of TCP, UDP or SCTP; null for other protocols and later fragments.

    ##
    # :method: proto
    # :call-seq:
    #   proto() -> Integer
    #
    # Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).

    ##
    # :method: packets
    # :call-seq:
    #   packets() -> Integer
    #
    # Packets from the initiator.

    ##
    # :method: bytes
    # :call-seq:
    #   bytes() -> Integer
    #
    # Bytes of the frames from the initiator, as on the wire.

    ##
    # :method: rev_packets
    # :call-seq:
    #   rev_packets() -> Integer
    #
    # Packets back to the initiator.

    ##
    # :method: rev_bytes
    # :call-seq:
    #   rev_bytes() -> Integer
    #
    # Bytes of the frames back to the initiator, as on the wire.

    ##
    # :method: duration
    # :call-seq:
    #   duration() -> Integer?
    #
    # Time from the earliest to the latest packet, microseconds; null where the capture keeps no times.

    ##
    # :method: tcp_flags
    # :call-seq:
    #   tcp_flags() -> Integer?
    #
    # The TCP flags of all packets from the initiator, OR-ed (0x002 SYN, 0x010 ACK); null where it is not TCP.

    ##
    # :method: rev_tcp_flags
    # :call-seq:
    #   rev_tcp_flags() -> Integer?
    #
    # The TCP flags of all packets back to the initiator, OR-ed; null where it is not TCP or none came back.

    ##
    # :method: community_id
    # :call-seq:
    #   community_id() -> String
    #
    # Community ID v1 of the flow, with seed 0.

    ##
    # :method: []
    # :call-seq:
    #   [](Symbol) -> value
    #
    # Returns the field of that name; raises ArgumentError for another name.

    ##
    # :method: to_h
    # :call-seq:
    #   to_h() -> Hash[Symbol, value]
    #
    # Returns all fields by their names.

    ##
    # :method: ==
    # :call-seq:
    #   ==(untyped) -> bool
    #
    # Returns whether all fields are equal.
  end
end

module Bytewright
  class Call
    ##
    # :method: ts
    # :call-seq:
    #   ts() -> Integer?
    #
    # Time of its first byte, nanoseconds since 1970-01-01 00:00 UTC; of an answer whose call is missing, the answer's.

    ##
    # :method: src_ip
    # :call-seq:
    #   src_ip() -> String
    #
    # Address of the caller.

    ##
    # :method: src_port
    # :call-seq:
    #   src_port() -> Integer
    #
    # Port of the caller.

    ##
    # :method: dst_ip
    # :call-seq:
    #   dst_ip() -> String
    #
    # Address of the side that is called.

    ##
    # :method: dst_port
    # :call-seq:
    #   dst_port() -> Integer
    #
    # Port of the side that is called.

    ##
    # :method: protocol
    # :call-seq:
    #   protocol() -> String
    #
    # binary, compact, framed-binary or framed-compact.

    ##
    # :method: method_name
    # :call-seq:
    #   method_name() -> String
    #
    # The method that is called, with the service and a colon before it if the message has them.

    ##
    # :method: sequence_id
    # :call-seq:
    #   sequence_id() -> Integer
    #
    # Sequence number of the call and its answer.

    ##
    # :method: outcome
    # :call-seq:
    #   outcome() -> String
    #
    # returned, exception (a declared one), failure (any other), oneway, unanswered, or cut (too little of the answer is there).

    ##
    # :method: latency
    # :call-seq:
    #   latency() -> Integer?
    #
    # Microseconds from its first byte to the last one of its answer; null where one of them is missing, or the times go back.

    ##
    # :method: request_bytes
    # :call-seq:
    #   request_bytes() -> Integer?
    #
    # Bytes of the call with its frame; null where it is missing.

    ##
    # :method: reply_bytes
    # :call-seq:
    #   reply_bytes() -> Integer?
    #
    # Bytes of the answer with its frame; null where there is none.

    ##
    # :method: arguments
    # :call-seq:
    #   arguments() -> Hash[Symbol, untyped]?
    #
    # The arguments of the call; null where they are incomplete in the capture, or do not fit the IDL.

    ##
    # :method: result
    # :call-seq:
    #   result() -> Hash[Symbol, untyped]?
    #
    # The result or exception of the call; null as for the arguments.

    ##
    # :method: []
    # :call-seq:
    #   [](Symbol) -> value
    #
    # Returns the field of that name; raises ArgumentError for another name.

    ##
    # :method: to_h
    # :call-seq:
    #   to_h() -> Hash[Symbol, value]
    #
    # Returns all fields by their names.

    ##
    # :method: ==
    # :call-seq:
    #   ==(untyped) -> bool
    #
    # Returns whether all fields are equal.
  end
end

module Bytewright
  class CaptureWriter
    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Writes what is left and closes the file, which has its name from then on.

    ##
    # :method: discard
    # :call-seq:
    #   discard() -> nil
    #
    # Closes the writer and leaves no file; a file of that name that was there before stays as it was.

    ##
    # :method: name
    # :call-seq:
    #   name() -> String
    #
    # The path.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the writer was closed.
  end
end

module Bytewright
  class FlowStore
    ##
    # :method: size
    # :call-seq:
    #   size() -> Integer
    #
    # The number of flows.

    ##
    # :method: length
    # :call-seq:
    #   length() -> Integer
    #
    # The number of flows.

    ##
    # :method: captures
    # :call-seq:
    #   captures() -> Array[counted]
    #
    # Returns every capture that was counted.

    ##
    # :method: name
    # :call-seq:
    #   name() -> String
    #
    # The path.

    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Closes the file.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the file was closed.
  end
end

module Bytewright
  class Table
    ##
    # :singleton-method: new
    # :call-seq:
    #   new(?entries?, ?encoding: Encoding | String, ?values: values) -> void
    #

    ##
    # :method: encoding
    # :call-seq:
    #   encoding() -> Encoding
    #
    # The encoding of keys and values.

    ##
    # :method: []
    # :call-seq:
    #   [](String) -> stored?
    #
    # Returns the value of a key; nil if there is none.

    ##
    # :method: []=
    # :call-seq:
    #   []=(String, stored) -> stored
    #
    # Stores a value, in place of the one that the key had.

    ##
    # :method: store
    # :call-seq:
    #   store(String, stored) -> stored
    #
    # Stores a value, in place of the one that the key had.

    ##
    # :method: key?
    # :call-seq:
    #   key?(String) -> bool
    #
    # Returns whether there is an entry with this key.

    ##
    # :method: fetch
    # :call-seq:
    #   fetch(String) -> stored
    #   fetch(String, T) -> (stored | T)
    #   fetch(String) { (String) -> T } -> (stored | T)
    #
    # Returns the value of a key; without an entry the default or what the block returns, or else raises KeyError.

    ##
    # :method: values_at
    # :call-seq:
    #   values_at(*String) -> Array[stored?]
    #
    # Returns the values of several keys, nil for those without an entry. Faster than one call for each.

    ##
    # :method: size
    # :call-seq:
    #   size() -> Integer
    #
    # The number of entries.

    ##
    # :method: delete
    # :call-seq:
    #   delete(String) -> stored?
    #   delete(String) { (String) -> T } -> (stored | T)
    #
    # Deletes an entry and returns its value; without an entry nil, or what the block returns.

    ##
    # :method: stat
    # :call-seq:
    #   stat() -> stat
    #
    # Returns the number of entries, and the bytes that are live, dead, held by views and snapshots, and taken by the
    # index, in memory and in the file.

    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Closes the table; what was committed to a file is durable then.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the table was closed.
  end
end

module Bytewright
  class TreeTable
    ##
    # :method: cursor
    # :call-seq:
    #   cursor() -> Cursor
    #
    # Returns a cursor over the entries as they are now, before the first one.
  end
end

module Bytewright
  class Snapshot
    ##
    # :method: encoding
    # :call-seq:
    #   encoding() -> Encoding
    #
    # The encoding of keys and values.

    ##
    # :method: []
    # :call-seq:
    #   [](String) -> stored?
    #
    # Returns the value of a key; nil if there is none.

    ##
    # :method: key?
    # :call-seq:
    #   key?(String) -> bool
    #
    # Returns whether there is an entry with this key.

    ##
    # :method: size
    # :call-seq:
    #   size() -> Integer
    #
    # The number of entries.

    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Releases the entries that it has kept as they were.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the snapshot was closed.
  end
end

module Bytewright
  class StringSet
    ##
    # :singleton-method: new
    # :call-seq:
    #   new(?_Each[String]?, ?table: Table) -> void
    #
  end
end

module Bytewright
  class Cursor
    ##
    # :method: first
    # :call-seq:
    #   first() -> entry?
    #
    # Moves to the entry with the lowest key and returns it as [key, value]; nil if the table is empty.

    ##
    # :method: last
    # :call-seq:
    #   last() -> entry?
    #
    # Moves to the entry with the highest key and returns it as [key, value]; nil if the table is empty.

    ##
    # :method: seek
    # :call-seq:
    #   seek(String) -> entry?
    #
    # Moves to the first entry whose key is equal to this one or above it, and returns it; nil if there is none.

    ##
    # :method: next
    # :call-seq:
    #   next() -> entry?
    #
    # Moves to the next entry, at the beginning to the first one, and returns it; nil after the last.

    ##
    # :method: prev
    # :call-seq:
    #   prev() -> entry?
    #
    # Moves to the previous entry and returns it; nil before the first.

    ##
    # :method: key
    # :call-seq:
    #   key() -> String?
    #
    # The key of the entry that the cursor is at; nil if it is at none.

    ##
    # :method: value
    # :call-seq:
    #   value() -> stored?
    #
    # The value of the entry that the cursor is at; nil if it is at none.

    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Closes the cursor, and releases the entries that it has kept as they were.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the cursor was closed.
  end
end

module Bytewright
  class View
    ##
    # :method: bytesize
    # :call-seq:
    #   bytesize() -> Integer
    #
    # The number of bytes.

    ##
    # :method: size
    # :call-seq:
    #   size() -> Integer
    #
    # The number of bytes.

    ##
    # :method: length
    # :call-seq:
    #   length() -> Integer
    #
    # The number of bytes.

    ##
    # :method: byteslice
    # :call-seq:
    #   byteslice(Integer, Integer) -> String?
    #
    # Returns a copy of some bytes, as String#byteslice does; nil if the offset is outside.

    ##
    # :method: getbyte
    # :call-seq:
    #   getbyte(Integer) -> Integer?
    #
    # Returns the byte at an offset, counted from the end if it is negative; nil if it is outside.

    ##
    # :method: to_s
    # :call-seq:
    #   to_s() -> String
    #
    # Returns a copy of the bytes in the encoding of the table.

    ##
    # :method: to_str
    # :call-seq:
    #   to_str() -> String
    #
    # Returns a copy of the bytes in the encoding of the table.

    ##
    # :method: close
    # :call-seq:
    #   close() -> nil
    #
    # Releases the bytes. A view that is used after that raises ClosedError.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the view was closed.
  end
end

module Bytewright
  class ADB
    ##
    # :singleton-method: new
    # :call-seq:
    #   new() -> void
    #
    # A database that is not open yet.
  end
end

module Bytewright
  module Thrift
    ##
    # :singleton-method: pluck
    # :call-seq:
    #   pluck(Class, String, *Symbol | String, ?protocol: protocol) -> Array[untyped]
    #
    # Some fields of a message, which is read up to the last of them and not checked beyond.
    # @param paths [Array<Symbol>] names of fields, and with dots of fields in structs inside
    # @return [Array] their values, nil for what the message does not have
    # @raise [ArgumentError] for a field that the class does not have
  end
end

module Bytewright
  module Thrift
    class Columns
      ##
      # :method: []
      # :call-seq:
      #   [](Symbol) -> String
      #
      # Returns the values of a column as packed bytes, little-endian and without gaps; the bytes of a null mean
      # nothing.

      ##
      # :method: ends
      # :call-seq:
      #   ends(Symbol) -> String
      #
      # Of strings: 0, and where each ends in the packed bytes, 8 bytes each.

      ##
      # :method: names
      # :call-seq:
      #   names() -> Array[Symbol]
      #
      # The names of the columns.

      ##
      # :method: null_count
      # :call-seq:
      #   null_count(Symbol) -> Integer
      #
      # Returns the number of messages without a value in a column.

      ##
      # :method: size
      # :call-seq:
      #   size() -> Integer
      #
      # The number of messages.

      ##
      # :method: length
      # :call-seq:
      #   length() -> Integer
      #

      ##
      # :method: validity
      # :call-seq:
      #   validity(Symbol) -> String
      #
      # Returns a bit for each message, the lowest of each byte first: 1 where there is a value.

      ##
      # :method: values
      # :call-seq:
      #   values(Symbol) -> Array[untyped]
      #
      # Returns a column as an Array, with nil where there is no value.
    end
  end
end

module Bytewright
  class PStore
    ##
    # :singleton-method: new
    # :call-seq:
    #   new(path, ?boolish thread_safe, ?verify: bool, ?permitted_classes: Array[Module | String]?, ?format: (:marshal | :roots)?) -> void
    #
  end
end

module Bytewright
  class Reader
    ##
    # :method: eof
    # :call-seq:
    #   eof() -> bool
    #
    # Returns whether the input is at its end.

    ##
    # :method: tell
    # :call-seq:
    #   tell() -> Integer
    #
    # The position in bytes, after decompression.

    ##
    # :method: u8
    # :call-seq:
    #   u8() -> Integer
    #
    # The next byte, and by like names the next number of any width: a letter for its kind (u unsigned, i
    # signed, f a float), its bits, and le or be for the order of its bytes.
    # @return [Integer]
    # @raise [TruncatedError] where the input ends before it does

    ##
    # :method: u16le
    # :call-seq:
    #   u16le() -> Integer
    #
    # Reads an unsigned 16-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u16be
    # :call-seq:
    #   u16be() -> Integer
    #
    # Reads an unsigned 16-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u24le
    # :call-seq:
    #   u24le() -> Integer
    #
    # Reads an unsigned 24-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u24be
    # :call-seq:
    #   u24be() -> Integer
    #
    # Reads an unsigned 24-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u32le
    # :call-seq:
    #   u32le() -> Integer
    #
    # Reads an unsigned 32-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u32be
    # :call-seq:
    #   u32be() -> Integer
    #
    # Reads an unsigned 32-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u64le
    # :call-seq:
    #   u64le() -> Integer
    #
    # Reads an unsigned 64-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: u64be
    # :call-seq:
    #   u64be() -> Integer
    #
    # Reads an unsigned 64-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: i8
    # :call-seq:
    #   i8() -> Integer
    #
    # Reads a signed 8-bit integer. Raises TruncatedError if the input ends before.

    ##
    # :method: i16le
    # :call-seq:
    #   i16le() -> Integer
    #
    # Reads a signed 16-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: i16be
    # :call-seq:
    #   i16be() -> Integer
    #
    # Reads a signed 16-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: i32le
    # :call-seq:
    #   i32le() -> Integer
    #
    # Reads a signed 32-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: i32be
    # :call-seq:
    #   i32be() -> Integer
    #
    # Reads a signed 32-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: i64le
    # :call-seq:
    #   i64le() -> Integer
    #
    # Reads a signed 64-bit integer, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: i64be
    # :call-seq:
    #   i64be() -> Integer
    #
    # Reads a signed 64-bit integer, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: f32le
    # :call-seq:
    #   f32le() -> Float
    #
    # Reads a 32-bit floating-point number, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: f32be
    # :call-seq:
    #   f32be() -> Float
    #
    # Reads a 32-bit floating-point number, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: f64le
    # :call-seq:
    #   f64le() -> Float
    #
    # Reads a 64-bit floating-point number, little-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: f64be
    # :call-seq:
    #   f64be() -> Float
    #
    # Reads a 64-bit floating-point number, big-endian. Raises TruncatedError if the input ends before.

    ##
    # :method: varint
    # :call-seq:
    #   varint() -> Integer
    #
    # The next number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits.
    # @return [Integer]

    ##
    # :method: zigzag
    # :call-seq:
    #   zigzag() -> Integer
    #
    # The next signed number of that form, as protocol buffers have it: 0, -1, 1, -2.
    # @return [Integer]

    ##
    # :method: read
    # :call-seq:
    #   read(?Integer? length, ?String? string) -> String?
    #
    # As IO#read: bytes as they are, or all that is left in the encoding of lines.
    # @return [String, nil] nil at the end, where a length is given that is not 0

    ##
    # :method: readpartial
    # :call-seq:
    #   readpartial(Integer length, ?String? string) -> String
    #
    # Reads the bytes that are available, up to a length; waits only if there are none. Raises EOFError at the end.

    ##
    # :method: getbyte
    # :call-seq:
    #   getbyte() -> Integer?
    #
    # Reads a byte; nil at the end.

    ##
    # :method: read_into
    # :call-seq:
    #   read_into(String, Integer length) -> String?
    #
    # Puts up to +length+ bytes into +string+, in place of what it has.
    # @return [String, nil] the string; nil at the end, and the string is empty then

    ##
    # :method: peek
    # :call-seq:
    #   peek(Integer length) -> String?
    #
    # Bytes that stay where they are.
    # @return [String, nil] fewer than +length+, or nil, only where the input ends

    ##
    # :method: skip
    # :call-seq:
    #   skip(Integer length) -> Integer
    #
    # Passes over bytes. A long way in a file is not read.
    # @return [Integer] how many there were

    ##
    # :method: gets
    # :call-seq:
    #   gets(?String? separator, ?Integer? limit, ?chomp: boolish) -> String?
    #   gets(Integer limit, ?chomp: boolish) -> String?
    #
    # As IO#gets.
    # @return [String, nil]

    ##
    # :method: count_lines
    # :call-seq:
    #   count_lines() -> Integer
    #
    # Passes over all lines that are left, and counts them, as +each_line.count+ would.
    # @return [Integer]

    ##
    # :method: pos
    # :call-seq:
    #   pos() -> Integer
    #
    # The position in bytes, after decompression.

    ##
    # :method: eof?
    # :call-seq:
    #   eof?() -> bool
    #
    # Returns whether the input is at its end.

    ##
    # :method: size
    # :call-seq:
    #   size() -> Integer?
    #
    # The end of the input, counted as `pos` is; nil if only reading can tell.

    ##
    # :method: compression
    # :call-seq:
    #   compression() -> (:none | :gzip | :zstd)
    #
    # Returns the compression of the input.

    ##
    # :method: external_encoding
    # :call-seq:
    #   external_encoding() -> Encoding
    #
    # The encoding of the lines that are read.

    ##
    # :method: name
    # :call-seq:
    #   name() -> String
    #
    # The path, or what stands for an object.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the reader was closed.
  end
end

module Bytewright
  class Writer
    ##
    # :method: tell
    # :call-seq:
    #   tell() -> Integer
    #
    # The position in bytes: what was written and what is gathered.

    ##
    # :method: u8
    # :call-seq:
    #   u8(int) -> self
    #
    # Writes a byte, and by like names a number of any width: see {Reader}.
    # @param value [Integer]
    # @return [Writer] self
    # @raise [RangeError] where the value does not fit

    ##
    # :method: u16le
    # :call-seq:
    #   u16le(int) -> self
    #
    # Writes an unsigned 16-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u16be
    # :call-seq:
    #   u16be(int) -> self
    #
    # Writes an unsigned 16-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u24le
    # :call-seq:
    #   u24le(int) -> self
    #
    # Writes an unsigned 24-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u24be
    # :call-seq:
    #   u24be(int) -> self
    #
    # Writes an unsigned 24-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u32le
    # :call-seq:
    #   u32le(int) -> self
    #
    # Writes an unsigned 32-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u32be
    # :call-seq:
    #   u32be(int) -> self
    #
    # Writes an unsigned 32-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u64le
    # :call-seq:
    #   u64le(int) -> self
    #
    # Writes an unsigned 64-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: u64be
    # :call-seq:
    #   u64be(int) -> self
    #
    # Writes an unsigned 64-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: i8
    # :call-seq:
    #   i8(int) -> self
    #
    # Writes a signed 8-bit integer. Raises RangeError for a number that does not fit.

    ##
    # :method: i16le
    # :call-seq:
    #   i16le(int) -> self
    #
    # Writes a signed 16-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: i16be
    # :call-seq:
    #   i16be(int) -> self
    #
    # Writes a signed 16-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: i32le
    # :call-seq:
    #   i32le(int) -> self
    #
    # Writes a signed 32-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: i32be
    # :call-seq:
    #   i32be(int) -> self
    #
    # Writes a signed 32-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: i64le
    # :call-seq:
    #   i64le(int) -> self
    #
    # Writes a signed 64-bit integer, little-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: i64be
    # :call-seq:
    #   i64be(int) -> self
    #
    # Writes a signed 64-bit integer, big-endian. Raises RangeError for a number that does not fit.

    ##
    # :method: f32le
    # :call-seq:
    #   f32le(Numeric) -> self
    #
    # Writes a 32-bit floating-point number, little-endian.

    ##
    # :method: f32be
    # :call-seq:
    #   f32be(Numeric) -> self
    #
    # Writes a 32-bit floating-point number, big-endian.

    ##
    # :method: f64le
    # :call-seq:
    #   f64le(Numeric) -> self
    #
    # Writes a 64-bit floating-point number, little-endian.

    ##
    # :method: f64be
    # :call-seq:
    #   f64be(Numeric) -> self
    #
    # Writes a 64-bit floating-point number, big-endian.

    ##
    # :method: varint
    # :call-seq:
    #   varint(int) -> self
    #
    # Writes an unsigned number with seven bits in each byte, the low ones first (LEB128). Raises RangeError outside of 0 to 2^64-1.

    ##
    # :method: zigzag
    # :call-seq:
    #   zigzag(int) -> self
    #
    # Writes a signed number as Protocol Buffers do: zigzag, then seven bits in each byte. Raises RangeError outside of 64 bits.

    ##
    # :method: write
    # :call-seq:
    #   write(*untyped) -> Integer
    #
    # As IO#write.
    # @return [Integer] bytes that were written

    ##
    # :method: <<
    # :call-seq:
    #   <<(untyped) -> self
    #
    # @return [Writer] self

    ##
    # :method: pos
    # :call-seq:
    #   pos() -> Integer
    #
    # The position in bytes: what was written and what is gathered.

    ##
    # :method: name
    # :call-seq:
    #   name() -> String
    #
    # The path, or what stands for an object.

    ##
    # :method: closed?
    # :call-seq:
    #   closed?() -> bool
    #
    # Returns whether the writer was closed.
  end
end
