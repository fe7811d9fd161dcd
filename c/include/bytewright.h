/*
 * Bytewright: reads, decodes and keeps bulk binary data.
 *
 * Written from the Rust sources by cbindgen; docs/c.md is the guide. The rules for all functions:
 *
 * - A call returns a bw_status. BW_STATUS_OK and BW_STATUS_NONE are not errors. Every other one fills the bw_error that
 *   the caller passes; it may be null.
 * - A handle (bw_table, bw_scan, ...) is opened and freed by functions of this library, and used by one thread at a time.
 *   Different handles are independent.
 * - A pointer with a length points to as many bytes that can be read, in any encoding, or is null with the length 0.
 * - A struct that begins with its size is initialized with its BW_..._INIT, which sets that. Fields that a later version
 *   adds stand at its end, and are zero in BW_..._INIT: programs that were compiled before need not be compiled again.
 * - What the library hands out as bw_slice is its own, until the next call with the handle that it came from.
 */

#ifndef BYTEWRIGHT_H
#define BYTEWRIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initial values of the structs below. */
#define BW_ERROR_INIT { BW_STATUS_OK, 0, -1, NULL, NULL }
#define BW_BUFFER_INIT { NULL, 0, 0 }
#define BW_OPEN_OPTIONS_INIT { sizeof(bw_open_options), BW_TABLE_KIND_ANY, BW_SYNC_INTERVAL, false, false, false, 10.0, NULL, BW_NAMES_INIT, NULL, NULL }
#define BW_CACHE_OPTIONS_INIT { sizeof(bw_cache_options), 0, 0, false, BW_NAMES_INIT, NULL, NULL }
#define BW_CACHE_ENTRY_INIT { sizeof(bw_cache_entry), BW_CACHE_KIND_BYTES, 0, { NULL, 0 } }
#define BW_RANGE_INIT { sizeof(bw_range), { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, false, false, false, false, 0 }
#define BW_NAMES_INIT { NULL, 0 }
#define BW_CAPTURE_OPTIONS_INIT { sizeof(bw_capture_options), NULL, false, 0, NULL, NULL, BW_DAMAGE_RAISE, BW_NAMES_INIT }
#define BW_LIVE_OPTIONS_INIT { sizeof(bw_live_options), 0, 0, false, BW_NAMES_INIT }
#define BW_FLOW_OPTIONS_INIT { sizeof(bw_flow_options), -1.0, -1.0, 0, BW_NAMES_INIT }
#define BW_SUM_OPTIONS_INIT { sizeof(bw_sum_options), BW_NAMES_INIT, BW_NAMES_INIT, 0.0, 0, NULL, BW_NAMES_INIT }
#define BW_IDL_INIT { sizeof(bw_idl), NULL, NULL, BW_NAMES_INIT }
#define BW_CUT_COUNTS_INIT { sizeof(bw_cut_counts), 0, 0, 0, 0, 0, 0 }
#define BW_WRITER_OPTIONS_INIT { sizeof(bw_writer_options), false, BW_WRITER_MODE_ANEW }

/* Arrow's C data interface (https://arrow.apache.org/docs/format/CDataInterface.html), which all users share. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

/* Arrow's C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html). */
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif


/**
 * The version of the interface that this header declares. It grows when a program compiled for an older one could not
 * use the library any more.
 */
#define BW_ABI_VERSION 1

/**
 * Outcome of a call.
 */
typedef enum bw_status {
  /**
   * It was done.
   */
  BW_STATUS_OK = 0,
  /**
   * It was done: there is no such entry, or there are no more. The error is not filled.
   */
  BW_STATUS_NONE = 1,
  /**
   * The operating system refused; `bw_error.os_error` has its number.
   */
  BW_STATUS_IO = 16,
  /**
   * The bytes are not what the format allows.
   */
  BW_STATUS_FORMAT = 17,
  /**
   * The input ends in the middle of something.
   */
  BW_STATUS_TRUNCATED = 18,
  /**
   * A length, count or depth is above the bound kept for it.
   */
  BW_STATUS_LIMIT = 19,
  /**
   * Another process or handle uses the file.
   */
  BW_STATUS_LOCK = 20,
  /**
   * The object was closed, or belongs to the process that forked this one.
   */
  BW_STATUS_CLOSED = 21,
  /**
   * A checksum or an invariant of a file that Bytewright wrote does not hold.
   */
  BW_STATUS_CORRUPT = 22,
  /**
   * A library that is not on this machine is needed.
   */
  BW_STATUS_MISSING_LIBRARY = 23,
  /**
   * The caller asked for something that does not exist.
   */
  BW_STATUS_ARGUMENT = 24,
  /**
   * A defect in Bytewright.
   */
  BW_STATUS_INTERNAL = 25,
} bw_status;

/**
 * Kind of a change.
 */
typedef enum bw_change {
  /**
   * All entries were deleted.
   */
  BW_CHANGE_CLEAR = 1,
  /**
   * The value of a key was set.
   */
  BW_CHANGE_PUT = 2,
  /**
   * The entry of a key was deleted.
   */
  BW_CHANGE_DELETE = 3,
} bw_change;

/**
 * Type of the values of a column, and the way they are kept.
 */
typedef enum bw_type {
  /**
   * A time, nanoseconds since 1970-01-01 00:00 UTC, as `int64_t`.
   */
  BW_TYPE_TIME_NS = 1,
  /**
   * A time, microseconds since 1970-01-01 00:00 UTC, as `int64_t`.
   */
  BW_TYPE_TIME_US = 2,
  /**
   * A duration in microseconds, as `uint64_t`.
   */
  BW_TYPE_DURATION_US = 3,
  /**
   * An IP address in 16 bytes; IPv4 as `::ffff:a.b.c.d`.
   */
  BW_TYPE_ADDRESS = 4,
  /**
   * `uint8_t`.
   */
  BW_TYPE_U8 = 5,
  /**
   * `uint16_t`.
   */
  BW_TYPE_U16 = 6,
  /**
   * `uint32_t`.
   */
  BW_TYPE_U32 = 7,
  /**
   * `uint64_t`.
   */
  BW_TYPE_U64 = 8,
  /**
   * `int8_t`.
   */
  BW_TYPE_I8 = 9,
  /**
   * `int16_t`.
   */
  BW_TYPE_I16 = 10,
  /**
   * `int32_t`.
   */
  BW_TYPE_I32 = 11,
  /**
   * `int64_t`.
   */
  BW_TYPE_I64 = 12,
  /**
   * `double`.
   */
  BW_TYPE_DOUBLE = 13,
  /**
   * One bit, from the least significant of each byte.
   */
  BW_TYPE_BOOL = 14,
  /**
   * Text with offsets. It should be UTF-8; text of a Thrift message may not be.
   */
  BW_TYPE_TEXT = 15,
  /**
   * Bytes with offsets.
   */
  BW_TYPE_BYTES = 16,
  /**
   * A UUID in 16 bytes, in the order in which it is written.
   */
  BW_TYPE_UUID = 17,
  /**
   * Text with offsets that is one value in JSON.
   */
  BW_TYPE_JSON = 18,
  /**
   * The flag bits of TCP (0x002 SYN, 0x010 ACK), as `uint16_t`.
   */
  BW_TYPE_TCP_FLAGS = 19,
  /**
   * A number that stands for a name, as `uint8_t`.
   */
  BW_TYPE_ENUMERATION = 20,
  /**
   * Values of one type in an order. Lists, structs and maps leave as Arrow: `bw_batch_arrow`.
   */
  BW_TYPE_LIST = 21,
  /**
   * A value of each of several fields.
   */
  BW_TYPE_STRUCT = 22,
  /**
   * Values by keys.
   */
  BW_TYPE_MAP = 23,
} bw_type;

/**
 * The kinds of tables.
 */
typedef enum bw_table_kind {
  /**
   * The kind of the file; of a new file, that which its name ends in (.bwh or .bwt).
   */
  BW_TABLE_KIND_ANY = 0,
  /**
   * Finds keys by their hashes (.bwh).
   */
  BW_TABLE_KIND_HASH = 1,
  /**
   * Keeps keys in their order (.bwt).
   */
  BW_TABLE_KIND_TREE = 2,
} bw_table_kind;

/**
 * When commits are made to survive a power cut. Each survives the death of the process, whatever this says.
 */
typedef enum bw_sync {
  /**
   * With the first commit a second after the last time.
   */
  BW_SYNC_INTERVAL = 0,
  /**
   * Before a commit returns.
   */
  BW_SYNC_COMMIT = 1,
  /**
   * When the operating system likes.
   */
  BW_SYNC_NEVER = 2,
} bw_sync;

/**
 * Treatment of a damaged capture. What is no capture is an error in any case.
 */
typedef enum bw_damage {
  /**
   * The rows before the damage come first, and then its error.
   */
  BW_DAMAGE_RAISE = 0,
  /**
   * The rows end before the damage; `bw_capture_damage` tells it.
   */
  BW_DAMAGE_KEEP = 1,
} bw_damage;

/**
 * Kind of the value of a cache. Languages whose objects are of these kinds find them as they were.
 */
typedef enum bw_cache_kind {
  /**
   * Bytes.
   */
  BW_CACHE_KIND_BYTES = 0,
  /**
   * Text in UTF-8.
   */
  BW_CACHE_KIND_TEXT = 1,
  /**
   * An integer of 64 bits with a sign, in 8 bytes, little-endian.
   */
  BW_CACHE_KIND_INTEGER = 2,
  /**
   * A number of IEEE 754 in 8 bytes, little-endian.
   */
  BW_CACHE_KIND_FLOAT = 3,
  /**
   * Nested data of a language, in CBOR (RFC 8949).
   */
  BW_CACHE_KIND_NESTED = 4,
  /**
   * Objects that a program has serialized, behind a check of its own.
   */
  BW_CACHE_KIND_SEALED = 5,
} bw_cache_kind;

/**
 * Kind of a value, and the member of `bw_value_data` that has it.
 */
