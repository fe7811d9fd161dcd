/*
 * Bytewright: reads, decodes and keeps bulk binary data.
 *
 * Written from the Rust sources by cbindgen; docs/c.md is the guide. The rules for all functions:
 *
 * - A call answers a bw_status. BW_STATUS_OK and BW_STATUS_NONE are no errors. Every other one fills the bw_error that
 *   the caller passes; it may be null.
 * - A handle (bw_table, bw_scan, ...) is opened and freed by functions of this library, and used by one thread at a time.
 *   Different handles are independent.
 * - A pointer with a length points to as many bytes that can be read, in any encoding, or is null with the length 0.
 * - What the library hands out as bw_slice is its own, until the next call with the handle that it came from.
 */

#ifndef BYTEWRIGHT_H
#define BYTEWRIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the structs below are initialized. */
#define BW_ERROR_INIT { BW_STATUS_OK, 0, -1, NULL, NULL }
#define BW_BUFFER_INIT { NULL, 0, 0 }
#define BW_OPEN_OPTIONS_INIT { BW_TABLE_KIND_ANY, BW_SYNC_INTERVAL, false, false, false, 0.0 }
#define BW_RANGE_INIT { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, false, false, false, false, 0 }


/**
 * The version of the interface that this header declares. It grows when a program compiled for an older one could not
 * use the library any more.
 */
#define BW_ABI_VERSION 1

/**
 * What became of a call.
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
 * The kinds of tables.
 */
typedef enum bw_table_kind {
  /**
   * What the file holds; of a new file, what its name ends in (.bwh or .bwt).
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
 * A place in an ordered table as it was when the cursor was made: at an entry, before the first, or after the last. One
 * thread at a time may use it.
 */
typedef struct bw_cursor bw_cursor;

/**
 * Entries of a table as it was when the scan began. One thread at a time may use it.
 */
typedef struct bw_scan bw_scan;

/**
 * A table as it was when this was taken, which later changes of the table do not change. One thread at a time may use it.
 */
typedef struct bw_snapshot bw_snapshot;

/**
 * A table. One thread at a time may use it.
 */
typedef struct bw_table bw_table;

/**
 * What went wrong. Initialize it with `BW_ERROR_INIT` and clear it with `bw_error_clear`. A call that fails frees what
 * an earlier failure left and fills it anew; a call that succeeds leaves it as it is.
 */
typedef struct bw_error {
  /**
   * The status that the call answered.
   */
  enum bw_status status;
  /**
   * The operating system's number (`errno`), or 0.
   */
  int32_t os_error;
  /**
   * The place in the input in bytes, after decompression, or -1 where there is none.
   */
  int64_t offset;
  /**
   * What was expected and what was found, in UTF-8, with the file and the place before it; harmless to a terminal.
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
 * How a table file is opened. Initialize it with `BW_OPEN_OPTIONS_INIT`, and change what you need.
 */
typedef struct bw_open_options {
  /**
   * Which kind is expected: a `bw_table_kind`.
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
   * Seconds to wait for another process that writes.
   */
  double wait;
} bw_open_options;

/**
 * Counts and sizes of a table.
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
 * Shows the value of a key. `value` is the table's: copy what you keep, do not use the table, and return as usual (a
 * `longjmp` or a C++ exception out of it is undefined behaviour).
 */
typedef void (*bw_found)(void *context, size_t place, const struct bw_slice *value);

/**
 * Which entries, and in which order. Initialize it with `BW_RANGE_INIT`, which selects all of them, and change what you
 * need.
 */
typedef struct bw_range {
  /**
   * The lowest key.
   */
  struct bw_slice first;
  /**
   * The highest key.
   */
  struct bw_slice last;
  /**
   * What all keys begin with.
   */
  struct bw_slice prefix;
  /**
   * Whether `first` applies.
   */
  bool has_first;
  /**
   * Whether `last` applies.
   */
  bool has_last;
  /**
   * Whether `last` is itself left out.
   */
  bool excludes_last;
  /**
   * Whether the highest key comes first.
   */
  bool reverse;
  /**
   * How many entries at most; 0 for all.
   */
  uint64_t limit;
} bw_range;

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
 * Answers `BW_STATUS_ARGUMENT` where it does not.
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
 * Closes a table and frees its handle, whatever it answers: `BW_STATUS_OK` when everything that was committed survives
 * a power cut. A transaction that is open is taken back. Scans, cursors and snapshots of it stay usable. Null is
 * allowed.
 */
enum bw_status bw_table_close(struct bw_table *table, struct bw_error *error);

/**
 * Removes all entries.
 */
enum bw_status bw_table_clear(struct bw_table *table, struct bw_error *error);

/**
 * Begins a transaction, or a savepoint in one.
 */
enum bw_status bw_table_begin(struct bw_table *table, struct bw_error *error);

/**
 * Ends what `bw_table_begin` began last, and keeps its changes.
 */
enum bw_status bw_table_commit(struct bw_table *table, struct bw_error *error);

/**
 * Ends what `bw_table_begin` began last, and takes its changes back.
 */
enum bw_status bw_table_abort(struct bw_table *table, struct bw_error *error);

/**
 * Returns when everything committed so far survives a power cut.
 */
enum bw_status bw_table_sync(struct bw_table *table, struct bw_error *error);

/**
 * Frees the space of entries that are gone, however long that takes.
 */
enum bw_status bw_table_compact(struct bw_table *table, struct bw_error *error);

/**
 * Number of entries.
 */
enum bw_status bw_table_len(const struct bw_table *table, uint64_t *len, struct bw_error *error);

/**
 * How much the table holds and takes.
 */
enum bw_status bw_table_stat(const struct bw_table *table, struct bw_stat *stat, struct bw_error *error);

/**
 * Copies the value of a key into `value`. `BW_STATUS_NONE` where there is none; the buffer is as before then.
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
 * Whether there is an entry for a key: `BW_STATUS_OK` or `BW_STATUS_NONE`.
 */
enum bw_status bw_table_contains(const struct bw_table *table,
                                 const uint8_t *key,
                                 size_t key_len,
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
 * Adds bytes to the end of the value of a key, which is empty where there is none.
 */
enum bw_status bw_table_append(struct bw_table *table,
                               const uint8_t *key,
                               size_t key_len,
                               const uint8_t *value,
                               size_t value_len,
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
 * Removes the entry of a key; `BW_STATUS_NONE` where there was none.
 */
enum bw_status bw_table_delete(struct bw_table *table, const uint8_t *key, size_t key_len, struct bw_error *error);

/**
 * Adds `by` to the value of a key, a whole number in decimal digits (0 where there is none), and sets `sum`.
 */
enum bw_status bw_table_increment(struct bw_table *table,
                                  const uint8_t *key,
                                  size_t key_len,
                                  int64_t by,
                                  int64_t *sum,
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
 * Moves to the entry before. `BW_STATUS_NONE` where there is none.
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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BYTEWRIGHT_H */
