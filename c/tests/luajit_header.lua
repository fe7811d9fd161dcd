-- The door through its own header: LuaJIT's ffi reads bytewright.h, opens a table and reads a capture.
local ffi = require("ffi")
local header, library, table_path, capture_path = unpack(arg)

local file = assert(io.open(header))
local text = file:read("*a"):gsub("/%*.-%*/", ""):gsub("\n#[^\n]*", "") -- ffi has no preprocessor
file:close()
ffi.cdef((text:gsub('extern "C" {', ""):gsub('}%s*// extern "C"', "")))
local bw = ffi.load(library)
local failure = ffi.new("bw_error", { offset = -1 })

local function call(name, ...)
  local status = bw[name](...)
  assert(status == bw.BW_STATUS_OK or status == bw.BW_STATUS_NONE, failure.message ~= nil and ffi.string(failure.message))
  return status == bw.BW_STATUS_OK
end

local users, scan = ffi.new("bw_table *[1]"), ffi.new("bw_scan *[1]")
local options = ffi.new("bw_open_options", { size = ffi.sizeof("bw_open_options"), create = true })
call("bw_table_open", table_path, options, users, failure)
for key, value in pairs({ b = "two", a = "one" }) do
  call("bw_table_put", users[0], key, #key, value, #value, failure)
end
call("bw_table_scan", users[0], nil, scan, failure)
local key, value, entries = ffi.new("bw_slice"), ffi.new("bw_slice"), {}
while call("bw_scan_next", scan[0], key, value, failure) do
  entries[#entries + 1] = ffi.string(key.data, key.len) .. "=" .. ffi.string(value.data, value.len)
end
bw.bw_scan_free(scan[0])
call("bw_table_close", users[0], failure)
assert(table.concat(entries, " ") == "a=one b=two", table.concat(entries, " "))

local capture, counts, columns = ffi.new("bw_capture *[1]"), ffi.new("bw_batch *[1]"), ffi.new("bw_column[2]")
call("bw_capture_open", capture_path, nil, capture, failure)
call("bw_capture_count_by", capture[0], "dst_port", nil, counts, failure)
call("bw_batch_column", counts[0], 0, columns, failure)
call("bw_batch_column", counts[0], 1, columns + 1, failure)
local ports, packets = ffi.cast("uint16_t *", columns[0].values), ffi.cast("uint64_t *", columns[1].values)
local found = {}
for row = 0, tonumber(columns[0].rows) - 1 do found[ports[row]] = tonumber(packets[row]) end
assert(found[80] == 1898, found[80])
bw.bw_batch_free(counts[0])
call("bw_capture_close", capture[0], failure)
