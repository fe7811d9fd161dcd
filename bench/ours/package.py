"""Ours: what it costs to have the package.

    python package.py import FILE WHEEL    time to import it, above Python's own start
    python package.py wheel FILE WHEEL     bytes of the wheel

FILE is not looked at.
"""

import json
import os
import sys
import time


def import_time(_path):
    start = time.perf_counter()
    import bytewright

    return {"version": bytewright.__version__, "figures": {"import_s": time.perf_counter() - start}}


def wheel_bytes(path):
    version = os.path.basename(path).split("-")[1]
    return {"version": version, "figures": {"wheel_bytes": os.path.getsize(path)}}


task, _, wheel = sys.argv[1:]
print(json.dumps({"import": import_time, "wheel": wheel_bytes}[task](wheel)))
