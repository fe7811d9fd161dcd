"""Ours without Spark: a folder of captures on one core.

    python folder.py flows COMMAND FOLDER        the command adds the flows of all up in a new table
    python folder.py decompress COLUMNS FOLDER   the core decompresses each, and looks at nothing
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import captures  # noqa: E402

NUMBERS = ("packets", "rev_packets", "bytes", "rev_bytes")


def flows(command, paths):
    """Seconds, and what the flows are."""
    with tempfile.TemporaryDirectory() as work:
        table = os.path.join(work, "flows.bwt")
        start = time.perf_counter()
        subprocess.run([command, "flows", *paths, "--into", table, "--jobs", "1"], stdout=subprocess.DEVNULL, check=True)
        seconds = time.perf_counter() - start
        stored = subprocess.run([command, "flows", "--from", table, "--csv"], stdout=subprocess.PIPE, text=True, check=True)
    rows = list(csv.DictReader(stored.stdout.splitlines()))
    answer = {"flows": len(rows), **{name: sum(int(row[name]) for row in rows) for name in NUMBERS}}
    answer["weighted"] = sum(int(row["dst_port"] or 0) * int(row["packets"]) for row in rows)
    return seconds, answer


def decompress(columns, paths):
    start = time.perf_counter()
    told = [subprocess.run([columns, "decompress", path, "--jobs", "1"], stdout=subprocess.PIPE, check=True) for path in paths]
    seconds = time.perf_counter() - start
    return seconds, {"stream_bytes": sum(json.loads(each.stdout)["stream_bytes"] for each in told)}


TASKS = {"flows": flows, "decompress": decompress}

if len(sys.argv) != 4 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: folder.py {'|'.join(TASKS)} PROGRAM FOLDER")
seconds, answer = TASKS[sys.argv[1]](sys.argv[2], captures.paths(sys.argv[3]))
print(json.dumps({**answer, "figures": captures.figures(sys.argv[3], seconds)}))
