/* Goal: each operation survives each trouble: nothing that was committed is lost, nothing is half there, and the next run is right.
 *
 * Method: the table of conformance/troubles.json. An operation is a function that does it in a folder, from opening to closing, and
 * answers the same each time; one driver for each trouble works for all of them. Every function of the header is of an operation, or
 * plain: one that does no input or output, calls nobody and waits for nothing. The seed is printed where something fails.
 * Compiled and run as tables.c is, from the folder of the repository.
 */
#define _XOPEN_SOURCE 700
#include "expect.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CAPTURE "samples/tunnels.pcap"
#define TEXT(text) (const uint8_t *)(text), sizeof(text) - 1
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { ENTRIES = 200, PATH_SIZE = 4096, SECONDS_MAX = 60 };

/* Answers are sums of what was seen. */
static void add_bytes(uint64_t *answer, const void *bytes, size_t len) {
  size_t place;
  for (place = 0; place < len; place++) *answer = (*answer ^ ((const uint8_t *)bytes)[place]) * 1099511628211u;
}
static void add_number(uint64_t *answer, uint64_t number) { add_bytes(answer, &number, sizeof number); }

static void path_in(const char *folder, const char *name, char *path) {
  EXPECT(snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
}

static const char *seed_text;
static void expect_same(uint64_t found, uint64_t expected, const char *what) {
  if (found == expected) return;
  fprintf(stderr, "%s: expected another answer, with BYTEWRIGHT_SEED=%s\n", what, seed_text);
  exit(1);
}

/* Tables of both kinds, in memory and in files. */

static size_t key_of(unsigned number, char *key) { return (size_t)sprintf(key, "key %03u", number); }

static bw_status open_file(const char *path, bool is_written, bw_table **table, bw_error *error) {
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  options.create = is_written, options.read_only = !is_written;
  return bw_table_open(path, &options, table, error);
}

static void path_of_table(const char *folder, uint32_t kind, char *path) {
  path_in(folder, kind == BW_TABLE_KIND_HASH ? "t.bwh" : "t.bwt", path);
}

static bw_table *filled(const char *folder, uint32_t kind, bool is_in_file) {
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  char path[PATH_SIZE], key[16];
  unsigned number;
  path_of_table(folder, kind, path);
  if (is_in_file) EXPECT_STATUS(BW_STATUS_OK, open_file(path, true, &table, &error));
  else EXPECT_STATUS(BW_STATUS_OK, bw_table_new(kind, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  for (number = 0; number < ENTRIES; number++) {
    size_t len = key_of(number, key);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, (const uint8_t *)key, len, (const uint8_t *)key, len, &error));
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(table, &error));
  return table;
}

static void expect_entries(const bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  char key[16];
  unsigned number;
  EXPECT(bw_table_depth(table) == 0);
  for (number = 0; number < ENTRIES; number++) {
    size_t len = key_of(number, key);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, (const uint8_t *)key, len, &value, &error));
    EXPECT(value.len == len && memcmp(value.data, key, len) == 0);
  }
  bw_buffer_free(&value);
}

static void closed(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
}

typedef void (*on_table)(bw_table *table, const char *folder, uint64_t *answer);

static uint64_t on_tables(const char *folder, on_table work) {
  uint64_t answer = 0;
  unsigned place;
  for (place = 0; place < 4; place++) {
    bw_table *table = filled(folder, place % 2 ? BW_TABLE_KIND_TREE : BW_TABLE_KIND_HASH, place >= 2);
    work(table, folder, &answer);
    expect_entries(table);
    closed(table);
  }
  return answer;
}

static bool is_tree(const bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_cursor *cursor = NULL;
  const bool is_ordered = bw_table_cursor(table, &cursor, &error) == BW_STATUS_OK;
  if (is_ordered) bw_cursor_free(cursor);
  bw_error_clear(&error);
  return is_ordered;
}

static void add_value(void *context, size_t place, const bw_slice *value) {
  add_number((uint64_t *)context, place);
  if (value) add_bytes((uint64_t *)context, value->data, value->len);
}

