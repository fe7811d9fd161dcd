"""Ours: tables of bytes from Python.

    python tables.py TASK ENGINE RECORDS
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import tables  # noqa: E402
from bytewright import Cache, HashTable, TreeTable  # noqa: E402

ENGINES = {
    "hash": lambda _: HashTable(text=False),
    "tree": lambda _: TreeTable(text=False),
    "hash-file": lambda folder: HashTable.open(f"{folder}/x.bwh", text=False),
    "cache": lambda folder: Cache(f"{folder}/x.bwc"),
    "tree-file": lambda folder: TreeTable.open(f"{folder}/x.bwt", text=False),
}

tables.main(ENGINES, sys.argv[1:])
