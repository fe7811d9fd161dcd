"""The door through its own header: PyPy reads bytewright.h with cffi, opens a table and reads a capture."""

import re
import sys

import cffi

header, library, table_path, capture_path = sys.argv[1:]
ffi = cffi.FFI()
text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)  # cffi knows neither comments in macros nor #if
text = text.replace('extern "C" {', "").replace("}  // extern \"C\"", "")
ffi.cdef("\n".join(line for line in text.splitlines() if not line.startswith("#")))
bw = ffi.dlopen(library)
error, out = ffi.new("bw_error *"), lambda kind: ffi.new(kind + " **")


def call(name, *arguments):
    status = getattr(bw, name)(*arguments, error)
    assert status <= bw.BW_STATUS_NONE, ffi.string(error.message)
    return status == bw.BW_STATUS_OK


table, scan = out("bw_table"), out("bw_scan")
options = ffi.new("bw_open_options *", {"size": ffi.sizeof("bw_open_options"), "create": True})
call("bw_table_open", table_path.encode(), options, table)
for key, value in ((b"b", b"two"), (b"a", b"one")):
    call("bw_table_put", table[0], key, len(key), value, len(value))
call("bw_table_scan", table[0], ffi.NULL, scan)
key, value, entries = ffi.new("bw_slice *"), ffi.new("bw_slice *"), []
while call("bw_scan_next", scan[0], key, value):
    entries.append(tuple(ffi.buffer(found.data, found.len)[:] for found in (key, value)))
bw.bw_scan_free(scan[0])
call("bw_table_close", table[0])
assert entries == [(b"a", b"one"), (b"b", b"two")], entries

capture, counts, columns = out("bw_capture"), out("bw_batch"), ffi.new("bw_column[2]")
call("bw_capture_open", capture_path.encode(), ffi.NULL, capture)
call("bw_capture_count_by", capture[0], b"dst_port", ffi.NULL, counts)
call("bw_batch_column", counts[0], 0, columns)
call("bw_batch_column", counts[0], 1, columns + 1)
ports, packets = ffi.cast("uint16_t *", columns[0].values), ffi.cast("uint64_t *", columns[1].values)
assert {ports[row]: packets[row] for row in range(columns[0].rows)}[80] == 1898
bw.bw_batch_free(counts[0])
call("bw_capture_close", capture[0])
