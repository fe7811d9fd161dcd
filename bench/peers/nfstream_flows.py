"""Peer: NFStream, which adds packets up by flow in C, and has an object of Python's for each flow.

    python nfstream_flows.py CAPTURE

It counts lengths and gaps of packets, and does not look for the application. No flow ends before the capture does.
"""

import json
import sys

from nfstream import NFStreamer

#: Longer than a capture.
NEVER = 1_000_000


def main(path):
    sums = dict.fromkeys(("packets", "lengths", "port_flows", "squares"), 0)
    for flow in NFStreamer(path, statistical_analysis=True, n_dissections=0, idle_timeout=NEVER, active_timeout=NEVER):
        packets = flow.bidirectional_packets
        sums["packets"] += packets
        sums["lengths"] += flow.bidirectional_bytes
        if flow.protocol in (6, 17):
            sums["port_flows"] += 1
            sums["squares"] += packets**2
    print(json.dumps(sums))


if __name__ == "__main__":
    main(*sys.argv[1:])
