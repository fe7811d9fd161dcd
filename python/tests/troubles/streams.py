"""Operations of readers and writers of values."""

import io

import pytest

from bytewright import ClosedError, LockError, Reader, Writer
from troubles.operation import ClosingSource, Operation


class ReadValuesFromAStream(Operation):
    CONTENT = bytes(range(256)) * 40

    def run(self):
        with Reader(io.BytesIO(self.CONTENT)) as reader, Reader(self.CONTENT) as other:
            numbers = [reader.u8(), reader.u32be(), reader.read(100), reader.varint(), reader.peek(2)]
            reader.skip(10)
            found = Reader(b"abcb").find(b"b")
            return numbers, reader.unpack("C n"), other.unpack_records("C C", 9), list(other.iter_unpack("C"))[:9], found

    def itself(self):
        source = ClosingSource()
        source.reader = reader = Reader(source)
        with pytest.raises((ClosedError, LockError)):
            for _ in range(1000):
                reader.u64be()


class WriteValuesToAStream(Operation):
    files = ("v", "grown")

    def run(self):
        path = self.path("v")
        with Writer(path) as writer:
            for number in range(1000):
                writer.u32be(number)
                writer.varint(number)
            writer.write(b"end")
            writer.flush()
        with Writer.replace(path) as writer:
            writer.write(path.read_bytes()[:100])
        return path.read_bytes()

    def grow(self):
        with Writer(self.folder / "grown") as writer:
            for _ in range(10_000):
                writer.write(bytes(1000))

    def itself(self):
        class Target(io.RawIOBase):
            writer = None

            def write(self, data):
                self.writer.close()
                return len(data)

        target = Target()
        target.writer = writer = Writer(target)
        with pytest.raises((ClosedError, LockError)):
            for _ in range(100_000):
                writer.u64be(1)


OPERATIONS = {
    "read values from a stream": ReadValuesFromAStream,
    "write values to a stream": WriteValuesToAStream,
}