static void read_entries(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_slice keys[2] = {{TEXT("key 001")}, {TEXT("none")}};
  uint8_t value[16];
  size_t len = 0;
  uint64_t count = 0;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_into(table, TEXT("key 007"), value, sizeof value, &len, &error));
  add_bytes(answer, value, len);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_with(table, TEXT("key 008"), add_value, answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_many(table, keys, 2, add_value, answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_contains(table, TEXT("key 009"), &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_contains(table, TEXT("none"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &count, &error));
  EXPECT(count >= ENTRIES);
}

static void change_entries(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_table *other = NULL;
  bw_buffer key = BW_BUFFER_INIT, value = BW_BUFFER_INIT;
  int64_t sum = 0;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("own"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_append(table, TEXT("own"), TEXT("2"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("own"), 3, &sum, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_create(table, TEXT("own"), TEXT("4"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, TEXT("own"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_TREE, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(other, TEXT("a"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_take(other, TEXT("a"), &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(other, TEXT("a"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_shift(other, &key, &value, &error));
  add_bytes(answer, key.data, key.len);
  add_number(answer, (uint64_t)sum);
  bw_buffer_free(&key);
  bw_buffer_free(&value);
  closed(other);
}

static void change_many(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_slice keys[2] = {{TEXT("own 1")}, {TEXT("own 2")}}, values[2] = {{TEXT("a")}, {TEXT("b")}};
  bw_table *other = NULL;
  uint64_t count = 1;
  bw_range range = BW_RANGE_INIT;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put_many(table, keys, values, 2, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_many(table, keys, 2, add_value, answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, keys[0].data, keys[0].len, &error));
  if (is_tree(table)) {
    range.prefix.data = (const uint8_t *)"own ", range.prefix.len = 4;
    EXPECT_STATUS(BW_STATUS_OK, bw_table_delete_range(table, &range, &count, &error));
    EXPECT(count == 1);
  } else {
    EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, keys[1].data, keys[1].len, &error));
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_HASH, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put_many(other, keys, values, 2, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_clear(other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(other, &count, &error));
  EXPECT(count == 0);
  closed(other);
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open("+", NULL, NULL, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_call(other, "putlist", keys, 2, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_call(other, "fwmkeys", values, 0, add_value, answer, &error));
  closed(other);
}

static size_t walked(bw_scan *scan, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_slice key, value;
  bw_status status;
  size_t count = 0;
  while ((status = bw_scan_next(scan, &key, &value, &error)) == BW_STATUS_OK) {
    add_bytes(answer, key.data, key.len);
    count++;
  }
  EXPECT(status == BW_STATUS_NONE);
  bw_scan_free(scan);
  return count;
}

static void move_a_cursor(bw_table *table, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_cursor *cursor = NULL;
  bw_slice key, value;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_cursor(table, &cursor, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_first(cursor, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_next(cursor, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_seek(cursor, TEXT("key 100"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_prev(cursor, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_entry(cursor, &key, &value, &error));
  add_bytes(answer, key.data, key.len);
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_last(cursor, &error));
  bw_cursor_free(cursor);
}

/* The changes of a table in a file; one in memory refuses. */
static void walk_changes(bw_table *table, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_changes *changes = NULL;
  bw_change kind;
  bw_slice key, value;
  bw_status status;
  size_t count = 0;
  if (bw_table_changes_since(table, NULL, &changes, &error)) {
    EXPECT(error.status == BW_STATUS_ARGUMENT);
    bw_error_clear(&error);
    return;
  }
  while ((status = bw_changes_next(changes, &kind, &key, &value, &error)) == BW_STATUS_OK) {
    add_bytes(answer, key.data, key.len);
    count += kind == BW_CHANGE_PUT;
  }
  EXPECT(status == BW_STATUS_NONE && count == ENTRIES);
  EXPECT(bw_changes_position(changes)[0] != 0);
  bw_changes_free(changes);
}

static void walk(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_range range = BW_RANGE_INIT;
  bw_scan *scan = NULL;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_scan(table, NULL, &scan, &error));
  EXPECT(walked(scan, answer) == ENTRIES);
  if (!is_tree(table)) {
    walk_changes(table, answer);
    return;
  }
  range.prefix.data = (const uint8_t *)"key 01", range.prefix.len = 6, range.reverse = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_scan(table, &range, &scan, &error));
  EXPECT(walked(scan, answer) == 10);
  move_a_cursor(table, answer);
}

static void use_a_snapshot(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_snapshot *snapshot = NULL;
  bw_scan *scan = NULL;
  uint64_t count = 0;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_snapshot(table, &snapshot, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("own"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_snapshot_get(snapshot, TEXT("own"), &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_get(snapshot, TEXT("key 007"), &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_len(snapshot, &count, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_scan(snapshot, NULL, &scan, &error));
  EXPECT(walked(scan, answer) == ENTRIES && count == ENTRIES);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, TEXT("own"), &error));
  bw_snapshot_free(snapshot);
  bw_buffer_free(&value);
}

static void run_a_transaction(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("own"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("own"), TEXT("2"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_abort(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, TEXT("own"), &value, &error));
  add_bytes(answer, value.data, value.len);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, TEXT("own"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(table, &error));
  bw_buffer_free(&value);
}

static void sync_and_compact(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_stat stat;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_sync(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_compact(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_stat(table, &stat, &error));
  add_number(answer, stat.records);
}

static void back_up(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  char path[PATH_SIZE];
  uint64_t count = 0;
  path_in(folder, "b", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_backup(table, path, true, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_check(path, &count, &error));
  add_number(answer, count);
  EXPECT(unlink(path) == 0);
}

static void dump(bw_table *table, const char *folder, uint64_t *answer) {
  const char *const formats[] = {"db", "lmdb", "sql"};
  bw_error error = BW_ERROR_INIT;
  char path[PATH_SIZE];
  uint64_t count = 0;
  size_t place;
  path_in(folder, "d", path);
  for (place = 0; place < 3; place++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_table_dump(table, path, formats[place], false, &count, &error));
    add_number(answer, count);
  }
  EXPECT(unlink(path) == 0);
}

static void load(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  char path[PATH_SIZE];
  uint64_t count = 0;
  path_in(folder, "d", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_dump(table, path, NULL, false, &count, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_load(table, path, &count, &error));
  add_number(answer, count);
  EXPECT(unlink(path) == 0);
}

static void close_again(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_table *other = NULL;
  char path[PATH_SIZE];
  uint64_t count = 0;
  (void)table;
  path_in(folder, "c.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, open_file(path, true, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(other, TEXT("a"), TEXT("1"), &error));
  closed(other);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_check(path, &count, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(NULL, &error));
  add_number(answer, count);
}

static void open_again(bw_table *table, const char *folder, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer name = BW_BUFFER_INIT;
  bw_table *other = NULL;
  char path[PATH_SIZE];
  (void)table;
  path_in(folder, "n.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open(path, NULL, NULL, &other, &error));
  closed(other);
  path_in(folder, "o.bwh", path);
  EXPECT_STATUS(BW_STATUS_OK, open_file(path, true, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_values(other, &name, &error));
  add_number(answer, name.len);
  bw_buffer_free(&name);
  closed(other);
}

#define TABLE_OPERATION(name) static uint64_t run_##name(const char *folder) { return on_tables(folder, name); }
TABLE_OPERATION(open_again)
TABLE_OPERATION(read_entries)
TABLE_OPERATION(change_entries)
TABLE_OPERATION(change_many)
TABLE_OPERATION(walk)
TABLE_OPERATION(use_a_snapshot)
TABLE_OPERATION(run_a_transaction)
TABLE_OPERATION(sync_and_compact)
TABLE_OPERATION(back_up)
TABLE_OPERATION(dump)
TABLE_OPERATION(load)
TABLE_OPERATION(close_again)

/* Tables that grow until the disk is full. */

static uint8_t much[10000];

static bw_status grow_table(bw_table *table, bool is_transaction, bw_error *error) {
  unsigned number;
  for (number = 0; number < 10000; number++) {
    bw_slice keys[2], values[2];
    uint32_t both[2];
    bw_status status;
    size_t place;
    both[0] = 2 * number, both[1] = 2 * number + 1;
    for (place = 0; place < 2; place++) {
      keys[place].data = (const uint8_t *)&both[place], keys[place].len = sizeof *both;
      values[place].data = much, values[place].len = sizeof much;
    }
    status = is_transaction ? bw_table_begin(table, error) : BW_STATUS_OK;
    if (status == BW_STATUS_OK) status = bw_table_put_many(table, keys, values, 2, error);
    if (status == BW_STATUS_OK && is_transaction) status = bw_table_commit(table, error);
    if (status == BW_STATUS_OK && number % 8 == 7) status = bw_table_sync(table, error);
    if (status != BW_STATUS_OK) return status;
  }
  return BW_STATUS_OK;
}

static bw_status grow_tables(const char *folder, bool is_transaction, bw_error *error) {
  const uint32_t kinds[] = {BW_TABLE_KIND_HASH, BW_TABLE_KIND_TREE};
  size_t place;
  for (place = 0; place < 2; place++) {
    bw_table *table = filled(folder, kinds[place], true);
    bw_status status;
    bw_error_clear(error);
    status = grow_table(table, is_transaction, error);
    EXPECT(status == BW_STATUS_IO && error->os_error == EFBIG);
    (void)bw_table_close(table, NULL);
  }
  return BW_STATUS_IO;
}

static bw_status grow_by_changes(const char *folder, bw_error *error) { return grow_tables(folder, false, error); }
static bw_status grow_by_transactions(const char *folder, bw_error *error) { return grow_tables(folder, true, error); }

static bw_status grow_by_backup(const char *folder, bw_error *error) {
  bw_error ignored = BW_ERROR_INIT;
  bw_table *table = NULL;
  bw_status status;
  char path[PATH_SIZE];
  uint32_t number;
  path_in(folder, "b", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_HASH, &table, &ignored));
  for (number = 0; number < 300; number++)
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, (const uint8_t *)&number, sizeof number, much, sizeof much, &ignored));
  status = bw_table_backup(table, path, false, error);
  EXPECT(access(path, F_OK) != 0);
  closed(table);
  return status;
}

static bw_status grow_by_dump(const char *folder, bw_error *error) {
  bw_error ignored = BW_ERROR_INIT;
  bw_table *table = NULL;
  bw_status status;
  char path[PATH_SIZE];
  uint64_t count;
  uint32_t number;
  path_in(folder, "d", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_HASH, &table, &ignored));
  for (number = 0; number < 300; number++)
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, (const uint8_t *)&number, sizeof number, much, sizeof much, &ignored));
  status = bw_table_dump(table, path, NULL, false, &count, error);
  EXPECT(access(path, F_OK) != 0);
  closed(table);
  return status;
}

/* Tables that are aimed at themselves. */

static struct own {
  bw_table *table;
  int refused;
} own;

static void expect_lock(bw_status status, bw_error *error) {
  EXPECT(status == BW_STATUS_LOCK);
  bw_error_clear(error);
  own.refused++;
}

static void use_own(void *context, size_t place, const bw_slice *value) {
  bw_error error = BW_ERROR_INIT;
  bw_slice key = {TEXT("own")};
  EXPECT(context == &own && place == 0 && value);
  expect_lock(bw_table_put(own.table, key.data, key.len, TEXT("1"), &error), &error);
  expect_lock(bw_table_put_many(own.table, &key, &key, 1, &error), &error);
  expect_lock(bw_table_clear(own.table, &error), &error);
  expect_lock(bw_table_begin(own.table, &error), &error);
  expect_lock(bw_table_compact(own.table, &error), &error);
  expect_lock(bw_table_close(own.table, &error), &error);
}

static void use_in_own_function(const char *folder) {
  unsigned place;
  for (place = 0; place < 4; place++) {
    bw_error error = BW_ERROR_INIT;
    own.refused = 0;
    own.table = filled(folder, place % 2 ? BW_TABLE_KIND_TREE : BW_TABLE_KIND_HASH, place >= 2);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_get_with(own.table, TEXT("key 007"), use_own, &own, &error));
    EXPECT(own.refused == 6);
    expect_entries(own.table);
    closed(own.table);
  }
}

static bw_status open_exclusively(const char *path, bw_table **table, bw_error *error) {
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  const char *names[] = {"exclusive=true"};
  options.timeout = 0;
  options.named.names = names, options.named.count = 1;
  return bw_table_open(path, &options, table, error);
}

static void second_table(const char *folder) {
  const uint32_t kinds[] = {BW_TABLE_KIND_HASH, BW_TABLE_KIND_TREE};
  size_t place;
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_table *first = filled(folder, kinds[place], true), *second = NULL;
    char path[PATH_SIZE];
    path_of_table(folder, kinds[place], path);
    EXPECT_STATUS(BW_STATUS_LOCK, open_exclusively(path, &second, &error));
    EXPECT_STATUS(BW_STATUS_OK, open_file(path, false, &second, &error));
    expect_entries(second);
    closed(second);
    closed(first);
    bw_error_clear(&error);
  }
}

static void walk_what_is_closed(const char *folder) {
  unsigned place;
  for (place = 0; place < 4; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_table *table = filled(folder, place % 2 ? BW_TABLE_KIND_TREE : BW_TABLE_KIND_HASH, place >= 2);
    bw_scan *scan = NULL;
    uint64_t answer = 0;
    EXPECT_STATUS(BW_STATUS_OK, bw_table_scan(table, NULL, &scan, &error));
    closed(table);
    EXPECT(walked(scan, &answer) == ENTRIES);
  }
}

static void keep_a_snapshot_of_what_is_closed(const char *folder) {
  unsigned place;
  for (place = 0; place < 4; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_buffer value = BW_BUFFER_INIT;
    bw_table *table = filled(folder, place % 2 ? BW_TABLE_KIND_TREE : BW_TABLE_KIND_HASH, place >= 2);
    bw_snapshot *snapshot = NULL;
    bw_status status;
    EXPECT_STATUS(BW_STATUS_OK, bw_table_snapshot(table, &snapshot, &error));
    closed(table);
    status = bw_snapshot_get(snapshot, TEXT("key 007"), &value, &error);
    EXPECT(status == BW_STATUS_CLOSED || (status == BW_STATUS_OK && value.len == 7));
    bw_snapshot_free(snapshot);
    bw_buffer_free(&value);
    bw_error_clear(&error);
  }
}

static void close_in_a_transaction(const char *folder) {
  const uint32_t kinds[] = {BW_TABLE_KIND_HASH, BW_TABLE_KIND_TREE};
  size_t place;
  use_in_own_function(folder);
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_table *table = filled(folder, kinds[place], true);
    char path[PATH_SIZE];
    EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("own"), TEXT("1"), &error));
    (void)bw_table_close(table, NULL);
    path_of_table(folder, kinds[place], path);
    EXPECT_STATUS(BW_STATUS_OK, open_file(path, true, &table, &error));
    EXPECT_STATUS(BW_STATUS_NONE, bw_table_contains(table, TEXT("own"), &error));
    expect_entries(table);
    closed(table);
  }
}

static void back_up_over_itself(const char *folder) {
  const uint32_t kinds[] = {BW_TABLE_KIND_HASH, BW_TABLE_KIND_TREE};
  size_t place;
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_table *table = filled(folder, kinds[place], true);
    char path[PATH_SIZE];
    path_of_table(folder, kinds[place], path);
    EXPECT(bw_table_backup(table, path, true, &error) >= BW_STATUS_IO);
    bw_error_clear(&error);
    expect_entries(table);
    closed(table);
  }
}

static void dump_over_itself(const char *folder) {
  const uint32_t kinds[] = {BW_TABLE_KIND_HASH, BW_TABLE_KIND_TREE};
  size_t place;
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_table *table = filled(folder, kinds[place], true);
    char path[PATH_SIZE];
    uint64_t count;
    path_of_table(folder, kinds[place], path);
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_dump(table, path, NULL, true, &count, &error));
    EXPECT_STATUS(BW_STATUS_FORMAT, bw_table_load(table, path, &count, &error));
    bw_error_clear(&error);
    expect_entries(table);
    closed(table);
  }
}

/* Captures: each question is asked of a file, and of a source of the program's that fails somewhere. */

typedef bw_status (*question)(bw_capture *capture, uint64_t *answer, bw_error *error);

static bw_status add_rows(bw_rows *rows, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  bw_status status;
  while ((status = bw_rows_next(rows, &batch, error)) == BW_STATUS_OK) {
    bw_column column;
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &column, error));
    add_number(answer, bw_batch_rows(batch));
    bw_batch_free(batch);
  }
  bw_rows_free(rows);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

static bw_status add_batch(bw_status status, bw_batch *batch, uint64_t *answer) {
  if (status != BW_STATUS_OK) return status;
  add_number(answer, bw_batch_rows(batch));
  bw_batch_free(batch);
  return status;
}

static bw_status ask_columns(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_rows *rows = NULL;
  const bw_status status = bw_capture_packets(&capture, 1, NULL, 100, NULL, &rows, error);
  return status == BW_STATUS_OK ? add_rows(rows, answer, error) : status;
}

static bw_status ask_frames(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_frames *frames = NULL;
  bw_slice bytes;
  bw_status status = bw_capture_frames(&capture, 1, &frames, error);
  if (status != BW_STATUS_OK) return status;
  while ((status = bw_frames_next(frames, error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_frames_captured(frames, &bytes, error));
    add_bytes(answer, bytes.data, bytes.len);
  }
  bw_frames_free(frames);
  if (status != BW_STATUS_NONE) return status;
  if ((status = bw_capture_frame(capture, 2, &frames, error)) != BW_STATUS_OK) return status;
  if ((status = bw_frames_next(frames, error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_frames_captured(frames, &bytes, error));
    add_bytes(answer, bytes.data, bytes.len);
  }
  bw_frames_free(frames);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

static bw_status ask_info(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  const bw_status status = bw_capture_info(capture, &batch, error);
  return add_batch(status, batch, answer);
}

static bw_status ask_sums(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  const char *by[] = {"src_ip"};
  bw_sum_options options = BW_SUM_OPTIONS_INIT;
  bw_status status;
  options.by.names = by, options.by.count = 1;
  status = bw_capture_sum(capture, &options, &batch, error);
  return add_batch(status, batch, answer);
}

static bw_status ask_counts(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  const bw_status status = bw_capture_count_by(capture, "proto", NULL, &batch, error);
  return add_batch(status, batch, answer);
}

static bw_status ask_flows(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_rows *rows = NULL;
  const bw_status status = bw_capture_flows(&capture, 1, NULL, NULL, &rows, error);
  return status == BW_STATUS_OK ? add_rows(rows, answer, error) : status;
}

static bw_status ask_calls(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_rows *rows = NULL;
  const bw_status status = bw_capture_calls(&capture, 1, NULL, NULL, NULL, &rows, error);
  return status == BW_STATUS_OK ? add_rows(rows, answer, error) : status;
}

static uint64_t asked(question ask) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  uint64_t answer = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(CAPTURE, NULL, &capture, &error));
  EXPECT_STATUS(BW_STATUS_OK, ask(capture, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
  return answer;
}

struct source {
  FILE *file;
  int reads; /* until it fails */
  bw_capture *closes;
  bool fails;
};

static int64_t bring(void *context, uint8_t *data, size_t capacity) {
  struct source *source = (struct source *)context;
  if (source->fails && source->reads-- == 0) return -EIO;
  if (source->closes) {
    bw_error error = BW_ERROR_INIT;
    const bw_status status = bw_capture_close(source->closes, &error);
    EXPECT(status == BW_STATUS_LOCK || status == BW_STATUS_OK);
    if (status == BW_STATUS_OK) source->closes = NULL;
    own.refused += status == BW_STATUS_LOCK;
    bw_error_clear(&error);
  }
  return (int64_t)fread(data, 1, capacity < 1000 ? capacity : 1000, source->file);
}

static bw_capture *of_source(struct source *source) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  source->file = fopen(CAPTURE, "rb");
  EXPECT(source->file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a source", bring, source, NULL, &capture, &error));
  return capture;
}

static void ask_what_fails(question ask) {
  int round;
  for (round = 0; round < 25; round++) {
    bw_error error = BW_ERROR_INIT;
    struct source source;
    bw_capture *capture;
    uint64_t answer = 0;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    capture = of_source(&source);
    EXPECT(ask(capture, &answer, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
  }
}

/* Its own call keeps a capture open; rows and frames of one that is closed end. */
static void ask_what_closes_itself(question ask) {
  bw_error error = BW_ERROR_INIT;
  struct source source;
  uint64_t answer = 0;
  bw_capture *capture;
  bw_status status;
  memset(&source, 0, sizeof source);
  own.refused = 0;
  source.closes = capture = of_source(&source);
  status = ask(capture, &answer, &error);
  EXPECT(status == (source.closes ? BW_STATUS_OK : BW_STATUS_CLOSED));
  if (source.closes) {
    EXPECT(own.refused > 0);
    expect_same(answer, asked(ask), "a capture whose source closes it");
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  }
  bw_error_clear(&error);
  fclose(source.file);
}

#define CAPTURE_OPERATION(name)                                                                               \
  static uint64_t run_##name(const char *folder) { (void)folder; return asked(name); }                        \
  static void fail_##name(const char *folder) { (void)folder; ask_what_fails(name); }                         \
  static void itself_##name(const char *folder) { (void)folder; ask_what_closes_itself(name); }
CAPTURE_OPERATION(ask_info)
CAPTURE_OPERATION(ask_frames)
CAPTURE_OPERATION(ask_columns)
CAPTURE_OPERATION(ask_sums)
CAPTURE_OPERATION(ask_counts)
CAPTURE_OPERATION(ask_flows)
CAPTURE_OPERATION(ask_calls)

static uint64_t run_sums(const char *folder) { return run_ask_sums(folder) ^ run_ask_counts(folder); }
static void fail_sums(const char *folder) { fail_ask_sums(folder), fail_ask_counts(folder); }
static void itself_sums(const char *folder) { itself_ask_sums(folder), itself_ask_counts(folder); }
static uint64_t run_flows(const char *folder) { return run_ask_flows(folder) ^ run_ask_calls(folder); }
static void fail_flows(const char *folder) { fail_ask_flows(folder), fail_ask_calls(folder); }
static void itself_flows(const char *folder) { itself_ask_flows(folder), itself_ask_calls(folder); }

/* Stores of flows. */

static bw_flow_store *store_of(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = NULL;
  char path[PATH_SIZE];
  path_in(folder, "m.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &store, &error));
  return store;
}

static uint64_t len_of(const bw_flow_store *store) {
  bw_error error = BW_ERROR_INIT;
  uint64_t len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  return len;
}

static bw_status merge(bw_flow_store *store, const char *path, bw_error *error) {
  bw_error ignored = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  bw_batch *batch = NULL;
  uint64_t answer = 0;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, NULL, &capture, &ignored));
  status = bw_capture_merge_flows(capture, store, NULL, &batch, error);
  status = add_batch(status, batch, &answer);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &ignored));
  return status;
}

static uint64_t run_merge(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = store_of(folder);
  uint64_t answer;
  EXPECT_STATUS(BW_STATUS_OK, merge(store, CAPTURE, &error));
  answer = len_of(store);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  return answer;
}

static uint64_t run_walk_of_store(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = NULL;
  bw_rows *rows = NULL;
  char path[PATH_SIZE];
  uint64_t answer = run_merge(folder);
  path_in(folder, "m.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open_read_only(path, &store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_rows(rows, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  return answer;
}

/* A capture of which a part was read adds nothing. */
static void fail_merge(const char *folder) {
  bw_flow_store *store = store_of(folder);
  const uint64_t before = len_of(store);
  int round;
  for (round = 0; round < 10; round++) {
    bw_error error = BW_ERROR_INIT;
    bw_batch *batch = NULL;
    struct source source;
    bw_capture *capture;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    capture = of_source(&source);
    EXPECT(bw_capture_merge_flows(capture, store, NULL, &batch, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT(len_of(store) == before);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, NULL));
}

static void put_number(uint8_t *into, uint32_t number, size_t len) {
  while (len--) *into++ = (uint8_t)(number >> 8 * len);
}

/* A capture of packets that are a flow each. */
static void write_flows(const char *path, uint32_t round) {
  static const uint8_t head[24] = {0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 1};
  FILE *file = fopen(path, "wb");
  uint32_t place;
  EXPECT(file && fwrite(head, sizeof head, 1, file) == 1);
  for (place = 0; place < 300; place++) {
    uint8_t record[16 + 42];
    memset(record, 0, sizeof record);
    put_number(record + 3, place, 1);
    put_number(record + 8, 42, 4), put_number(record + 12, 42, 4);
    put_number(record + 28, 0x0800, 2);
    put_number(record + 30, 0x45, 1), put_number(record + 32, 28, 2), put_number(record + 38, 64, 1), put_number(record + 39, 17, 1);
    put_number(record + 42, 0x0a000000 + round, 4), put_number(record + 46, 0x0b000001, 4);
    put_number(record + 50, place + 1, 2), put_number(record + 52, 53, 2), put_number(record + 54, 8, 2);
    EXPECT(fwrite(record, sizeof record, 1, file) == 1);
  }
  EXPECT(fclose(file) == 0);
}

static bw_status grow_by_merges(const char *folder, bw_error *error) {
  bw_flow_store *store = store_of(folder);
  bw_status status = BW_STATUS_OK;
  char path[PATH_SIZE];
  uint32_t round;
  path_in(folder, "grown.pcap", path);
  for (round = 0; round < 10000 && status == BW_STATUS_OK; round++) {
    write_flows(path, round);
    status = merge(store, path, error);
    EXPECT(unlink(path) == 0);
  }
  (void)bw_flow_store_close(store, NULL);
  return status;
}

static void second_store(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *first, *second = NULL;
  char path[PATH_SIZE];
  /* The file is made with the first capture. */
  (void)run_merge(folder);
  first = store_of(folder);
  path_in(folder, "m.bwt", path);
  EXPECT_STATUS(BW_STATUS_LOCK, bw_flow_store_open(path, &second, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(first, &error));
  bw_error_clear(&error);
}

static void merge_a_store_into_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store;
  char path[PATH_SIZE];
  const uint64_t before = run_merge(folder);
  path_in(folder, "m.bwt", path);
  store = store_of(folder);
  EXPECT_STATUS(BW_STATUS_FORMAT, merge(store, path, &error));
  EXPECT(len_of(store) == before);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, NULL));
  bw_error_clear(&error);
}

static void walk_a_store_that_is_closed(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store;
  bw_rows *rows = NULL;
  bw_status status;
  uint64_t answer = 0;
  (void)run_merge(folder);
  store = store_of(folder);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  status = add_rows(rows, &answer, &error);
  EXPECT(status == BW_STATUS_OK || status == BW_STATUS_CLOSED);
  bw_error_clear(&error);
}

/* Files of flows. */

static bw_flow_log *flow_log_in(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_log *log = NULL;
  char path[PATH_SIZE];
  path_in(folder, "f.json", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, "ecs", NULL, &log, &error));
  return log;
}

static void add_flow_log(const char *folder, uint64_t *answer) {
  char path[PATH_SIZE], bytes[1000];
  size_t len;
  FILE *file;
  path_in(folder, "f.json", path);
  file = fopen(path, "rb");
  EXPECT(file);
  while ((len = fread(bytes, 1, sizeof bytes, file)) > 0) add_bytes(answer, bytes, len);
  fclose(file);
}

static bw_status log_of(bw_flow_log *log, const char *path, bw_error *error) {
  bw_capture *capture = NULL;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, NULL, &capture, NULL));
  status = bw_capture_log_flows(capture, log, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  return status;
}

static uint64_t run_flow_log(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_log *log = flow_log_in(folder);
  uint64_t answer = 0, flows = 0;
  EXPECT_STATUS(BW_STATUS_OK, log_of(log, CAPTURE, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
  bw_flow_log_free(log);
  add_number(&answer, flows);
  add_flow_log(folder, &answer);
  return answer;
}

/* The file of before stays. */
static bw_status grow_by_flow_log(const char *folder, bw_error *error) {
  bw_flow_log *log = flow_log_in(folder);
  bw_status status = BW_STATUS_OK;
  uint64_t before = 0, after = 0;
  char path[PATH_SIZE];
  uint32_t round;
  add_flow_log(folder, &before);
  path_in(folder, "grown.pcap", path);
  for (round = 0; round < 20 && status == BW_STATUS_OK; round++) {
    write_flows(path, round);
    status = log_of(log, path, error);
    EXPECT(unlink(path) == 0);
  }
  if (status == BW_STATUS_OK) status = bw_flow_log_finish(log, NULL, error);
  bw_flow_log_free(log);
  add_flow_log(folder, &after);
  EXPECT(before == after);
  return status;
}

static void fail_flow_log(const char *folder) {
  const uint64_t expected = run_flow_log(folder);
  int round;
  for (round = 0; round < 10; round++) {
    bw_error error = BW_ERROR_INIT;
    struct source source;
    bw_flow_log *log = flow_log_in(folder);
    bw_capture *capture;
    memset(&source, 0, sizeof source);
    /* Also at its very beginning. */
    source.fails = true, source.reads = round < 2 ? 0 : rand() % 90;
    capture = of_source(&source);
    EXPECT(bw_capture_log_flows(capture, log, &error) == BW_STATUS_IO && error.os_error == EIO);
    if (round % 2) {
      EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, NULL, &error));
    } else {
      /* The next read does not fail. */
      source.fails = false;
      EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(capture, log, &error));
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, NULL, &error));
    }
    bw_flow_log_free(log);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
    expect_same(run_flow_log(folder), expected, "flows behind a source that failed");
  }
}

static struct own_log {
  bw_flow_log *log;
  FILE *file;
  bool frees;
  int refused;
} own_log;

static int64_t bring_to_own_log(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  EXPECT(context == &own_log);
  if (own_log.log) {
    EXPECT_STATUS(BW_STATUS_LOCK, bw_flow_log_finish(own_log.log, NULL, &error));
    own_log.refused++;
    if (own_log.frees) bw_flow_log_free(own_log.log), own_log.log = NULL;
  }
  bw_error_clear(&error);
  return (int64_t)fread(data, 1, capacity < 1000 ? capacity : 1000, own_log.file);
}

/* Its own source cannot finish a file, and frees it when the call returns; no capture is its own output. */
static void log_flows_into_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  const uint64_t expected = run_flow_log(folder);
  char path[PATH_SIZE];
  bw_flow_log *log;
  int round;
  for (round = 0; round < 2; round++) {
    bw_capture *capture = NULL;
    memset(&own_log, 0, sizeof own_log);
    own_log.frees = round == 1;
    own_log.file = fopen(CAPTURE, "rb");
    own_log.log = log = flow_log_in(folder);
    EXPECT(own_log.file);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", bring_to_own_log, &own_log, NULL, &capture, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(capture, log, &error));
    EXPECT(own_log.refused > 0);
    if (!own_log.frees) {
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, NULL, &error));
      bw_flow_log_free(log);
    }
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
    fclose(own_log.file);
  }
  path_in(folder, "own.pcap", path);
  write_flows(path, 1);
  {
    const char *force = "force=1";
    bw_flow_options options = BW_FLOW_OPTIONS_INIT;
    options.named.names = &force, options.named.count = 1;
    EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, "zeek", &options, &log, &error));
  }
  EXPECT_STATUS(BW_STATUS_ARGUMENT, log_of(log, path, &error));
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, NULL, &error));
  bw_flow_log_free(log);
  EXPECT_STATUS(BW_STATUS_OK, log_of(log = flow_log_in(folder), path, &error));
  bw_flow_log_free(log);
  EXPECT(unlink(path) == 0);
  expect_same(run_flow_log(folder), expected, "flows of a capture after it was its own output");
  bw_error_clear(&error);
}

