"""The C interface from plain Python, without a binding: opens a table in a file and reads it back in order."""

import ctypes
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("os_error", ctypes.c_int32), ("offset", ctypes.c_int64),
                ("message", ctypes.c_char_p), ("file", ctypes.c_char_p)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_uint32), ("sync", ctypes.c_uint32), ("create", ctypes.c_bool),
                ("read_only", ctypes.c_bool), ("verify", ctypes.c_bool), ("timeout", ctypes.c_double),
                ("values", ctypes.c_char_p), ("names", ctypes.c_void_p), ("names_count", ctypes.c_size_t),
                ("interrupted", ctypes.c_void_p), ("interrupted_context", ctypes.c_void_p)]


class Slice(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("len", ctypes.c_size_t)]

    def bytes(self):
        return ctypes.string_at(self.data, self.len)


library, path = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode()
error, table, scan = Error(), ctypes.c_void_p(), ctypes.c_void_p()


def call(name, *arguments):
    status = getattr(library, name)(*arguments, ctypes.byref(error))
    assert status in (0, 1), error.message
    return status == 0


options = Options(size=ctypes.sizeof(Options), create=True)
call("bw_table_open", path, ctypes.byref(options), ctypes.byref(table))
for key, value in ((b"b", b"two"), (b"a", b"one")):
    call("bw_table_put", table, key, ctypes.c_size_t(len(key)), value, ctypes.c_size_t(len(value)))
call("bw_table_scan", table, None, ctypes.byref(scan))
key, value, entries = Slice(), Slice(), []
while call("bw_scan_next", scan, ctypes.byref(key), ctypes.byref(value)):
    entries.append((key.bytes(), value.bytes()))
library.bw_scan_free(scan)
call("bw_table_close", table)
assert entries == [(b"a", b"one"), (b"b", b"two")], entries
