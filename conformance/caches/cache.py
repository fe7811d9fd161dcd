"""A writer and reader of entries.json in Python, as cache.rb is in Ruby: python cache.py write|read FILE."""

import json
import pathlib
import sys

import bytewright

MAKERS = {
    "bytes": bytes.fromhex,
    "integer": int,
    "float": float,
    "list": lambda value: [made(each) for each in value],
    "map": lambda value: {made(key): made(element) for key, element in value},
    "set": lambda value: {made(each) for each in value},
}


def made(form):
    ((kind, value),) = form.items()
    return MAKERS.get(kind, lambda value: value)(value)


def check(expected, found):
    assert (type(expected), expected) == (type(found), found), f"expected {expected!r}, found {found!r}"


def main(action, path):
    entries = json.loads((pathlib.Path(__file__).parent / "entries.json").read_text(encoding="utf-8"))["entries"]
    with bytewright.Cache(path) as cache:
        if action == "write":
            for entry in entries:
                tag = made(entry["tag"]) if "tag" in entry else None
                cache.set(made(entry["key"]), made(entry["value"]), entry.get("expire"), tag=tag)
            return
        alive = [entry for entry in entries if entry.get("expire") != -1]
        check([made(entry["key"]) for entry in alive], list(cache))
        for entry in entries:
            check(made(entry["value"]) if entry in alive else "none", cache.get(made(entry["key"]), "none"))
        for entry in entries:
            if "tag" in entry:
                check(1, cache.evict(made(entry["tag"])))
        check((1, 42), (cache.expire(), cache.incr("later")))


main(*sys.argv[1:])