/* New captures. */

static bw_status cut_to(const char *from, const char *folder, const char *name, bw_cut_counts *counts, bw_error *error) {
  const char *options[] = {"force=true", "where=length > 60"};
  bw_names named = BW_NAMES_INIT;
  bw_capture *capture = NULL;
  bw_status status;
  char path[PATH_SIZE];
  named.names = options, named.count = 2;
  path_in(folder, name, path);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(from, NULL, &capture, NULL));
  status = bw_capture_cut(capture, path, &named, counts, NULL, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  return status;
}

static uint64_t run_cut(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  bw_capture *capture = NULL;
  uint64_t answer = 0;
  char path[PATH_SIZE];
  EXPECT_STATUS(BW_STATUS_OK, cut_to(CAPTURE, folder, "cut.pcap", &counts, &error));
  path_in(folder, "cut.pcap", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, NULL, &capture, &error));
  EXPECT_STATUS(BW_STATUS_OK, ask_frames(capture, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
  add_number(&answer, counts.packets + counts.bytes + counts.files);
  return answer;
}

/* The file of before stays. */
static bw_status grow_by_cut(const char *folder, bw_error *error) {
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  char path[PATH_SIZE];
  struct stat before, after;
  bw_status status;
  path_in(folder, "cut.pcap", path);
  EXPECT(stat(path, &before) == 0);
  status = cut_to("samples/web.pcap.gz", folder, "cut.pcap", &counts, error);
  EXPECT(counts.packets == 0 && stat(path, &after) == 0 && after.st_size == before.st_size && after.st_ino == before.st_ino);
  return status;
}

static void fail_cut(const char *folder) {
  char path[PATH_SIZE];
  int round;
  path_in(folder, "failed.pcap", path);
  for (round = 0; round < 25; round++) {
    bw_error error = BW_ERROR_INIT;
    struct source source;
    struct stat found;
    bw_capture *capture;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    capture = of_source(&source);
    EXPECT(bw_capture_cut(capture, path, NULL, NULL, NULL, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT(stat(path, &found) < 0);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
  }
}

/* Its own source cannot close it, and no capture is its own output. */
static void cut_into_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  const uint64_t expected = run_cut(folder);
  struct source source;
  bw_capture *capture;
  char path[PATH_SIZE];
  path_in(folder, "cut.pcap", path);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, cut_to(path, folder, "cut.pcap", &counts, &error));
  path_in(folder, "own.pcap", path);
  memset(&source, 0, sizeof source);
  own.refused = 0;
  source.closes = capture = of_source(&source);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_cut(capture, path, NULL, NULL, NULL, &error));
  EXPECT(own.refused > 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  EXPECT(unlink(path) == 0);
  expect_same(run_cut(folder), expected, "packets of a capture after it was its own output");
  bw_error_clear(&error);
  fclose(source.file);
}

/* Files of what was read. */

static uint64_t run_files(const char *folder) { return run_flow_log(folder) ^ run_cut(folder); }
static void fail_files(const char *folder) { fail_flow_log(folder), fail_cut(folder); }
static void write_files_into_themselves(const char *folder) { log_flows_into_itself(folder), cut_into_itself(folder); }

static bw_status grow_by_files(const char *folder, bw_error *error) {
  EXPECT(grow_by_flow_log(folder, error) == BW_STATUS_IO && error->os_error == EFBIG);
  return grow_by_cut(folder, error);
}

/* Readers. */

static bw_status read_all(bw_reader *reader, uint64_t *answer, bw_error *error) {
  uint64_t number;
  bool is_at_end = false;
  bw_status status;
  while ((status = bw_reader_at_end(reader, &is_at_end, error)) == BW_STATUS_OK && !is_at_end) {
    status = bw_reader_unsigned(reader, 1, BW_ORDER_BIG, &number, error);
    if (status != BW_STATUS_OK) return status;
    add_number(answer, number);
  }
  return status;
}

static uint64_t run_reader(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  bw_rows *rows = NULL;
  uint64_t answer = 0, position = 0, skipped = 0;
  uint8_t bytes[10];
  size_t len = 0;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(CAPTURE, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_read(reader, bytes, sizeof bytes, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_skip(reader, 10, &skipped, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_seek(reader, BW_WHENCE_BEGINNING, 0, &error));
  EXPECT_STATUS(BW_STATUS_OK, read_all(reader, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_position(reader, &position, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_seek(reader, BW_WHENCE_BEGINNING, 0, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_rows(reader, "C", NULL, 1000, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_rows(rows, &answer, &error));
  add_number(&answer, position + skipped + len);
  return answer;
}

static void fail_reader(const char *folder) {
  int round;
  (void)folder;
  for (round = 0; round < 25; round++) {
    bw_error error = BW_ERROR_INIT;
    bw_reader *reader = NULL;
    struct source source;
    uint64_t answer = 0;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    source.file = fopen(CAPTURE, "rb");
    EXPECT(source.file);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("a source", bring, &source, &reader, &error));
    EXPECT(read_all(reader, &answer, &error) == BW_STATUS_IO && error.os_error == EIO);
    bw_reader_close(reader);
    bw_error_clear(&error);
    fclose(source.file);
  }
}

static int64_t read_own(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  uint64_t number;
  (void)data, (void)capacity;
  expect_lock(bw_reader_unsigned(*(bw_reader **)context, 1, BW_ORDER_BIG, &number, &error), &error);
  return 0;
}

static void read_by_own_function(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  uint64_t answer = 0;
  (void)folder;
  own.refused = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("own", read_own, &reader, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, read_all(reader, &answer, &error));
  EXPECT(own.refused > 0);
  bw_reader_close(reader);
}

/* Writers. */

static bw_writer *writer_in(const char *folder, const char *name, uint32_t mode) {
  bw_error error = BW_ERROR_INIT;
  bw_writer_options options = BW_WRITER_OPTIONS_INIT;
  bw_writer *writer = NULL;
  char path[PATH_SIZE];
  path_in(folder, name, path);
  options.mode = mode;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open(path, &options, &writer, &error));
  return writer;
}

static void add_written(const char *folder, const char *name, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  char path[PATH_SIZE];
  path_in(folder, name, path);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, read_all(reader, answer, &error));
  bw_reader_close(reader);
}

static void write_values(bw_writer *writer) {
  bw_error error = BW_ERROR_INIT;
  uint64_t position = 0;
  uint32_t number;
  for (number = 0; number < 2000; number++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 4, BW_ORDER_BIG, number, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_signed(writer, 3, BW_ORDER_LITTLE, -(int64_t)number, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_float(writer, 8, BW_ORDER_BIG, number / 4.0, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_varint(writer, number, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_zigzag(writer, -(int64_t)number, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(writer, TEXT("bytes"), NULL, &error));
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_flush(writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_seek(writer, BW_WHENCE_BEGINNING, 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(writer, TEXT("head"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &position, &error));
  EXPECT(position == 5);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_sync(writer, &error));
}

static uint64_t run_writer(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  uint64_t answer = 0;
  bw_writer *writer = writer_in(folder, "w.bin", BW_WRITER_MODE_ANEW);
  write_values(writer);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(writer, &error));
  writer = writer_in(folder, "w.bin", BW_WRITER_MODE_REPLACE);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(writer, TEXT("given up"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, &error));
  add_written(folder, "w.bin", &answer);
  writer = writer_in(folder, "w.bin", BW_WRITER_MODE_REPLACE);
  write_values(writer);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(writer, &error));
  add_written(folder, "w.bin", &answer);
  return answer;
}

/* The file of before stays, and what was gathered stays in the writer. */
static bw_status grow_by_writer(const char *folder, bw_error *error) {
  static uint8_t bytes[1000];
  uint64_t before = 0, after = 0, end = 0;
  bw_writer *writer = writer_in(folder, "w.bin", BW_WRITER_MODE_REPLACE);
  bw_status status = BW_STATUS_OK;
  int round;
  add_written(folder, "w.bin", &before);
  for (round = 0; round < 1000 && status == BW_STATUS_OK; round++)
    status = bw_writer_write(writer, bytes, sizeof bytes, NULL, error);
  EXPECT(status == BW_STATUS_IO);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &end, error));
  EXPECT(end == (uint64_t)(round - 1) * sizeof bytes);
  status = bw_writer_close(writer, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, NULL));
  add_written(folder, "w.bin", &after);
  EXPECT(before == after);
  return status;
}

static struct sink {
  uint8_t bytes[1 << 17];
  size_t len;
  bw_writer *writer;
} sink;

static int64_t take_some(void *context, const uint8_t *data, size_t len) {
  size_t count = 1 + (size_t)(rand() % 3000);
  EXPECT(context == &sink);
  if (rand() % 3 == 0) return rand() % 2 ? -EINTR : -EIO;
  if (count > len) count = len;
  EXPECT(sink.len + count <= sizeof sink.bytes);
  memcpy(sink.bytes + sink.len, data, count);
  sink.len += count;
  return (int64_t)count;
}

/* Each byte goes there once, however often a call fails. */
static void fail_writer(const char *folder) {
  int round;
  (void)folder;
  for (round = 0; round < 25; round++) {
    bw_error error = BW_ERROR_INIT;
    bw_writer *writer = NULL;
    bw_status status;
    uint32_t number, errors = 0;
    sink.len = 0;
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_open_output("a sink", take_some, &sink, &writer, &error));
    for (number = 0; number < 20000; number++) {
      EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 4, BW_ORDER_BIG, number, &error));
      if (number % 1000) continue;
      while ((status = bw_writer_flush(writer, &error)) != BW_STATUS_OK) {
        EXPECT(status == BW_STATUS_IO && (error.os_error == EINTR || error.os_error == EIO));
        errors++;
      }
    }
    while (bw_writer_close(writer, &error) != BW_STATUS_OK) errors++;
    EXPECT(errors > 0 && sink.len == 4 * 20000);
    for (number = 0; number < 20000; number++)
      EXPECT(sink.bytes[4 * number + 2] == (number >> 8 & 255) && sink.bytes[4 * number + 3] == (number & 255));
    bw_error_clear(&error);
  }
}

static int64_t write_own(void *context, const uint8_t *data, size_t len) {
  bw_error error = BW_ERROR_INIT;
  uint64_t position;
  EXPECT(context == &sink && data && len == 4);
  expect_lock(bw_writer_unsigned(sink.writer, 1, BW_ORDER_BIG, 1, &error), &error);
  expect_lock(bw_writer_write(sink.writer, TEXT("bytes"), NULL, &error), &error);
  expect_lock(bw_writer_position(sink.writer, &position, &error), &error);
  expect_lock(bw_writer_flush(sink.writer, &error), &error);
  expect_lock(bw_writer_close(sink.writer, &error), &error);
  expect_lock(bw_writer_discard(sink.writer, &error), &error);
  sink.len += len;
  return (int64_t)len;
}

/* Its own function can neither write to it nor close it, also while it is closed. */
static void write_by_own_function(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  (void)folder;
  own.refused = 0;
  sink.len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open_output("own", write_own, &sink, &sink.writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(sink.writer, TEXT("once"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_flush(sink.writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(sink.writer, TEXT("more"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(sink.writer, &error));
  EXPECT(own.refused == 12 && sink.len == 8);
}

/* Thrift. */

static const uint8_t MESSAGE[] = "\x0a\0\x01\0\0\0\0\0\0\0\x07\x0b\0\x02\0\0\0\x01" "a";

static bw_status new_fields(const char *path, bw_thrift **fields, bw_error *error) {
  static const char *const names[] = {"time"};
  bw_idl idl = BW_IDL_INIT;
  bw_names paths;
  paths.names = names, paths.count = 1;
  idl.path = path;
  return bw_thrift_new(&idl, "Entry", &paths, BW_PROTOCOL_BINARY, fields, error);
}

static uint64_t run_thrift(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  bw_batch *batch = NULL;
  bw_rows *rows = NULL;
  char path[PATH_SIZE];
  uint64_t answer = 0;
  size_t used = 0;
  FILE *file;
  path_in(folder, "e", path);
  file = fopen(path, "wb");
  EXPECT(file && fwrite(MESSAGE, sizeof MESSAGE, 1, file) == 1 && fclose(file) == 0);
  EXPECT_STATUS(BW_STATUS_OK, new_fields("samples/log.thrift", &fields, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, MESSAGE, sizeof MESSAGE, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add_many(fields, MESSAGE, sizeof MESSAGE, false, true, &used, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_batch(BW_STATUS_OK, batch, &answer));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, path, false, 10, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_rows(rows, &answer, &error));
  bw_thrift_free(fields);
  EXPECT(unlink(path) == 0);
  return answer;
}

/* Rows stay when what made them is gone. */
static void free_fields_below_rows(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  bw_rows *rows = NULL;
  uint64_t answer = 0;
  bw_status status;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, new_fields("samples/log.thrift", &fields, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, "samples/log.thrift", false, 10, &rows, &error));
  bw_thrift_free(fields);
  status = add_rows(rows, &answer, &error);
  EXPECT(status >= BW_STATUS_IO && status != BW_STATUS_INTERNAL);
  bw_error_clear(&error);
}

static uint64_t run_idl(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  uint64_t answer;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, new_fields("samples/log.thrift", &fields, &error));
  answer = bw_schema_len(bw_thrift_schema(fields));
  bw_thrift_free(fields);
  return answer;
}

static void include_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  char path[PATH_SIZE];
  FILE *file;
  path_in(folder, "own.thrift", path);
  file = fopen(path, "w");
  EXPECT(file && fputs("include \"own.thrift\"\nstruct Entry { 1: i64 time }\n", file) >= 0 && fclose(file) == 0);
  EXPECT(new_fields(path, &fields, &error) >= BW_STATUS_IO);
  EXPECT(error.status != BW_STATUS_INTERNAL && unlink(path) == 0);
  bw_error_clear(&error);
}

/* Caches in memory and in a file. */

static bw_cache *cache_in(const char *folder, bool is_in_file) {
  bw_error error = BW_ERROR_INIT;
  bw_cache *cache = NULL;
  char path[PATH_SIZE];
  path_in(folder, "c.bwc", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_open(is_in_file ? path : NULL, NULL, &cache, &error));
  return cache;
}

static void set_entries(bw_cache *cache, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  char key[16];
  unsigned number;
  entry.tag.data = (const uint8_t *)"even", entry.tag.len = 4;
  for (number = 0; number < ENTRIES; number++) {
    const size_t len = key_of(number, key);
    const bw_cache_entry *how = number % 2 ? NULL : &entry;
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, (const uint8_t *)key, len, (const uint8_t *)key, len, how, &error));
  }
  for (number = 0; number < ENTRIES; number++) {
    const size_t len = key_of(number, key);
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_get(cache, (const uint8_t *)key, len, &value, NULL, &error));
    add_bytes(answer, value.data, value.len);
  }
  bw_buffer_free(&value);
}

static void use_cache(bw_cache *cache, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  uint64_t count = 0;
  int64_t sum = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(cache, NULL, &error));
  set_entries(cache, answer);
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_add(cache, TEXT("key 001"), TEXT("other"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_touch(cache, TEXT("key 001"), 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_expire(cache, &count, &error));
  add_number(answer, count);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_increment(cache, TEXT("sum"), 7, &sum, &error));
  add_number(answer, (uint64_t)sum);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_take(cache, TEXT("key 003"), &value, &entry, &error));
  add_bytes(answer, value.data, value.len);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_evict(cache, TEXT("even"), &count, &error));
  add_number(answer, count);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_keys(cache, add_value, answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &count, NULL, &error));
  add_number(answer, count);
  bw_buffer_free(&value);
}

