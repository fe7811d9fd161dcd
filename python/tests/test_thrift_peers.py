"""Goal: columns of nested messages are the objects that the decoders of other libraries make of the same bytes.

Method: random values of random schemas are written and read by apache's library, also in JSON, and by thriftpy2; the columns that we read of these
bytes, by the IDL and by the classes of each library, are compared with their objects as plain values. BYTEWRIGHT_SCHEMAS sets how
many schemas (10,000 take some minutes), BYTEWRIGHT_SEED the first one; a failure has its seed.
"""

import os
import random

import pyarrow
import thrift_messages
from bytewright import thrift
from thrift_libraries import Apache, Thriftpy2
from thrift_schemas import Schema

SCHEMAS = int(os.environ.get("BYTEWRIGHT_SCHEMAS", "300"))
SEED = int(os.environ.get("BYTEWRIGHT_SEED", "0") or random.randrange(1 << 32))

#: Schemas that one run of the compiler takes.
TOGETHER = 100


def rows_of(schema, columns):
    table = pyarrow.table(columns)
    table.validate(full=True)
    rows = zip(*(column.to_pylist() for column in table.columns))
    return [tuple(schema.alike(value, of) for value, (_, of) in zip(row, schema.fields)) for row in rows]


def check(seed, schema, library, ours):
    """Compares columns of messages that a library wrote with the objects that it reads; the classes of `ours` say the same."""
    dice, cls = random.Random(seed), getattr(library.made, schema.root)
    objects = [schema.value(dice, schema.root, library.made, library.set_of) for _ in range(dice.randrange(1, 6))]
    for protocol in library.factories:
        messages = [library.encode(each, protocol) for each in objects]
        decoded = [library.decode(cls, message, protocol) for message in messages]
        expected = [tuple(schema.plain(getattr(each, name), of) for name, of in schema.fields) for each in decoded]
        for one in (cls, getattr(ours, schema.root)):
            for framed in (True, False):
                data = thrift_messages.framed(messages) if framed else b"".join(messages)
                found = rows_of(schema, thrift.columns(one, data, protocol=protocol, framed=framed, rows=2))
                assert found == expected, f"BYTEWRIGHT_SEED={seed} {type(library).__name__} {protocol} framed={framed}: {schema.idl}"


def test_columns_are_the_objects_of_apaches_library_and_of_thriftpy2(tmp_path):
    print(f"BYTEWRIGHT_SEED={SEED}")
    for first in range(SEED, SEED + SCHEMAS, TOGETHER):
        seeds = range(first, min(first + TOGETHER, SEED + SCHEMAS))
        schemas = {seed: Schema(random.Random(seed), f"N{seed}") for seed in seeds}
        idl = "\n".join(schema.idl for schema in schemas.values())
        ours, libraries = thrift.load(idl), (Apache(tmp_path, idl), Thriftpy2(tmp_path, idl))
        for seed, schema in schemas.items():
            for library in libraries:
                check(seed, schema, library, ours)
