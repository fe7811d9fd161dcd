"""Peers: Python's thrift with its accelerated decoder, and thriftpy2 with its own.

    python3 messages.py TASK thrift|thriftpy2 MESSAGES

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


messages.main({"thrift": Apache, "thriftpy2": Thriftpy2}, sys.argv[1:])