static uint64_t run_cache(const char *folder) {
  uint64_t answer = 0;
  int place;
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_cache *cache = cache_in(folder, place == 1);
    use_cache(cache, &answer);
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(cache, &error));
  }
  return answer;
}

static bw_status grow_by_sets(const char *folder, bw_error *error) {
  bw_cache *cache = cache_in(folder, true);
  bw_status status = BW_STATUS_OK;
  uint64_t before = 0, after = 0;
  uint32_t number;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &before, NULL, NULL));
  for (number = 0; number < 10000 && status == BW_STATUS_OK; number++)
    status = bw_cache_set(cache, (const uint8_t *)&number, sizeof number, much, sizeof much, NULL, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &after, NULL, NULL));
  EXPECT(after == before + number - 1);
  (void)bw_cache_close(cache, NULL);
  return status;
}

static void second_cache(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_cache *first = cache_in(folder, true), *second = cache_in(folder, true);
  uint64_t answers[2] = {0, 0};
  set_entries(first, &answers[0]);
  set_entries(second, &answers[1]);
  EXPECT(answers[0] == answers[1]);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(first, NULL, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_get(second, TEXT("key 001"), &value, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(second, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(first, &error));
}

static struct own_cache {
  bw_cache *cache;
  int refused;
} own_cache;

static void change_own_cache(void *context, size_t place, const bw_slice *key) {
  bw_error error = BW_ERROR_INIT;
  struct own_cache *own_one = (struct own_cache *)context;
  (void)place;
  EXPECT_STATUS(BW_STATUS_LOCK, bw_cache_set(own_one->cache, key->data, key->len, TEXT("other"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_LOCK, bw_cache_close(own_one->cache, &error));
  own_one->refused++;
  bw_error_clear(&error);
}

static void change_a_cache_in_its_own_function(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  uint64_t answer = 0;
  own_cache.cache = cache_in(folder, true);
  own_cache.refused = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(own_cache.cache, NULL, &error));
  set_entries(own_cache.cache, &answer);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_keys(own_cache.cache, change_own_cache, &own_cache, &error));
  EXPECT(own_cache.refused == ENTRIES);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(own_cache.cache, &error));
}

/* The table. */

static const char NO_FUNCTION[] = "it runs no function of the program's that could fail";

typedef struct {
  const char *name;
  uint64_t (*run)(const char *folder);
  bw_status (*grow)(const char *folder, bw_error *error);
  void (*second)(const char *folder); /* none: by two processes at once */
  void (*itself)(const char *folder);
  void (*fail)(const char *folder);
  const char *not_failed; /* why there is no `fail` */
} operation;

static const operation OPERATIONS[] = {
  {"open a table", run_open_again, grow_by_changes, second_table, second_table, NULL, NO_FUNCTION},
  {"read an entry", run_read_entries, NULL, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"change an entry", run_change_entries, grow_by_changes, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"change many entries", run_change_many, grow_by_changes, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"walk a table", run_walk, NULL, second_table, walk_what_is_closed, NULL, NO_FUNCTION},
  {"use a snapshot", run_use_a_snapshot, NULL, second_table, keep_a_snapshot_of_what_is_closed, NULL, NO_FUNCTION},
  {"run a transaction", run_run_a_transaction, grow_by_transactions, second_table, close_in_a_transaction, NULL, NO_FUNCTION},
  {"sync or compact a table", run_sync_and_compact, grow_by_changes, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"back a table up", run_back_up, grow_by_backup, second_table, back_up_over_itself, NULL, NO_FUNCTION},
  {"dump a table", run_dump, grow_by_dump, second_table, dump_over_itself, NULL, NO_FUNCTION},
  {"load a dump", run_load, grow_by_changes, second_table, dump_over_itself, NULL, NO_FUNCTION},
  {"close a table", run_close_again, grow_by_transactions, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"use a cache", run_cache, grow_by_sets, second_cache, change_a_cache_in_its_own_function, NULL, NO_FUNCTION},
  {"open a capture", run_ask_info, NULL, NULL, itself_ask_info, fail_ask_info, NULL},
  {"walk the packets of a capture", run_ask_frames, NULL, NULL, itself_ask_frames, fail_ask_frames, NULL},
  {"read a capture as columns", run_ask_columns, NULL, NULL, itself_ask_columns, fail_ask_columns, NULL},
  {"sum up a capture", run_sums, NULL, NULL, itself_sums, fail_sums, NULL},
  {"walk the flows or calls of a capture", run_flows, NULL, NULL, itself_flows, fail_flows, NULL},
  {"merge flows into a store", run_merge, grow_by_merges, second_store, merge_a_store_into_itself, fail_merge, NULL},
  {"walk a store of flows", run_walk_of_store, NULL, second_store, walk_a_store_that_is_closed, NULL, NO_FUNCTION},
  {"write what was read to a file", run_files, grow_by_files, NULL, write_files_into_themselves, fail_files, NULL},
  {"read values from a stream", run_reader, NULL, NULL, read_by_own_function, fail_reader, NULL},
  {"write values to a stream", run_writer, grow_by_writer, NULL, write_by_own_function, fail_writer, NULL},
  {"read a Thrift message", run_thrift, NULL, NULL, free_fields_below_rows, NULL, NO_FUNCTION},
  {"read a Thrift IDL file", run_idl, NULL, NULL, include_itself, NULL, NO_FUNCTION},
};

/* Operations that the C interface does not offer: it makes neither packets nor messages, and stores hold objects of Ruby's. */
static const char *const NOT_OFFERED[] = {
  "run a transaction of a store", "write packets to a capture", "write a Thrift message",
};

/* Troubles. */

/* A child of a process with threads hangs under the address sanitizer, where a thread had the lock of the sanitizer's memory:
 * the other builds of this file have children. */
#ifdef __SANITIZE_ADDRESS__
static const bool HAS_CHILDREN = false;
#else
static const bool HAS_CHILDREN = true;
#endif

static void expect_nothing_left(const char *folder) {
  DIR *names = opendir(folder);
  const struct dirent *entry;
  EXPECT(names);
  while ((entry = readdir(names)) != NULL) {
    const char *name = entry->d_name;
    EXPECT(strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (name[0] != '.' && !strstr(name, ".new") && !strstr(name, ".part")));
  }
  closedir(names);
}

static void check(const operation *of, const char *folder, uint64_t expected) {
  expect_same(of->run(folder), expected, of->name);
  expect_nothing_left(folder);
}

static volatile sig_atomic_t taken;
static void take(int number) {
  (void)number;
  taken++;
}

static void set_timer(long microseconds) {
  struct itimerval timer = {{0, 0}, {0, 0}};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = microseconds;
  EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void in_signal(const operation *of, const char *folder, uint64_t expected) {
  taken = 0;
  set_timer(1000);
  do expect_same(of->run(folder), expected, of->name);
  while (taken < 20);
  set_timer(0);
  check(of, folder, expected);
}

static void in_raise(const operation *of, const char *folder, uint64_t expected) {
  if (of->fail) of->fail(folder);
  check(of, folder, expected);
}

/* Waits for a child, which the system ends where it hangs. */
static void expect_well(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) EXPECT(errno == EINTR);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static pid_t forked(void) {
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS_MAX);
  }
  return child;
}

