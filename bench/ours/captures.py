"""Ours: captures from Python.

    python captures.py columns CAPTURE        all default columns as Arrow's
    python captures.py columns_sums CAPTURE   what is in them
    python captures.py frame CAPTURE          a frame of polars
    python captures.py attributes CAPTURE     two attributes of each packet
    python captures.py count CAPTURE          packets by destination port
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import bytewright  # noqa: E402
import captures  # noqa: E402

FIELDS = ("ts", "src_ip", "dst_ip", "src_port", "dst_port", "proto", "length")


def columns(path):
    packets = 0
    for batch in bytewright.packets(path).batches():
        batch.__arrow_c_array__()
        packets += len(batch)
    return {"packets": packets}


def columns_sums(path):
    packets = lengths = 0
    for batch in bytewright.packets(path).batches():
        packets += len(batch)
        lengths += sum(batch["length"])
    return {"packets": packets, "lengths": lengths}


def frame(path):
    import polars

    found = polars.DataFrame(bytewright.packets(path, *FIELDS))
    times = found["ts"].dt.epoch("us")
    return {
        "packets": len(found),
        "times": (times - times[0]).sum(),
        "text_bytes": sum(found[name].str.len_bytes().sum() for name in ("src_ip", "dst_ip")),
        **{name: found[name].cast(polars.Int64).sum() for name in ("src_port", "dst_port", "proto", "length")},
    }


def attributes(path):
    packets = total = 0
    with bytewright.Capture(path) as capture:
        for packet in capture:
            packets += 1
            port = packet.src_port
            if port is not None:
                total += port + packet.length
    return {"packets": packets, "sum": total}


def count(path):
    counts = bytewright.count_by(path, "dst_port")
    packets = sum(counts.values())
    counts.pop(None, None)
    return captures.of_counts(packets, counts)


TASKS = {each.__name__: each for each in (columns, columns_sums, frame, attributes, count)}

if len(sys.argv) != 3 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: captures.py {'|'.join(TASKS)} CAPTURE")
print(json.dumps(TASKS[sys.argv[1]](sys.argv[2])))
