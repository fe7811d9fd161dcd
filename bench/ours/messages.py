"""Ours: messages of Thrift from Python, by the classes of each library.

    python messages.py TASK thrift|thriftpy2|idl MESSAGES

workload/messages.py says what the tasks are. `thrift` are the classes that Thrift's compiler made, on the path, `thriftpy2` those
that it makes of the IDL, `idl` ours for Parquet footers.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import bytewright.thrift  # noqa: E402
import messages  # noqa: E402


class Ours:
    def __init__(self, cls, protocol):
        decode, columns = bytewright.thrift.decode, bytewright.thrift.columns
        self.decode = lambda message: decode(cls, message, protocol)
        self.columns = lambda framed, paths: [
            (batch, batch.__arrow_c_array__()) for batch in columns(cls, framed, *paths, protocol=protocol).batches()
        ]

    def values(self, columns):
        batches = [batch for batch, _ in columns]
        return [[value for batch in batches for value in batch[name]] for name in batches[0].columns]


class Footers(Ours):
    """Footers have no frames in the files that they are of."""

    def __init__(self, struct, protocol):
        made = bytewright.thrift.load(messages.FOOTER_IDL).FileMetaData
        columns = bytewright.thrift.columns
        self.columns = lambda framed, paths: [
            (batch, batch.__arrow_c_array__())
            for footer in messages.frames(framed)
            for batch in columns(made, footer, *paths, protocol=protocol, framed=False).batches()
        ]

    def values_of_whole(self, columns):
        chunks = [
            chunk["meta_data"] for batch, _ in columns for groups in batch["row_groups"] for group in groups for chunk in group["columns"]
        ]
        return [[chunk[field] for chunk in chunks] for field in messages.FOOTER_FIELDS]


def of_apache(struct, protocol):
    from bench_messages import ttypes

    return Ours(getattr(ttypes, struct), protocol)


def of_thriftpy2(struct, protocol):
    import thriftpy2

    return Ours(getattr(thriftpy2.load(messages.IDL, module_name="bench_messages_thrift"), struct), protocol)


messages.main({"thrift": of_apache, "thriftpy2": of_thriftpy2, "idl": Footers}, sys.argv[1:])