typedef enum bw_value_kind {
  /**
   * There is none.
   */
  BW_VALUE_KIND_NULL = 0,
  /**
   * A number that is never negative: `unsigned_number`.
   */
  BW_VALUE_KIND_UNSIGNED = 1,
  /**
   * A number that may be negative: `signed_number`.
   */
  BW_VALUE_KIND_SIGNED = 2,
  /**
   * A floating-point number: `double_number`.
   */
  BW_VALUE_KIND_DOUBLE = 3,
  /**
   * True or false: `is_true`.
   */
  BW_VALUE_KIND_BOOL = 4,
  /**
   * Nanoseconds since 1970-01-01 00:00 UTC: `signed_number`.
   */
  BW_VALUE_KIND_TIME = 5,
  /**
   * Microseconds: `unsigned_number`.
   */
  BW_VALUE_KIND_DURATION = 6,
  /**
   * An IP address, IPv4 as `::ffff:a.b.c.d`: `octets`.
   */
  BW_VALUE_KIND_ADDRESS = 7,
  /**
   * Text in UTF-8: `bytes`.
   */
  BW_VALUE_KIND_TEXT = 8,
  /**
   * Text that is one value in JSON: `bytes`.
   */
  BW_VALUE_KIND_JSON = 9,
  /**
   * Bytes, also text that is not UTF-8: `bytes`.
   */
  BW_VALUE_KIND_BYTES = 10,
  /**
   * A UUID, in the order in which it is written: `octets`.
   */
  BW_VALUE_KIND_UUID = 11,
} bw_value_kind;

/**
 * Encoding of messages.
 */
typedef enum bw_protocol {
  /**
   * Thrift's binary protocol.
   */
  BW_PROTOCOL_BINARY = 0,
  /**
   * Thrift's compact protocol.
   */
  BW_PROTOCOL_COMPACT = 1,
  /**
   * One of both, as the header of THeader in each frame says.
   */
  BW_PROTOCOL_HEADER = 2,
  /**
   * Thrift's JSON protocol.
   */
  BW_PROTOCOL_JSON = 3,
} bw_protocol;

/**
 * In which order the bytes of a number stand.
 */
typedef enum bw_order {
  /**
   * The least significant first.
   */
  BW_ORDER_LITTLE = 0,
  /**
   * The most significant first.
   */
  BW_ORDER_BIG = 1,
} bw_order;

/**
 * From where the place is counted to which a reader or a writer goes.
 */
typedef enum bw_whence {
  /**
   * From the beginning.
   */
  BW_WHENCE_BEGINNING = 0,
  /**
   * From where it is.
   */
  BW_WHENCE_HERE = 1,
  /**
   * From the end.
   */
  BW_WHENCE_END = 2,
} bw_whence;

/**
 * Treatment of a file that has the name already.
 */
typedef enum bw_writer_mode {
  /**
   * It is emptied, and written anew.
   */
  BW_WRITER_MODE_ANEW = 0,
  /**
   * It stays, and what is written goes behind it, also behind what others append meanwhile.
   */
  BW_WRITER_MODE_APPEND = 1,
  /**
   * It stays until `bw_writer_close`, which puts the new file in its place: a reader, or a power cut, finds the one or the
   * other, whole.
   */
  BW_WRITER_MODE_REPLACE = 2,
} bw_writer_mode;

/**
 * Rows as columns. It is its user's, and needs nothing that it came from. Threads may share it, as nothing changes it.
 */
typedef struct bw_batch bw_batch;

/**
 * A cache. One thread at a time may use it.
 */
typedef struct bw_cache bw_cache;

/**
 * A capture. It can be read any number of times, also side by side; what comes from the program, once.
 *
 * `bw_capture_info`, `bw_capture_count_by`, `bw_capture_sum` and `bw_capture_merge_flows` read all of it. One that was
 * interrupted, or whose `bw_read` failed, goes on when it is made again with equal arguments. Another call that reads the
 * capture gives it up, and begins as it would without it: of what comes from the program, with `BW_STATUS_CLOSED`.
 */
typedef struct bw_capture bw_capture;

/**
 * Changes that were committed from a position on, up to the moment when these were asked for. One thread at a time may use
 * them.
 */
typedef struct bw_changes bw_changes;

/**
 * A place in an ordered table as it was when the cursor was made: at an entry, before the first, or after the last. One
 * thread at a time may use it.
 */
typedef struct bw_cursor bw_cursor;

/**
 * A file of flows in the words of another program, under way over one or more captures. One thread at a time may use it.
 */
typedef struct bw_flow_log bw_flow_log;

/**
 * A table file with the flows of many captures. Each capture is in it wholly or not at all, and once. One thread at a time
 * may use it.
 */
typedef struct bw_flow_store bw_flow_store;

/**
 * Packets with their bytes: at a packet, before the first, or after the last. One thread at a time may use it.
 */
typedef struct bw_frames bw_frames;

/**
 * Binary input, plain, gzip or zstd, read through one buffer. One thread at a time may use it.
 */
typedef struct bw_reader bw_reader;

/**
 * Rows that come in batches of columns. Damage ends them: the rows before it come first. They are prepared on a thread of
 * their own, a few batches ahead. One thread at a time may use it.
 */
typedef struct bw_rows bw_rows;

/**
 * Entries of a table as it was when the scan began. One thread at a time may use it.
 */
typedef struct bw_scan bw_scan;

/**
 * The columns of rows. It belongs to the rows or the batch that it came from, and lives as long.
 */
typedef struct bw_schema bw_schema;

/**
 * A table as it was when this was taken, which later changes of the table do not change. One thread at a time may use it.
 */
typedef struct bw_snapshot bw_snapshot;

/**
 * A table. One thread at a time may use it.
 */
typedef struct bw_table bw_table;

/**
 * Some fields of messages of one struct: their rows, which are added and taken out. One thread at a time may use it.
 */
typedef struct bw_thrift bw_thrift;

/**
 * Binary output by values and bytes, gathered in a buffer of 128 KiB and written in few calls. One thread at a time may use it.
 */
typedef struct bw_writer bw_writer;

/**
 * Error of a call. Initialize it with `BW_ERROR_INIT` and clear it with `bw_error_clear`. A call that fails frees what
 * an earlier failure left and fills it again; a call that succeeds leaves it as it is.
 */
typedef struct bw_error {
  /**
   * Status that the call returned.
   */
  enum bw_status status;
  /**
   * The operating system's number (`errno`), or 0.
   */
  int32_t os_error;
  /**
   * Byte offset in the input, after decompression; -1 if unknown.
   */
  int64_t offset;
  /**
   * Text of what was expected and what was found, in UTF-8, after the file and the place; harmless to a terminal.
   */
  char *message;
  /**
   * The file, or null.
   */
  char *file;
} bw_error;

/**
 * Memory of the caller's that calls fill and make larger as they need. Initialize it with `BW_BUFFER_INIT`, use it for
 * as many calls as you like, and free it with `bw_buffer_free`.
 */
typedef struct bw_buffer {
  /**
   * The bytes; null before the first use.
   */
  uint8_t *data;
  /**
   * Bytes that the last call put there.
   */
  size_t len;
  /**
   * Bytes that there is room for.
   */
  size_t capacity;
} bw_buffer;

/**
 * Names, each of which ends with a zero byte. No names are `BW_NAMES_INIT`.
 */
typedef struct bw_names {
  /**
   * As many strings as `count` says; may be null where that is 0.
   */
  const char *const *names;
  /**
   * Number of names.
   */
  size_t count;
} bw_names;

/**
 * Returns true to end the current call: that returns `BW_STATUS_IO` with `os_error` `EINTR` then, and can be made
 * again. Asked ten times a second while a call waits, under the rules of `bw_read`.
 */
typedef bool (*bw_interrupted)(void *context);

/**
 * Options of opening a table file. Initialize it with `BW_OPEN_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_open_options {
  /**
   * Bytes of the struct, which `BW_OPEN_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * Kind that is expected: a `bw_table_kind`.
   */
  uint32_t kind;
  /**
   * When commits are made to survive a power cut: a `bw_sync`.
   */
  uint32_t sync;
  /**
   * Make the file where it is missing or empty.
   */
  bool create;
  /**
   * Never write to the file.
   */
  bool read_only;
  /**
   * Check all of the file before it is used, which takes as long as reading it.
   */
  bool verify;
  /**
   * Longest wait in seconds for another process that writes.
   */
  double timeout;
  /**
   * Form of the values: "string", "integer" (8 bytes, little-endian, with a sign), or a name of 1 to 12 letters of
   * the program's own. A new file remembers it, and a file that there is must have it. Null is "string"; an empty text
   * takes a file with whatever it has, and makes a new one with strings.
   */
  const char *values;
  /**
   * Options by name, as "name=value": those of opening table files in docs/options.md. They count over the fields above.
   */
  struct bw_names named;
  /**
   * Asked by calls that wait for another process whether they are to end; null for never. A call that ends so changes nothing,
   * and returns `BW_STATUS_IO` with `EINTR` as `os_error`.
   */
  bw_interrupted interrupted;
  /**
   * Argument of `interrupted`.
   */
  void *interrupted_context;
} bw_open_options;

/**
 * Bytes that belong to somebody else: read them before that changes.
 */
typedef struct bw_slice {
  /**
   * The first byte; may be null where `len` is 0.
   */
  const uint8_t *data;
  /**
   * Number of bytes.
   */
  size_t len;
} bw_slice;

/**
 * Shows the value of a key. `value` is the table's: copy what you keep, and return as usual (a `longjmp` or a C++ exception
 * out of it is undefined behaviour). A call in it that changes or closes the table returns `BW_STATUS_LOCK`.
 */
typedef void (*bw_found)(void *context, size_t place, const struct bw_slice *value);

/**
 * Counts and sizes of a table, in the order of the schema `tables`.
 */
typedef struct bw_stat {
  /**
   * Entries.
   */
  uint64_t records;
  /**
   * Bytes of entries as they are kept.
   */
  uint64_t live_bytes;
  /**
   * Bytes that compaction would free.
   */
  uint64_t dead_bytes;
  /**
   * Bytes that are kept only because a snapshot or a scan uses them.
   */
  uint64_t pinned_bytes;
  /**
   * Bytes of the index.
   */
  uint64_t index_bytes;
  /**
   * Bytes of memory that the table takes.
   */
  uint64_t memory_bytes;
  /**
   * Bytes of the file; 0 in memory.
   */
  uint64_t file_bytes;
} bw_stat;

/**
 * Range of entries, and their order. Initialize it with `BW_RANGE_INIT`, which selects all of them, and change what
 * you need.
 */
