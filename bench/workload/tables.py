"""Tasks for every engine of the tables' benches from Python, and how they are measured: workload/tables.rb says more.
The engines stand in ours/tables.py and peers/tables.py; each makes a table below a folder, a mapping of bytes.

    memory      what storing all records takes
    times       storing and fetching, one by one
    many        the values of 1,000 keys at a time, and 10,000 entries at a time, of pairs and of dicts
    gc          a full collection beside the table
    file        storing and fetching in a file, in one transaction where the engine has some
    file_many   the same, fetching the values of 1,000 keys at a time
    write       storing in a file by N processes at the same time, each its part: one by one, or in transactions of 100
    get         fetching from a file, beside N processes that write to it
    share       what N processes take of memory that have read all of a file

N stands behind the name of the task: write-4, write-4-by-100, get-4, share-8. A process works alone in write-1 and get-0.
"""

import array
import contextlib
import gc
import json
import multiprocessing
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


def get_many(table, keys):
    value_bytes = 0
    for first in range(0, len(keys), GET_COUNT):
        value_bytes += sum(map(len, table.get_many(keys[first : first + GET_COUNT])))
    return value_bytes


def file(records, engine, fetch=get):
    """As `times`, with what is stored in one transaction, and not waited for."""
    entries = list(records.each())
    shuffled = records.shuffled(entries)
    table = engine()

    def put_all():
        with transaction(table):
            put(table, entries)

    _, put_s = timed(put_all)
    value_bytes, get_s = timed(lambda: fetch(table, shuffled))
    return answer(records, table, {"put_s": put_s, "get_s": get_s}, value_bytes=value_bytes)


def file_many(records, engine):
    return file(records, engine, get_many)


def transaction(table):
    return table.transaction() if hasattr(table, "transaction") else contextlib.nullcontext()


FORKING = multiprocessing.get_context("fork")


class Processes:
    """Processes that begin what `prepare(table, number)` returns together, each with a table of its own.

    What is prepared belongs to the process: to use objects of its parent would copy the pages that they are in.
    """

    def __init__(self, count, engine, prepare):
        self.barrier = FORKING.Barrier(count + 1)
        self.processes = [FORKING.Process(target=self.run, args=(engine, prepare, number)) for number in range(count)]
        for process in self.processes:
            process.start()
        self.barrier.wait()
        self.start = time.monotonic()

    def run(self, engine, prepare, number):
        try:
            work = prepare(engine(), number)
            self.barrier.wait()
            work()
            self.barrier.wait()
        except BaseException:
            # The others do not wait for this one.
            self.barrier.abort()
            raise

    def join(self):
        """Waits until all are done, and returns the seconds that it took, without those in which they end."""
        self.barrier.wait()
        elapsed = time.monotonic() - self.start
        for process in self.processes:
            process.join()
        assert all(process.exitcode == 0 for process in self.processes)
        return elapsed


def put_in_parts(table, entries, part_len):
    if part_len == 1:
        return put(table, entries)
    for first in range(0, len(entries), part_len):
        with transaction(table):
            put(table, entries[first : first + part_len])


def write(records, engine, count, part_len=1):
    """Measures the time on the clock, since processes that wait for each other take no time of a processor."""

    def prepare(table, number):
        part = list(records.each())[number::count]
        return lambda: put_in_parts(table, part, part_len)

    engine()
    write_s = Processes(count, engine, prepare).join()
    return answer(records, engine(), {"write_s": write_s})


def get_beside(records, engine, count):
    entries = list(records.each())
    shuffled = records.shuffled(entries)
    table = engine()
    with transaction(table):
        put(table, entries)
    is_over = FORKING.Event()

    def prepare(beside, number):
        part = list(records.each())[number::count][:1_000]

        def rewrite():
            while not is_over.is_set():
                put_in_parts(beside, part, 10)

        return rewrite

    processes = Processes(count, engine, prepare)
    value_bytes, get_s = timed(lambda: get(table, shuffled))
    is_over.set()
    processes.join()
    return answer(records, table, {"get_s": get_s}, value_bytes=value_bytes)


def share(records, engine, count):
    """Measures proportional memory, in which pages that processes share count once."""
    entries = list(records.each())
    put_in_parts(engine(), entries, len(entries))
    have_read = FORKING.Barrier(count)
    grown = FORKING.Queue()

    def prepare(table, _number):
        keys = [key for key, _ in records.each()]

        def read():
            before = resident_bytes()["Pss"]
            get(table, keys)
            have_read.wait()
            grown.put(resident_bytes()["Pss"] - before)
            have_read.wait()

        return read

    Processes(count, engine, prepare).join()
    return answer(records, engine(), {"shared_bytes": sum(grown.get() for _ in range(count))})


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
    fetch = getattr(table, "get_many", None) or (lambda keys: [table[key] for key in keys])
    counts, get_many_s = timed(lambda: [len(fetch(keys)) for keys in slices])
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
    "memory": memory, "times": times, "many": many, "gc": collection, "nothing": collection_of_nothing, "file": file,
    "file_many": file_many
}

TASKS_OF_PROCESSES = {"write": write, "get": get_beside, "share": share}


def task_named(name):
    """Returns the task, or None. Numbers behind its name are its last arguments."""
    if name in TASKS:
        return TASKS[name]
    name, _, numbers = name.partition("-")
    numbers = [int(number) for number in numbers.split("-") if number != "by"]
    task = TASKS_OF_PROCESSES.get(name)
    return task and (lambda records, engine: task(records, engine, *numbers))


def main(engines, arguments):
    """Does the task that the command line names, with one of these engines, and prints the answer."""
    task = task_named(arguments[0]) if arguments else None
    if len(arguments) != 3 or not task or arguments[1] not in engines:
        sys.exit(f"usage: tables.py {'|'.join([*TASKS, *(f'{name}-N' for name in TASKS_OF_PROCESSES)])} {'|'.join(engines)} RECORDS")
    _, name, path = arguments
    # Beside the records, on their disk.
    folder = f"{path}.{os.getpid()}.tables"
    os.mkdir(folder)
    try:
        print(json.dumps(task(Records(path), lambda: engines[name](folder))))
    finally:
        shutil.rmtree(folder)
