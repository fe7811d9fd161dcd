"""Random schemas of Thrift with values of them, and both as plain values: of objects of any library, and of columns."""

import re

import thrift_messages

SCALARS = ("bool", "i8", "i16", "i32", "i64", "double", "string", "binary")
#: Numbers that an enum of `random_idl` has names for.
MEMBERS = (1, 2, 7)


class Schema:
    """An IDL of structs of random fields, which hold those before them; its last struct is the root. Names of an IDL begin with
    `prefix`, so that many schemas may stand in one file."""

    def __init__(self, dice, prefix=""):
        self.prefix = prefix
        self.typedefs, self.structs, self.unions = {}, {}, set()
        lines = [f"enum {prefix}E {{ {', '.join(f'{prefix}M{member} = {member}' for member in MEMBERS)} }}"]
        for place in range(dice.randrange(2)):
            self.typedefs[f"{prefix}T{place}"] = told = self._type(dice, 1)
            lines.append(f"typedef {told} {prefix}T{place}")
        for place in range(dice.randrange(1, 5)):
            lines += self._struct(dice, f"{prefix}S{place}")
        self.idl = "\n".join(lines)
        self.root = list(self.structs)[-1]
        self.structs = {name: [(name, self._plain(of)) for name, of in fields] for name, fields in self.structs.items()}

    @property
    def fields(self):
        """Names and types of the fields of the root."""
        return self.structs[self.root]

    def _struct(self, dice, name):
        kind = dice.choice(("struct", "struct", "struct", "union"))
        ids = sorted(dice.sample((1, 2, 3, 4, 5, 6, 16, 40, 300), dice.randrange(1, 7)))
        fields = [(f"f{id}", self._type(dice, 2)) for id in ids]
        self.structs[name] = fields
        if kind == "union":
            self.unions.add(name)
        option = lambda: "optional " if kind == "struct" and dice.randrange(2) else ""
        return [f"{kind} {name} {{", *(f"  {id}: {option()}{of} {name}" for id, (name, of) in zip(ids, fields)), "}"]

    def _type(self, dice, depth):
        kind = dice.choice(("scalar", "scalar", "list", "set", "map", "struct", "typedef"))
        if kind == "struct" and self.structs:
            return dice.choice(list(self.structs))
        if kind == "typedef" and self.typedefs:
            return dice.choice(list(self.typedefs))
        if depth == 0 or kind not in ("list", "set", "map"):
            return self._key(dice)
        if kind == "set":
            return f"set<{self._key(dice)}>"
        if kind == "map":
            return f"map<{self._key(dice)}, {self._type(dice, depth - 1)}>"
        return f"list<{self._type(dice, depth - 1)}>"

    def _key(self, dice):
        """A type of which values have a hash in each library."""
        return dice.choice((*SCALARS, f"{self.prefix}E"))

    def _plain(self, of):
        """A type without names of others."""
        return re.sub(r"\w+", lambda name: self.typedefs.get(name[0], name[0]), of)

    def value(self, dice, of, made, set_of=set):
        """A random value of a type, of the classes in `made`."""
        kind, inside = parted(of)
        several = lambda type: [self.value(dice, type, made, set_of) for _ in range(dice.randrange(4))]
        if kind == "list":
            return several(inside)
        if kind == "set":
            return set_of(dict.fromkeys(several(inside)))
        if kind == "map":
            return {key: self.value(dice, inside[1], made, set_of) for key in several(inside[0])}
        if of in self.structs:
            fields = self.structs[of]
            some = [dice.choice(fields)] if of in self.unions else [field for field in fields if dice.randrange(4)]
            return getattr(made, of)(**{name: self.value(dice, type, made, set_of) for name, type in some})
        return scalar(dice, of)

    def plain(self, value, of):
        """A value of an object as columns have it: a struct is a dict, a set a list in order."""
        return self._as_plain(value, of, getattr)

    def alike(self, value, of):
        """A value of a column, with sets in order."""
        return self._as_plain(value, of, lambda struct, name: struct[name])

    def _as_plain(self, value, of, field):
        if value is None:
            return None
        kind, inside = parted(of)
        if kind == "list":
            return [self._as_plain(each, inside, field) for each in value]
        if kind == "set":
            return sorted(value)
        if kind == "map":
            return {key: self._as_plain(each, inside[1], field) for key, each in dict(value).items()}
        if of in self.structs:
            return {name: self._as_plain(field(value, name), type, field) for name, type in self.structs[of]}
        return value


def parted(of):
    """The container that a type is, and the types in it; "" for others."""
    kind, _, inside = of.partition("<")
    if not inside:
        return "", of
    inside = inside[:-1]
    # No key has a comma.
    return (kind, tuple(inside.split(", ", 1))) if kind == "map" else (kind, inside)


def scalar(dice, of):
    return {
        "bool": lambda: dice.randrange(2) == 1,
        "double": lambda: dice.choice([0.0, float("inf"), float(dice.randrange(1000)) / 8]),
        "string": lambda: thrift_messages.text(dice),
        "binary": lambda: dice.randbytes(dice.randrange(5)),
    }.get(of, lambda: thrift_messages.number(dice, int(of[1:])) if of in SCALARS else dice.choice(MEMBERS))()
