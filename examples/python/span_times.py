"""Says how often each operation of traced programs ran, and how long at most, from spans that were sent to Jaeger's agent:
python span_times.py IDL CAPTURE"""

import collections
import pathlib
import sys

import bytewright
from bytewright import thrift

if len(sys.argv) != 3:
    sys.exit("usage: python span_times.py IDL CAPTURE")
_, idl, capture = sys.argv

METHOD = b"emitBatch"  # its arguments are behind it
datagrams = [packet.payload or b"" for packet in bytewright.Capture(capture) if packet.dst_port == 6831]
messages = b"".join(datagram[datagram.index(METHOD) + len(METHOD) :] for datagram in datagrams)
paths = ["batch.process.serviceName", "batch.spans[].operationName", "batch.spans[].duration"]
times = collections.defaultdict(list)
for *operation, microseconds in thrift.columns(thrift.load(pathlib.Path(idl)).Emitted, messages, *paths, protocol="compact", framed=False):
    times[" ".join(operation)].append(microseconds)
for name in sorted(times):
    print(name, len(times[name]), f"{max(times[name]) / 1000:.1f} ms")
