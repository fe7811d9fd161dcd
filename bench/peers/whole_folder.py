"""Peers of what one core does with a folder of captures.

    python whole_folder.py read READ_DISCARD FOLDER   reads each, and looks at nothing
    python whole_folder.py decompress GZIP FOLDER     decompresses each with `gzip -dc`
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import captures  # noqa: E402

PIECE_BYTES = 1 << 20


def read(read_discard, path):
    told = subprocess.run([read_discard, path], stdout=subprocess.PIPE, check=True)
    return {"file_bytes": json.loads(told.stdout)["stream_bytes"]}


def decompress(gzip, path):
    total = 0
    with subprocess.Popen([gzip, "-dc", path], stdout=subprocess.PIPE) as process:
        while piece := process.stdout.read(PIECE_BYTES):
            total += len(piece)
    if process.returncode:
        sys.exit(f"gzip -dc {path} ended with status {process.returncode}")
    return {"stream_bytes": total, "file_bytes": os.path.getsize(path)}


TASKS = {"read": read, "decompress": decompress}


def work(task, program, folder):
    of_captures = [task(program, path) for path in captures.paths(folder)]
    return {name: sum(each[name] for each in of_captures) for name in of_captures[0]}


if len(sys.argv) != 4 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: whole_folder.py {'|'.join(TASKS)} PROGRAM FOLDER")
task, program, folder = sys.argv[1:]
answer, figures = captures.measured(folder, lambda: work(TASKS[task], program, folder))
print(json.dumps({**answer, "figures": figures}))
