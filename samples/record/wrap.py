"""Carries a TAP or TUN device over another link, for kernels built without VLAN or tunnel devices.

    wrap.py tag:8100.10,8100.20   DEVICE TRUNK                 VLAN tags, outermost first; TPID.TCI
    wrap.py mpls:100,200          DEVICE TRUNK PEER_MAC        MPLS labels
    wrap.py ip                    DEVICE LOCAL REMOTE          IPv4 and IPv6 in IPv4 or IPv6
    wrap.py gre[:KEY]             DEVICE LOCAL REMOTE          GRE; with a key also sequence numbers
    wrap.py gretap                DEVICE LOCAL REMOTE          Ethernet in GRE
    wrap.py geneve:VNI            DEVICE LOCAL REMOTE          Ethernet in Geneve

What the kernel sends into DEVICE leaves through the link with a header in front, and the other way
round, so both ends stay ordinary network stacks. `ready` on stdout says that the device exists.
"""

import errno
import fcntl
import os
import select
import socket
import struct
import sys

IPV4, IPV6, ETHERNET, MPLS = 0x0800, 0x86DD, 0x6558, 0x8847
TUNSETIFF, IFF_TUN, IFF_TAP, IFF_NO_PI = 0x400454CA, 1, 2, 0x1000
ETH_P_ALL, SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 3, 263, 8, 23
VLAN_VALID = 1 << 4


def open_device(name, flag):
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), flag | IFF_NO_PI))
    return device


def ethertype_of(packet):
    return IPV6 if packet[0] >> 4 == 6 else IPV4


def open_trunk(name):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.bind((name, ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    return sock


def receive_frame(sock):
    """The frame as it was on the wire: the kernel hands the outermost tag over beside it."""
    frame, extras, _, _ = sock.recvmsg(65535, 256)
    for _, _, data in extras:
        status, _, _, _, _, tci, tpid = struct.unpack("=3I4H", data[:20])
        if status & VLAN_VALID:
            frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
    return frame


class Tags:
    flag = IFF_TAP

    def __init__(self, tags, trunk):
        pairs = [tag.split(".") for tag in tags.split(",")]
        self.tags = b"".join(struct.pack("!HH", int(tpid, 16), int(tci, 0)) for tpid, tci in pairs)
        self.sock = open_trunk(trunk)

    def send(self, frame):
        self.sock.send(frame[:12] + self.tags + frame[12:])

    def receive(self):
        frame = receive_frame(self.sock)
        after = frame[12 + len(self.tags) :]
        deeper = after[:2] in (b"\x81\x00", b"\x88\xa8")
        return frame[:12] + after if frame[12:].startswith(self.tags) and not deeper else None


class Mpls:
    flag = IFF_TUN

    def __init__(self, labels, trunk, peer_mac):
        numbers = [int(label) for label in labels.split(",")]
        bottom = len(numbers) - 1
        self.stack = b"".join(struct.pack("!I", n << 12 | (at == bottom) << 8 | 64) for at, n in enumerate(numbers))
        self.sock = open_trunk(trunk)
        own_mac = self.sock.getsockname()[4]
        self.head = bytes.fromhex(peer_mac.replace(":", "")) + own_mac + struct.pack("!H", MPLS)

    def send(self, packet):
        self.sock.send(self.head + self.stack + packet)

    def receive(self):
        frame = receive_frame(self.sock)
        skip = 14 + len(self.stack)
        return frame[skip:] if frame[12:14] == struct.pack("!H", MPLS) else None


class RawSocket:
    """A raw IP socket to one peer; the kernel writes the outer IP header."""

    def __init__(self, local, remote, protocol):
        self.v6 = ":" in local
        self.sock = socket.socket(socket.AF_INET6 if self.v6 else socket.AF_INET, socket.SOCK_RAW, protocol)
        self.sock.bind((local, 0))
        self.sock.connect((remote, 0))

    def send(self, payload):
        self.sock.send(payload)

    def receive(self):
        packet = self.sock.recv(65535)
        return packet if self.v6 else packet[(packet[0] & 15) * 4 :]


class Ip:
    flag = IFF_TUN

    def __init__(self, _, local, remote):
        self.links = {IPV4: RawSocket(local, remote, 4), IPV6: RawSocket(local, remote, 41)}

    def send(self, packet):
        self.links[ethertype_of(packet)].send(packet)


class Gre:
    def __init__(self, key, local, remote):
        self.key = int(key) if key else None
        self.sequence = 0
        self.link = RawSocket(local, remote, socket.IPPROTO_GRE)

    def send(self, packet):
        kind = ETHERNET if self.flag == IFF_TAP else ethertype_of(packet)
        if self.key is None:
            head = struct.pack("!HH", 0, kind)
        else:
            head = struct.pack("!HHII", 0x3000, kind, self.key, self.sequence)
            self.sequence += 1
        self.link.send(head + packet)

    def receive(self):
        """None for the packet of another GRE tunnel between the same two addresses."""
        packet = self.link.receive()
        flags, kind = struct.unpack("!HH", packet[:4])
        mine = (flags == 0x3000) == (self.key is not None) and (kind == ETHERNET) == (self.flag == IFF_TAP)
        return packet[4 if self.key is None else 12 :] if mine else None


class GreTun(Gre):
    flag = IFF_TUN


class GreTap(Gre):
    flag = IFF_TAP


class Geneve:
    flag = IFF_TAP

    def __init__(self, vni, local, remote):
        self.head = struct.pack("!BBHI", 0, 0, ETHERNET, int(vni) << 8)
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((local, 6081))
        self.sock.connect((remote, 6081))

    def send(self, frame):
        self.sock.send(self.head + frame)

    def receive(self):
        return self.sock.recv(65535)[8:]


KINDS = {"tag": Tags, "mpls": Mpls, "ip": Ip, "gre": GreTun, "gretap": GreTap, "geneve": Geneve}


def main():
    what, name, *ends = sys.argv[1:]
    kind, _, option = what.partition(":")
    wrap = KINDS[kind](option, *ends)
    device = open_device(name, wrap.flag)
    receivers = list(wrap.links.values()) if kind == "ip" else [wrap]
    by_file = {(r.link if isinstance(r, Gre) else r).sock.fileno(): r for r in receivers}
    print("ready", flush=True)
    while True:
        for ready in select.select([device, *by_file], [], [])[0]:
            try:
                if ready == device:
                    wrap.send(os.read(device, 65535))
                elif packet := by_file[ready].receive():
                    os.write(device, packet)
            except OSError as error:
                if error.errno not in (errno.ENETDOWN, errno.EIO, errno.ENETUNREACH, errno.EHOSTUNREACH):
                    raise  # Else one of the two links is not up yet, and the packet is lost as on a wire.


main()
