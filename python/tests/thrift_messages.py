"""Random values of Thrift: of classes that `load` made, and the same for other libraries' classes."""

import random
import string

TEXT = string.ascii_letters + "äßπ火\U0001f525\x00"

IDL = """
enum Kind { SMALL = 1, MEDIUM = 2, LARGE = 3 }

struct Inner {
  1: i32 id,
  2: string name,
  3: bool active,
  4: i16 level,
  5: double score,
}

struct Rich {
  1: bool flag,
  2: i8 tiny,
  3: i16 small,
  4: i32 medium,
  5: i64 large,
  6: double real,
  7: string text,
  8: binary blob,
  9: Kind kind,
  10: Inner inner,
  11: list<i32> ints,
  12: list<string> strings,
  13: list<Inner> inners,
  14: set<string> tags,
  15: set<i32> numbers,
  16: map<string, string> attributes,
  17: map<i32, Inner> by_id,
  18: map<string, list<i64>> series,
  19: string greeting = "hello",
  20: list<bool> truths,
  21: list<double> reals,
  22: list<list<i16>> grid,
  23: list<binary> blobs,
  24: list<Kind> kinds,
  30: i64 far,
}
"""


def number(dice, bits):
    return dice.randrange(-(1 << bits - 1), 1 << bits - 1) >> dice.randrange(bits)


def text(dice):
    return "".join(dice.choices(TEXT, k=dice.randrange(12)))


def inner(dice, made):
    values = dict(
        id=number(dice, 32),
        name=text(dice),
        active=dice.random() < 0.5,
        level=number(dice, 16),
        score=dice.uniform(-9, 9),
    )
    return made.Inner(**some(dice, values))


def rich(dice, made, set_of=set):
    """A Rich of the classes in `made`; each field may be left out."""

    def several(each):
        return [each() for _ in range(dice.randrange(4))]

    values = dict(
        flag=dice.random() < 0.5,
        tiny=number(dice, 8),
        small=number(dice, 16),
        medium=number(dice, 32),
        large=number(dice, 64),
        real=dice.choice([0.0, -0.0, 1e308, float("inf"), dice.uniform(-1, 1)]),
        text=text(dice),
        blob=dice.randbytes(dice.randrange(20)),
        kind=dice.choice([1, 2, 3]),
        inner=inner(dice, made),
        ints=[number(dice, 32) for _ in range(dice.choice([0, 3, 14, 15, 40]))],
        strings=several(lambda: text(dice)),
        inners=several(lambda: inner(dice, made)),
        tags=set_of(dict.fromkeys(several(lambda: text(dice)))),
        numbers=set_of(dict.fromkeys(several(lambda: number(dice, 32)))),
        attributes=dict(several(lambda: (text(dice), text(dice)))),
        by_id=dict(several(lambda: (number(dice, 32), inner(dice, made)))),
        series=dict(several(lambda: (text(dice), several(lambda: number(dice, 64))))),
        greeting=text(dice),
        truths=several(lambda: dice.random() < 0.5),
        reals=several(lambda: dice.uniform(-1, 1)),
        grid=several(lambda: several(lambda: number(dice, 16))),
        blobs=several(lambda: dice.randbytes(3)),
        kinds=several(lambda: dice.choice([1, 2, 3])),
        far=number(dice, 64),
    )
    return made.Rich(**some(dice, values))


def some(dice, values):
    share = dice.random()
    return {name: value for name, value in values.items() if dice.random() < share}


def framed(messages):
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def mutated(dice, message):
    """The message with some bytes changed, cut off, or put in."""
    bytes_ = bytearray(message)
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(bytes_) + 1)
        kind = dice.randrange(3)
        if kind == 0 and place < len(bytes_):
            bytes_[place] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
        elif kind == 1:
            del bytes_[place:]
        else:
            bytes_[place:place] = dice.randbytes(dice.randrange(4))
    return bytes(bytes_)


def dice(seed=None):
    """A generator of random numbers, whose seed a failing test prints."""
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"seed {seed}")
    return random.Random(seed)