/* Bounds the length of files, a bit above what is there. */
static void bound_files(const char *folder) {
  struct rlimit bound;
  rlim_t length = 2000;
  DIR *names = opendir(folder);
  const struct dirent *entry;
  EXPECT(names && getrlimit(RLIMIT_FSIZE, &bound) == 0);
  while ((entry = readdir(names)) != NULL) {
    char path[PATH_SIZE];
    struct stat found;
    path_in(folder, entry->d_name, path);
    if (stat(path, &found) == 0 && S_ISREG(found.st_mode) && (rlim_t)found.st_size > length) length = (rlim_t)found.st_size;
  }
  closedir(names);
  bound.rlim_cur = length + 60000;
  signal(SIGXFSZ, SIG_IGN);
  EXPECT(setrlimit(RLIMIT_FSIZE, &bound) == 0);
}

static void in_full(const operation *of, const char *folder, uint64_t expected) {
  pid_t child;
  if (!HAS_CHILDREN) return;
  (void)of->run(folder);
  child = forked();
  if (child == 0) {
    bw_error error = BW_ERROR_INIT;
    bound_files(folder);
    EXPECT(of->grow(folder, &error) == BW_STATUS_IO && error.os_error == EFBIG);
    _exit(0);
  }
  expect_well(child);
  if (of->second == second_store) {
    /* Flows that were merged before stay: the next run answers with more. */
    (void)of->run(folder);
    expect_nothing_left(folder);
    return;
  }
  if (of->second == second_table) {
    /* Tables that grew stay: the entries of before are looked for in them. */
    bw_error error = BW_ERROR_INIT;
    const uint32_t kinds[] = {BW_TABLE_KIND_HASH, BW_TABLE_KIND_TREE};
    size_t place;
    for (place = 0; place < 2; place++) {
      bw_table *table = NULL;
      char path[PATH_SIZE];
      path_of_table(folder, kinds[place], path);
      EXPECT_STATUS(BW_STATUS_OK, open_file(path, true, &table, &error));
      expect_entries(table);
      EXPECT_STATUS(BW_STATUS_OK, bw_table_clear(table, &error));
      closed(table);
    }
  }
  check(of, folder, expected);
}