typedef struct bw_range {
  /**
   * Bytes of the struct, which `BW_RANGE_INIT` sets.
   */
  size_t size;
  /**
   * The lowest key.
   */
  struct bw_slice first;
  /**
   * The highest key.
   */
  struct bw_slice last;
  /**
   * Prefix of all keys.
   */
  struct bw_slice prefix;
  /**
   * True if `first` applies.
   */
  bool has_first;
  /**
   * True if `last` applies.
   */
  bool has_last;
  /**
   * True if `last` is itself left out.
   */
  bool excludes_last;
  /**
   * True if the highest key comes first.
   */
  bool reverse;
  /**
   * Maximum number of entries; 0 for all.
   */
  uint64_t limit;
} bw_range;

/**
 * Options of opening a cache. Initialize it with `BW_CACHE_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_cache_options {
  /**
   * Bytes of the struct, which `BW_CACHE_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * Bytes that the file, or the memory, may take; 0 for a GiB.
   */
  uint64_t size_limit;
  /**
   * Entries that there may be; 0 for any number.
   */
  uint64_t count_limit;
  /**
   * Go on with an empty cache where the file is found to be damaged, for all who have it open; `bw_cache_clearings` tells. Else
   * that is `BW_STATUS_CORRUPT`.
   */
  bool clears_damage;
  /**
   * Options by name, as "name=value": those of caches in docs/options.md. They count over the fields above.
   */
  struct bw_names named;
  /**
   * Asked by calls that wait for another process, as in `bw_open_options`; null for never.
   */
  bw_interrupted interrupted;
  /**
   * Argument of `interrupted`.
   */
  void *interrupted_context;
} bw_cache_options;

/**
 * Properties of an entry beside its value. Initialize it with `BW_CACHE_ENTRY_INIT`, and change what you need.
 */
typedef struct bw_cache_entry {
  /**
   * Bytes of the struct, which `BW_CACHE_ENTRY_INIT` sets.
   */
  size_t size;
  /**
   * Kind of the value: a `bw_cache_kind`.
   */
  uint32_t kind;
  /**
   * Milliseconds since 1970 from which on it is gone (`bw_cache_now`); 0 for never.
   */
  uint64_t expires_at;
  /**
   * Name by which entries are evicted together; one without bytes is none. `bw_cache_get` does not tell it.
   */
  struct bw_slice tag;
} bw_cache_entry;

/**
 * One column. The texts belong to the schema.
 */
typedef struct bw_field {
  /**
   * The name that it has in all languages, which ends with a zero byte.
   */
  const char *name;
  /**
   * Description with its unit, a sentence that ends with a zero byte; empty if there is none.
   */
  const char *meaning;
  /**
   * Type of the values.
   */
  enum bw_type value_type;
  /**
   * True if a row may have no value.
   */
  bool is_nullable;
} bw_field;

/**
 * Data of a value.
 */
typedef union bw_value_data {
  /**
   * See `bw_value_kind`.
   */
  uint64_t unsigned_number;
  /**
   * See `bw_value_kind`.
   */
  int64_t signed_number;
  /**
   * See `bw_value_kind`.
   */
  double double_number;
  /**
   * See `bw_value_kind`.
   */
  bool is_true;
  /**
   * The library's, as long as what the value came from.
   */
  struct bw_slice bytes;
  /**
   * See `bw_value_kind`.
   */
  uint8_t octets[16];
} bw_value_data;

/**
 * One value of a row.
 */
typedef struct bw_value {
  /**
   * Kind of the value: a `bw_value_kind`.
   */
  uint32_t kind;
  /**
   * Data of the value.
   */
  union bw_value_data data;
} bw_value;

/**
 * The values of one column, as Arrow lays them out. They belong to the batch. Values are aligned for their type.
 */
typedef struct bw_column {
  /**
   * Type of the values, and the way they are kept.
   */
  enum bw_type value_type;
  /**
   * Number of rows.
   */
  size_t rows;
  /**
   * Rows without a value. Their place has bytes that mean nothing.
   */
  size_t null_count;
  /**
   * One bit for each row, from the least significant: 1 where there is a value.
   */
  const uint8_t *validity;
  /**
   * Values of a fixed width, one after the other; of booleans, bits; of text, JSON and bytes, all of their bytes.
   */
  const void *values;
  /**
   * Of text, JSON and bytes: row `n` has the bytes of `values` from `offsets[n]` to before `offsets[n + 1]`. Null for
   * others.
   */
  const int64_t *offsets;
} bw_column;

/**
 * Options of reading a capture. Initialize it with `BW_CAPTURE_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_capture_options {
  /**
   * Bytes of the struct, which `BW_CAPTURE_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * A libpcap expression; packets that it does not match are left out. Null for all packets.
   */
  const char *filter;
  /**
   * Follow tunnels (GRE, ERSPAN, IPIP, 6in4, VXLAN, GENEVE, GTP-U, MPLS over UDP), and report the innermost IP header instead of the outermost.
   */
  bool inner;
  /**
   * Threads that decompress and decode; 0 for one on each core.
   */
  uint32_t jobs;
  /**
   * Function that returns true if a call that waits is to end; null for never.
   */
  bw_interrupted interrupted;
  /**
   * Argument of `interrupted`.
   */
  void *interrupted_context;
  /**
   * Treatment of a damaged capture: a `bw_damage`.
   */
  uint32_t damage;
  /**
   * Options by name, as "name=value": those of reading captures in docs/options.md. They count over the fields above.
   */
  struct bw_names named;
} bw_capture_options;

/**
 * Brings up to `capacity` bytes to `data`: how many it brought, 0 at the end, or a negative number of the system
 * (`-errno`). It is called only while a call of the library is under way, by the thread that makes that call, and returns
 * as usual (a `longjmp` or a C++ exception out of it is undefined behaviour). A call in it with the handle of that call
 * returns `BW_STATUS_LOCK`; a handle that it frees is freed when that call returns.
 */
typedef int64_t (*bw_read)(void *context, uint8_t *data, size_t capacity);

/**
 * Options of opening an interface. Initialize it with `BW_LIVE_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_live_options {
  /**
   * Bytes of the struct, which `BW_LIVE_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * Bytes that are kept of each packet at most; 0 for 262144.
   */
  uint32_t snaplen;
  /**
   * Bytes of packets that the system holds until they are read, those that find no room are dropped; 0 for 16 MiB.
   */
  uint32_t buffer;
  /**
   * Take packets to other hosts, too.
   */
  bool promiscuous;
  /**
   * Options by name, as "name=value": those of capturing from an interface in docs/options.md. They count over the fields
   * above.
   */
  struct bw_names named;
} bw_live_options;

/**
 * Packets that an interface had since it was opened.
 */
typedef struct bw_live_counts {
  /**
   * Packets that were read.
   */
  uint64_t captured;
  /**
   * Packets that were lost because the buffer was full.
   */
  uint64_t dropped;
  /**
   * Packets that the interface or its driver lost.
   */
  uint64_t dropped_by_interface;
} bw_live_counts;

/**
 * Fields that are added up, and their groups. Initialize it with `BW_SUM_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_sum_options {
  /**
   * Bytes of the struct, which `BW_SUM_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * Fields whose values make a group.
   */
  struct bw_names by;
  /**
   * Fields that hold numbers, which are added up.
   */
  struct bw_names fields;
  /**
   * Seconds of an interval, by which the groups are divided, too; 0 for none.
   */
  double every;
  /**
   * The number of groups, the largest first; 0 for all.
   */
  uint64_t top;
  /**
   * A condition that packets must meet ("dst_port == 443 and length > 100"); null for all packets.
   */
  const char *where;
  /**
   * Options by name, as "name=value": those of adding packets up in docs/options.md. They count over the fields above, and
   * "by=FIELD" stands once for each field.
   */
  struct bw_names named;
} bw_sum_options;

/**
 * When flows end. Initialize it with `BW_FLOW_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_flow_options {
  /**
   * Bytes of the struct, which `BW_FLOW_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * A flow without a packet for more than so many seconds has ended; below 0 for never.
   */
  double idle_timeout;
  /**
   * A flow that began more than so many seconds before a packet has ended; below 0 for never.
   */
  double active_timeout;
  /**
   * Open flows at one time, at most 16 million; 0 for a million. One more makes a flow end.
   */
  uint64_t max_flows;
  /**
   * Options by name, as "name=value": those of flows in docs/options.md. They count over the fields above.
   */
  struct bw_names named;
} bw_flow_options;

/**
 * An IDL file of Thrift's. Initialize it with `BW_IDL_INIT`.
 */
typedef struct bw_idl {
  /**
   * Bytes of the struct, which `BW_IDL_INIT` sets.
   */
  size_t size;
  /**
   * Its path.
   */
  const char *path;
  /**
   * The name of the service; null for the only one of the file.
   */
  const char *service;
  /**
   * Folders in which included files are looked for, behind the folder of the file.
   */
  struct bw_names include;
} bw_idl;

/**
 * Counts of the packets that were written to a new capture. Initialize it with `BW_CUT_COUNTS_INIT`.
 */
typedef struct bw_cut_counts {
  /**
   * Bytes of the struct, which `BW_CUT_COUNTS_INIT` sets.
   */
  size_t size;
  /**
   * Packets.
   */
  uint64_t packets;
  /**
   * Bytes of them on the wire.
   */
  uint64_t bytes;
  /**
   * Packets that are earlier than one before them, because they came late in their own capture.
   */
  uint64_t late;
  /**
   * Packets that `drop_duplicates` left out.
   */
  uint64_t duplicates;
  /**
   * Packets without a header that is known, with `anonymize`.
   */
  uint64_t opaque;
  /**
   * Files; `rotate` makes several, or none without packets.
   */
  uint64_t files;
} bw_cut_counts;

/**
 * Options of writing a file. Initialize it with `BW_WRITER_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_writer_options {
  /**
   * Bytes of the struct, which `BW_WRITER_OPTIONS_INIT` sets.
   */
  size_t size;
  /**
   * `bw_writer_flush` and `bw_writer_close` return when what was written will survive a power cut.
   */
  bool sync;
  /**
   * Treatment of a file that is there: a `bw_writer_mode`.
   */
  uint32_t mode;
} bw_writer_options;

