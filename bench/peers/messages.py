"""Peers: Python's thrift with its accelerated decoder, thriftpy2 with its own, and pyarrow for Parquet footers.

    python3 messages.py TASK thrift|thriftpy2|pyarrow MESSAGES

workload/messages.py says what the tasks are. Classes are those that Thrift's compiler made, on the path; thriftpy2 reads the
IDL.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import messages  # noqa: E402


class Apache(messages.ObjectColumns):
    def __init__(self, struct, protocol):
        from bench_messages import ttypes
        from thrift.protocol import TBinaryProtocol, TCompactProtocol, fastbinary  # noqa: F401
        from thrift.transport import TTransport

        of = {
            "binary": TBinaryProtocol.TBinaryProtocolAccelerated,
            "compact": TCompactProtocol.TCompactProtocolAccelerated,
        }[protocol]
        made = getattr(ttypes, struct)

        def decode(message):
            value = made()
            value.read(of(TTransport.TMemoryBuffer(message)))
            return value

        self.decode = decode


class Thriftpy2(messages.ObjectColumns):
    def __init__(self, struct, protocol):
        import thriftpy2
        from thriftpy2.protocol.cybin import TCyBinaryProtocol
        from thriftpy2.transport import TCyMemoryBuffer

        if protocol != "binary":
            sys.exit("thriftpy2 has no fast decoder for " + protocol)
        made = getattr(thriftpy2.load(messages.IDL, module_name="bench_messages_thrift"), struct)

        def decode(message):
            value = made()
            TCyBinaryProtocol(TCyMemoryBuffer(message)).read_struct(value)
            return value

        self.decode = decode


class Pyarrow:
    """Reads footers into structs of its own, from which the values are taken afterwards. They stand in a file without data."""

    def __init__(self, struct, protocol):
        import pyarrow
        import pyarrow.parquet

        def read(footer):
            file = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
            return lambda: pyarrow.parquet.read_metadata(pyarrow.BufferReader(file))

        self.read = read
        self.readers = None

    def columns(self, framed, paths):
        if self.readers is None:
            self.readers = [self.read(footer) for footer in messages.frames(framed)]
        return [read() for read in self.readers]

    def values(self, footers):
        chunks = [
            footer.row_group(group).column(column)
            for footer in footers
            for group in range(footer.num_row_groups)
            for column in range(footer.num_columns)
        ]
        return [
            [chunk.path_in_schema.split(".") for chunk in chunks],
            *([getattr(chunk, field) for chunk in chunks] for field in messages.FOOTER_FIELDS[1:]),
        ]

    values_of_whole = values


messages.main({"thrift": Apache, "thriftpy2": Thriftpy2, "pyarrow": Pyarrow}, sys.argv[1:])
