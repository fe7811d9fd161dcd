"""Counts of the times that files are opened, by the kernel's inotify(7)."""

import ctypes
import os
import struct

_IN_OPEN = 0x20
_IN_NONBLOCK = os.O_NONBLOCK


class Opened:
    """Counts the openings of files from now on."""

    def __init__(self, paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(_IN_NONBLOCK)
        self.names = {libc.inotify_add_watch(self.descriptor, os.fsencode(path), _IN_OPEN): path for path in paths}
        assert self.descriptor >= 0 and -1 not in self.names

    def counts(self):
        """Returns the number of times that each was opened since the last call; only those that were."""
        counts = {}
        try:
            while events := os.read(self.descriptor, 1 << 16):
                # No event of a watched file has a name behind it.
                for watch, _, _, _ in struct.iter_unpack("iIII", events):
                    counts[self.names[watch]] = counts.get(self.names[watch], 0) + 1
        except BlockingIOError:
            return counts