/**
 * Takes up to `len` bytes of a writer at `data`: how many it took, at least 1, or a negative number of the system (`-errno`).
 * Those that it did not take come again. An error ends the call, which can be made again, as after `-EINTR`. The rules of
 * `bw_read` hold for it.
 */
typedef int64_t (*bw_write)(void *context, const uint8_t *data, size_t len);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The library's version as text, such as "0.1.0". It is never freed.
 */
const char *bw_version(void);

/**
 * The version of the interface that the library was built with.
 */
uint32_t bw_abi_version(void);

/**
 * Checks that the library serves a program that was compiled with `BW_ABI_VERSION` of its header.
 *
 * Returns `BW_STATUS_ARGUMENT` where it does not.
 */
enum bw_status bw_check_abi(uint32_t compiled_for, struct bw_error *error);

/**
 * Frees what an error holds and makes it as `BW_ERROR_INIT` does. Null is allowed.
 */
void bw_error_clear(struct bw_error *error);

/**
 * Frees the memory of a buffer and makes it as `BW_BUFFER_INIT` does. Null is allowed.
 */
void bw_buffer_free(struct bw_buffer *buffer);

/**
 * Makes an empty table in memory. `kind` is `BW_TABLE_KIND_HASH` or `BW_TABLE_KIND_TREE`. Close it with
 * `bw_table_close`.
 */
enum bw_status bw_table_new(uint32_t table_kind, struct bw_table **out, struct bw_error *error);

/**
 * Opens the table in the file at `path`, which ends with a zero byte and may be in any encoding. `options` may be null
 * for `BW_OPEN_OPTIONS_INIT`. Close it with `bw_table_close`.
 */
enum bw_status bw_table_open(const char *path,
                             const struct bw_open_options *options,
                             struct bw_table **out,
                             struct bw_error *error);

/**
 * Closes a table and frees its handle, whatever it returns: `BW_STATUS_OK` when everything that was committed survives
 * a power cut. A transaction that is open is taken back. Scans, cursors and snapshots of it stay usable. Null is
 * allowed.
 */
enum bw_status bw_table_close(struct bw_table *table, struct bw_error *error);

/**
 * Removes all entries.
 */
enum bw_status bw_table_clear(struct bw_table *table, struct bw_error *error);

/**
 * Number of entries.
 */
enum bw_status bw_table_len(const struct bw_table *table, uint64_t *len, struct bw_error *error);

/**
 * Copies the value of a key into `value`. `BW_STATUS_NONE` where there is none; the buffer is unchanged then.
 */
enum bw_status bw_table_get(const struct bw_table *table,
                            const uint8_t *key,
                            size_t key_len,
                            struct bw_buffer *value,
                            struct bw_error *error);

/**
 * Copies as much of the value of a key as fits into the `capacity` bytes at `value`, and sets `value_len` to the length of
 * the whole value. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_table_get_into(const struct bw_table *table,
                                 const uint8_t *key,
                                 size_t key_len,
                                 uint8_t *value,
                                 size_t capacity,
                                 size_t *value_len,
                                 struct bw_error *error);

/**
 * Shows the value of a key to `show`, with the place 0, without copying it. `BW_STATUS_NONE` where there is none; nothing is
 * shown then.
 */
enum bw_status bw_table_get_with(const struct bw_table *table,
                                 const uint8_t *key,
                                 size_t key_len,
                                 bw_found show,
                                 void *context,
                                 struct bw_error *error);

/**
 * Looks for an entry with a key: `BW_STATUS_OK` if there is one, else `BW_STATUS_NONE`.
 */
enum bw_status bw_table_contains(const struct bw_table *table,
                                 const uint8_t *key,
                                 size_t key_len,
                                 struct bw_error *error);

/**
 * Sets the value of a key.
 */
enum bw_status bw_table_put(struct bw_table *table,
                            const uint8_t *key,
                            size_t key_len,
                            const uint8_t *value,
                            size_t value_len,
                            struct bw_error *error);

/**
 * Sets the value of a key that has none; `BW_STATUS_NONE` where it has one, which stays.
 */
enum bw_status bw_table_create(struct bw_table *table,
                               const uint8_t *key,
                               size_t key_len,
                               const uint8_t *value,
                               size_t value_len,
                               struct bw_error *error);

/**
 * Adds bytes to the end of the value of a key, which is empty where there is none. The values must be strings.
 */
enum bw_status bw_table_append(struct bw_table *table,
                               const uint8_t *key,
                               size_t key_len,
                               const uint8_t *value,
                               size_t value_len,
                               struct bw_error *error);

/**
 * Removes the entry of a key; `BW_STATUS_NONE` where there was none.
 */
enum bw_status bw_table_delete(struct bw_table *table, const uint8_t *key, size_t key_len, struct bw_error *error);

/**
 * Takes the entry of a key out, and copies its value into `value`. `BW_STATUS_NONE` where there is none; the buffer is
 * unchanged then. No other process changes the entry between.
 */
enum bw_status bw_table_take(struct bw_table *table,
                             const uint8_t *key,
                             size_t key_len,
                             struct bw_buffer *value,
                             struct bw_error *error);

/**
 * Takes the first entry out, which a scan would give first, and copies it into `key` and `value`. `BW_STATUS_NONE` where
 * the table is empty; the buffers are unchanged then.
 */
enum bw_status bw_table_shift(struct bw_table *table,
                              struct bw_buffer *key,
                              struct bw_buffer *value,
                              struct bw_error *error);

/**
 * Adds `by` to the value of a key, which is 0 where there is none, and sets `sum`. The values are integers, or strings
 * that are whole numbers in decimal digits.
 */
enum bw_status bw_table_increment(struct bw_table *table,
                                  const uint8_t *key,
                                  size_t key_len,
                                  int64_t by,
                                  int64_t *sum,
                                  struct bw_error *error);

/**
 * Shows the value of each of `count` keys, in their order, to `show` with the place of the key and a null value where
 * there is none. Takes less time than a `bw_table_get` for each.
 */
enum bw_status bw_table_get_many(const struct bw_table *table,
                                 const struct bw_slice *keys,
                                 size_t count,
                                 bw_found show,
                                 void *context,
                                 struct bw_error *error);

/**
 * Sets the values of `count` keys, all of them or, on an error, none.
 */
enum bw_status bw_table_put_many(struct bw_table *table,
                                 const struct bw_slice *keys,
                                 const struct bw_slice *values,
                                 size_t count,
                                 struct bw_error *error);

/**
 * Begins a transaction, or a savepoint in one.
 */
enum bw_status bw_table_begin(struct bw_table *table, struct bw_error *error);

/**
 * Returns how many `bw_table_begin` are without their end: 0 outside of a transaction, and for null.
 */
size_t bw_table_depth(const struct bw_table *table);

/**
 * Ends what `bw_table_begin` began last, and keeps its changes.
 */
enum bw_status bw_table_commit(struct bw_table *table, struct bw_error *error);

/**
 * Ends what `bw_table_begin` began last, and takes its changes back.
 */
enum bw_status bw_table_abort(struct bw_table *table, struct bw_error *error);

/**
 * Tells how much the table holds and takes.
 */
enum bw_status bw_table_stat(const struct bw_table *table, struct bw_stat *stat, struct bw_error *error);

/**
 * Returns when everything committed so far survives a power cut.
 */
enum bw_status bw_table_sync(struct bw_table *table, struct bw_error *error);

/**
 * Frees the space of entries that are gone, however long that takes.
 */
enum bw_status bw_table_compact(struct bw_table *table, struct bw_error *error);

/**
 * Writes a copy of a table as it is now to the file at `path`, a table of the same kind whatever its name. A table file that
 * has the name already is replaced, or an error without `replace`. The file has its name when it is whole.
 */
enum bw_status bw_table_backup(const struct bw_table *table,
                               const char *path,
                               bool replace,
                               struct bw_error *error);

/**
 * Writes the entries of a table as they are now as text that other programs read to the file at `path`, which has its name when
 * it is whole, and sets `count` to their number. `format` is "db" or null (for `db_load` of Berkeley DB), "lmdb" (for `mdb_load`
 * of LMDB) or "sql" (for `sqlite3`). The table's own file is never replaced, and another table, a capture or a store only with
 * `force`.
 */
enum bw_status bw_table_dump(const struct bw_table *table,
                             const char *path,
                             const char *format,
                             bool force,
                             uint64_t *count,
                             struct bw_error *error);

/**
 * Puts the entries of the dump at `path` into a table, all of them or, on an error, none, and sets `count` to their number. The
 * dump is one of `bw_table_dump`, `db_dump`, `mdb_dump`, or of `sqlite3` of a table of two columns, compressed or not.
 */
enum bw_status bw_table_load(struct bw_table *table,
                             const char *path,
                             uint64_t *count,
                             struct bw_error *error);

/**
 * Reads and checks all of the table file at `path`, also one of Tokyo Cabinet's (.tch, .tcb). Sets `records` to the number of
 * entries that can be read, also if it returns damage.
 */
enum bw_status bw_table_check(const char *path,
                              uint64_t *records,
                              struct bw_error *error);

/**
 * Writes what the values of a table are into `name`: "string", "integer", or what its maker said.
 */
enum bw_status bw_table_values(const struct bw_table *table, struct bw_buffer *name, struct bw_error *error);

/**
 * Says what the values of a table in memory are, as `bw_open_options.values` does of a file. `BW_STATUS_ARGUMENT` for a file
 * whose values are others.
 */
enum bw_status bw_table_set_values(struct bw_table *table,
                                   const char *name,
                                   struct bw_error *error);

/**
 * Begins a scan over the entries of a table: of a hashed one in the order of their last write, of an ordered one in that
 * of their keys. `range` may be null for all entries, and must be for a hashed table. Free it with `bw_scan_free`.
 */
enum bw_status bw_table_scan(const struct bw_table *table,
                             const struct bw_range *range,
                             struct bw_scan **out,
                             struct bw_error *error);

/**
 * Removes the entries of a range of an ordered table, all of them or, on an error, none, and sets `count` to how many there
 * were. `range` may be null for all entries.
 */
enum bw_status bw_table_delete_range(struct bw_table *table,
                                     const struct bw_range *range,
                                     uint64_t *count,
                                     struct bw_error *error);

/**
 * Moves to the next entry; `BW_STATUS_NONE` after the last. Key and value are there until the next call with this scan.
 */
