"""Random frames of all link types that the core knows and of others that libpcap filters or does not, for tests that compare answers.

Addresses, ports and names are few, so that conditions meet them. Frames are whole headers in sensible and in odd order: an IP header
of the other version than the link layer says, VLAN tags, tunnels, extension headers, fragments; some are cut or have a changed byte.
"""

import socket
import struct

#: Link types (LINKTYPE_ numbers), with how a frame begins whose payload has an EtherType.
LINKS = {
    0: lambda chance, kind: struct.pack("<I", chance.choice([2, 10, 24, 28, 30, 99])),
    1: lambda chance, kind: _macs(chance) + _tags(chance) + struct.pack(">H", kind),
    9: lambda chance, kind: chance.choice([b"\xff\x03", b""]) + _ppp(chance, kind),
    12: lambda chance, kind: b"",
    14: lambda chance, kind: b"",
    50: lambda chance, kind: b"\xff\x03" + _ppp(chance, kind),
    51: lambda chance, kind: b"\x11\0\0\1\0\x40" + _ppp(chance, kind),
    101: lambda chance, kind: b"",
    104: lambda chance, kind: b"\x0f\0" + struct.pack(">H", kind),
    108: lambda chance, kind: struct.pack(">I", chance.choice([2, 24, 28])),
    113: lambda chance, kind: struct.pack(">HHH8sH", 0, 1, 6, bytes(8), kind),
    228: lambda chance, kind: b"",
    229: lambda chance, kind: b"",
    276: lambda chance, kind: struct.pack(">HHIHBB8s", kind, 0, 3, 1, 0, 6, bytes(8)),
}
OTHER_LINKS = [3, 6, 7, 8, 10, 100, 105, 107, 117, 119, 122, 127, 147, 163, 177, 189, 192, 195, 220, 239]
LINKS.update(dict.fromkeys(OTHER_LINKS, lambda chance, kind: bytes(chance.randrange(40))))

HOSTS = ["10.0.0.1", "10.0.0.2", "192.0.2.1", "fd00::1", "2001:db8::1", "::ffff:10.0.0.1", "::1"]
PORTS = [0, 9, 53, 80, 443, 1000, 4789, 65_535]
NAMES = ["a.example", "b.example", "it's"]


def capture(chance, count):
    """A pcapng file with an interface for some of the link types, and so many packets of them, of which some have no time."""
    links = chance.sample(sorted(LINKS), chance.randrange(1, 5))
    data = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for number, link in enumerate(links):
        name = f"if{number}".encode()
        data.append(_block(1, struct.pack("<HHIHH", link, 0, 0, 2, len(name)) + _padded(name) + struct.pack("<HHBxxxI", 9, 1, 9, 0)))
    time = 1_700_000_000_000_000_000
    for _ in range(count):
        time += chance.choice([0, 1, 999, 1_000, 1_000_000, 10**9])
        interface = chance.randrange(len(links))
        frame = LINKS[links[interface]](chance, chance.choice([0x0800, 0x86DD, 0x0806, 0x8847])) + _network(chance, 2)
        if chance.random() < 0.15:
            frame = frame[: chance.randrange(len(frame) + 1)]
        elif frame and chance.random() < 0.15:
            at = chance.randrange(len(frame))
            frame = frame[:at] + bytes([chance.randrange(256)]) + frame[at + 1 :]
        length = len(frame) + chance.choice([0, 0, 7])
        if interface == 0 and chance.random() < 0.1:
            data.append(_block(3, struct.pack("<I", len(frame)) + _padded(frame)))
        else:
            data.append(_block(6, struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(frame), length) + _padded(frame)))
    return b"".join(data)


def _block(kind, body):
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _padded(data):
    return data + bytes(-len(data) % 4)


def _macs(chance):
    return b"".join(bytes([2, 0, 0, 0, 0, chance.randrange(3)]) for _ in range(2))


def _tags(chance):
    return b"".join(chance.choice([b"\x81\0", b"\x88\xa8"]) + struct.pack(">H", chance.randrange(4)) for _ in range(chance.choice([0, 0, 0, 1, 2])))


def _ppp(chance, kind):
    return {0x0800: b"\0\x21", 0x86DD: b"\0\x57"}.get(kind, chance.choice([b"\x21", b"\xc0\x21"]))


def _network(chance, depth):
    kind = chance.randrange(12)
    if kind == 0:
        addresses = [socket.inet_aton(chance.choice(HOSTS[:3])) for _ in range(2)]
        return struct.pack(">HHBBH6s4s6s4s", 1, 0x0800, 6, 4, chance.choice([1, 2]), bytes(6), addresses[0], bytes(6), addresses[1])
    if kind == 1:
        return chance.randbytes(chance.randrange(60))
    number, payload = _transport(chance, depth)
    addresses = [socket.inet_pton(socket.AF_INET6, chance.choice(HOSTS[3:])) for _ in range(2)]
    if kind < 6:
        for _ in range(chance.choice([0, 0, 1, 2])):
            extension = chance.choice([0, 43, 44, 51, 60])
            payload, number = bytes([number, 0]) + bytes([0, chance.choice([0, 1, 8]), 0, 0, 0, 1]) + payload, extension
        return struct.pack(">IHBB", 6 << 28, len(payload), number, chance.choice([1, 64, 255])) + b"".join(addresses) + payload
    addresses = [socket.inet_aton(chance.choice(HOSTS[:3])) for _ in range(2)]
    fragment, options = chance.choice([0, 0, 0, 0x4000, 0x2000, 0x00B9]), bytes(chance.choice([0, 0, 4]))
    head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(payload), 1, fragment, chance.choice([1, 64]), number, 0)
    return head + b"".join(addresses) + options + payload


def _transport(chance, depth):
    ports = struct.pack(">HH", chance.choice(PORTS), chance.choice(PORTS))
    kind = chance.randrange(10)
    if kind < 3:
        flags = chance.choice([2, 16, 18, 24, 0x1FF])
        header = struct.pack(">IIHHHH", chance.randrange(4), chance.randrange(4), 0x5000 | flags, 99, 0, 0)
        return 6, ports + header + _http(chance)
    if kind < 6:
        payload = _dns(chance) if b"\0\x35" in (ports[:2], ports[2:]) else bytes(chance.randrange(9))
        return 17, ports + struct.pack(">HH", 8 + len(payload), 0) + payload
    if kind == 6:
        return chance.choice([1, 58]), bytes([chance.choice([0, 3, 8, 128]), chance.randrange(3)]) + bytes(6)
    if kind == 7 and depth:
        inner = _network(chance, depth - 1)
        return {4: 4, 6: 41}.get(inner[0] >> 4 if inner else 0, 47), inner
    return (132, ports + bytes(8)) if kind == 8 else (chance.randrange(256), chance.randbytes(chance.randrange(20)))


def _dns(chance):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in chance.choice(NAMES).split("."))
    return struct.pack(">HHHHHH", 1, chance.choice([0x0100, 0x8180]), 1, 0, 0, 0) + labels + struct.pack(">xHH", chance.choice([1, 28]), 1)


def _http(chance):
    return chance.choice([b"", b"", f"GET / HTTP/1.1\r\nHost: {chance.choice(NAMES)}\r\n\r\n".encode()])
