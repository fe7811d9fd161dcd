"""Peer: `struct.iter_unpack` over a file that is read at once.

    python records.py loop|tuples FILE
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import records  # noqa: E402


def tuples(path):
    with open(path, "rb") as file:
        return list(struct.iter_unpack(">4I", file.read()))


def loop(path):
    with open(path, "rb") as file:
        for _ in struct.iter_unpack(">4I", file.read()):
            pass


def sums(path):
    return [sum(column) for column in zip(*tuples(path))]


records.main({"loop": (loop, sums), "tuples": (tuples, sums)}, sys.argv[1:])