enum bw_status bw_scan_next(struct bw_scan *scan, struct bw_slice *key, struct bw_slice *value, struct bw_error *error);

/**
 * Frees a scan. Null is allowed.
 */
void bw_scan_free(struct bw_scan *scan);

/**
 * Takes a snapshot of a table; its cost does not depend on the table's size. Free it with `bw_snapshot_free`.
 */
enum bw_status bw_table_snapshot(const struct bw_table *table, struct bw_snapshot **out, struct bw_error *error);

/**
 * Number of entries of a snapshot.
 */
enum bw_status bw_snapshot_len(const struct bw_snapshot *snapshot, uint64_t *len, struct bw_error *error);

/**
 * Copies the value of a key into `value`, as `bw_table_get` does.
 */
enum bw_status bw_snapshot_get(const struct bw_snapshot *snapshot,
                               const uint8_t *key,
                               size_t key_len,
                               struct bw_buffer *value,
                               struct bw_error *error);

/**
 * Begins a scan over the entries of a snapshot, as `bw_table_scan` does.
 */
enum bw_status bw_snapshot_scan(const struct bw_snapshot *snapshot,
                                const struct bw_range *range,
                                struct bw_scan **out,
                                struct bw_error *error);

/**
 * Frees a snapshot. Null is allowed.
 */
void bw_snapshot_free(struct bw_snapshot *snapshot);

/**
 * Makes a cursor over an ordered table, before its first entry. Free it with `bw_cursor_free`.
 */
enum bw_status bw_table_cursor(const struct bw_table *table, struct bw_cursor **out, struct bw_error *error);

/**
 * Moves to the entry with the lowest key. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_cursor_first(struct bw_cursor *cursor, struct bw_error *error);

/**
 * Moves to the entry with the highest key. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_cursor_last(struct bw_cursor *cursor, struct bw_error *error);

/**
 * Moves to the next entry. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_cursor_next(struct bw_cursor *cursor, struct bw_error *error);

/**
 * Moves to the previous entry. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_cursor_prev(struct bw_cursor *cursor, struct bw_error *error);

/**
 * Moves to the entry with the lowest key that is not below `key`. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_cursor_seek(struct bw_cursor *cursor, const uint8_t *key, size_t key_len, struct bw_error *error);

/**
 * The key and the value of the entry that a cursor is at, which are there until it moves. `BW_STATUS_NONE` where it is at no entry.
 */
enum bw_status bw_cursor_entry(const struct bw_cursor *cursor,
                               struct bw_slice *key,
                               struct bw_slice *value,
                               struct bw_error *error);

/**
 * Frees a cursor. Null is allowed.
 */
void bw_cursor_free(struct bw_cursor *cursor);

/**
 * Begins to go over the changes of a hashed table in a file that were committed behind `since`, a position that
 * `bw_changes_position` has given, up to now. They begin with `BW_CHANGE_CLEAR` and have all entries if `since` is null,
 * and if the log does not go back so far because the file was compacted or repaired. Whoever makes them to a copy of the
 * table as it was at `since` has the table as it is now. Free them with `bw_changes_free`.
 */
enum bw_status bw_table_changes_since(const struct bw_table *table,
                                      const char *since,
                                      struct bw_changes **out,
                                      struct bw_error *error);

/**
 * Moves to the next change; `BW_STATUS_NONE` after the last. Key and value are there until the next call with these changes.
 * The key is empty if all entries were deleted, and the value is empty unless one was set.
 */
enum bw_status bw_changes_next(struct bw_changes *changes,
                               enum bw_change *kind,
                               struct bw_slice *key,
                               struct bw_slice *value,
                               struct bw_error *error);

/**
 * Returns the position behind the last of the changes, whatever of them was seen: text in ASCII, which is there until they
 * are freed. Null for null.
 */
const char *bw_changes_position(const struct bw_changes *changes);

/**
 * Frees changes. Null is allowed.
 */
void bw_changes_free(struct bw_changes *changes);

/**
 * Returns how often damage was cleared since the cache was opened, also by that: 0 for null.
 */
uint64_t bw_cache_clearings(const struct bw_cache *cache);

/**
 * Returns the time as caches take it, in milliseconds since 1970.
 */
uint64_t bw_cache_now(void);

/**
 * Opens the cache in the file at `path`, which is made where it is missing, or, for null, makes one in memory. `options` may
 * be null for `BW_CACHE_OPTIONS_INIT`. Close it with `bw_cache_close`.
 */
enum bw_status bw_cache_open(const char *path,
                             const struct bw_cache_options *options,
                             struct bw_cache **out,
                             struct bw_error *error);

/**
 * Closes a cache and frees its handle, whatever it returns. Null is allowed.
 */
enum bw_status bw_cache_close(struct bw_cache *cache, struct bw_error *error);

/**
 * Copies the value of a key into `value`, and its kind and expiry into `entry`, unless these are null. `BW_STATUS_NONE` where
 * there is none, or it has expired; both are unchanged then. A key is text where it is UTF-8, and else bytes. `entry` was
 * initialized with `BW_CACHE_ENTRY_INIT`.
 */
enum bw_status bw_cache_get(const struct bw_cache *cache,
                            const uint8_t *key,
                            size_t key_len,
                            struct bw_buffer *value,
                            struct bw_cache_entry *entry,
                            struct bw_error *error);

/**
 * Sets the value of a key, with the kind, expiry and tag of `entry`; null is `BW_CACHE_ENTRY_INIT`. What is over the limits is
 * evicted before. `BW_STATUS_LIMIT` for an entry that takes more than a quarter of the limit.
 */
enum bw_status bw_cache_set(struct bw_cache *cache,
                            const uint8_t *key,
                            size_t key_len,
                            const uint8_t *value,
                            size_t value_len,
                            const struct bw_cache_entry *entry,
                            struct bw_error *error);

/**
 * Sets the value of a key that has none, as `bw_cache_set` does; `BW_STATUS_NONE` where it has one, which stays.
 */
enum bw_status bw_cache_add(struct bw_cache *cache,
                            const uint8_t *key,
                            size_t key_len,
                            const uint8_t *value,
                            size_t value_len,
                            const struct bw_cache_entry *entry,
                            struct bw_error *error);

/**
 * Gives the entry of a key another expiry, in milliseconds since 1970; 0 for never. `BW_STATUS_NONE` where there is none.
 */
enum bw_status bw_cache_touch(struct bw_cache *cache,
                              const uint8_t *key,
                              size_t key_len,
                              uint64_t expires_at,
                              struct bw_error *error);

/**
 * Adds `by` to the integer of a key, which begins with 0 and keeps its expiry and tag. The sum goes to `sum`, unless that is
 * null. `BW_STATUS_ARGUMENT` for a value of another kind, or a sum of more than 64 bits.
 */
enum bw_status bw_cache_increment(struct bw_cache *cache,
                                  const uint8_t *key,
                                  size_t key_len,
                                  int64_t by,
                                  int64_t *sum,
                                  struct bw_error *error);

/**
 * Takes the entry of a key out, and copies its value into `value` and its kind and expiry into `entry`, unless these are null.
 * `BW_STATUS_NONE` where there is none; both are unchanged then. `entry` was initialized with `BW_CACHE_ENTRY_INIT`.
 */
enum bw_status bw_cache_take(struct bw_cache *cache,
                             const uint8_t *key,
                             size_t key_len,
                             struct bw_buffer *value,
                             struct bw_cache_entry *entry,
                             struct bw_error *error);

/**
 * Takes all entries with a tag out. Their number goes to `count`, unless that is null.
 */
enum bw_status bw_cache_evict(struct bw_cache *cache,
                              const uint8_t *tag,
                              size_t tag_len,
                              uint64_t *count,
                              struct bw_error *error);

/**
 * Takes all entries out that have expired. Their number goes to `count`, unless that is null.
 */
enum bw_status bw_cache_expire(struct bw_cache *cache, uint64_t *count, struct bw_error *error);

/**
 * Takes all entries out. Their number goes to `count`, unless that is null.
 */
enum bw_status bw_cache_clear(struct bw_cache *cache, uint64_t *count, struct bw_error *error);

/**
 * Number of entries, with those that have expired and were not deleted yet, and the bytes that they take of the limit. Both
 * places may be null.
 */
enum bw_status bw_cache_len(const struct bw_cache *cache,
                            uint64_t *len,
                            uint64_t *used_bytes,
                            struct bw_error *error);

/**
 * Shows the keys of all entries that have not expired to `show`, with their places from 0 on, in the order in which they were set.
 */
enum bw_status bw_cache_keys(const struct bw_cache *cache,
                             bw_found show,
                             void *context,
                             struct bw_error *error);

/**
 * The schema of all columns that records of that name have, without a capture or a table: "packets", "flows", "calls"
 * (with those that only an IDL file gives), "captures" (`bw_capture_info`), "merges" (`bw_capture_merge_flows`), "tables"
 * (`bw_table_stat`). It lives as long as the program. `BW_STATUS_ARGUMENT` for another name.
 */
enum bw_status bw_schema_named(const char *name,
                               const struct bw_schema **out,
                               struct bw_error *error);

/**
 * Number of columns; 0 for null.
 */
size_t bw_schema_len(const struct bw_schema *schema);

/**
 * Describes the column at `place`, counted from 0. `BW_STATUS_NONE` past the last.
 */
enum bw_status bw_schema_field(const struct bw_schema *schema,
                               size_t place,
                               struct bw_field *field,
                               struct bw_error *error);

/**
 * Finds the place of a column by its name. `BW_STATUS_ARGUMENT` if no column has it; the error lists the names.
 */
enum bw_status bw_schema_find(const struct bw_schema *schema, const char *name, size_t *place, struct bw_error *error);

/**
 * Writes a value as text into `text`: numbers in decimal, times as nanoseconds, durations as microseconds, addresses
 * and UUIDs as people write them, text and bytes as they are. Null is empty.
 */
enum bw_status bw_value_text(const struct bw_value *value, struct bw_buffer *text, struct bw_error *error);

/**
 * Number of rows; 0 for null.
 */
size_t bw_batch_rows(const struct bw_batch *batch);

/**
 * The columns of a batch, for as long as the batch; null for null.
 */
const struct bw_schema *bw_batch_schema(const struct bw_batch *batch);