static struct {
  const operation *of;
  uint64_t expected;
  volatile sig_atomic_t is_over;
} threads;

/* Runs it again and again, in a folder of its own. */
static void *run_in_thread(void *folder) {
  do expect_same(threads.of->run((const char *)folder), threads.expected, threads.of->name);
  while (!threads.is_over);
  return NULL;
}

static void start_thread(pthread_t *thread, const operation *of, uint64_t expected, char *own_folder) {
  threads.of = of, threads.expected = expected, threads.is_over = 0;
  EXPECT(mkdir(own_folder, 0777) == 0);
  EXPECT(pthread_create(thread, NULL, run_in_thread, own_folder) == 0);
}

/* Handles are of one thread at a time: each thread has its own. */
static void in_thread(const operation *of, const char *folder, uint64_t expected) {
  char other[PATH_SIZE];
  pthread_t thread;
  int round;
  path_in(folder, "other", other);
  start_thread(&thread, of, expected, other);
  for (round = 0; round < 5; round++) expect_same(of->run(folder), expected, of->name);
  threads.is_over = 1;
  EXPECT(pthread_join(thread, NULL) == 0);
  check(of, folder, expected);
}

/* While a thread is in it. The child has handles of its own. */
static void in_fork(const operation *of, const char *folder, uint64_t expected) {
  char other[PATH_SIZE];
  pthread_t thread;
  int round;
  if (!HAS_CHILDREN) return;
  path_in(folder, "other", other);
  start_thread(&thread, of, expected, other);
  for (round = 0; round < 5; round++) {
    const pid_t child = forked();
    if (child == 0) {
      expect_same(of->run(folder), expected, of->name);
      _exit(0);
    }
    expect_well(child);
  }
  threads.is_over = 1;
  EXPECT(pthread_join(thread, NULL) == 0);
  check(of, folder, expected);
}

