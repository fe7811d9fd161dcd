"""Peer: dpkt, the fastest of Python's packet libraries.

    python dpkt.py count_by_dst_port|attributes|lists CAPTURE
"""

import json
import os
import sys

# This file has the library's name: behind all other folders its own one is no danger, and has what is imported from it.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [os.path.join(HERE, "..", "workload"), *(folder for folder in sys.path if folder != HERE), HERE]
import captures  # noqa: E402
import dpkt  # noqa: E402
import dpkt_columns  # noqa: E402
from dpkt_columns import internet, segment_of  # noqa: E402


def destination_port(frame):
    """The outermost IP packet's destination port, or None where it has none."""
    packet = internet(frame)
    segment = None if packet is None else segment_of(packet)
    return None if segment is None else segment.dport


def count_by_dst_port(path):
    packets = 0
    counts = {}
    with open(path, "rb") as file:
        for _, frame in dpkt.pcap.UniversalReader(file):
            packets += 1
            port = destination_port(frame)
            if port is not None:
                counts[port] = counts.get(port, 0) + 1
    return captures.of_counts(packets, counts)


def attributes(path):
    packets = total = 0
    with open(path, "rb") as file:
        for _, frame in dpkt.pcap.UniversalReader(file):
            packets += 1
            packet = internet(frame)
            segment = None if packet is None else segment_of(packet)
            if segment is not None:
                total += segment.sport + len(frame)
    return {"packets": packets, "sum": total}


def lists(path):
    """Seven columns, as lists."""
    with open(path, "rb") as file:
        times, sources, destinations, source_ports, destination_ports, protocols, lengths = dpkt_columns.lists(file)
    numbers = {"src_port": source_ports, "dst_port": destination_ports, "proto": protocols, "length": lengths}
    return captures.of_lists(times, sources + destinations, **numbers)


TASKS = {each.__name__: each for each in (count_by_dst_port, attributes, lists)}

if len(sys.argv) != 3 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: dpkt.py {'|'.join(TASKS)} CAPTURE")
print(json.dumps(TASKS[sys.argv[1]](sys.argv[2])))
