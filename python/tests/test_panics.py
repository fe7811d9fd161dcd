"""Goal: a panic below Python is one error that a program can catch, prints nothing, and leaves everything usable.

Method: an ordered table of the first format, whose pages are not checked and name places outside of them, over which the library
that reads it panics; in a Python of its own, whose standard error is looked at.
"""

import gzip
import pathlib
import subprocess
import sys

import pytest

SAMPLE = pathlib.Path(__file__).parents[2] / "core/tests/samples/tree_table_1.bwt.gz"
PAGE_BYTES = 4096

READS = """
import sys, threading
import bytewright

reads = [list, lambda table: [table.get(n.to_bytes(4, "big")) for n in range(400)], lambda table: list(table.values())]

def read_all():
    for read in reads:
        try:
            with bytewright.TreeTable.open(sys.argv[1], read_only=True, text=False) as table:
                read(table)
        except bytewright.Error as error:
            print(type(error).__name__, isinstance(error, Exception), "found damage that redb" in str(error))

read_all()
thread = threading.Thread(target=read_all)
thread.start()
thread.join()
with bytewright.TreeTable.open(sys.argv[2]) as table:
    table["a"] = "1"
    print(dict(table))
"""


@pytest.fixture
def damaged(tmp_path):
    """A table file in which every page but the first says that it has more entries than fit."""
    content = bytearray(gzip.decompress(SAMPLE.read_bytes()))
    for start in range(PAGE_BYTES, len(content), PAGE_BYTES):
        if content[start] != 0:
            content[start + 5] = 0xFF
    path = tmp_path / "damaged.bwt"
    path.write_bytes(content)
    return path


def run(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def test_a_panic_over_a_damaged_file_is_an_error_in_every_thread_and_everything_works_on(damaged, tmp_path):
    done = run("-c", READS, damaged, tmp_path / "good.bwt")
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["CorruptError True True"] * 6 + ["{'a': '1'}"]
    assert done.returncode == 0


def test_the_command_tells_it_in_one_line(damaged):
    done = run("-m", "bytewright", "table", "scan", damaged)
    assert done.returncode == 1
    assert done.stderr.startswith(f"bytewright: {damaged}: expected the table as it was written")
    assert len(done.stderr.splitlines()) == 1