/**
 * The values of the column at `place`, from 0. `BW_STATUS_ARGUMENT` past the last, and for a column of lists, structs or maps,
 * which `bw_batch_arrow` gives.
 */
enum bw_status bw_batch_column(const struct bw_batch *batch,
                               size_t place,
                               struct bw_column *column,
                               struct bw_error *error);

/**
 * One value. `BW_STATUS_NONE` where the row has none, and `value` is null then. `BW_STATUS_ARGUMENT` past the last row or
 * column, and for a list, a struct or a map, which `bw_batch_arrow` gives. Slower than `bw_batch_column` for many values.
 */
enum bw_status bw_batch_value(const struct bw_batch *batch,
                              size_t row,
                              size_t place,
                              struct bw_value *value,
                              struct bw_error *error);

/**
 * The rows as a struct array of Arrow's C data interface, and what it consists of; the batch stays, and may be freed first: the
 * array shares its memory. Each is released by its `release`. IP addresses are text.
 */
enum bw_status bw_batch_arrow(const struct bw_batch *batch,
                              struct ArrowSchema *schema,
                              struct ArrowArray *array,
                              struct bw_error *error);

/**
 * Frees a batch. Null is allowed.
 */
void bw_batch_free(struct bw_batch *batch);

/**
 * Opens what a name of Tokyo Cabinet's abstract database stands for: `*` for a hashed and `+` for an ordered table in memory,
 * or the path of a .bwh or .bwt file, and behind it tuning, each parameter as `#key=value`: `mode` (`w` writes, `r` reads, `c`
 * creates, `t` empties, `f` does not wait for another writer; `wc` by default), `capnum` and `capsiz` (entries and bytes that
 * are kept in memory, perhaps with a binary prefix: `100m`), `sync` (`commit`, `interval`, `never`). Another parameter does
 * nothing.
 *
 * The table is one for all functions of tables: `bw_table_put`, `bw_table_create`, `bw_table_append`, `bw_table_delete`,
 * `bw_table_get` and `bw_table_len` do what the methods put, putkeep, putcat, out, get and rnum do. Close it with
 * `bw_table_close`. Until then no other call of this process opens its file by such a name: that returns `BW_STATUS_LOCK`.
 *
 * While another process writes the file, the call waits, and asks `interrupted`, which may be null, whether to go on.
 */
enum bw_status bw_adb_open(const char *name,
                           bw_interrupted interrupted,
                           void *context,
                           struct bw_table **table,
                           struct bw_error *error);

/**
 * Calls a method of Tokyo Cabinet's abstract database by its name, of a table that `bw_adb_open` gave, and then shows `show`,
 * which may be null, each string that it answers, with its place. `BW_STATUS_NONE` where the original answers false or nothing
 * and there is no error, also for a name that it does not know.
 *
 * `fwmkeys` (a prefix, and perhaps how many), `addint` and `adddouble` (a key and the bytes of the int or double, and answers
 * those of the sum), `iterinit` (perhaps a key), `iternext`, `sync`, `optimize`, `vanish`, `copy` (a path), `tranbegin`,
 * `trancommit`, `tranabort`, `size`, and `misc`, whose first argument is the name of a function: `put`, `putkeep`, `putcat`,
 * `out`, `get`, `putlist`, `outlist`, `getlist`, `getpart`, `iterinit`, `iternext` (with the value), `sync`, `optimize`,
 * `vanish`, of an ordered table `range`, and of a file `error` (the name of a status in small letters and the system's number,
 * or nothing), `cacheclear`, `defrag`. Numbers are decimal digits. `regex` is for languages that have patterns.
 */
enum bw_status bw_adb_call(struct bw_table *table,
                           const char *method,
                           const struct bw_slice *arguments,
                           size_t count,
                           bw_found show,
                           void *context,
                           struct bw_error *error);

/**
 * Opens the capture in the file at `path`: pcap or pcapng, plain, gzip or zstd. `options` may be null for
 * `BW_CAPTURE_OPTIONS_INIT`. Close it with `bw_capture_close`.
 */
enum bw_status bw_capture_open(const char *path,
                               const struct bw_capture_options *options,
                               struct bw_capture **out,
                               struct bw_error *error);

/**
 * Opens a capture whose bytes `read` brings, which is given `context`; `name` is what errors call it. It can be read once.
 * `options` may be null. Close it with `bw_capture_close`.
 */
enum bw_status bw_capture_open_input(const char *name,
                                     bw_read read,
                                     void *context,
                                     const struct bw_capture_options *options,
                                     struct bw_capture **out,
                                     struct bw_error *error);

/**
 * Closes a capture and frees its handle, whatever it returns. Calls that still read it return `BW_STATUS_CLOSED` from then on.
 * Null is allowed.
 */
enum bw_status bw_capture_close(struct bw_capture *capture,
                                struct bw_error *error);

/**
 * Fills `error` with the damage that the latest call or rows over a capture have kept what is before, as `BW_DAMAGE_KEEP`
 * asks, and returns its status; `BW_STATUS_NONE` where there was none, so far.
 */
enum bw_status bw_capture_damage(const struct bw_capture *capture,
                                 struct bw_error *error);

/**
 * Fills `error` with the reason why the index of the capture was not used, or could not be made beside another answer, and returns
 * its status; `BW_STATUS_NONE` where there was no index, or it was used.
 */
enum bw_status bw_capture_index_fault(const struct bw_capture *capture,
                                      struct bw_error *error);

/**
 * Reads all of a capture and says what it is: a batch of one row, with the columns `file`, `format`, `packets`, `bytes`,
 * `first_ts`, `interfaces`, `damage` and others that its schema names. Damage is in the row and no error of the call. Free
 * the batch with `bw_batch_free`.
 */
enum bw_status bw_capture_info(const struct bw_capture *capture,
                               struct bw_batch **out,
                               struct bw_error *error);

/**
 * Counts packets by the value of a field: a batch with a row for each value, in their order. The first column is the field,
 * null for packets without it; the second one, `packets`, is how many (`BW_TYPE_U64`). `named` has options by name, as
 * "name=value": those of counts in docs/options.md; it may be null. Free the batch with `bw_batch_free`.
 */
enum bw_status bw_capture_count_by(const struct bw_capture *capture,
                                   const char *field,
                                   const struct bw_names *named,
                                   struct bw_batch **out,
                                   struct bw_error *error);

/**
 * Captures from the network interface of that name, through libpcap, which is loaded then: `BW_STATUS_MISSING_LIBRARY`
 * without it, `BW_STATUS_ARGUMENT` without such an interface, `BW_STATUS_IO` without the right to capture. What reads the
 * capture first has the packets from here on, what reads it later those from its own beginning on, until
 * `bw_capture_stop`. `live` and `options` may be null. Close it with `bw_capture_close`.
 */
enum bw_status bw_capture_open_live(const char *interface_name,
                                    const struct bw_live_options *live,
                                    const struct bw_capture_options *options,
                                    struct bw_capture **out,
                                    struct bw_error *error);

/**
 * Stops a running read of an interface; that read returns the packets that came before. For other captures it does nothing.
 * Any thread may call it while another one reads, and so may `interrupted`.
 */
enum bw_status bw_capture_stop(const struct bw_capture *capture,
                               struct bw_error *error);

/**
 * Counts the packets of an interface, up to date within a second; `BW_STATUS_NONE` for other captures.
 */
enum bw_status bw_capture_live_counts(const struct bw_capture *capture,
                                      struct bw_live_counts *out,
                                      struct bw_error *error);

/**
 * Adds packets up by group: a batch with a row for each group, the largest first. Its columns are the beginning of the
 * interval (`ts`) where there are intervals, the fields of `by`, `packets`, and the fields that are added up; the last one,
 * `groups`, is above 1 in the row of the groups that were too many to be told apart. Free the batch with `bw_batch_free`.
 */
enum bw_status bw_capture_sum(const struct bw_capture *capture,
                              const struct bw_sum_options *options,
                              struct bw_batch **out,
                              struct bw_error *error);

/**
 * Begins to read packets of `count` captures, each behind the one before: of each packet the fields of those names, in
 * that order, or the fields that the command prints where `fields` is null or empty. A batch has at most `rows` rows; 0
 * for 65,536. `named` has options by name, as "name=value": those of packets in docs/options.md, which count over `rows`; it may
 * be null. Free it with `bw_rows_free`.
 */
enum bw_status bw_capture_packets(struct bw_capture *const *captures,
                                  size_t count,
                                  const struct bw_names *fields,
                                  size_t rows,
                                  const struct bw_names *named,
                                  struct bw_rows **out,
                                  struct bw_error *error);

/**
 * Begins to read the flows of `count` captures, which are read as one run: of each flow the fields of those names, or all
 * where `fields` is null or empty. `options` may be null. Free it with `bw_rows_free`.
 */
enum bw_status bw_capture_flows(struct bw_capture *const *captures,
                                size_t count,
                                const struct bw_names *fields,
                                const struct bw_flow_options *options,
                                struct bw_rows **out,
                                struct bw_error *error);

/**
 * Begins to read the Thrift calls in the TCP connections of `count` captures, each behind the one before: of each call the
 * fields of those names, or all where `fields` is null or empty. With `idl`, only calls of its service's methods, which have two
 * fields more: `arguments` and `result`, as JSON with fields by name; null where they are not in the capture as a whole, or no
 * such struct by the IDL. `idl` may be null. `named` has options by name, as "name=value": those of calls in docs/options.md, which
 * count over `idl`; it may be null. Free it with `bw_rows_free`.
 */
enum bw_status bw_capture_calls(struct bw_capture *const *captures,
                                size_t count,
                                const struct bw_names *fields,
                                const struct bw_idl *idl,
                                const struct bw_names *named,
                                struct bw_rows **out,
                                struct bw_error *error);

/**
 * Asks `count` captures, which are read as one run, the question of that name: one of those in docs/questions.md, which has
 * the columns of each. `named` has its options by name, as "name=value": those in docs/options.md; it may be null. Free it
 * with `bw_rows_free`.
 */
enum bw_status bw_ask(struct bw_capture *const *captures,
                      size_t count,
                      const char *question,
                      const struct bw_names *named,
                      struct bw_rows **out,
                      struct bw_error *error);

/**
 * The columns of the rows, for as long as the rows; null for null.
 */
const struct bw_schema *bw_rows_schema(const struct bw_rows *rows);

