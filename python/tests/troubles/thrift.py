"""Operations on Thrift messages and IDL files."""

import io

import pytest

import bytewright
from bytewright import thrift
from troubles.operation import ROOT, Operation

LOGS = thrift.load(ROOT / "samples" / "log.thrift")


class ReadAThriftMessage(Operation):
    files = ("messages.parquet",)
    MESSAGE = thrift.encode(LOGS.Entry(time=7, host="x" * 1000))

    def run(self):
        framed = len(self.MESSAGE).to_bytes(4, "big") + self.MESSAGE
        entries = list(thrift.decode_many(LOGS.Entry, framed * 20))
        columns = thrift.columns(LOGS.Entry, framed * 20, "time")
        whole = list(thrift.columns(LOGS.Entry, framed * 20))
        plucked = (thrift.pluck(LOGS.Entry, self.MESSAGE, "time"), whole)
        written = columns.to_parquet(self.path("messages.parquet"))
        return thrift.decode(LOGS.Entry, self.MESSAGE), entries, plucked, list(columns), [len(batch) for batch in columns.batches()], written

    def itself(self):
        class Source(io.RawIOBase):
            messages = None

            def read(self, _count=-1):
                return next(self.messages)

        source = Source()
        source.messages = messages = thrift.decode_many(LOGS.Entry, source)
        with pytest.raises(Exception):  # noqa: B017, whatever it is, it ends
            list(messages)


class WriteAThriftMessage(Operation):
    def run(self):
        return [thrift.encode(LOGS.Entry(time=number, host="x" * number), protocol) for number in range(100) for protocol in ("binary", "compact")]

    def itself(self):
        entry = LOGS.Entry(time=1)

        class Host(str):
            def encode(self, *arguments):
                entry.host = "other"
                return super().encode(*arguments)

        entry.host = Host("own")
        assert thrift.decode(LOGS.Entry, thrift.encode(entry)).time == 1


class ReadAThriftIdlFile(Operation):
    files = ("own.thrift",)

    def run(self):
        module = thrift.load(ROOT / "samples" / "log.thrift")
        return module.Entry(time=1).time, sorted(name for name in vars(module) if not name.startswith("_"))

    def itself(self):
        path = self.folder / "own.thrift"
        path.write_text('include "own.thrift"\nstruct A { 1: i32 a }')
        with pytest.raises(bytewright.Error):
            thrift.load(path)


OPERATIONS = {
    "read a Thrift message": ReadAThriftMessage,
    "write a Thrift message": WriteAThriftMessage,
    "read a Thrift IDL file": ReadAThriftIdlFile,
}
