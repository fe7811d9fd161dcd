"""Stores of Ruby's PStore, to read: a file of objects by their keys, without Ruby.

    with bytewright.pstore.open("users.pstore") as store:
        store["ada"]["born"]

Nothing of the file is ever run, and no class is looked up. Values become plain data:

- nil, true, false, whole numbers and floats: None, bool, int and float;
- Symbols, and Strings of text: str; Strings that are binary, or no text in their encoding: bytes;
- Arrays and Hashes: list and dict; an Array that is a key: tuple;
- all else, among it objects of your classes, Structs, Times and subclasses of the above: `Object`, which has the name of the
  class and what was dumped.

A key that Python takes for another one that is there before (:a and "a", 1 and 1.0), or cannot hash, is an `Object`, too.
"""

from collections.abc import Mapping

from . import _bytewright
from ._open_file import OpenFile


class Object:
    """An object of Ruby's as what was dumped of it.

    - `class_name`: the name of its class.
    - `members`: by their names, the members of a Struct, or instance variables with their @.
    - `value`: what its class made of it: `bytes`, or plain data; the plain value of an object whose class is derived from
      String, Array and their like; of a Regexp its source; otherwise None.
    """

    __slots__ = ("class_name", "members", "value")

    def __init__(self, class_name, members=None, value=None):
        self.class_name = class_name
        self.members = {} if members is None else members
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Object):
            return NotImplemented
        return (self.class_name, self.members, self.value) == (other.class_name, other.members, other.value)

    def __hash__(self):
        return hash((self.class_name, len(self.members)))

    def __repr__(self):
        members = "".join(f" {name}={value!r}" for name, value in self.members.items())
        value = "" if self.value is None else f" {self.value!r}"
        return f"<{self.class_name}{value}{members}>"


class Store(OpenFile, _bytewright.Store, Mapping):
    """The roots of a store by their keys, as they were when it was opened; each value is made when it is asked for.

    Looking up a root takes it apart anew: change what you get as you like, and keep what you need often. Of a damaged store
    there are the roots before the damage; `damage` is the error, which iterating raises behind them.

    Raises `FileNotFoundError` and its like where the file cannot be opened, and `FormatError` where it is no store.
    """

    __slots__ = ("_roots",)

    _no_pickle = "pickle dict(store), or its path"

    def __new__(cls, path):
        self = _bytewright.Store.__new__(cls, path)
        self._roots = self._places(Object)
        return self

    def __getitem__(self, key):
        try:
            place = self._roots[key]
        except KeyError:
            # Behind the damage it may be there.
            if self.damage is not None:
                raise self.damage from None
            raise
        return self._value(place, Object)

    def __contains__(self, key):
        return key in self._roots

    def __iter__(self):
        yield from self._roots
        if self.damage is not None:
            raise self.damage

    def __len__(self):
        return len(self._roots)

    def get(self, key, default=None):
        """The value of a root, or `default` without one."""
        return self[key] if key in self._roots else default

    def __repr__(self):
        return f"<{type(self).__name__} {self.path!r}{' (closed)' if self.closed else f', {len(self)} roots'}>"


def open(path):
    """Opens the store at `path`, whichever of Ruby's PStore and Bytewright's own formats it has, to read.

    It waits for a program that writes to it, and keeps nobody from writing afterwards: it is the store as it is now.
    """
    return Store(path)