static void in_second(const operation *of, const char *folder, uint64_t expected) {
  if (of->second) {
    of->second(folder);
  } else if (HAS_CHILDREN) {
    char other[PATH_SIZE];
    pid_t child;
    path_in(folder, "other", other);
    EXPECT(mkdir(other, 0777) == 0);
    child = forked();
    if (child == 0) {
      expect_same(of->run(other), expected, of->name);
      _exit(0);
    }
    expect_same(of->run(folder), expected, of->name);
    expect_well(child);
  }
  check(of, folder, expected);
}

static void in_itself(const operation *of, const char *folder, uint64_t expected) {
  of->itself(folder);
  check(of, folder, expected);
}

static const struct {
  const char *name;
  void (*run)(const operation *of, const char *folder, uint64_t expected);
} DRIVERS[] = {
  {"signal", in_signal}, {"raise", in_raise}, {"full", in_full}, {"thread", in_thread},
  {"fork", in_fork}, {"second", in_second}, {"itself", in_itself},
};

static void run_trouble(const operation *of, const char *trouble, const char *folder, uint64_t expected) {
  size_t place = 0;
  while (place < COUNT_OF(DRIVERS) && strcmp(DRIVERS[place].name, trouble) != 0) place++;
  if (place == COUNT_OF(DRIVERS)) {
    fprintf(stderr, "troubles.c: expected a driver for the trouble %s\n", trouble);
    exit(1);
  }
  if (getenv("BYTEWRIGHT_TOLD")) fprintf(stderr, "%s: %s\n", of->name, trouble);
  EXPECT(strcmp(trouble, "full") != 0 || of->grow);
  EXPECT(strcmp(trouble, "raise") != 0 || of->fail || of->not_failed);
  DRIVERS[place].run(of, folder, expected);
}

