"""Connections with the extension, and what the command prints."""

import gzip
import json
import os
import pathlib
import subprocess

import duckdb
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTENSION = os.environ["BYTEWRIGHT_EXTENSION"]


@pytest.fixture
def db():
    """A database with the extension; a thread needs a cursor of its own."""
    database = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    database.execute(f"LOAD '{EXTENSION}'")
    yield database
    database.close()


@pytest.fixture
def command():
    """A function that runs the command, and returns its rows and what it tells of damage."""

    def run(*arguments):
        words = [os.environ["BYTEWRIGHT_COMMAND"], *map(str, arguments)]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    return run


@pytest.fixture(scope="session")
def web(tmp_path_factory):
    """The bytes of a sample without compression, which a test may cut."""
    return gzip.decompress((ROOT / "samples/web.pcap.gz").read_bytes())
