"""Peer: dpkt, the fastest of Python's packet libraries.

    python dpkt.py count_by_dst_port|attributes|lists CAPTURE
"""

import json
import os
import socket
import sys

# This file has the library's name: without its own folder on the path, the import finds the library.
sys.path = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import captures  # noqa: E402
import dpkt  # noqa: E402


def internet(frame):
    """The outermost IP packet, or None."""
    packet = dpkt.ethernet.Ethernet(frame).data
    return packet if isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)) else None


def segment_of(packet):
    """What has ports of an IP packet, or None."""
    segment = packet.data
    return segment if isinstance(segment, (dpkt.tcp.TCP, dpkt.udp.UDP)) else None


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
    times, sources, destinations, source_ports, destination_ports, protocols, lengths = ([] for _ in range(7))
    with open(path, "rb") as file:
        for time, frame in dpkt.pcap.UniversalReader(file):
            times.append(time)
            lengths.append(len(frame))
            packet = internet(frame)
            segment = None if packet is None else segment_of(packet)
            source_ports.append(None if segment is None else segment.sport)
            destination_ports.append(None if segment is None else segment.dport)
            if packet is None:
                sources.append(None)
                destinations.append(None)
                protocols.append(None)
                continue
            is_old = isinstance(packet, dpkt.ip.IP)
            family = socket.AF_INET if is_old else socket.AF_INET6
            sources.append(socket.inet_ntop(family, packet.src))
            destinations.append(socket.inet_ntop(family, packet.dst))
            protocols.append(packet.p if is_old else packet.nxt)
    numbers = {"src_port": source_ports, "dst_port": destination_ports, "proto": protocols, "length": lengths}
    return captures.of_lists(times, sources + destinations, **numbers)


TASKS = {each.__name__: each for each in (count_by_dst_port, attributes, lists)}

if len(sys.argv) != 3 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: dpkt.py {'|'.join(TASKS)} CAPTURE")
print(json.dumps(TASKS[sys.argv[1]](sys.argv[2])))
