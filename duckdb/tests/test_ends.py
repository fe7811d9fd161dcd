"""Goal: rows end as they should, whatever ends them: damage behind the rows before it, a limit, an interrupt; in many threads at once,
and in bounded memory.
"""

import concurrent.futures
import contextlib
import gzip
import os
import pathlib
import subprocess
import sys
import threading
import time

import duckdb
import pytest
from conftest import EXTENSION

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = ROOT / "samples/web.pcap.gz"


@pytest.fixture
def damaged(web, tmp_path):
    """A capture that ends within a packet."""
    path = tmp_path / "damaged.pcap"
    path.write_bytes(web[:1_000_001])
    return path


def until(db, rows, row):
    """The error that ends the rows of a call: that of the query itself, where this row comes."""
    with pytest.raises(duckdb.Error) as raised:
        db.execute(f"SELECT max(CASE WHEN {row} THEN error('it came') ELSE 0 END) FROM {rows}").fetchall()
    return str(raised.value)


def test_rows_before_damage_come_first_and_then_its_error(db, command, damaged):
    whole, told = command("packets", damaged, "--json")
    assert whole and told
    rows = f"read_packets('{damaged}')"
    assert db.execute(f"SELECT number FROM {rows} LIMIT 2").fetchall() == [(1,), (2,)]
    assert "it came" in until(db, rows, f"number = {len(whole)} AND length = {whole[-1]['length']}")
    error = until(db, rows, f"number = {len(whole) + 1}")
    # The words are those of the command.
    assert error.split(f"{damaged}: ")[1].strip() in told and "byte " in error
    assert db.execute(f"SELECT count(*) FROM read_packets('{damaged}', damage := 'keep')").fetchone() == (len(whole),)


def test_flows_and_messages_before_damage_come_first(db, command, damaged, tmp_path):
    flows, _ = command("flows", damaged, "--json")
    rows = f"read_flows('{damaged}')"
    assert "it came" in until(db, rows, f"community_id = '{flows[-1]['community_id']}' AND packets = {flows[-1]['packets']}")
    assert "byte " in until(db, rows, "false")
    (tmp_path / "entries.bin").write_bytes(b"\x0a\0\1" + (7).to_bytes(8, "big") + b"\0" + b"\x0a\0\1\0")
    rows = f"read_thrift('{tmp_path}/entries.bin', idl := '{ROOT}/samples/log.thrift', type := 'Entry')"
    assert "it came" in until(db, rows, "time = 7")
    assert "entries.bin: byte " in until(db, rows, "time = 8")


def threads():
    return len(os.listdir("/proc/self/task"))


def ends(is_over, seconds=60):
    """Waits until something is true."""
    end = time.monotonic() + seconds
    while not is_over():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="counts threads as Linux tells them")
def test_a_limit_ends_what_prepares_rows(db):
    many = [str(WEB)] * 200
    db.execute("SELECT count(*) FROM read_packets(?)", [many[:2]]).fetchall()
    before = threads()
    for _ in range(20):
        assert len(db.execute("SELECT * FROM read_packets(?) LIMIT 3", [many]).fetchall()) == 3
        # One whose rows nobody takes.
        db.execute("SELECT * FROM read_packets(?)", [many]).fetchone()
    db.execute("SELECT 1").fetchall()
    ends(lambda: threads() <= before)


@pytest.fixture
def endless(tmp_path):
    """A capture without an end: a pipe into which a thread writes packets until nobody reads them."""
    pipe = tmp_path / "endless.pcap"
    os.mkfifo(pipe)
    packets = gzip.decompress(WEB.read_bytes())

    def write():
        with contextlib.suppress(BrokenPipeError), open(pipe, "wb", buffering=0) as out:
            out.write(packets[:24])
            while True:
                out.write(packets[24:])

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    yield pipe
    ends(lambda: not writing.is_alive())


def test_an_interrupt_ends_a_query(db, endless):
    is_over = threading.Event()

    def interrupt():
        # One that comes before the query begins is none of it.
        while not is_over.wait(0.2):
            db.interrupt()

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(duckdb.InterruptException):
        db.execute("SELECT sum(length) FROM read_packets(?)", [str(endless)]).fetchall()
    is_over.set()
    interrupting.join()
    assert db.execute("SELECT count(*) FROM read_packets(?)", [str(WEB)]).fetchone() == (8760,)


def test_many_threads_query_at_once(db):
    def ask(place):
        with db.cursor() as cursor:
            queries = (
                f"SELECT sum(length), count(*) FROM read_packets('{WEB}')",
                f"SELECT sum(bytes), count(*) FROM read_flows('{WEB}')",
                f"SELECT sum(request_bytes), count(*) FROM read_calls('{ROOT}/samples/warehouse.pcap.zst')",
            )
            return place % 3, cursor.execute(queries[place % 3]).fetchall()

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        found = list(pool.map(ask, range(48)))
    assert len({(place, str(rows)) for place, rows in found}) == 3


PROGRAM = f"""
import duckdb, resource
db = duckdb.connect(config={{"allow_unsigned_extensions": "true", "threads": "2"}})
db.execute("LOAD '{EXTENSION}'")
db.execute("SET enable_progress_bar = false")
for count in (5, 400):
    db.execute("SELECT sum(length), max(src_ip), max(ts) FROM read_packets(?)", [["{WEB}"] * count]).fetchall()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_is_bounded_however_many_rows_there_are():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    few, many = map(int, done.stdout.split())
    # In KiB; all rows would take 300 MB.
    assert many - few < 60_000
