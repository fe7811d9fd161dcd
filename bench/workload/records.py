"""Tasks on records of 16 bytes in Python, four big-endian numbers of 32 bits each, and how they are measured. The
sides are ours/records.py and peers/records.py: for each task a timed function of a path, and one that sums by column.
"""

import gc
import json
import os
import sys
import time

SMALL_BYTES = 1_500_000
TIMED_S = 0.4


def main(tasks, arguments):
    if len(arguments) != 2 or arguments[0] not in tasks:
        sys.exit(f"usage: records.py {'|'.join(tasks)} FILE")
    read, sums = tasks[arguments[0]]
    path = arguments[1]
    print(json.dumps({"sums": sums(path), "figures": {"pass_s": seconds_for(read, path)}}))


def seconds_for(read, path):
    timed_s = 0 if os.path.getsize(path) < SMALL_BYTES else TIMED_S
    gc.collect()
    passes, start = 0, time.process_time()
    while True:
        read(path)
        passes += 1
        elapsed = time.process_time() - start
        if elapsed >= timed_s:
            return elapsed / passes
