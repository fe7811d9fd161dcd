"""Peer: Python's dict, with a bytes object for each key and value.

    python3 dict.py memory|times RECORDS

workload/tables.rb says what the tasks are.
"""

import array
import gc
import json
import sys
import time
import zlib

CHECKED_COUNT_MAX = 20_000


class Records:
    """The file that record-generator writes."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            header = file.readline()
        self.header_len = len(header)
        self.count, self.key_len, self.value_len = (int(number) for number in header.split())

    def payload_bytes(self):
        return self.count * (self.key_len + self.value_len)

    def each(self):
        with open(self.path, "rb") as file:
            file.seek(self.header_len)
            for _ in range(self.count):
                yield file.read(self.key_len), file.read(self.value_len)

    def order(self, count_max):
        numbers = array.array("I")
        with open(self.path, "rb") as file:
            file.seek(self.header_len + self.payload_bytes())
            numbers.fromfile(file, min(self.count, count_max))
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def key_at(self, file, number):
        file.seek(self.header_len + number * (self.key_len + self.value_len))
        return file.read(self.key_len)


def resident_bytes():
    with open("/proc/self/smaps_rollup", encoding="ascii") as rollup:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in rollup if line.endswith("kB\n")}


def answer(records, table, figures, **rest):
    crc = 0
    with open(records.path, "rb") as file:
        for number in records.order(CHECKED_COUNT_MAX):
            crc = zlib.crc32(table[records.key_at(file, number)], crc)
    return {"records": len(table), "crc": crc, **rest, "figures": figures}


def memory(records):
    before = resident_bytes()
    table = {}
    for key, value in records.each():
        table[key] = value
    gc.collect()
    after = resident_bytes()
    return answer(records, table, {
        "grown_bytes": after["Rss"] - before["Rss"],
        "anonymous_bytes": after["Anonymous"] - before["Anonymous"],
        "payload_bytes": records.payload_bytes(),
    })


def times(records):
    entries = list(records.each())
    shuffled = [entries[number][0] for number in records.order(records.count)]
    table = {}
    start = time.process_time()
    for key, value in entries:
        table[key] = value
    stored = time.process_time()
    value_bytes = 0
    for key in shuffled:
        value_bytes += len(table[key])
    got = time.process_time()
    return answer(records, table, {"put_s": stored - start, "get_s": got - stored}, value_bytes=value_bytes)


TASKS = {"memory": memory, "times": times}

if len(sys.argv) != 3 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: dict.py {'|'.join(TASKS)} RECORDS")
print(json.dumps(TASKS[sys.argv[1]](Records(sys.argv[2]))))
