"""Classes for the structs, unions, exceptions and enums of IDL."""

import enum
import keyword
import operator
import os

from . import _bytewright
from ._errors import ArgumentError

_ModuleType = type(os)
#: Value of a parameter that was not given.
_UNSET = type("_Unset", (), {"__slots__": (), "__repr__": lambda _: "..."})()

_ENUM, _STRING, _BINARY, _STRUCT, _MAP, _SET, _LIST, _UUID = 8, 11, 111, 12, 13, 14, 15, 16
_BUILTIN = {2: bool, 3: int, 4: float, 6: int, 8: int, 10: int, _STRING: str, _BINARY: bytes}


class Struct:
    """An object of a struct, union or exception that `load` made a class of.

    Its fields are attributes, set by keywords: None where they have no value and no default. Objects with equal fields are
    equal, and have the same hash while their fields stay as they are. A union has exactly one field.
    """

    __slots__ = ()

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return _values(self) == _values(other)

    def __hash__(self):
        return hash((type(self), _frozen(_values(self))))

    def __repr__(self):
        pairs = zip(self.__match_args__, _values(self))
        shown = ", ".join(f"{name}={value!r}" for name, value in pairs if value is not None)
        return f"{type(self).__name__}({shown})"


class _Raised(Struct):
    """Methods that exceptions have beside that."""

    __slots__ = ()

    def __str__(self):
        message = getattr(self, "message", None)
        return message if isinstance(message, str) else repr(self)

    def __reduce__(self):
        return _rebuilt, (type(self), _values(self))


class FrozenDict(dict):
    """A dict that cannot be changed and has a hash: a map that is in a set, or the key of another.

    It is equal to a dict with the same entries. Its values need a hash, too: tuples, frozensets and frozen dicts.
    """

    __slots__ = ()

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __repr__(self):
        return f"FrozenDict({super().__repr__()})"

    def __reduce__(self):
        return FrozenDict, (dict(self),)

    def _refuse(self, *_values, **_entries):
        raise TypeError("expected a dict that can be changed, found a FrozenDict; make one of it with dict()")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


def _define(module, name, value):
    """Defines a name in a module; a word of Python also with an underscore behind, unless the IDL has that name, too."""
    setattr(module, name, value)
    if keyword.iskeyword(name):
        vars(module).setdefault(f"{name}_", value)


def _other_name(field):
    """A property for a field whose name is a word of Python."""

    def assign(struct, value):
        setattr(struct, field, value)

    return property(operator.attrgetter(field), assign)


def _values(struct):
    return tuple([getattr(struct, name, None) for name in struct.__match_args__])


def _rebuilt(cls, values):
    made = cls.__new__(cls)
    for name, value in zip(cls.__match_args__, values):
        setattr(made, name, value)
    return made


def _frozen(value):
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    if isinstance(value, (set, frozenset)):
        return frozenset(map(_frozen, value))
    if isinstance(value, dict):
        return frozenset((_frozen(key), _frozen(each)) for key, each in value.items())
    return value


def load(idl, *, include=()):
    """Makes classes of IDL, and answers a module with them: structs, unions and exceptions by their names, enums as
    `enum.IntEnum`, constants, and for each included file a module.

    `idl` is a path, or the text itself: a str with a `{` or a line end in it. `include` names folders to look for included
    files, beside the folder of the file. Raises `FormatError` with line, column and the line for what the language does not
    allow.

    A class of yours that is derived from one of them is decoded and encoded like it; its objects are made without its
    `__init__`, as those of `copy` are.

    Strings are `str`, binary is `bytes`, a uuid is a `uuid.UUID`; a number that an enum has no name for stays an `int`. In sets
    and keys of maps, lists are tuples, sets are frozensets and maps are instances of `FrozenDict`.
    """
    is_text = isinstance(idl, str) and any(mark in idl for mark in "{\n")
    folders = [os.fspath(folder) for folder in include]
    described = _bytewright.read_idl(idl if is_text else None, None if is_text else os.fspath(idl), folders)
    return _Definitions(described).modules[-1]


