"""Base class of all operations, and the inputs that they share."""

import io
import pathlib
import threading

from bytewright import LockError

ROOT = pathlib.Path(__file__).parents[3]
CAPTURE = ROOT / "samples" / "tunnels.pcap"
ENTRIES = {f"key {number:03}": f"value {number}" for number in range(200)}

#: No test waits so long but where it fails.
SECONDS_MAX = 60


def of_thread(name):
    """A name that other threads do not use."""
    return f"{name}-{threading.get_ident()}"


class Operation:
    #: Parts of names that a file may be left with, of the operation's own.
    files = ()

    def __init__(self, folder):
        self.folder = folder

    def close(self):
        """Ends what is open, twice."""

    def grow(self):
        """Writes more and more, until the disk is full."""
        raise NotImplementedError

    def second(self):
        """Runs it on the same files by another object; that one may be refused."""
        try:
            other = type(self)(self.folder)
        except LockError:
            return
        assert other.run() == self.run()
        other.close()

    def path(self, name):
        return self.folder / of_thread(name)


class ClosingSource(io.RawIOBase):
    """A source that closes what reads it."""

    def __init__(self):
        self.content, self.reader = io.BytesIO(CAPTURE.read_bytes()), None

    def read(self, count=-1):
        if self.reader is not None:
            self.reader.close()
        return self.content.read(min(count, 64))
