# Generated from the core's tables of options by `make generate`. Do not edit.
"""The options that calls take as keywords, by what they are about: dicts of their names and defaults.

None is an option that is not given.

`CAPTURE`: reading captures

- `filter`: Only packets that match this libpcap expression, such as "tcp port 443". Needs libpcap.
- `flow`: Only packets of this conversation, in both directions: a Community ID, or ends such as
  "10.0.0.1:5000-10.0.0.2:443".
- `label`: A file that gives networks labels, for the fields src_label and dst_label: lines such as "10.0.0.0/8,office",
  or a database in MaxMind's format. The smallest network counts.
- `inner`: Follow tunnels such as GRE, VXLAN, GENEVE and GTP-U, and report the innermost IP header.
- `vxlan_port`: A UDP port of VXLAN beside 4789 and 8472.
- `jobs`: Threads that work in parallel. The results are the same.
- `index`: Make the index of a capture as it is read to its end, so that later questions about a time, or packets by
  their numbers, read only the parts that have them.
- `index_dir`: The folder of the indexes of captures.
- `hash`: Hash the file as it is read, so that info tells its SHA-256. No index is used then.
- `damage`: "raise" for an error behind the rows before the damage, or "keep" for the rows alone, and a warning. A file
  that is no capture is an error in any case.

`LIVE`: capturing from a network interface

- `snaplen`: Bytes that are kept of each packet at most.
- `buffer`: Bytes of packets that the system holds until they are read; what finds no room is dropped.
- `promiscuous`: Take packets to other hosts, too.

`PACKETS`: packets as rows

- `rows`: Packets in a batch of columns at most.
- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".
- `numbers`: Only packets with these numbers, such as "1000-1999" or "5,17,9000-"; the capture is read up to the last of
  them.

`COUNTS`: counting packets

- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".
- `numbers`: Only packets with these numbers, such as "1000-1999" or "5,17,9000-"; the capture is read up to the last of
  them.

`FLOWS`: flows

- `idle_timeout`: Seconds without a packet after which a flow has ended.
- `active_timeout`: Seconds after which a flow has ended, even if it goes on; the rest is another flow.
- `max_flows`: Flows that are open at one time; above it the quietest end early.
- `features`: Features of each flow beside its sums and those that fields ask for.
- `where`: A condition on flows, in the words of the command's --where; others are left out.

`CALLS`: thrift calls

- `idl`: IDL file of the service; only calls of its methods are taken then, with their arguments and results.
- `service`: Name of the service, where the IDL file has several.
- `include`: Folders to search for files that the IDL file includes.
- `where`: A condition on calls, in the words of the command's --where; others are left out.
- `method`: Name of a method, without its service; calls of others are left out.

`CALL_COLUMNS`: columns of Thrift calls

- `arguments`: Columns arguments and result behind those of the calls: structs as the IDL file has them, of the calls of
  one method.

`SUMS`: adding packets up

- `by`: What packets are grouped by: fields, host and port for both sides of each, networks such as src_ip/24.
- `every`: Seconds of the intervals that packets are grouped by.
- `top`: Groups at most, the largest by the first sum or measure, or else by packets.
- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".
- `numbers`: Only packets with these numbers, such as "1000-1999" or "5,17,9000-"; the capture is read up to the last of
  them.

`EXPORT`: columns for other programs

- `timestamps`: Unit of times; "us" for programs that refuse nanoseconds, such as Spark: a column behind, with _nanos
  added to its name, has those that are left.
- `signed`: Make unsigned numbers signed ones of the next larger width, for Spark and other JVM programs.
- `addresses`: Form of addresses; "binary" is 16 bytes, IPv4 as ::ffff:a.b.c.d.

`PARQUET`: rows in a Parquet file

- `timestamps`: Unit of times; "us" for programs that refuse nanoseconds, such as Spark: a column behind, with _nanos
  added to its name, has those that are left.
- `signed`: Make unsigned numbers signed ones of the next larger width, for Spark and other JVM programs.
- `addresses`: Form of addresses; "binary" is 16 bytes, IPv4 as ::ffff:a.b.c.d.
- `force`: Replace a file that is a capture, a table or a store, too. An input never is.

`CUT`: writing packets to a new capture

- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".
- `from_time`: Only packets of this time or later, such as "2026-11-21T10:00Z", or 1795255200 for seconds since 1970.
- `to_time`: Only packets before this time.
- `snaplen`: Bytes that are kept of each packet at most.
- `drop_duplicates`: Leave out a packet whose bytes one of so many packets before it had.
- `every_nth`: Only the first of so many packets that are left.
- `shift`: Time that is added to the time of each packet, such as 1h, -90s or 0.5 (seconds).
- `anonymize`: Change MAC and IP addresses by this key, networks staying networks; random for a key that nobody knows.
- `payload`: With anonymize: bytes behind the last known header are overwritten, cut off, or kept as they are.
- `rotate`: Write files one after another, each up to an interval, a length or a number of packets, such as 1h,100MB or
  50000p; %Y %m %d %H %M %S in the name are the time of its first packet (UTC), %n its number.
- `keep`: With rotate: keep so many of the files, the newest ones.
- `stop_after`: End after an interval, a length or a number of packets that were written, such as 60s,1GB or 50000p; of
  an interface, the interval begins at once.
- `force`: Replace a file that is a capture, a table or a store, too. An input never is.

`REPORT`: reports

- `title`: Title of the page.
- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".
- `force`: Replace a file that is a capture, a table or a store, too. An input never is.

`TABLE`: opening table files

- `create`: Make the file where it is missing.
- `read_only`: Read beside others who write.
- `exclusive`: Let nobody else write while it is open.
- `sync`: When commits are made to survive a power cut: "interval" (within a second, and at the latest when it is
  closed), "commit" (before each commit returns) or "never".
- `timeout`: Longest wait in seconds for another writer: to end its transaction, or to close a file that it has for
  itself.
- `verify`: Check all of the file first.

`CACHE`: opening caches

- `size_limit`: Bytes that the file of the cache, or its memory, may take: what is over is evicted.
- `count_limit`: Entries that the cache may have.
- `create`: Make the file where it is missing.
- `read_only`: Read beside others who write.
- `exclusive`: Let nobody else write while it is open.
- `sync`: When commits are made to survive a power cut: "interval" (within a second, and at the latest when it is
  closed), "commit" (before each commit returns) or "never".
- `timeout`: Longest wait in seconds for another writer: to end its transaction, or to close a file that it has for
  itself.
- `verify`: Check all of the file first.

`READER`: reading binary files

- `compressed`: Compression of the input: "auto" as its first bytes say, "none" to read the bytes as they are.

`OUTPUT`: writing a new capture packet by packet

- `force`: Replace a file that is a capture, a table or a store, too. An input never is.

`WRITTEN_PACKET`: describing a packet of a new capture

- `time`: Time of the packet; an integer is nanoseconds since 1970. Without a time, pcap says 1970.
- `length`: Bytes on the wire, where those are more than were captured.
- `link_type`: LINKTYPE_ number, 1 Ethernet; a pcap file has one for all packets.
- `interface`: Name of the interface, which only pcapng keeps.
- `comment`: Words about the packet, which only pcapng keeps.

`ENDPOINTS`: endpoints

- `every`: Seconds of the intervals that rows are told apart by.
- `top`: Rows at most, those with the most bytes.
- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".

`SERVICES`: services

- `every`: Seconds of the intervals that rows are told apart by.
- `top`: Rows at most, those with the most bytes.
- `where`: Only packets that meet this condition, such as "dst_port == 443 and length > 1e3".

`INDEX`: index

- `anew`: Make an index anew, also where there is one that fits.
"""