/**
 * The next batch; `BW_STATUS_NONE` after the last. Free each with `bw_batch_free`. An error comes after all rows before it,
 * and again however often the call is made; after an interrupt the call goes on.
 */
enum bw_status bw_rows_next(struct bw_rows *rows,
                            struct bw_batch **out,
                            struct bw_error *error);

/**
 * Makes a stream of Arrow's C stream interface of the rows that were not read yet, and takes the rows over, also where it
 * fails: they are not used again, nor freed. IP addresses are text. An error reaches the reader as a number of the system
 * and a text, and ends the stream, as an interrupt does. It is released by its `release`.
 */
enum bw_status bw_rows_stream(struct bw_rows *rows,
                              struct ArrowArrayStream *stream,
                              struct bw_error *error);

/**
 * Frees rows, and ends what prepares them. Null is allowed.
 */
void bw_rows_free(struct bw_rows *rows);

/**
 * Begins to read packets with their bytes, of `count` captures, each behind the one before: before the first packet. Free it
 * with `bw_frames_free`. For many packets of which a few fields are wanted, `bw_capture_packets` is faster.
 */
enum bw_status bw_capture_frames(struct bw_capture *const *captures,
                                 size_t count,
                                 struct bw_frames **out,
                                 struct bw_error *error);

/**
 * Begins to read the packet with a number, from 1, of a capture: as `bw_capture_frames` does, but with that packet alone, or none
 * where the capture has fewer. The capture is read up to there, or only a part of it where it has an index.
 */
enum bw_status bw_capture_frame(struct bw_capture *capture,
                                uint64_t number,
                                struct bw_frames **out,
                                struct bw_error *error);

/**
 * Moves to the next packet; `BW_STATUS_NONE` after the last. An error comes after all packets before it.
 */
enum bw_status bw_frames_next(struct bw_frames *frames, struct bw_error *error);

/**
 * The bytes of the packet that were captured, from the link layer on. `BW_STATUS_NONE` where there is no packet.
 */
enum bw_status bw_frames_captured(const struct bw_frames *frames, struct bw_slice *bytes, struct bw_error *error);

/**
 * The captured bytes of the packet behind its transport header. `BW_STATUS_NONE` where there is no packet or it has none.
 */
enum bw_status bw_frames_payload(const struct bw_frames *frames,
                                 struct bw_slice *bytes,
                                 struct bw_error *error);

/**
 * The value of the packet's field at `place` of the schema "packets" (`bw_schema_named`). `BW_STATUS_NONE` where the packet
 * has no such field, or there is no packet.
 */
enum bw_status bw_frames_value(const struct bw_frames *frames,
                               size_t place,
                               struct bw_value *value,
                               struct bw_error *error);

/**
 * Frees frames, and ends what reads them. Null is allowed.
 */
void bw_frames_free(struct bw_frames *frames);

/**
 * Opens the store in the file at `path` to merge captures into, or to read. A file that is not there is made with the
 * first capture. Close it with `bw_flow_store_close`.
 */
enum bw_status bw_flow_store_open(const char *path, struct bw_flow_store **out, struct bw_error *error);

/**
 * Opens the store in the file at `path` to read, also while another process adds to it. Close it with
 * `bw_flow_store_close`.
 */
enum bw_status bw_flow_store_open_read_only(const char *path, struct bw_flow_store **out, struct bw_error *error);

/**
 * Merges the flows of a capture into a store: a batch of one row that says what became of it, with the columns `added`,
 * `packets`, `flows`, `new_flows`, `damage` and others that its schema names. A capture that was merged before adds
 * nothing, and one that is damaged counts up to its damage. The flows are on disk when this returns. `options` may be
 * null. Free the batch with `bw_batch_free`.
 *
 * A call that was interrupted has the table locked until it is made again, which returns what became of the whole capture,
 * or given up: as by another call that reads the capture, and by any call with the store. Given up before its end, it adds
 * nothing, also of an interface.
 */
enum bw_status bw_capture_merge_flows(const struct bw_capture *capture,
                                      struct bw_flow_store *store,
                                      const struct bw_flow_options *options,
                                      struct bw_batch **out,
                                      struct bw_error *error);

/**
 * Number of flows in a store.
 */
enum bw_status bw_flow_store_len(const struct bw_flow_store *store, uint64_t *len, struct bw_error *error);

/**
 * Begins to read the flows of a store in the order of their addresses: of each the fields of those names, or all where
 * `fields` is null or empty. Free it with `bw_rows_free`.
 */
enum bw_status bw_flow_store_flows(const struct bw_flow_store *store,
                                   const struct bw_names *fields,
                                   struct bw_rows **out,
                                   struct bw_error *error);

/**
 * Closes a store and frees its handle, whatever it returns. Calls that still read it return `BW_STATUS_CLOSED` from then on.
 * Null is allowed.
 */
enum bw_status bw_flow_store_close(struct bw_flow_store *store,
                                   struct bw_error *error);

/**
 * Begins a file at `path` of the flows of captures, as another program has them: `format` is "zeek" (its conn.log), "zeek-json",
 * "ecs" (the Elastic Common Schema) or "ipfix". Add captures to it with `bw_capture_log_flows`. The file has its name after
 * `bw_flow_log_finish`; a named pipe is written as flows end. `options` may be null; `force=true` among its named ones replaces
 * a file that is a capture, a table or a store, too. Free it with `bw_flow_log_free`.
 */
enum bw_status bw_flow_log_create(const char *path,
                                  const char *format,
                                  const struct bw_flow_options *options,
                                  struct bw_flow_log **out,
                                  struct bw_error *error);

/**
 * Adds the flows of a capture to a file; captures that are added one after another are one run. A call that was interrupted, or
 * whose `bw_read` failed, goes on when it is made again with the same capture. Of an interface, it returns after
 * `bw_capture_stop`. A file whose captures were not all read to their ends is given up; but one with packets of an interface
 * gets its name with the flows so far.
 */
enum bw_status bw_capture_log_flows(const struct bw_capture *capture,
                                    struct bw_flow_log *log,
                                    struct bw_error *error);

/**
 * Gives a file of flows its name; `flows`, which may be null, gets their number. `BW_STATUS_CLOSED` where it was given up or
 * finished before.
 */
enum bw_status bw_flow_log_finish(const struct bw_flow_log *log,
                                  uint64_t *flows,
                                  struct bw_error *error);

/**
 * Frees a file of flows. One that was not finished is given up, and nothing of it is left, unless packets of an interface were
 * read: it has its name then. Null is allowed.
 */
void bw_flow_log_free(struct bw_flow_log *log);

/**
 * Writes packets of a capture to a new capture at `path`. The name sets the form: .pcap or .pcapng, with .gz or .zst behind it to
 * compress it. The file has its name when it is whole; after an error an older one stays, but what an interface or a pipe brought
 * is kept. It never replaces the capture that is read, and another one, a table or a store only with `force`. `named` has options
 * by name, as "name=value": those of writing packets to a new capture in docs/options.md; it may be null. `counts`, which may be
 * null, says how much was written. Of an interface, it returns after `bw_capture_stop`. A call that was interrupted begins anew
 * when it is made again.
 *
 * Damage that ends the capture is no failure: the packets before it are in the file, `counts` is filled, and `damage` becomes its
 * error, or is cleared where there is none. Where `damage` is null, the call returns that error.
 */
enum bw_status bw_capture_cut(const struct bw_capture *capture,
                              const char *path,
                              const struct bw_names *named,
                              struct bw_cut_counts *counts,
                              struct bw_error *damage,
                              struct bw_error *error);

/**
 * Chooses fields of the struct, union or exception `type_name` of an IDL file: a column for each path, such as "time" or
 * "place.city" through a struct in the struct; at most 64, and all fields without any. A field that a message does not have is
 * null. A path through a list has a list, "rows.columns.size", and with `[]` behind a list or a set, `{}` behind a map, a row for
 * each element, "rows[].columns[].size" and "tags{}.key", with the columns of its parents repeated beside it. Lists, structs and
 * maps leave by `bw_batch_arrow`. `protocol` is a `bw_protocol`. `BW_STATUS_ARGUMENT` for a path that does not exist, a struct
 * that holds itself, and rows of lists that are not in each other. Free it with `bw_thrift_free`.
 */
enum bw_status bw_thrift_new(const struct bw_idl *idl,
                             const char *type_name,
                             const struct bw_names *paths,
                             uint32_t protocol,
                             struct bw_thrift **out,
                             struct bw_error *error);

/**
 * The columns, for as long as `fields`; null for null.
 */
const struct bw_schema *bw_thrift_schema(const struct bw_thrift *fields);

/**
 * Adds the rows of the message whose struct begins with the first byte, or of `BW_PROTOCOL_HEADER` its frame. It is read up to the last of the
 * fields, but of `BW_PROTOCOL_JSON` to its end. There is no row where it fails, with the place in the message.
 */
enum bw_status bw_thrift_add(struct bw_thrift *fields,
                             const uint8_t *message,
                             size_t message_len,
                             struct bw_error *error);

/**
 * Adds the rows of each message in bytes of any length, in frames (the length of each before it, in 4 bytes, the most
 * significant first) or one behind the other. Sets `used` to the bytes of those that are whole: show the others again with
 * more behind them. `is_last` says that no more come; a message that is not whole is an error then. On an error the rows
 * before it are there, with the place in all bytes that were used.
 */
enum bw_status bw_thrift_add_many(struct bw_thrift *fields,
                                  const uint8_t *data,
                                  size_t len,
                                  bool is_framed,
                                  bool is_last,
                                  size_t *used,
                                  struct bw_error *error);

/**
 * Takes the rows out that were added; `BW_STATUS_NONE` without any. Free the batch with `bw_batch_free`.
 */
enum bw_status bw_thrift_take(struct bw_thrift *fields, struct bw_batch **out, struct bw_error *error);

/**
 * Has rows that `bw_thrift_rows` begins from now on ask `interrupted`, which is given `context`, whether a call that waits for
 * the file is to end; null for never. Rows of a regular file, which never wait, ask it once a batch.
 */
enum bw_status bw_thrift_set_interrupted(struct bw_thrift *fields,
                                         bw_interrupted interrupted,
                                         void *context,
                                         struct bw_error *error);

