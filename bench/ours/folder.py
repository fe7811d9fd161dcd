"""Ours without Spark: a folder of captures on one core.

    python folder.py flows COMMAND FOLDER        the command adds the flows of all up in a new table
    python folder.py entries COMMAND FOLDER      the same, in a table for each capture
    python folder.py decompress COLUMNS FOLDER   the core decompresses each, and looks at nothing
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import captures  # noqa: E402

NUMBERS = ("packets", "rev_packets", "bytes", "rev_bytes")


def flows(command, folder):
    with tempfile.TemporaryDirectory() as work:
        table = os.path.join(work, "flows.bwt")
        _, figures = captures.measured(folder, lambda: add_up(command, captures.paths(folder), table))
        rows = stored(command, table)
    answer = {"flows": len(rows), **{name: sum(int(row[name]) for row in rows) for name in NUMBERS}}
    answer["weighted"] = sum(int(row["dst_port"] or 0) * int(row["packets"]) for row in rows)
    return answer, figures


def entries(command, folder):
    def work():
        counts = []
        for path in captures.paths(folder):
            with tempfile.TemporaryDirectory() as work:
                table = os.path.join(work, "flows.bwt")
                add_up(command, [path], table)
                counts.append(len(stored(command, table)))
        return {"captures": len(counts), "flows_of_captures": sum(counts)}

    return captures.measured(folder, work)


def add_up(command, paths, table):
    subprocess.run([command, "flows", *paths, "--into", table, "--jobs", "1"], stdout=subprocess.DEVNULL, check=True)


def stored(command, table):
    printed = subprocess.run([command, "flows", "--from", table, "--csv"], stdout=subprocess.PIPE, text=True, check=True)
    return list(csv.DictReader(printed.stdout.splitlines()))


def decompress(columns, folder):
    def work():
        options = ["--jobs", "1"]
        told = [subprocess.run([columns, "decompress", path, *options], stdout=subprocess.PIPE, check=True) for path in captures.paths(folder)]
        return {"stream_bytes": sum(json.loads(each.stdout)["stream_bytes"] for each in told)}

    return captures.measured(folder, work)


TASKS = {each.__name__: each for each in (flows, entries, decompress)}

if len(sys.argv) != 4 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: folder.py {'|'.join(TASKS)} PROGRAM FOLDER")
answer, figures = TASKS[sys.argv[1]](*sys.argv[2:])
print(json.dumps({**answer, "figures": figures}))
