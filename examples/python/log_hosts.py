"""Writes a log of Thrift messages by an IDL file alone, and counts its hosts by reading this one field of each message:
python log_hosts.py IDL LOG"""

import collections
import sys

from bytewright import Reader, Writer, thrift

if len(sys.argv) != 3:
    sys.exit("usage: python log_hosts.py IDL LOG")
_, idl, path = sys.argv

logs = thrift.load(idl)
with Writer(path) as log:
    for time, host in enumerate(["web-1", "web-2", "web-1"]):
        message = thrift.encode(logs.Entry(time=time, host=host))
        log.u32be(len(message))
        log.write(message)

hosts: collections.Counter[str] = collections.Counter()
with Reader(path) as log:
    while not log.at_end():
        (host,) = thrift.pluck(logs.Entry, log.read(log.u32be()), "host")
        hosts[host] += 1
for host, count in sorted(hosts.items()):
    print(host, count)
