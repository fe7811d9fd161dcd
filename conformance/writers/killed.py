"""Goal: writers in Ruby, Python, Perl and C that share one table file and are killed at random lose no commit that they were
promised, and leave none half there.

Method: eight of them count in keys of their own, each count a change that they say when it is made; move amounts between accounts,
whose sum stays 0; set two keys to one number; put, delete, scan and compact. Again and again one is killed and begun anew, and a
reader looks. BYTEWRIGHT_KILLS says how often (2,000 have been run), BYTEWRIGHT_SEED how it went before.

    python killed.py NAME=COMMAND...

runs each COMMAND with the table's file and a key behind it.
"""

import os
import pathlib
import random
import sys
import tempfile

from writer import Writer, commands_of

import bytewright

KILLS = int(os.environ.get("BYTEWRIGHT_KILLS", "60"))
SEED = int(os.environ.get("BYTEWRIGHT_SEED", random.randrange(1 << 32)))
WRITERS = 8
KINDS = {"bwh": bytewright.HashTable, "bwt": bytewright.TreeTable}


def check_whole(table):
    with table.snapshot() as snapshot:
        entries = dict(snapshot.items())
    assert sum(int(value) for key, value in entries.items() if key.startswith("account")) == 0
    assert entries.get("pair a") == entries.get("pair b")
    for key, value in entries.items():
        if key.startswith("other"):
            assert value == key * (len(value) // len(key)), key


def kill_again_and_again(kind, path, commands):
    kind.open(path).close()
    writers = [Writer(number, commands[number % len(commands)], path) for number in range(WRITERS)]
    try:
        with kind.open(path, read_only=True) as reader:
            for _ in range(KILLS):
                writer = random.choice(writers)
                for _ in range(random.randrange(1, 80)):
                    writer.hear()
                writer.kill()
                found = int(reader[writer.key])
                assert writer.said <= found <= writer.said + 1, f"{writer.command}: {found}, {writer.said} were promised"
                check_whole(reader)
                writer.begin()
            # Each has gone on until now.
            for writer in writers:
                writer.kill()
                assert int(reader.get(writer.key, 0)) >= writer.said, f"{writer.command}: {writer.said} were promised"
            check_whole(reader)
    finally:
        for writer in writers:
            writer.process.kill()
            writer.process.wait()
    with kind.open(path, verify=True) as table:
        check_whole(table)
        table["after"] = "all"


def main(arguments):
    print(f"seed {SEED}", flush=True)
    random.seed(SEED)
    commands = commands_of(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for ending, kind in KINDS.items():
            kill_again_and_again(kind, pathlib.Path(folder) / f"table.{ending}", list(commands.values()))
            print(f".{ending}: {KILLS} writers in {', '.join(commands)} were killed, and nothing was lost", flush=True)


main(sys.argv[1:])