/**
 * Begins to read the messages of the file at `path`, plain, gzip or zstd, in frames or one behind the other, in batches of at
 * most `rows` rows, or those of one message that has more; 0 for 65,536. A message that is no such struct ends them with its error, after the rows before it.
 * `fields` stays as it is, and may be freed. Free the rows with `bw_rows_free`.
 */
enum bw_status bw_thrift_rows(const struct bw_thrift *fields,
                              const char *path,
                              bool is_framed,
                              size_t rows,
                              struct bw_rows **out,
                              struct bw_error *error);

/**
 * Frees fields with the rows that were not taken. Null is allowed.
 */
void bw_thrift_free(struct bw_thrift *fields);

/**
 * Opens the file at `path`, compressed or not, as its first bytes say. Close it with `bw_reader_close`.
 */
enum bw_status bw_reader_open(const char *path, struct bw_reader **out, struct bw_error *error);

/**
 * Opens a file as `bw_reader_open` does, with options by name, as "name=value": those of readers in docs/options.md.
 */
enum bw_status bw_reader_open_with(const char *path,
                                   const struct bw_names *named,
                                   struct bw_reader **out,
                                   struct bw_error *error);

/**
 * Opens a reader of the bytes that `read` brings, which is given `context`; `name` is what errors call them. Close it with
 * `bw_reader_close`.
 */
enum bw_status bw_reader_open_input(const char *name,
                                    bw_read read,
                                    void *context,
                                    struct bw_reader **out,
                                    struct bw_error *error);

/**
 * Opens a reader as `bw_reader_open_input` does, with options by name, as `bw_reader_open_with` has them.
 */
enum bw_status bw_reader_open_input_with(const char *name,
                                         bw_read read,
                                         void *context,
                                         const struct bw_names *named,
                                         struct bw_reader **out,
                                         struct bw_error *error);

/**
 * Has calls that wait for the input ask `interrupted`, which is given `context`, whether they are to end; null for never. Rows
 * that take the reader over ask it, too.
 */
enum bw_status bw_reader_set_interrupted(struct bw_reader *reader,
                                         bw_interrupted interrupted,
                                         void *context,
                                         struct bw_error *error);

/**
 * Reads a number of 1 to 8 bytes that is never negative; `order` is a `bw_order`. `BW_STATUS_NONE` at the end of the input,
 * `BW_STATUS_TRUNCATED` where it ends within the number, of which nothing is taken then.
 */
enum bw_status bw_reader_unsigned(struct bw_reader *reader,
                                  size_t len,
                                  uint32_t order,
                                  uint64_t *value,
                                  struct bw_error *error);

/**
 * Reads a number of 1 to 8 bytes with a sign, as `bw_reader_unsigned` does one without.
 */
enum bw_status bw_reader_signed(struct bw_reader *reader,
                                size_t len,
                                uint32_t order,
                                int64_t *value,
                                struct bw_error *error);

/**
 * Reads a floating-point number of 4 or 8 bytes (IEEE 754), as `bw_reader_unsigned` does a whole one.
 */
enum bw_status bw_reader_float(struct bw_reader *reader,
                               size_t len,
                               uint32_t order,
                               double *value,
                               struct bw_error *error);

/**
 * Reads a number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits. `BW_STATUS_TRUNCATED` at the end.
 */
enum bw_status bw_reader_varint(struct bw_reader *reader,
                                uint64_t *value,
                                struct bw_error *error);

/**
 * Reads a number with a sign as `bw_reader_varint` does, in the form of protocol buffers: 0, 1, 2, 3 are 0, -1, 1, -2.
 */
enum bw_status bw_reader_zigzag(struct bw_reader *reader, int64_t *value, struct bw_error *error);

/**
 * Reads up to `capacity` bytes to `data`, and sets `len` to how many they are: fewer at the end only. `BW_STATUS_NONE` where
 * there is none.
 */
enum bw_status bw_reader_read(struct bw_reader *reader,
                              uint8_t *data,
                              size_t capacity,
                              size_t *len,
                              struct bw_error *error);

/**
 * Sets `is_at_end` to whether there is no byte more.
 */
enum bw_status bw_reader_at_end(struct bw_reader *reader, bool *is_at_end, struct bw_error *error);

/**
 * Passes over up to `count` bytes; sets `skipped`, which may be null, to how many there were.
 */
enum bw_status bw_reader_skip(struct bw_reader *reader, uint64_t count, uint64_t *skipped, struct bw_error *error);

/**
 * Goes to a place, `offset` bytes from a `bw_whence`. `BW_STATUS_IO` with `ESPIPE` backwards in what can be read once.
 */
enum bw_status bw_reader_seek(struct bw_reader *reader, uint32_t whence, int64_t offset, struct bw_error *error);

/**
 * Gives the position of a reader, in bytes from where it began, after decompression.
 */
enum bw_status bw_reader_position(struct bw_reader *reader, uint64_t *position, struct bw_error *error);

/**
 * Reads up to `rows` records of one length as columns; 0 for 65,536, and never more than 1 MiB of them. `record` says what is
 * in one, in the letters of Perl's `unpack` with a fixed length ("N n C a4"; docs/reader.md lists them). The columns have
 * `names`, or `f0`, `f1` and so on where that is null. `BW_STATUS_NONE` at the end. An error comes behind all whole records.
 */
enum bw_status bw_reader_records(struct bw_reader *reader,
                                 const char *record,
                                 const struct bw_names *names,
                                 size_t rows,
                                 struct bw_batch **out,
                                 struct bw_error *error);

/**
 * Makes rows of all records from here on, as `bw_reader_records` does of some, and takes the reader over: it is closed with
 * the rows. Where this fails the reader stays. `bw_rows_stream` makes a stream of Arrow's of them. Free them with
 * `bw_rows_free`.
 */
enum bw_status bw_reader_rows(struct bw_reader *reader,
                              const char *record,
                              const struct bw_names *names,
                              size_t rows,
                              struct bw_rows **out,
                              struct bw_error *error);

/**
 * Closes a reader and frees its handle. Null is allowed.
 */
void bw_reader_close(struct bw_reader *reader);

/**
 * Opens the file at `path` to be written, and makes it where it is missing. `options` may be null for
 * `BW_WRITER_OPTIONS_INIT`. A named pipe is waited for until somebody reads it. Nothing is compressed. Close it with
 * `bw_writer_close`.
 */
enum bw_status bw_writer_open(const char *path,
                              const struct bw_writer_options *options,
                              struct bw_writer **out,
                              struct bw_error *error);

/**
 * Opens a writer to `write`, which is given the bytes and `context`; `name` is what errors call it. Close it with
 * `bw_writer_close`.
 */
enum bw_status bw_writer_open_output(const char *name,
                                     bw_write write,
                                     void *context,
                                     struct bw_writer **out,
                                     struct bw_error *error);

/**
 * Writes a number of 1 to 8 bytes that is never negative; `order` is a `bw_order`. `BW_STATUS_ARGUMENT` where it does not fit.
 * After an error, of this call and of those for other values, nothing of the value is written, and what was gathered before is
 * gathered still: the call can be made again.
 */
enum bw_status bw_writer_unsigned(struct bw_writer *writer,
                                  size_t len,
                                  uint32_t order,
                                  uint64_t value,
                                  struct bw_error *error);

/**
 * Writes a number of 1 to 8 bytes with a sign, as `bw_writer_unsigned` does one without.
 */
enum bw_status bw_writer_signed(struct bw_writer *writer,
                                size_t len,
                                uint32_t order,
                                int64_t value,
                                struct bw_error *error);

/**
 * Writes a floating-point number of 4 or 8 bytes (IEEE 754), of 4 bytes the nearest one. `BW_STATUS_ARGUMENT` where that
 * would be infinite, and `value` is not.
 */
enum bw_status bw_writer_float(struct bw_writer *writer,
                               size_t len,
                               uint32_t order,
                               double value,
                               struct bw_error *error);

/**
 * Writes a number of seven bits to a byte, the low ones first (LEB128).
 */
enum bw_status bw_writer_varint(struct bw_writer *writer, uint64_t value, struct bw_error *error);

/**
 * Writes a number with a sign as `bw_writer_varint` does, in the form of protocol buffers: 0, -1, 1, -2 are 0, 1, 2, 3.
 */
enum bw_status bw_writer_zigzag(struct bw_writer *writer, int64_t value, struct bw_error *error);

/**
 * Writes `len` bytes; `written`, which may be null, gets how many of them were taken, also where that were not all: after an
 * error, the call can be made again with the others.
 */
enum bw_status bw_writer_write(struct bw_writer *writer,
                               const uint8_t *data,
                               size_t len,
                               size_t *written,
                               struct bw_error *error);

/**
 * Writes what is gathered, and goes to a place from which on the next bytes are written, `offset` bytes from a `bw_whence`.
 * They go to the end all the same where it appends. `BW_STATUS_IO` with `ESPIPE` where the bytes go to a function or to a
 * pipe, and with `EINVAL` where the place is before the beginning.
 */
enum bw_status bw_writer_seek(struct bw_writer *writer,
                              uint32_t whence,
                              int64_t offset,
                              struct bw_error *error);

/**
 * Gives the position of the next byte: in a file, and else in bytes from the first that was written.
 */
enum bw_status bw_writer_position(struct bw_writer *writer, uint64_t *position, struct bw_error *error);

/**
 * Hands all that is gathered to the system, or to the function of the program. What was not taken after an error is gathered
 * still: the call goes on when it is made again.
 */
enum bw_status bw_writer_flush(struct bw_writer *writer,
                               struct bw_error *error);

/**
 * Flushes a writer, and returns when what was written to a file will survive a power cut.
 */
enum bw_status bw_writer_sync(struct bw_writer *writer, struct bw_error *error);

/**
 * Flushes a writer, gives a file that replaces another its name, closes it, and frees the handle. After an error it is open
 * still, with what was not written: close it again, or give that up with `bw_writer_discard`. In a forked child it writes
 * nothing. Null is allowed.
 */
enum bw_status bw_writer_close(struct bw_writer *writer,
                               struct bw_error *error);

/**
 * Closes a writer and frees its handle without writing what is gathered. A file that was to be replaced stays as it was; another
 * one keeps what was written before. Null is allowed.
 */
enum bw_status bw_writer_discard(struct bw_writer *writer,
                                 struct bw_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BYTEWRIGHT_H */
