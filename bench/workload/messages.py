"""Tasks for every Thrift of the benches in Python, and how they are measured: workload/messages.rb says more. The
engines stand in ours/messages.py and peers/messages.py.

An engine is made of a struct's name and a protocol. It has `decode(message)`, which gives an object, and may have
`columns(framed, paths)`, which gives the columns of all messages, and `values(columns)`, which gives them as lists.

    decode      each message
    columns     three fields of all messages of a file
    whole       all fields of them
"""

import gc
import hashlib
import json
import os
import re
import sys
import time

TIMED_S = 0.4
IDL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "messages.thrift")

#: Three fields for those who want no more, as workload/messages.rb has them.
PATHS = {"rich": ("flag", "large", "text"), "flat": ("time", "path", "ok")}

#: The same of each column chunk of a Parquet footer.
FOOTER_IDL = os.path.join(os.path.dirname(IDL), "..", "..", "samples", "parquet.thrift")
FOOTER_FIELDS = ("path_in_schema", "num_values", "total_compressed_size")
PATHS["footer"] = tuple("row_groups[].columns[].meta_data." + field for field in FOOTER_FIELDS)


def frames(framed):
    at = 0
    while at < len(framed):
        length = int.from_bytes(framed[at : at + 4], "big")
        yield framed[at + 4 : at + 4 + length]
        at += 4 + length


def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(each) for each in value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return {name: plain(each) for name, each in vars(value).items()}


def in_order_of_sets(value):
    """thriftpy2 makes lists of sets."""
    value["tags"], value["numbers"] = sorted(value["tags"]), sorted(value["numbers"])
    return value


class ObjectColumns:
    """Columns by way of objects, for engines that have nothing else."""

    def columns(self, framed, paths):
        first, second, third = paths
        columns = firsts, seconds, thirds = [], [], []
        for message in frames(framed):
            value = self.decode(message)
            firsts.append(getattr(value, first))
            seconds.append(getattr(value, second))
            thirds.append(getattr(value, third))
        return columns

    def values(self, columns):
        return columns


class Input:
    """The messages of a file, whose name says what they are: rich_binary.messages."""

    def __init__(self, path):
        self.struct, self.protocol = re.match(r"(rich|flat|footer)_(binary|compact)[_.]", os.path.basename(path)).groups()
        with open(path, "rb") as file:
            self.framed = file.read()
        self.messages = list(frames(self.framed))
        # Small inputs are those of check mode, where nothing is timed in earnest.
        self.timed_s = TIMED_S if len(self.framed) >= 4096 else 0


def decode(engine, given):
    values = [plain(engine.decode(message)) for message in given.messages]
    if given.struct == "rich":
        values = [in_order_of_sets(value) for value in values]
    messages, decode_one = given.messages, engine.decode

    def work():
        for message in messages:
            decode_one(message)

    return digest(values), work


def columns(engine, given):
    paths = PATHS[given.struct]
    values = plain(engine.values(engine.columns(given.framed, paths)))
    return digest(values), lambda: engine.columns(given.framed, paths)


def whole(engine, given):
    values = plain(engine.values_of_whole(engine.columns(given.framed, ())))
    return digest(values), lambda: engine.columns(given.framed, ())


def digest(values):
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seconds_for(work, timed_s):
    work()
    gc.collect()
    passes, start = 0, time.process_time()
    while True:
        work()
        passes += 1
        elapsed = time.process_time() - start
        if elapsed >= timed_s:
            return elapsed / passes


TASKS = {"decode": decode, "columns": columns, "whole": whole}


def main(engines, arguments):
    """Does the task that the command line names, with one of these engines, and prints the answer."""
    if len(arguments) != 3 or arguments[0] not in TASKS or arguments[1] not in engines:
        sys.exit(f"usage: messages.py {'|'.join(TASKS)} {'|'.join(engines)} MESSAGES")
    task, name, path = arguments
    given = Input(path)
    sha256, work = TASKS[task](engines[name](given.struct.capitalize(), given.protocol), given)
    seconds = seconds_for(work, given.timed_s) / len(given.messages)
    print(json.dumps({"messages": len(given.messages), "sha256": sha256, "figures": {"message_s": seconds}}))