CAPTURE = {
    "filter": None,
    "flow": None,
    "label": None,
    "inner": False,
    "vxlan_port": None,
    "jobs": None,
    "index": False,
    "index_dir": None,
    "hash": False,
    "damage": "raise",
}
LIVE = {
    "snaplen": 262144,
    "buffer": 16777216,
    "promiscuous": False,
}
PACKETS = {
    "rows": 65536,
    "where": None,
    "numbers": None,
}
COUNTS = {
    "where": None,
    "numbers": None,
}
FLOWS = {
    "idle_timeout": None,
    "active_timeout": None,
    "max_flows": 1000000,
    "features": "none",
    "where": None,
}
CALLS = {
    "idl": None,
    "service": None,
    "include": None,
    "where": None,
    "method": None,
}
CALL_COLUMNS = {
    "arguments": False,
}
SUMS = {
    "by": None,
    "every": None,
    "top": None,
    "where": None,
    "numbers": None,
}
EXPORT = {
    "timestamps": "ns",
    "signed": False,
    "addresses": "text",
}
PARQUET = {
    "timestamps": "ns",
    "signed": False,
    "addresses": "text",
    "force": False,
}
CUT = {
    "where": None,
    "from_time": None,
    "to_time": None,
    "snaplen": None,
    "drop_duplicates": None,
    "every_nth": 1,
    "shift": None,
    "anonymize": None,
    "payload": "zero",
    "rotate": None,
    "keep": None,
    "stop_after": None,
    "force": False,
}
REPORT = {
    "title": None,
    "where": None,
    "force": False,
}
TABLE = {
    "create": True,
    "read_only": False,
    "exclusive": False,
    "sync": "interval",
    "timeout": 10,
    "verify": False,
}
CACHE = {
    "size_limit": 1073741824,
    "count_limit": None,
    "create": True,
    "read_only": False,
    "exclusive": False,
    "sync": "never",
    "timeout": 10,
    "verify": False,
}
READER = {
    "compressed": "auto",
}
OUTPUT = {
    "force": False,
}
WRITTEN_PACKET = {
    "time": None,
    "length": None,
    "link_type": 1,
    "interface": None,
    "comment": None,
}
ENDPOINTS = {
    "every": None,
    "top": None,
    "where": None,
}
SERVICES = {
    "every": None,
    "top": None,
    "where": None,
}
INDEX = {
    "anew": False,
}
