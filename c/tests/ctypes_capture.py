"""The C interface from plain Python, without a binding: reads packets of a capture in columns."""

import ctypes
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("os_error", ctypes.c_int32), ("offset", ctypes.c_int64),
                ("message", ctypes.c_char_p), ("file", ctypes.c_char_p)]


class Names(ctypes.Structure):
    _fields_ = [("names", ctypes.POINTER(ctypes.c_char_p)), ("count", ctypes.c_size_t)]


class Column(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rows", ctypes.c_size_t), ("null_count", ctypes.c_size_t),
                ("validity", ctypes.c_void_p), ("values", ctypes.c_void_p), ("offsets", ctypes.c_void_p)]


library, path = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode()
error, capture, rows, batch, column = Error(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), Column()


def call(name, *arguments):
    status = getattr(library, name)(*arguments, ctypes.byref(error))
    assert status in (0, 1), error.message
    return status == 0


call("bw_capture_open", path, None, ctypes.byref(capture))
names = Names((ctypes.c_char_p * 1)(b"length"), 1)
call("bw_capture_packets", ctypes.byref(capture), ctypes.c_size_t(1), ctypes.byref(names), ctypes.c_size_t(1000), None,
     ctypes.byref(rows))
lengths = []
while call("bw_rows_next", rows, ctypes.byref(batch)):
    call("bw_batch_column", batch, ctypes.c_size_t(0), ctypes.byref(column))
    lengths += (ctypes.c_uint32 * column.rows).from_address(column.values)
    library.bw_batch_free(batch)
library.bw_rows_free(rows)
call("bw_capture_close", capture)
assert lengths[0] == 270 and len(lengths) > 1000, lengths[:3]
