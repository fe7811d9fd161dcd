"""Peer: a log of all packets as CSV, as one keeps Zeek's, and DuckDB, which sums it up.

    python csv_duckdb.py COMMAND CAPTURE

COMMAND is Bytewright's own, so that the log costs as little as it can.
"""

import json
import subprocess
import sys
import tempfile

import duckdb

MINUTE = 60_000_000_000

# A row says of all groups together what the other sides say.
QUERY = """
    WITH groups AS (
        SELECT ts // $minute AS minute, dst_port, count(*) AS packets, sum(length) AS lengths
        FROM read_csv($log) GROUP BY ALL
    )
    SELECT sum(packets), sum(lengths), count(*), sum(coalesce(dst_port, 0) * lengths), sum(packets * packets) FROM groups
"""


def main(command, capture):
    with tempfile.NamedTemporaryFile(suffix=".csv") as log:
        subprocess.run([command, "packets", capture, "--csv"], stdout=log, check=True)
        numbers = duckdb.execute(QUERY, {"minute": MINUTE, "log": log.name}).fetchone()
    names = ["packets", "lengths", "groups", "weighted", "squares"]
    print(json.dumps({name: int(number) for name, number in zip(names, numbers, strict=True)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
