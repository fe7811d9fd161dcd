"""The near end of the recordings: many clients that look names up, fetch pages and use Redis.

    clients.py web            the mix of web.pcap.gz, from 10.20.1.x and fd00:20:1::x
    clients.py loop           a small mix on 127.0.0.0/8 and ::1
    clients.py datagrams SIZE COUNT PARALLEL ADDRESS   large UDP datagrams to an echo server

Who does what comes from a fixed seed; ports, times and interleaving are the kernel's.
"""

import http.client
import random
import socket
import struct
import sys
import threading
import time

HOSTS = ["www", "api", "img", "shop", "news", "mail", "cdn", "db"]
SIZES = [120, 400, 900, 1400, 3000, 7000, 15000, 30000]


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def look_up(source, resolver, name, kind, tcp=False):
    """One question; asks again over TCP when the answer was cut short."""
    question = b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"
    query = struct.pack("!6H", random.getrandbits(16), 0x0100, 1, 0, 0, 0) + question + struct.pack("!HH", kind, 1)
    with socket.socket(family(source), socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM) as sock:
        sock.bind((source, 0))
        sock.settimeout(3)
        sock.connect((resolver, 53))
        if tcp:
            sock.sendall(struct.pack("!H", len(query)) + query)
            return sock.recv(65535)
        sock.send(query)
        reply = sock.recv(65535)
    cut_short = reply[2] & 0x02
    return look_up(source, resolver, name, kind, tcp=True) if cut_short else reply


def browse(source, server, port, host, paths):
    """Every path over one connection, then a close from our side."""
    link = http.client.HTTPConnection(server, port, timeout=10, source_address=(source, 0))
    for path in paths:
        headers = {"Host": host + ".example.test", "User-Agent": "example"}
        if path.startswith("/upload/"):
            link.request("POST", path, b"0123456789abcdef" * (int(path[8:]) // 16), headers)
        else:
            link.request("GET", path, headers=headers)
        link.getresponse().read()
        time.sleep(0.002)
    link.close()


def redis_command(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def use_redis(source, server, commands, pipeline):
    """Sends `pipeline` commands at a time and reads one reply line per command."""
    with socket.socket(family(source), socket.SOCK_STREAM) as sock:
        sock.bind((source, 0))
        sock.settimeout(5)
        sock.connect((server, 6379))
        replies = sock.makefile("rb")
        for at in range(0, len(commands), pipeline):
            batch = commands[at : at + pipeline]
            sock.sendall(b"".join(redis_command(*words) for words in batch))
            for _ in batch:
                line = replies.readline()
                if line[:1] == b"$" and line != b"$-1\r\n":
                    replies.read(int(line[1:]) + 2)


def redis_work(dice, count):
    commands = []
    for _ in range(count):
        key = f"cart:{dice.randrange(50)}"
        commands.append(
            dice.choice([("SET", key, "x" * dice.randrange(10, 400)), ("GET", key), ("INCR", "hits"), ("EXISTS", key)])
        )
    return commands


def knock(source, server, port, kind):
    """A port where nobody listens: a reset, or an ICMP port unreachable."""
    with socket.socket(family(source), kind) as sock:
        sock.bind((source, 0))
        sock.settimeout(0.3)
        try:
            sock.connect((server, port))
            sock.send(b"anyone?")
            sock.recv(100)
        except OSError:
            pass


def web_client(number, source):
    dice = random.Random(number)
    v6 = ":" in source
    server = (lambda n: f"fd00:20::{n}") if v6 else (lambda n: f"10.20.0.{n}")
    visits = 2 + 24 // (1 + number % 12)
    time.sleep(dice.random() * 2)
    for _ in range(visits):
        index = min(int(dice.expovariate(0.5)), len(HOSTS) - 1)
        host = HOSTS[index]
        for kind in (1, 28):
            look_up(source, server(53 + dice.randrange(2)), host + ".example.test", kind)
        paths = [f"/bytes/{dice.choice(SIZES[: 3 + number % 6])}" for _ in range(dice.randrange(1, 4))]
        if dice.random() < 0.2:
            paths.append(dice.choice(["/chunked/5000", "/missing", "/old", "/upload/6400"]))
        browse(source, server(80 + index), 8080 if host == "api" else 80, host, paths)
        if dice.random() < 0.4:
            use_redis(source, server(63), redis_work(dice, dice.randrange(4, 30)), dice.choice([1, 1, 8]))
        if dice.random() < 0.1:
            look_up(source, server(53), dice.choice(["nobody", "typo", "blog"]) + ".example.test", 1)
        time.sleep(dice.random() * 0.4)
    if number % 5 == 0:
        look_up(source, server(53), "big.example.test", 16)
        knock(source, server(80), 81, socket.SOCK_STREAM)
        knock(source, server(80), 81, socket.SOCK_DGRAM)
    if number in (3, 17):
        browse(source, server(82), 80, "img", ["/bytes/250000"])
    if number == 5:
        use_redis(source, server(63), redis_work(dice, 120), 1)


def web():
    sources = [f"10.20.1.{n}" for n in range(1, 17)] + [f"fd00:20:1::{n}" for n in range(1, 11)]
    together([(web_client, (number, source)) for number, source in enumerate(sources)])


def loop():
    dice = random.Random(7)
    for source, target in [("127.0.0.1", "127.0.0.1"), ("127.0.0.9", "127.0.0.2"), ("::1", "::1")]:
        for host in HOSTS[:4]:
            look_up(source, target, host + ".example.test", 28 if ":" in source else 1)
        look_up(source, target, "big.example.test", 16)
        browse(source, target, 80, "www", ["/bytes/300", "/bytes/40000", "/chunked/3000", "/bytes/200000"])
        use_redis(source, target, redis_work(dice, 40), 4)
        knock(source, target, 81, socket.SOCK_STREAM)
        knock(source, target, 81, socket.SOCK_DGRAM)


def send_datagrams(size, count, address):
    with socket.socket(family(address), socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.5)
        sock.connect((address, 7))
        for number in range(count):
            sock.send((b"%08d" % number) * (size // 8))
            try:
                sock.recv(65535)
            except TimeoutError:
                pass


def together(calls):
    threads = [threading.Thread(target=function, args=arguments) for function, arguments in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    work, *rest = sys.argv[1:]
    if work == "web":
        web()
    elif work == "loop":
        loop()
    else:
        size, count, parallel = map(int, rest[:3])
        together([(send_datagrams, (size, count, rest[3]))] * parallel)


main()
