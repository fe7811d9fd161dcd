"""Takes the name of the processor, the kernel and the program out of a pcapng file, in place.

dumpcap notes them in the section header and in each interface description. Packets, timestamps and
interface names stay as they were recorded.
"""

import struct
import sys

SECTION, INTERFACE = 0x0A0D0D0A, 1
TELLING = {SECTION: {2, 3, 4}, INTERFACE: {3, 12}}
OPTIONS_AT = {SECTION: 24, INTERFACE: 16}


def without_telling_options(kind, body):
    at = OPTIONS_AT[kind]
    kept = [body[8:at]]
    while at < len(body) - 4:
        code, size = struct.unpack("<HH", body[at : at + 4])
        end = at + 4 + (size + 3) // 4 * 4
        if code not in TELLING[kind]:
            kept.append(body[at:end])
        at = end
    inside = b"".join(kept)
    size = struct.pack("<I", len(inside) + 12)
    return struct.pack("<I", kind) + size + inside + size


def main():
    path = sys.argv[1]
    with open(path, "rb") as file:
        data = file.read()
    blocks, at = [], 0
    while at < len(data):
        kind, size = struct.unpack("<II", data[at : at + 8])
        block = data[at : at + size]
        blocks.append(without_telling_options(kind, block) if kind in TELLING else block)
        at += size
    with open(path, "wb") as file:
        file.write(b"".join(blocks))


main()
