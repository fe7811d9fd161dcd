"""Other libraries of Thrift, with classes that they made of an IDL: `Apache` with its compiler, and `Thriftpy2`.

Each instance has classes of its own in `made`. Sets are made by `set_of`.
"""

import importlib
import itertools
import math
import subprocess
import sys
import types

_NUMBERS = itertools.count()


class _Library:
    def encode(self, one, protocol):
        return self.library.serialize(one, self.factories[protocol])

    def decode(self, cls, message, protocol):
        return self.library.deserialize(cls(), message, self.factories[protocol])


def _json_protocols(protocol):
    """A factory of apache's JSON protocol. The library's own writes `inf`, which its reader refuses; as the specification has it here."""

    class Protocol(protocol):
        def writeDouble(self, number):
            if math.isfinite(number):
                super().writeDouble(number)
            else:
                self.writeJSONString("NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity")

    return types.SimpleNamespace(getProtocol=Protocol)


class Apache(_Library):
    set_of = set

    def __init__(self, folder, idl, options=""):
        from thrift import TSerialization
        from thrift.protocol import TBinaryProtocol, TCompactProtocol, TJSONProtocol

        name = f"messages_{next(_NUMBERS)}"
        (folder / f"{name}.thrift").write_text(idl)
        command = ["thrift", "--gen", f"py:{options}", "-out", folder, folder / f"{name}.thrift"]
        subprocess.run(command, check=True, capture_output=True)
        sys.path.insert(0, str(folder))
        self.made = importlib.import_module(name + ".ttypes")
        sys.path.remove(str(folder))
        self.library = TSerialization
        self.factories = {
            "binary": TBinaryProtocol.TBinaryProtocolAcceleratedFactory(),
            "compact": TCompactProtocol.TCompactProtocolAcceleratedFactory(),
            "json": _json_protocols(TJSONProtocol.TJSONProtocol),
        }


class Thriftpy2(_Library):
    set_of = list

    def __init__(self, folder, idl):
        import thriftpy2
        from thriftpy2 import utils
        from thriftpy2.protocol import TCompactProtocolFactory
        from thriftpy2.protocol.cybin import TCyBinaryProtocolFactory

        name = f"messages_{next(_NUMBERS)}"
        (folder / f"{name}.thrift").write_text(idl)
        self.made = thriftpy2.load(str(folder / f"{name}.thrift"), module_name=f"{name}_thrift")
        self.library = utils
        self.factories = {"binary": TCyBinaryProtocolFactory(), "compact": TCompactProtocolFactory()}
