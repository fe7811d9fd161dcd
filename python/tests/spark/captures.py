"""Captures that are made for tests: random packets between few hosts, in all the files that there are."""

import gzip
import random
import struct

import pyarrow

_ETHERNET = bytes(12)


def packet(chance):
    """A frame of Ethernet with random headers, cut short now and then."""
    hosts = [f"10.0.0.{number}" for number in range(1, 9)]
    source, target = chance.sample(hosts, 2)
    kind = chance.choice(["tcp", "tcp", "udp", "icmp", "v6", "arp"])
    ports = struct.pack(">HH", chance.choice([80, 443, 5_000, 5_001]), chance.choice([53, 80, 443]))
    if kind == "arp":
        return _ETHERNET + b"\x08\x06" + struct.pack(">HHBBH", 1, 0x800, 6, 4, 1) + bytes(20)
    if kind == "tcp":
        number, payload = 6, ports + struct.pack(">IIBBHHH", chance.randrange(2**32), 0, 0x50, chance.choice([2, 16, 18, 24]), 99, 0, 0)
    elif kind == "icmp":
        number, payload = 1, struct.pack(">BBHHH", chance.choice([0, 3, 8]), 0, 0, 7, 1)
    else:
        number, payload = 17, ports + struct.pack(">HH", 8, 0)
    payload += bytes(chance.randrange(40))
    if kind == "v6":
        addresses = b"".join(bytes([0xFD]) + bytes(14) + bytes([chance.randrange(1, 5)]) for _ in range(2))
        return _ETHERNET + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(payload), 17, 64) + addresses + payload
    addresses = b"".join(bytes(map(int, host.split("."))) for host in (source, target))
    return _ETHERNET + b"\x08\x00" + struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, number, 0) + addresses + payload


def pcap(chance, count, start=1_700_000_000_000_000_000):
    """A capture of format pcap with times in nanoseconds."""
    data, time = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)], start
    for _ in range(count):
        time += chance.randrange(2_000_000)
        data.append(record(time // 10**9, packet(chance), time % 10**9))
    return b"".join(data)


def record(seconds, frame, nanos=0):
    """A record of a capture of format pcap."""
    return struct.pack("<IIII", seconds, nanos, len(frame), len(frame)) + frame


def pcapng(chance, count):
    """One of format pcapng, some of whose packets have no time."""
    data = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), _block(1, struct.pack("<HHI", 1, 0, 0))]
    time = 1_700_000_000_000_000 + chance.randrange(10**6)
    for _ in range(count):
        time += chance.randrange(2_000)
        frame = packet(chance)
        padded = frame + bytes(-len(frame) % 4)
        if chance.random() < 0.2:
            data.append(_block(3, struct.pack("<I", len(frame)) + padded))
        else:
            data.append(_block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame)) + padded))
    return b"".join(data)


def _block(kind, body):
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def write(folder, seed, samples, count=40):
    """Writes `count` captures into a folder: made ones and samples, plain and compressed, two equal ones, one that is cut and one that
    is none. Answers their paths."""
    chance, paths = random.Random(seed), []

    def put(name, data):
        if name.endswith(".gz"):
            data = gzip.compress(data)
        path = folder / f"{len(paths):02}-{name}"
        if name.endswith(".zst"):
            with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
                file.write(data)
        else:
            path.write_bytes(data)
        paths.append(path)
        return data

    first = pcap(chance, 300)
    put("first.pcap", first)
    put("first-again.pcap.gz", first)
    put("cut.pcap", pcap(chance, 200)[:-7])
    put("none.txt", b"no capture at all, but text\n")
    for sample in samples:
        paths.append(folder / f"{len(paths):02}-{sample.name}")
        paths[-1].write_bytes(sample.read_bytes())
    while len(paths) < count:
        make, ending = chance.choice([(pcap, "pcap"), (pcapng, "pcapng")])
        put(f"made.{ending}{chance.choice(['', '.gz', '.zst'])}", make(chance, chance.randrange(400)))
    return [str(path) for path in paths]
