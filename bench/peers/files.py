"""Peers: CPython's buffered files, and PyPy's.

    python3 files.py records|headers|lines FILE

workload/files.rb says what the tasks are.
"""

import gc
import json
import os
import struct
import sys
import time
import zlib

HEADER_BYTES = 16
BODY_BYTES = 64
CHECKED_COUNT = 20_000
SMALL_BYTES = 1_500_000
TIMED_S = 0.4


def records(path):
    count = 0
    with open(path, "rb") as file:
        read = file.read
        while read(HEADER_BYTES):
            read(BODY_BYTES)
            count += 1
    return count


def records_answer(path):
    crc = 0
    with open(path, "rb") as file:
        for _ in range(CHECKED_COUNT):
            crc = zlib.crc32(file.read(HEADER_BYTES), crc)
            crc = zlib.crc32(file.read(BODY_BYTES), crc)
    return {"records": records(path), "crc": crc}


def headers(path):
    with open(path, "rb") as file:
        read, unpack = file.read, struct.Struct(">4I").unpack
        while header := read(HEADER_BYTES):
            unpack(header)
            read(BODY_BYTES)


def headers_answer(path):
    total = 0
    with open(path, "rb") as file:
        for _ in range(CHECKED_COUNT):
            if header := file.read(HEADER_BYTES):
                total += sum(struct.unpack(">4I", header))
                file.read(BODY_BYTES)
    headers(path)
    return {"sum": total}


def lines(path):
    count = 0
    with open(path, "rb") as file:
        for _ in file:
            count += 1
    return count


def lines_answer(path):
    crc = 0
    with open(path, "rb") as file:
        for _ in range(CHECKED_COUNT):
            crc = zlib.crc32(file.readline(), crc)
    return {"lines": lines(path), "crc": crc}


TASKS = {
    "records": (records_answer, records),
    "headers": (headers_answer, headers),
    "lines": (lines_answer, lines),
}


def seconds_for(task, path):
    timed_s = 0 if os.path.getsize(path) < SMALL_BYTES else TIMED_S
    gc.collect()
    passes, start = 0, time.process_time()
    while True:
        task(path)
        passes += 1
        elapsed = time.process_time() - start
        if elapsed >= timed_s:
            return elapsed / passes


def main():
    name, path = sys.argv[1:]
    answer, task = TASKS[name]
    print(json.dumps({**answer(path), "figures": {"pass_s": seconds_for(task, path)}}))


main()
