"""Classes that apache's compiler generated, or thriftpy2 made, described for native code by their `thrift_spec`."""

import sys

from . import _bytewright
from ._thrift_classes import _BINARY, _LIST, _MAP, _SET, _STRING, _STRUCT, FrozenDict, codec_of_derived

#: Of thriftpy2's types those that apache numbers otherwise.
_OF_THRIFTPY2 = {16: _STRING, 18: _BINARY}
# Bound (Thrift): structs that one class of Thrift contains, in Python = 10,000, itself counted.
_CLASSES_MAX = 10_000


def codec_of(cls):
    """The codec of a class, which keeps it: of the class and all that its messages hold."""
    derived = codec_of_derived(cls) if isinstance(cls, type) else None
    if derived is not None:
        return derived
    spec = getattr(cls, "thrift_spec", None) if isinstance(cls, type) else None
    if isinstance(spec, dict):
        description = _OfThriftpy2(cls)
    elif isinstance(spec, (tuple, list)):
        description = _OfApache(cls)
    else:
        raise TypeError(f"expected a class that load() made, or one with a thrift_spec, found {_bytewright.excerpt(repr(cls))}")
    codec = _bytewright.ThriftCodec(description.structs(), description.origin, description.frozen_dict())
    cls._bytewright_codec = codec
    return codec


class _Description:
    """The classes that the messages of one class hold, each with a number."""

    def __init__(self, cls):
        self.numbers = {}
        self.number(cls)

    def number(self, cls):
        if len(self.numbers) == _CLASSES_MAX:
            raise TypeError(f"expected at most {_CLASSES_MAX} classes of Thrift in each other, found more")
        return self.numbers.setdefault(cls, len(self.numbers))

    def structs(self):
        # Describing a class finds more of them.
        described, todo = [], list(self.numbers)
        while todo:
            described += [self.struct(cls) for cls in todo]
            todo = list(self.numbers)[len(described) :]
        return described

    def frozen_dict(self):
        return FrozenDict

    def struct(self, cls):
        fields = self.fields(cls)
        return (cls, cls.__name__, "struct", not _is_plain(cls, [field[1] for field in fields]), fields)


class _OfApache(_Description):
    origin = "thrift"

    def fields(self, cls):
        told = []
        for field in cls.thrift_spec:
            if field is None:
                continue
            id_, number, name, inside, default = field
            told.append((id_, name, self.type(number, inside), False, None if default is None else (default, False)))
        return told

    def type(self, number, inside):
        if number == _STRING:
            return (_BINARY,) if inside == "BINARY" else (_STRING,)
        if number == _STRUCT:
            return (_STRUCT, self.number(inside[0]))
        if number in (_LIST, _SET):
            return (number, self.type(inside[0], inside[1]), bool(inside[2]))
        if number == _MAP:
            return (number, self.type(inside[0], inside[1]), self.type(inside[2], inside[3]), bool(inside[4]))
        return (number,)

    def frozen_dict(self):
        # Of the library, so that a key that a program makes finds the one of a message: the hashes differ.
        library = sys.modules.get("thrift.Thrift")
        return getattr(library, "TFrozenDict", FrozenDict)


class _OfThriftpy2(_Description):
    origin = "thriftpy2"

    def fields(self, cls):
        defaults = dict(getattr(cls, "default_spec", None) or ())
        told = []
        for id_, (number, name, *inside, _) in cls.thrift_spec.items():
            default = defaults.get(name)
            told.append((id_, name, self.type(number, *inside), False, None if default is None else (default, False)))
        return told

    def type(self, number, inside=None):
        number = _OF_THRIFTPY2.get(number, number)
        if number == _STRUCT:
            return (_STRUCT, self.number(inside))
        if number in (_LIST, _SET):
            return (number, self.type(*_pair(inside)))
        if number == _MAP:
            return (number, self.type(*_pair(inside[0])), self.type(*_pair(inside[1])))
        return (number,)


def _pair(told):
    return told if isinstance(told, tuple) else (told,)


def _is_plain(cls, names):
    """Returns True if a generated `__init__` makes objects: it sets each field to its argument or its default."""
    code = getattr(cls.__init__, "__code__", None)
    if code is None:
        return not names
    owner = next(each for each in cls.__mro__ if "__init__" in vars(each))
    takes_names = code.co_varnames[1 : code.co_argcount] == tuple(names)
    return takes_names and ("thrift_spec" in vars(owner) or owner is cls)
