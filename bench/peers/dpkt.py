"""Peer: dpkt, the fastest of Python's packet libraries.

    python dpkt.py count_by_dst_port CAPTURE
"""

import json
import os
import sys

# This file has the library's name: without its own folder on the path, the import finds the library.
sys.path = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
import dpkt  # noqa: E402


def destination_port(frame):
    """The outermost IP packet's destination port, or None where it has none."""
    packet = dpkt.ethernet.Ethernet(frame).data
    if not isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)):
        return None
    segment = packet.data
    if isinstance(segment, (dpkt.tcp.TCP, dpkt.udp.UDP)):
        return segment.dport
    return None


def count_by_dst_port(path):
    packets = 0
    counts = {}
    with open(path, "rb") as file:
        for _, frame in dpkt.pcap.UniversalReader(file):
            packets += 1
            port = destination_port(frame)
            if port is not None:
                counts[port] = counts.get(port, 0) + 1
    return {
        "packets": packets,
        "ports": len(counts),
        "counted": sum(counts.values()),
        "weighted": sum(port * count for port, count in counts.items()),
        "squares": sum(count * count for count in counts.values()),
    }


if len(sys.argv) != 3 or sys.argv[1] != "count_by_dst_port":
    sys.exit("usage: dpkt.py count_by_dst_port CAPTURE")
print(json.dumps(count_by_dst_port(sys.argv[2])))
