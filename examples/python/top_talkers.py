"""Lists the hosts that sent the most bytes, over all captures that are named: python top_talkers.py CAPTURE..."""

import collections
import sys

import bytewright

if len(sys.argv) < 2:
    sys.exit("usage: python top_talkers.py CAPTURE...")

sent: collections.Counter[str] = collections.Counter()
for flow in bytewright.flows(*sys.argv[1:]):
    sent[flow.src_ip] += flow.bytes
    sent[flow.dst_ip] += flow.rev_bytes
for host, count in sorted(sent.items(), key=lambda item: (-item[1], item[0]))[:5]:
    print(count, host)
