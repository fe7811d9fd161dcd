"""Goal: a store of Ruby's is plain data in Python, whatever its objects are, and nothing of it is run.

Method: a store that Ruby 3.1 wrote, byte by byte; small ones by hand; damage at each byte.
"""

import base64
import fcntl
import math
import pickle
import random
import signal
import subprocess
import sys
import time

import pytest

import bytewright
from bytewright import pstore
from bytewright.pstore import Object

# Written by Ruby 3.1 with:
#
#   Point = Struct.new(:x, :y)
#   class User; def initialize; @name = "Ada"; @friends = [self]; end; end
#   class Own; def _dump(level) = "bytes\\xff".b; def self._load(bytes) = new; end
#   class OwnValue; def marshal_dump = { a: 1 }; def marshal_load(value); end; end
#   class Names < Array; end
#   store[:symbol] = :value
#   store["symbol"] = "é"
#   store[1] = [nil, true, false, 1, -2**40, 2**100, 1.5, Float::INFINITY, "bin\\xff".b, "café".encode("ISO-8859-1"), "bad\\xff"]
#   store[1.0] = "float key"
#   store[[1, "a"]] = { { a: 1 } => 2, [1] => 3, a: 1, "a" => 2 }
#   store["point"] = Point.new(1, [2])
#   store["user"] = User.new
#   store["own"] = [Own.new, OwnValue.new, Names.new([1]), /a+/i, String, Kernel]
#   one = [1]; store["shared"] = [one, one]
WRITTEN = base64.b64decode(
    """
    BAh7DjoLc3ltYm9sOgp2YWx1ZUkiC3N5bWJvbAY6BkVUSSIHw6kGOwdUaQZbEDBURmkGbC0IAAAAAAABbCsMAAAAAAAAAAAAAAAA
    EABmCDEuNWYIaW5mIgliaW7/SSIJY2Fm6QY6DWVuY29kaW5nIg9JU08tODg1OS0xSSIJYmFk/wY7B1RmBjFJIg5mbG9hdCBrZXkG
    OwdUWwdpBkkiBmEGOwdUewl7BjoGYWkGaQdbBmkGaQg7CWkGSSIGYQY7B1RpB0kiCnBvaW50BjsHVFM6ClBvaW50BzoGeGkGOgZ5
    WwZpB0kiCXVzZXIGOwdUbzoJVXNlcgc6CkBuYW1lSSIIQWRhBjsHVDoNQGZyaWVuZHNbBkAdSSIIb3duBjsHVFsLdToIT3duC2J5
    dGVz/1U6DU93blZhbHVlewY7CWkGQzoKTmFtZXNbBmkGSS8HYSsBBjsHRmMLU3RyaW5nbQtLZXJuZWxJIgtzaGFyZWQGOwdUWwdb
    BmkGQCs=
    """
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.pstore"
    path.write_bytes(WRITTEN)
    return path


def test_values_are_plain_data(path):
    with pstore.open(path) as store:
        assert len(store) == 9 and store["symbol"] == "value" and store[Object("String", value="symbol")] == "é"
        assert store[1] == [None, True, False, 1, -(2**40), 2**100, 1.5, math.inf, b"bin\xff", "café", b"bad\xff"]
        assert store[Object("Float", value=1.0)] == "float key"
        nested = {Object("Hash", value={"a": 1}): 2, (1,): 3, "a": 1, Object("String", value="a"): 2}
        assert store[(1, "a")] == nested
        assert list(store) == ["symbol", Object("String", value="symbol"), 1, Object("Float", value=1.0), (1, "a"), "point", "user",
                               "own", "shared"]  # fmt: skip
        assert "point" in store and "none" not in store and store.get("none", 5) == 5
        with pytest.raises(KeyError):
            store["none"]


def test_objects_of_unknown_classes_are_what_was_dumped_of_them(path):
    store = pstore.open(path)
    assert store["point"] == Object("Point", {"x": 1, "y": [2]})
    user = store["user"]
    assert user.class_name == "User" and user.members["@name"] == "Ada" and user.members["@friends"] == [user]
    assert store["own"] == [
        Object("Own", value=b"bytes\xff"),
        Object("OwnValue", value={"a": 1}),
        Object("Names", value=[1]),
        Object("Regexp", {"options": 1}, "a+"),
        Object("Class", value="String"),
        Object("Module", value="Kernel"),
    ]
    assert repr(store["point"]) == "<Point x=1 y=[2]>"
    one, two = store["shared"]
    assert one is two == [1]


def test_each_look_makes_the_value_anew(path):
    store = pstore.open(path)
    store["shared"].append("mine")
    assert store["shared"] == [[1], [1]]


def test_a_store_stays_as_it_was_and_keeps_nobody_from_writing(path):
    store = pstore.open(path)
    with open(path, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
    assert store["point"].members["x"] == 1
    assert dict(pstore.open(path)) == {}


def test_roots_that_are_each_by_itself_are_read_too(tmp_path):
    path = tmp_path / "store.bwt"
    with bytewright.TreeTable.open(path, text=False) as table:
        table.update({b"\4\x08:\x06a": b"\4\x08i\x06", b'\4\x08"\x06b': b"\4\x08[\x06T"})
    with pstore.open(path) as store:
        assert dict(store) == {"a": 1, b"b": [True]}


def test_a_closed_store_says_so(path):
    store = pstore.open(path)
    assert repr(store) == f"<Store {str(path)!r}, 9 roots>"
    store.close()
    store.close()
    assert store.closed and "closed" in repr(store)
    with pytest.raises(bytewright.ClosedError):
        store["point"]
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(store)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        pstore.open(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none")
    (tmp_path / "text").write_text("no store")
    with pytest.raises(bytewright.FormatError):
        pstore.open(tmp_path / "text")


def test_a_damaged_store_gives_the_roots_before_the_damage_and_then_the_error(path):
    path.write_bytes(WRITTEN[:-4])
    store = pstore.open(path)
    good = []
    with pytest.raises(bytewright.TruncatedError) as raised:
        for key in store:
            good.append(key)
    assert len(good) == 8 and store["point"].class_name == "Point" and raised.value.file == str(path)
    with pytest.raises(bytewright.TruncatedError):
        store["shared"]


def test_damage_anywhere_is_an_error_of_ours_or_other_data(path):
    chance = random.Random(5)
    for place in range(len(WRITTEN)):
        damaged = bytearray(WRITTEN)
        damaged[place] = chance.randrange(256)
        path.write_bytes(damaged if place % 2 else damaged[:place])
        try:
            for _ in pstore.open(path).items():
                pass
        except (bytewright.Error, EOFError):
            pass


def test_a_wait_for_a_writer_ends_with_ctrl_c_or_when_it_is_done(path):
    program = "import sys, bytewright; print('opens', flush=True); print(len(bytewright.pstore.open(sys.argv[1])))"
    for ends in (True, False):
        with open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert child.stdout.readline() == "opens\n"
            time.sleep(0.1)
            if not ends:
                child.send_signal(signal.SIGINT)
                told = child.communicate(timeout=60)
                assert "KeyboardInterrupt" in told[1] and told[0] == ""
        if ends:
            assert child.communicate(timeout=60)[0] == "9\n"
