"""Ours: messages of Thrift from Python, by the classes of each library.

    python messages.py TASK thrift|thriftpy2 MESSAGES

workload/messages.py says what the tasks are. `thrift` are the classes that Thrift's compiler made, on the path, `thriftpy2` those
that it makes of the IDL.
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


def of_apache(struct, protocol):
    from bench_messages import ttypes

    return Ours(getattr(ttypes, struct), protocol)


def of_thriftpy2(struct, protocol):
    import thriftpy2

    return Ours(getattr(thriftpy2.load(messages.IDL, module_name="bench_messages_thrift"), struct), protocol)


messages.main({"thrift": of_apache, "thriftpy2": of_thriftpy2}, sys.argv[1:])