class _Definitions:
    """The classes of a description, as native code gives it."""

    def __init__(self, described):
        programs, enums, self.described, _ = described
        self.modules = []
        for path, name, namespace, _, includes, _ in programs:
            module = _ModuleType(namespace or ("idl" if path == "IDL text" else name), f"Definitions of {path}.")
            for number in includes:
                setattr(module, programs[number][1], self.modules[number])
            self.modules.append(module)
        self.enums = [self.enum(*each) for each in enums]
        self.classes = [self.declared(*each) for each in self.described]
        for made, (_, _, kind, _, fields, _) in zip(self.classes, self.described):
            self.define(made, kind, fields)
        self.describe()
        for module, (*_, consts) in zip(self.modules, programs):
            for name, type_, value, _ in consts:
                _define(module, name, self.value(type_, value))

    def enum(self, program, name, values, _line):
        module = self.modules[program]
        names = {each for each, _ in values}
        more = [(f"{each}_", value) for each, value in values if keyword.iskeyword(each) and f"{each}_" not in names]
        made = enum.IntEnum(name, [*values, *more], module=module.__name__)
        _define(module, name, made)
        return made

    def declared(self, program, name, kind, is_declared, fields, _line):
        names = tuple(field[1] for field in fields)
        for each in names:
            if each.startswith("__"):
                raise ArgumentError(f"expected fields that can be attributes, found {_bytewright.excerpt(f'{name}.{each}')}")
        bases = (_Raised, Exception) if kind == "exception" else (Struct,)
        module = self.modules[program]
        body = {"__slots__": names, "__match_args__": names, "__module__": module.__name__}
        body |= {f"{each}_": _other_name(each) for each in names if keyword.iskeyword(each) and f"{each}_" not in names}
        body["__doc__"] = f"The {kind} {name} of {module.__doc__.removeprefix('Definitions of ')}"
        made = type(name, bases, body)
        if is_declared:
            _define(module, name, made)
        return made

    def define(self, made, kind, fields):
        """Gives a class its `__init__` and the types of its fields."""
        made.__annotations__ = {name: self.annotation(type_) | None for _, name, type_, _, _ in fields}
        defaults = {name: self.default(type_, default) for _, name, type_, _, default in fields if default is not None}
        made.__init__ = _initializer(made, kind == "union", defaults)

    def describe(self):
        """Has native code read and write objects of the classes."""
        structs = []
        for made, (_, name, kind, _, fields, _) in zip(self.classes, self.described):
            told = []
            for id_, field, type_, requiredness, default in sorted(fields, key=lambda field: field[0]):
                given = None if default is None else self.default(type_, default)
                told.append((id_, field, self.native(type_), requiredness == "required", given))
            structs.append((made, name, kind, False, told))
        if structs:
            codec = _bytewright.ThriftCodec(structs, "idl", FrozenDict)
            for made in self.classes:
                made._bytewright_codec = codec
                made._bytewright_structs = structs

    def native(self, type_):
        """A type as native code takes it: of an enum with the names of its numbers."""
        number, *inside = type_
        if number == _ENUM and inside:
            return (number, {int(member): member for member in self.enums[inside[0]]})
        if number == _STRUCT:
            return type_
        return (number, *map(self.native, inside))

    def annotation(self, type_, is_frozen=False):
        number, *inside = type_
        if number == _ENUM and inside:
            return self.enums[inside[0]] | int
        if number == _STRUCT:
            return self.classes[inside[0]]
        if number == _MAP:
            kind = FrozenDict if is_frozen else dict
            return kind[self.annotation(inside[0], True), self.annotation(inside[1], is_frozen)]
        if number == _LIST:
            element = self.annotation(inside[0], is_frozen)
            return tuple[element, ...] if is_frozen else list[element]
        if number == _SET:
            return (frozenset if is_frozen else set)[self.annotation(inside[0], True)]
        return _uuid() if number == _UUID else _BUILTIN[number]

    def default(self, type_, described):
        """A default, and whether it is a function that makes it: of what can be changed, each object has its own."""
        if type_[0] in (_STRUCT, _MAP, _SET, _LIST):
            return (lambda: self.value(type_, described)), True
        return self.value(type_, described), False

    def value(self, type_, described, is_frozen=False):
        """A constant or a default, of what native code says of it."""
        number, *inside = type_
        if number == _STRUCT:
            fields = self.described[inside[0]][4]
            given = ((fields[place], each) for place, each in described)
            return self.classes[inside[0]](**{field[1]: self.value(field[2], each) for field, each in given})
        if number == _MAP:
            pairs = ((self.value(inside[0], key, True), self.value(inside[1], each, is_frozen)) for key, each in described)
            return (FrozenDict if is_frozen else dict)(pairs)
        if number in (_LIST, _SET):
            kind = {(_LIST, False): list, (_LIST, True): tuple, (_SET, False): set, (_SET, True): frozenset}[number, is_frozen]
            return kind(self.value(inside[0], each, is_frozen or number == _SET) for each in described)
        if number == _ENUM and inside:
            members = self.enums[inside[0]]
            return members(described) if described in list(members) else described
        if number == _UUID:
            return _uuid()(described)
        if number == _BINARY:
            return described.encode()
        return _BUILTIN[number](described)


