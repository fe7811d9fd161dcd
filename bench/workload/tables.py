"""Tasks for every engine of the tables' benches from Python, and how they are measured: workload/tables.rb says more.
The engines stand in ours/tables.py and peers/tables.py; each makes a table below a folder, a mapping of bytes.

    memory      what storing all records takes
    times       storing and fetching, one by one
    many        the values of 1,000 keys at a time, and 10,000 entries at a time, of pairs and of dicts
    gc          a full collection beside the table
    file        storing and fetching in a file, in one transaction where the engine has some
"""

import array
import contextlib
import gc
import json
import os
import shutil
import statistics
import sys
import time
import zlib

CHECKED_COUNT_MAX = 20_000
GET_COUNT = 1_000
UPDATE_COUNT = 10_000
GC_COUNT = 5


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

    def shuffled(self, entries):
        return [entries[number][0] for number in self.order(self.count)]

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


def timed(work):
    """Returns what `work` returns, and its processor time. Garbage of before is collected first."""
    gc.collect()
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def stored(records, engine):
    table = engine()
    for key, value in records.each():
        table[key] = value
    return table


def memory(records, engine):
    before = resident_bytes()
    table = stored(records, engine)
    gc.collect()
    after = resident_bytes()
    return answer(records, table, {
        "grown_bytes": after["Rss"] - before["Rss"],
        "anonymous_bytes": after["Anonymous"] - before["Anonymous"],
        "payload_bytes": records.payload_bytes(),
    })


def put(table, entries):
    for key, value in entries:
        table[key] = value


def get(table, keys):
    value_bytes = 0
    for key in keys:
        value_bytes += len(table[key])
    return value_bytes


def times(records, engine):
    entries = list(records.each())
    shuffled = records.shuffled(entries)
    table = engine()
    _, put_s = timed(lambda: put(table, entries))
    value_bytes, get_s = timed(lambda: get(table, shuffled))
    return answer(records, table, {"put_s": put_s, "get_s": get_s}, value_bytes=value_bytes)


def file(records, engine):
    """As `times`, with what is stored in one transaction, and not waited for."""
    entries = list(records.each())
    shuffled = records.shuffled(entries)
    table = engine()

    def put_all():
        with transaction(table):
            put(table, entries)

    _, put_s = timed(put_all)
    value_bytes, get_s = timed(lambda: get(table, shuffled))
    return answer(records, table, {"put_s": put_s, "get_s": get_s}, value_bytes=value_bytes)


def transaction(table):
    return table.transaction() if hasattr(table, "transaction") else contextlib.nullcontext()


def many(records, engine):
    entries = list(records.each())
    shuffled = records.shuffled(entries)
    slices = [shuffled[first : first + GET_COUNT] for first in range(0, len(shuffled), GET_COUNT)]
    pairs = [entries[first : first + UPDATE_COUNT] for first in range(0, len(entries), UPDATE_COUNT)]
    dicts = [dict(each) for each in pairs]
    table = engine()
    _, update_pairs_s = timed(lambda: [table.update(each) for each in pairs])
    table.clear()
    _, update_dicts_s = timed(lambda: [table.update(each) for each in dicts])
    # Programs write this list if there is no get_many.
    get_many = getattr(table, "get_many", None) or (lambda keys: [table[key] for key in keys])
    counts, get_many_s = timed(lambda: [len(get_many(keys)) for keys in slices])
    figures = {"update_pairs_s": update_pairs_s, "update_dicts_s": update_dicts_s, "get_many_s": get_many_s}
    return answer(records, table, figures, found=sum(counts))


def collection(records, engine):
    table = stored(records, engine)
    gc.collect()
    durations = [timed(gc.collect)[1] for _ in range(GC_COUNT)]
    return answer(records, table, {"gc_s": statistics.median(durations)})


def collection_of_nothing(records, _engine):
    """Measures a collection in a process that read the records, and kept nothing."""
    for _ in records.each():
        pass
    gc.collect()
    durations = [timed(gc.collect)[1] for _ in range(GC_COUNT)]
    return {"figures": {"gc_s": statistics.median(durations)}, "records": records.count}


TASKS = {
    "memory": memory, "times": times, "many": many, "gc": collection, "nothing": collection_of_nothing, "file": file
}


def main(engines, arguments):
    """Does the task that the command line names, with one of these engines, and prints the answer."""
    if len(arguments) != 3 or arguments[0] not in TASKS or arguments[1] not in engines:
        sys.exit(f"usage: tables.py {'|'.join(TASKS)} {'|'.join(engines)} RECORDS")
    task, name, path = arguments
    # Beside the records, on their disk.
    folder = f"{path}.{os.getpid()}.tables"
    os.mkdir(folder)
    try:
        print(json.dumps(TASKS[task](Records(path), lambda: engines[name](folder))))
    finally:
        shutil.rmtree(folder)
