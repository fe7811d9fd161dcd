"""Reads a pcap file by hand, as any format that has no library: how many packets, and how long the longest is.
python pcap_sizes.py CAPTURE"""

import sys

from bytewright import Reader

if len(sys.argv) != 2:
    sys.exit("usage: python pcap_sizes.py CAPTURE")

with Reader(sys.argv[1]) as reader:
    if reader.u32le() != 0xA1B2C3D4:
        sys.exit("expected a little-endian pcap file")
    reader.skip(20)  # version, zone, accuracy, snaplen, link type
    sizes = []
    while not reader.at_end():
        reader.skip(8)  # seconds, microseconds
        captured = reader.u32le()
        sizes.append(reader.u32le())
        reader.skip(captured)
    print(f"{len(sizes)} packets, {sum(sizes)} bytes, longest {max(sizes)}")