def codec_of_derived(cls):
    """The codec of a class that is derived from one that `load` made, which keeps it; None for any other class."""
    base = next((each for each in cls.__mro__ if "_bytewright_structs" in vars(each)), None)
    if base is None:
        return None
    # It is one class more: fields of other classes still hold the one that it is derived from.
    ((_, _, *described),) = (each for each in base._bytewright_structs if each[0] is base)
    structs = [*base._bytewright_structs, (cls, cls.__name__, *described)]
    cls._bytewright_codec = _bytewright.ThriftCodec(structs, "idl", FrozenDict)
    return cls._bytewright_codec


def _uuid():
    # Here, because few IDL files have one, and it takes long to import.
    import uuid

    return uuid.UUID


def _initializer(made, is_union, defaults):
    """The `__init__` of a class, with a keyword for each field."""
    names = made.__match_args__
    if any(keyword.iskeyword(name) or name == "self" for name in names):
        return _initializer_of_any(made, is_union, defaults)
    scope = {"_UNSET": _UNSET, "_one": _one}
    parameters, lines = [], []
    for place, name in enumerate(names):
        default, is_made = defaults.get(name, (None, False))
        scope[f"_default_{place}"] = default
        parameters.append(f"{name}=" + ("_UNSET" if is_made else f"_default_{place}"))
        lines.append(f"self.{name} = " + (f"_default_{place}() if {name} is _UNSET else {name}" if is_made else name))
    if is_union:
        lines.append(f"_one({made.__name__!r}, ({''.join(name + ', ' for name in names)}))")
    star = "*, " if names else ""
    source = f"def __init__(self, {star}{', '.join(parameters)}):\n " + ("\n ".join(lines) or "pass")
    exec(source, scope)
    initialize = scope["__init__"]
    initialize.__qualname__ = f"{made.__qualname__}.__init__"
    initialize.__annotations__ = dict(made.__annotations__)
    return initialize


def _initializer_of_any(made, is_union, defaults):
    """Does this for fields whose names are words of Python: `Entry(from_=1)`, or `Entry(**{"from": 1})`."""
    names = made.__match_args__
    words = {f"{name}_": name for name in names if keyword.iskeyword(name) and f"{name}_" not in names}

    def __init__(self, /, **fields):
        for name in fields.keys() & words.keys():
            if words[name] in fields:
                told, other = _bytewright.excerpt(name), _bytewright.excerpt(words[name])
                raise TypeError(f"{_bytewright.excerpt(made.__name__)}.__init__() got {told!r} and {other!r}, which are one field")
            fields[words[name]] = fields.pop(name)
        for name in fields:
            if name not in names:
                class_name, told = _bytewright.excerpt(made.__name__), _bytewright.excerpt(name)
                raise TypeError(f"{class_name}.__init__() got an unexpected keyword argument {told!r}")
        for name in names:
            default, is_made = defaults.get(name, (None, False))
            setattr(self, name, fields[name] if name in fields else default() if is_made else default)
        if is_union:
            _one(made.__name__, _values(self))

    return __init__


def _one(name, values):
    count = len(values) - operator.countOf(map(type, values), type(None))
    if count != 1:
        raise ArgumentError(f"expected one field of the union {_bytewright.excerpt(name)}, found {count}")
