/* Operations of tables, in memory and in files, hashed and ordered. */
#define _XOPEN_SOURCE 700
#include "tables.h"

#include <unistd.h>

size_t key_of(unsigned number, char *key) { return (size_t)sprintf(key, "key %03u", number); }

bw_status open_file(const char *path, bool is_written, bw_table **table, bw_error *error) {
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  options.create = is_written, options.read_only = !is_written;
  return bw_table_open(path, &options, table, error);
}

void path_of_table(const char *folder, uint32_t kind, char *path) {
  path_in(folder, kind == BW_TABLE_KIND_HASH ? "t.bwh" : "t.bwt", path);
}

bw_table *filled(const char *folder, uint32_t kind, bool is_in_file) {
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

void expect_entries(const bw_table *table) {
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

void closed(bw_table *table) {
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

size_t walked(bw_scan *scan, uint64_t *answer) {
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

#define TABLE_OPERATION(name) uint64_t run_##name(const char *folder) { return on_tables(folder, name); }
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
