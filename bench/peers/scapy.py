"""Peer: scapy, the packet library that most programs in Python are written for: seven columns, as lists.

    python scapy.py CAPTURE
"""

import json
import os
import sys

# This file has the library's name: without its own folder on the path, the import finds the library.
sys.path = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import captures  # noqa: E402
from scapy.layers.inet import IP, TCP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.utils import PcapReader  # noqa: E402


def lists(path):
    times, sources, destinations, source_ports, destination_ports, protocols, lengths = ([] for _ in range(7))
    for packet in PcapReader(path):
        times.append(packet.time)
        lengths.append(packet.wirelen)
        internet = packet.getlayer(IP) or packet.getlayer(IPv6)
        segment = None if internet is None else internet.payload
        has_ports = isinstance(segment, (TCP, UDP))
        source_ports.append(segment.sport if has_ports else None)
        destination_ports.append(segment.dport if has_ports else None)
        sources.append(None if internet is None else internet.src)
        destinations.append(None if internet is None else internet.dst)
        protocols.append(None if internet is None else internet.proto if isinstance(internet, IP) else internet.nh)
    numbers = {"src_port": source_ports, "dst_port": destination_ports, "proto": protocols, "length": lengths}
    return captures.of_lists(times, sources + destinations, **numbers)


if len(sys.argv) != 2:
    sys.exit("usage: scapy.py CAPTURE")
print(json.dumps(lists(sys.argv[1])))
