"""Goal: a file that another program cuts, moves or removes under open ordered tables is an error or changes nothing.

Method: one handle reads and another writes, in this process or another one, while the file is cut to half or to nothing.
"""

import faulthandler
import os
import subprocess
import sys
import threading
import time

import pytest

import bytewright
from bytewright import TreeTable

ENTRIES = {f"key{number:05}": f"{number}." * (number % 20 + 1) for number in range(3000)}
ENTRIES |= {"long": "l" * 50_000, "longer": "m" * 300_000}
CUTS = {"half": lambda size: size // 2, "half a page": lambda size: size // 2 // 4096 * 4096 + 1000, "nothing": lambda size: 0}

DAMAGED = (bytewright.CorruptError, bytewright.FormatError, OSError)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "t.bwt"
    with TreeTable.open(made, sync="never") as table:
        table.update(ENTRIES)
    return made


def cut(path, how):
    os.truncate(path, CUTS[how](path.stat().st_size))


def answers(table):
    """Counts the keys whose value can be read; all others are to be errors."""
    count = 0
    for key, value in ENTRIES.items():
        try:
            assert table[key] == value
            count += 1
        except DAMAGED:
            pass
    return count


def told(call):
    """Returns what the call returns, or None if the file is damaged."""
    try:
        return call()
    except DAMAGED:
        return None


def put_many(writer):
    for number in range(100):
        told(lambda number=number: writer.__setitem__(f"new{number}", "n" * number * 100))


@pytest.mark.parametrize("how", CUTS)
@pytest.mark.parametrize("is_read", [True, False])
def test_a_file_that_is_cut_is_an_error(path, how, is_read):
    reader, writer = TreeTable.open(path, read_only=True), TreeTable.open(path)
    if is_read:
        assert answers(reader) == answers(writer) == len(ENTRIES)
    cut(path, how)
    for table in [reader, writer]:
        assert answers(table) < len(ENTRIES)
        assert told(lambda table=table: dict(table)) in (None, ENTRIES)
        assert told(lambda table=table: len(table)) in (None, len(ENTRIES))
    put_many(writer)
    assert answers(reader) < len(ENTRIES)
    told(writer.close)
    reader.close()

    def reopened():
        with TreeTable.open(path, read_only=True) as table:
            return dict(table)

    assert told(reopened) in (None, ENTRIES)


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from test_table_cuts import answers, put_many, told
from bytewright import TreeTable
writer = TreeTable.open(sys.argv[1], sync="interval")
print("open", flush=True)
sys.stdin.readline()
put_many(writer)
answers(writer)
told(writer.close)
print("done")
"""


@pytest.mark.parametrize("how", CUTS)
def test_a_file_that_is_cut_ends_no_process_that_reads_or_writes_it(path, how):
    reader = TreeTable.open(path, read_only=True)
    assert answers(reader) == len(ENTRIES)
    command = [sys.executable, "-X", "faulthandler", "-c", WRITER, path, os.path.dirname(__file__)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writing:
        assert writing.stdout.readline() == "open\n"
        cut(path, how)
        writing.stdin.write("cut\n")
        writing.stdin.flush()
        assert answers(reader) < len(ENTRIES)
        assert writing.stdout.readline() == "done\n"
    assert writing.returncode == 0
    assert answers(reader) < len(ENTRIES)
    reader.close()


def test_a_walk_and_a_snapshot_end_with_an_error_where_the_file_is_cut(path):
    with TreeTable.open(path, read_only=True) as reader, reader.snapshot() as snapshot:
        walked = []
        with pytest.raises(bytewright.CorruptError):
            for entry in reader.items():
                if len(walked) == 10:
                    cut(path, "half")
                walked.append(entry)
        assert walked == sorted(ENTRIES.items())[: len(walked)]
        assert answers(snapshot) < len(ENTRIES)
        assert told(lambda: dict(snapshot.items())) is None


def test_threads_that_read_while_the_file_is_cut_go_on(path):
    reader, failures = TreeTable.open(path, read_only=True), []

    def read():
        try:
            for _ in range(5):
                answers(reader)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    size = path.stat().st_size
    for step in range(40):
        os.truncate(path, size - size * step // 40)
        time.sleep(0.002)
    os.truncate(path, 0)
    for thread in threads:
        thread.join()
    assert not failures
    assert answers(reader) == 0
    reader.close()


@pytest.mark.parametrize("is_first", [True, False])
def test_a_handler_of_faults_does_not_matter(path, is_first):
    """faulthandler was enabled before the first table was mapped, or comes after it."""
    program = f"""
import faulthandler, os, sys
sys.path.insert(0, sys.argv[2])
if {is_first}:
    faulthandler.enable()
from bytewright import TreeTable
from test_table_cuts import ENTRIES, answers, put_many
reader, writer = TreeTable.open(sys.argv[1], read_only=True), TreeTable.open(sys.argv[1])
faulthandler.enable()
assert answers(reader) == len(ENTRIES)
os.truncate(sys.argv[1], os.path.getsize(sys.argv[1]) // 2)
assert answers(reader) < len(ENTRIES)
put_many(writer)
os.truncate(sys.argv[1], 0)
assert answers(writer) == 0
put_many(writer)
"""
    command = [sys.executable, "-c", program, path, os.path.dirname(__file__)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_tests_run_with_a_handler_of_faults():
    assert faulthandler.is_enabled()


def test_a_file_that_is_moved_and_removed_goes_on(path):
    reader, writer = TreeTable.open(path, read_only=True), TreeTable.open(path)
    moved = path.with_name("moved.bwt")
    path.rename(moved)
    writer["moved"] = "1"
    assert reader["moved"] == "1"
    moved.unlink()
    writer["removed"] = "2" * 10_000
    writer.compact()
    assert dict(reader) == dict(writer) == ENTRIES | {"moved": "1", "removed": "2" * 10_000}
    writer.close()
    reader.close()
    assert not moved.exists() and not path.exists()
