"""The far end of the recordings: DNS, HTTP and UDP echo on the addresses given.

    server.py dns:10.20.0.53 http@8080:10.20.0.81 echo:fd00:30::2

It answers from a made-up zone below example.test and knows nothing of the machine it runs on. The
line `ready` on stdout says that every socket listens.
"""

import http.server
import json
import random
import socket
import socketserver
import struct
import sys
import threading

ZONE = "example.test"
TYPES = {"A": 1, "CNAME": 5, "MX": 15, "TXT": 16, "AAAA": 28, "OPT": 41}
HOSTS = ["www", "api", "img", "shop", "news", "mail", "cdn", "db"]


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def body_of(size):
    """`size` bytes of JSON lines, the same for every run."""
    dice = random.Random(size)
    lines = []
    while size > 0:
        row = {"id": dice.randrange(10**6), "name": dice.choice(HOSTS), "price": dice.randrange(9999) / 100}
        line = (json.dumps(row) + "\n").encode()[:size]
        lines.append(line)
        size -= len(line)
    return b"".join(lines)


def name_bytes(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def read_name(message, at):
    parts = []
    while message[at]:
        parts.append(message[at + 1 : at + 1 + message[at]].decode("ascii"))
        at += 1 + message[at]
    return ".".join(parts).lower(), at + 1


def records_for(name, kind):
    """The answers as (type, ttl, data), or None when the name does not exist."""
    host = name.removesuffix("." + ZONE)
    if host == "big":
        strings = [f"part {n:02} ".encode() + b"x" * 192 for n in range(15)]
        return [(16, 60, bytes([len(s)]) + s) for s in strings] if kind == 16 else []
    if host == "blog":
        return [(5, 300, name_bytes("www." + ZONE))] + (records_for("www." + ZONE, kind) or [])
    if host not in HOSTS:
        return None
    n = HOSTS.index(host) + 80
    if kind == TYPES["A"]:
        return [(1, 300, socket.inet_aton(f"10.20.0.{n}"))]
    if kind == TYPES["AAAA"]:
        return [(28, 300, socket.inet_pton(socket.AF_INET6, f"fd00:20::{n}"))]
    if kind == TYPES["MX"]:
        return [(15, 3600, b"\0\x0a" + name_bytes("mail." + ZONE))]
    return []


def answer(query, size_limit):
    ident, flags, _, _, _, extra = struct.unpack("!6H", query[:12])
    name, end = read_name(query, 12)
    kind = struct.unpack("!H", query[end : end + 2])[0]
    question = query[12 : end + 4]
    if extra and size_limit and query[end + 4] == 0:
        size_limit = max(512, struct.unpack("!H", query[end + 7 : end + 9])[0])
    found = records_for(name, kind)
    code = 3 if found is None else 0
    owner = struct.pack("!H", 0xC00C)
    answers = []
    for rtype, ttl, data in found or []:
        answers.append(owner + struct.pack("!HHIH", rtype, 1, ttl, len(data)) + data)
        if rtype == TYPES["CNAME"]:
            owner = data
    reply_flags = 0x8400 | (flags & 0x0100) | code
    reply = struct.pack("!6H", ident, reply_flags, 1, len(answers), 0, 0) + question + b"".join(answers)
    if size_limit and len(reply) > size_limit:
        reply = struct.pack("!6H", ident, reply_flags | 0x0200, 1, 0, 0, 0) + question
    return reply


class DnsUdp(socketserver.BaseRequestHandler):
    def handle(self):
        query, sock = self.request
        sock.sendto(answer(query, 512), self.client_address)


class DnsTcp(socketserver.StreamRequestHandler):
    def handle(self):
        while head := self.rfile.read(2):
            reply = answer(self.rfile.read(struct.unpack("!H", head)[0]), None)
            self.wfile.write(struct.pack("!H", len(reply)) + reply)


class EchoUdp(socketserver.BaseRequestHandler):
    def handle(self):
        datagram, sock = self.request
        sock.sendto(datagram, self.client_address)


class Http(http.server.BaseHTTPRequestHandler):
    """/bytes/N answers with N bytes, /chunked/N the same in chunks; POST counts what it was sent."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "example", ""
    wbufsize = -1

    def do_GET(self):
        kind, _, size = self.path.strip("/").partition("/")
        if kind == "bytes" and size.isdigit():
            self.reply(200, body_of(int(size)))
        elif kind == "chunked" and size.isdigit():
            self.reply_in_chunks(body_of(int(size)))
        elif kind == "old":
            self.send_response(302)
            self.send_header("Location", f"http://www.{ZONE}/bytes/1000")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.reply(404, b'{"error":"not found"}\n')

    def do_POST(self):
        got = len(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply(201, json.dumps({"stored": got}).encode() + b"\n")

    def reply(self, code, body):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_in_chunks(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), 1000):
            piece = body[at : at + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        pass


class Listening:
    """What every server here shares: one address, its own family, no name look-ups."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64
    max_packet_size = 65535

    def __init__(self, address, port, handler):
        self.address_family = family(address)
        super().__init__((address, port), handler)

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        super().server_bind()


class Udp(Listening, socketserver.UDPServer):
    pass


class Tcp(Listening, socketserver.ThreadingTCPServer):
    pass


SERVICES = {
    "dns": (53, [(Udp, DnsUdp), (Tcp, DnsTcp)]),
    "http": (80, [(Tcp, Http)]),
    "echo": (7, [(Udp, EchoUdp)]),
}


def main():
    for request in sys.argv[1:]:
        service, address = request.split(":", 1)
        service, _, chosen_port = service.partition("@")
        usual_port, kinds = SERVICES[service]
        port = int(chosen_port or usual_port)
        for server, handler in kinds:
            threading.Thread(target=server(address, port, handler).serve_forever, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


main()