/* The text of a file. */
static char *text_of(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text;
  long len;
  EXPECT(file && fseek(file, 0, SEEK_END) == 0 && (len = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0);
  text = (char *)calloc(1, (size_t)len + 1);
  EXPECT(text && fread(text, 1, (size_t)len, file) == (size_t)len && fclose(file) == 0);
  return text;
}

/* Cuts the next string in quotes out of a text, and moves behind it. */
static char *next_quoted(char **text) {
  char *begin = strchr(*text, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
  EXPECT(end);
  *end = 0;
  *text = end + 1;
  return begin + 1;
}

static const operation *operation_named(const char *name) {
  size_t place;
  for (place = 0; place < COUNT_OF(OPERATIONS); place++)
    if (strcmp(OPERATIONS[place].name, name) == 0) return &OPERATIONS[place];
  for (place = 0; place < COUNT_OF(NOT_OFFERED); place++)
    if (strcmp(NOT_OFFERED[place], name) == 0) return NULL;
  fprintf(stderr, "troubles.c: expected the operation \"%s\" in OPERATIONS or NOT_OFFERED\n", name);
  exit(1);
}

static void run_operation(const operation *of, char *listed, const char *folder) {
  static int count;
  char own_folder[PATH_SIZE];
  uint64_t expected = 0;
  bool is_first = true;
  while (strchr(listed, '"')) {
    const char *trouble = next_quoted(&listed);
    EXPECT(snprintf(own_folder, sizeof own_folder, "%s/%d", folder, ++count) < PATH_SIZE && mkdir(own_folder, 0777) == 0);
    if (is_first) expected = of->run(own_folder);
    is_first = false;
    run_trouble(of, trouble, own_folder, expected);
  }
}

/* A line of the table's list of operations is `{ "name": "...", "troubles": ["...", ...] },`. */
static void run_table(const char *folder) {
  char *text = text_of("conformance/troubles.json"), *line = strstr(text, "\"operations\"");
  size_t count = 0;
  EXPECT(line);
  while ((line = strstr(line, "{ \"name\": ")) != NULL) {
    char *end = strchr(line, '\n'), *name;
    const operation *of;
    EXPECT(end);
    *end = 0;
    line += strlen("{ \"name\": ");
    name = next_quoted(&line);
    line = strstr(line, "\"troubles\": [");
    EXPECT(line);
    of = operation_named(name);
    if (of) run_operation(of, line + strlen("\"troubles\": ["), folder);
    line = end + 1;
    count++;
  }
  EXPECT(count == COUNT_OF(OPERATIONS) + COUNT_OF(NOT_OFFERED));
  free(text);
}

/* The functions of an operation, each with a space behind it. */
static const struct {
  const char *operation, *functions;
} FUNCTIONS[] = {
  {"open a table", "bw_table_open bw_table_new bw_adb_open "},
  {"read an entry", "bw_table_get bw_table_get_into bw_table_get_with bw_table_contains bw_table_get_many bw_table_len "},
  {"change an entry", "bw_table_put bw_table_create bw_table_append bw_table_delete bw_table_take bw_table_shift bw_table_increment "},
  {"change many entries", "bw_table_put_many bw_table_delete_range bw_table_clear bw_adb_call "},
  {"walk a table", "bw_table_scan bw_scan_next bw_scan_free bw_table_cursor bw_cursor_first bw_cursor_last bw_cursor_next "
                   "bw_cursor_prev bw_cursor_seek bw_cursor_entry bw_cursor_free bw_table_changes_since bw_changes_next "
                   "bw_changes_free "},
  {"use a snapshot", "bw_table_snapshot bw_snapshot_len bw_snapshot_get bw_snapshot_scan bw_snapshot_free "},
  {"run a transaction", "bw_table_begin bw_table_commit bw_table_abort "},
  {"sync or compact a table", "bw_table_sync bw_table_compact bw_table_stat "},
  {"back a table up", "bw_table_backup bw_table_check "},
  {"dump a table", "bw_table_dump "},
  {"load a dump", "bw_table_load "},
  {"close a table", "bw_table_close "},
  {"use a cache", "bw_cache_open bw_cache_close bw_cache_get bw_cache_set bw_cache_add bw_cache_touch bw_cache_increment "
                  "bw_cache_take bw_cache_evict bw_cache_expire bw_cache_clear bw_cache_len bw_cache_keys "},
  /* A live capture needs rights of its own; what ends its rows is that of any other. */
  {"open a capture", "bw_capture_open bw_capture_open_input bw_capture_open_live bw_capture_stop bw_capture_close bw_capture_info "},
  {"walk the packets of a capture", "bw_capture_frames bw_capture_frame bw_frames_next bw_frames_free "},
  {"read a capture as columns", "bw_capture_packets bw_ask bw_rows_next bw_rows_stream bw_rows_free "},
  {"sum up a capture", "bw_capture_count_by bw_capture_sum "},
  {"walk the flows or calls of a capture", "bw_capture_flows bw_capture_calls "},
  {"merge flows into a store", "bw_flow_store_open bw_capture_merge_flows bw_flow_store_len bw_flow_store_close "},
  {"walk a store of flows", "bw_flow_store_open_read_only bw_flow_store_flows "},
  {"write what was read to a file", "bw_flow_log_create bw_capture_log_flows bw_flow_log_finish bw_flow_log_free bw_capture_cut "},
  {"read values from a stream", "bw_reader_open bw_reader_open_with bw_reader_open_input bw_reader_open_input_with bw_reader_unsigned "
                                "bw_reader_signed bw_reader_float bw_reader_varint bw_reader_zigzag "
                                "bw_reader_read bw_reader_at_end bw_reader_skip bw_reader_seek bw_reader_records bw_reader_rows "
                                "bw_reader_close "},
  {"write values to a stream", "bw_writer_open bw_writer_open_output bw_writer_unsigned bw_writer_signed bw_writer_float bw_writer_varint "
                               "bw_writer_zigzag bw_writer_write bw_writer_seek bw_writer_position bw_writer_flush bw_writer_sync "
                               "bw_writer_close bw_writer_discard "},
  {"read a Thrift message", "bw_thrift_add bw_thrift_add_many bw_thrift_take bw_thrift_rows bw_thrift_free "},
  {"read a Thrift IDL file", "bw_thrift_new "},
};

/* Those that do no input or output, call nobody and wait for nothing. */
static const char PLAIN[] =
  "bw_version bw_abi_version bw_check_abi bw_error_clear bw_buffer_free bw_table_depth bw_table_values bw_table_set_values "
  "bw_changes_position bw_schema_named bw_schema_len bw_schema_field bw_schema_find bw_value_text bw_batch_rows bw_batch_schema bw_batch_column "
  "bw_batch_value bw_batch_arrow bw_batch_free bw_capture_live_counts bw_capture_damage bw_capture_index_fault bw_rows_schema bw_frames_captured "
  "bw_cache_now bw_cache_clearings bw_frames_payload bw_frames_value bw_thrift_schema bw_thrift_set_interrupted bw_reader_set_interrupted bw_reader_position ";

/* Returns true if a list of names, each with a space behind it, has the one of this length. */
static bool has_name(const char *names, const char *name, size_t len) {
  const char *found = names;
  while ((found = strstr(found, "bw_")) != NULL) {
    const size_t found_len = strcspn(found, " ");
    if (found_len == len && strncmp(found, name, len) == 0) return true;
    found += found_len;
  }
  return false;
}

static bool is_placed(const char *name, size_t len) {
  size_t place;
  for (place = 0; place < COUNT_OF(FUNCTIONS); place++)
    if (has_name(FUNCTIONS[place].functions, name, len)) return true;
  return has_name(PLAIN, name, len);
}

static size_t names_in(const char *names) {
  size_t count = 0;
  for (; *names; names++) count += *names == ' ';
  return count;
}

/* Every function of the header is in FUNCTIONS or in PLAIN, and there are no others in these. */
static void expect_every_function_placed(void) {
  char *text = text_of("c/include/bytewright.h"), *at = text;
  size_t found = 0, placed = names_in(PLAIN), place;
  for (place = 0; place < COUNT_OF(FUNCTIONS); place++) {
    placed += names_in(FUNCTIONS[place].functions);
    EXPECT(operation_named(FUNCTIONS[place].operation) == &OPERATIONS[place]);
  }
  EXPECT(COUNT_OF(FUNCTIONS) == COUNT_OF(OPERATIONS));
  while ((at = strstr(at, "\n")) != NULL) {
    const char *name = strstr(++at, "bw_");
    const size_t line = strcspn(at, "\n");
    /* A declaration begins its line, and no comment does with these. */
    if (!strchr("abcdefghijklmnopqrstuvwxyz", *at) || strncmp(at, "typedef", 7) == 0) continue;
    while (name && name < at + line) {
      const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
      if (name[len] == '(') {
        found++;
        if (is_placed(name, len)) break;
        fprintf(stderr, "troubles.c: expected %.*s in FUNCTIONS, with the operation that it does, or in PLAIN\n", (int)len, name);
        exit(1);
      }
      name = strstr(name + len, "bw_");
    }
  }
  EXPECT(found > 100 && found == placed);
  free(text);
}

int main(int count, char **arguments) {
  static char made[32];
  struct sigaction action;
  EXPECT(count == 2);
  seed_text = getenv("BYTEWRIGHT_SEED");
  if (!seed_text) {
    snprintf(made, sizeof made, "%ld", (long)time(NULL));
    seed_text = made;
  }
  srand((unsigned)strtoul(seed_text, NULL, 10));
  memset(&action, 0, sizeof action);
  action.sa_handler = take;
  action.sa_flags = SA_RESTART;
  EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
  expect_every_function_placed();
  run_table(arguments[1]);
  return 0;
}
