"""Peer: gzip -dc of each capture of a folder.

    python gunzip_folder.py FOLDER
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import captures  # noqa: E402

PIECE_BYTES = 1 << 20


def length(path):
    """Bytes that come out."""
    total = 0
    with subprocess.Popen(["gzip", "-dc", path], stdout=subprocess.PIPE) as gzip:
        while piece := gzip.stdout.read(PIECE_BYTES):
            total += len(piece)
    if gzip.returncode:
        sys.exit(f"gzip -dc {path} ended with status {gzip.returncode}")
    return total


if len(sys.argv) != 2:
    sys.exit("usage: gunzip_folder.py FOLDER")
start = time.perf_counter()
answer = {"stream_bytes": sum(map(length, captures.paths(sys.argv[1])))}
print(json.dumps({**answer, "figures": captures.figures(sys.argv[1], time.perf_counter() - start)}))
