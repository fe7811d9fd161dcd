/* Goal: tables do through the C interface what the header says, in memory and in a file, hashed and ordered.
 *
 * Method: one script of operations over each of the four kinds, with errors among them. It is compiled as C99 and as
 * C++17, linked with the shared and with the static library, and run under the address sanitizer, which finds what is
 * not freed. tests/run.sh does all of it.
 */
#include "expect.h"
#include "files.h"
#include "text.h"

static bw_slice slice(const char *text) {
  bw_slice slice;
  slice.data = (const uint8_t *)text;
  slice.len = strlen(text);
  return slice;
}

static void values_are_put_read_and_deleted(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  uint8_t room[4];
  size_t len = 0;
  uint64_t count = 0;
  int64_t sum = 0;
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_get(table, TEXT("a"), &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a"), TEXT("one"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("zero\0byte"), TEXT(""), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, TEXT("a"), &value, &error));
  EXPECT_BYTES("one", value);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_append(table, TEXT("a"), TEXT(" and more"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, TEXT("a"), &value, &error));
  EXPECT_BYTES("one and more", value);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_into(table, TEXT("a"), room, sizeof room, &len, &error));
  EXPECT(len == 12 && memcmp(room, "one ", 4) == 0);
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_create(table, TEXT("a"), TEXT("two"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_create(table, TEXT("b"), TEXT("2"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("b"), 40, &sum, &error));
  EXPECT(sum == 42);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_increment(table, TEXT("a"), 1, &sum, &error));
  EXPECT(strstr(error.message, "one and more") != NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &count, &error));
  EXPECT(count == 3);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_contains(table, TEXT("zero\0byte"), &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_contains(table, TEXT("zero"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, TEXT("zero\0byte"), &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_delete(table, TEXT("zero\0byte"), &error));
  bw_buffer_free(&value);
  bw_error_clear(&error);
}

struct shown {
  size_t count;
  char text[64];
};

static void show(void *context, size_t place, const bw_slice *value) {
  struct shown *shown = (struct shown *)context;
  size_t used = strlen(shown->text);
  EXPECT(place == shown->count++);
  if (value == NULL) {
    snprintf(shown->text + used, sizeof shown->text - used, "-,");
  } else {
    snprintf(shown->text + used, sizeof shown->text - used, "%.*s,", (int)value->len, (const char *)value->data);
  }
}

static void many_keys_are_one_call(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_slice keys[3], values[3];
  struct shown shown;
  memset(&shown, 0, sizeof shown);
  keys[0] = slice("m1"), keys[1] = slice("m2"), keys[2] = slice("m3");
  values[0] = slice("1"), values[1] = slice("2"), values[2] = slice("3");
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put_many(table, keys, values, 3, &error));
  keys[1] = slice("missing");
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_many(table, keys, 3, show, &shown, &error));
  EXPECT(strcmp(shown.text, "1,-,3,") == 0);
  memset(&shown, 0, sizeof shown);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_with(table, keys[0].data, keys[0].len, show, &shown, &error));
  EXPECT(strcmp(shown.text, "1,") == 0);
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_get_with(table, (const uint8_t *)"none", 4, show, &shown, &error));
  EXPECT(shown.count == 1);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_get_with(table, keys[0].data, keys[0].len, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_get_many(table, NULL, 3, show, &shown, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_get_many(table, keys, 3, NULL, &shown, &error));
  bw_error_clear(&error);
}

static void a_transaction_is_kept_or_taken_back(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("t"), TEXT("kept"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("t"), TEXT("taken back"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_abort(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, TEXT("t"), &value, &error));
  EXPECT_BYTES("kept", value);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_commit(table, &error));
  EXPECT(error.message != NULL && error.offset == -1);
  bw_buffer_free(&value);
  bw_error_clear(&error);
}

static size_t entries_of(bw_scan *scan) {
  bw_error error = BW_ERROR_INIT;
  bw_slice key, value;
  size_t count = 0;
  bw_status status;
  while ((status = bw_scan_next(scan, &key, &value, &error)) == BW_STATUS_OK) count++;
  EXPECT_STATUS(BW_STATUS_NONE, status);
  bw_scan_free(scan);
  return count;
}

static void a_snapshot_stays_as_it_was(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_snapshot *snapshot = NULL;
  bw_scan *scan = NULL;
  uint64_t before = 0, after = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("s"), TEXT("then"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_snapshot(table, &snapshot, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_len(snapshot, &before, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("s"), TEXT("now"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("s2"), TEXT("new"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_get(snapshot, TEXT("s"), &value, &error));
  EXPECT_BYTES("then", value);
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_len(snapshot, &after, &error));
  EXPECT(before == after);
  EXPECT_STATUS(BW_STATUS_OK, bw_snapshot_scan(snapshot, NULL, &scan, &error));
  EXPECT(entries_of(scan) == before);
  bw_snapshot_free(snapshot);
  bw_buffer_free(&value);
}

static void ranges_and_cursors_need_an_order(bw_table *table, bool is_ordered) {
  bw_error error = BW_ERROR_INIT;
  bw_range range = BW_RANGE_INIT;
  bw_scan *scan = NULL;
  bw_cursor *cursor = NULL;
  bw_slice key, value;
  uint64_t count = 0;
  range.prefix = slice("m");
  range.reverse = true;
  range.limit = 2;
  if (!is_ordered) {
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_scan(table, &range, &scan, &error));
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_delete_range(table, &range, &count, &error));
    EXPECT(strstr(error.message, "expected an ordered table") != NULL);
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_cursor(table, &cursor, &error));
    EXPECT(strstr(error.message, "ordered") != NULL);
    bw_error_clear(&error);
    return;
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_table_scan(table, &range, &scan, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_scan_next(scan, &key, &value, &error));
  EXPECT(key.len == 2 && memcmp(key.data, "m3", 2) == 0);
  EXPECT(entries_of(scan) == 1);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_cursor(table, &cursor, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_cursor_entry(cursor, &key, &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_seek(cursor, TEXT("m2"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_prev(cursor, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_entry(cursor, &key, &value, &error));
  EXPECT(key.len == 2 && memcmp(key.data, "m1", 2) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_last(cursor, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_cursor_next(cursor, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cursor_first(cursor, &error));
  bw_cursor_free(cursor);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_delete_range(table, &range, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete_range(table, &range, &count, &error));
  EXPECT(count == 2);
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_contains(table, TEXT("m3"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_contains(table, TEXT("m1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete_range(table, NULL, &count, &error));
  EXPECT(count > 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &count, &error));
  EXPECT(count == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_abort(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_contains(table, TEXT("m3"), &error));
  bw_error_clear(&error);
}

/* Expects the next change; `kind` 0 stands for the end. */
static void expect_change(bw_changes *changes, int kind, const char *key, const char *value) {
  bw_error error = BW_ERROR_INIT;
  bw_change change = BW_CHANGE_CLEAR;
  bw_slice found_key, found_value;
  EXPECT_STATUS(kind ? BW_STATUS_OK : BW_STATUS_NONE, bw_changes_next(changes, &change, &found_key, &found_value, &error));
  if (!kind) return;
  EXPECT((int)change == kind);
  EXPECT(found_key.len == strlen(key) && memcmp(found_key.data, key, strlen(key)) == 0);
  EXPECT(found_value.len == strlen(value) && memcmp(found_value.data, value, strlen(value)) == 0);
}

static void changes_go_on_from_a_position(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  char path[PATH_SIZE];
  bw_table *table = NULL;
  bw_changes *first = NULL, *changes = NULL;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  options.create = true;
  path_in(folder, "changes.bwh", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_changes_since(table, NULL, &first, &error));
  expect_change(first, BW_CHANGE_CLEAR, "", "");
  expect_change(first, BW_CHANGE_PUT, "a", "1");
  expect_change(first, 0, NULL, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("b"), TEXT("2"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_delete(table, TEXT("a"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_changes_since(table, bw_changes_position(first), &changes, &error));
  expect_change(changes, BW_CHANGE_PUT, "b", "2");
  expect_change(changes, BW_CHANGE_DELETE, "a", "");
  expect_change(changes, 0, NULL, NULL);
  bw_changes_free(changes);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_changes_since(table, "1.2.3", &changes, &error));
  EXPECT(strstr(error.message, "expected a position") != NULL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_changes_since(table, NULL, NULL, &error));
  EXPECT(bw_changes_position(NULL) == NULL);
  bw_changes_free(first);
  bw_changes_free(NULL);
  bw_error_clear(&error);
  bw_table_close(table, &error);
}

static void what_is_no_argument_is_refused(void) {
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_new(BW_TABLE_KIND_ANY, &table, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_new(7, &table, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_new(BW_TABLE_KIND_HASH, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_put(NULL, TEXT("a"), TEXT("b"), &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_open(NULL, NULL, &table, &error));
  options.timeout = -1;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_open("/nowhere/a.bwt", &options, &table, &error));
  EXPECT(strstr(error.message, "expected timeout of 0 seconds or more, found -1") != NULL);
  options.timeout = 0, options.sync = 3;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_open("/nowhere/a.bwt", &options, &table, &error));
  EXPECT(strstr(error.message, "expected a bw_sync from 0 to 2, found 3") != NULL);
  EXPECT_STATUS(BW_STATUS_IO, bw_table_open("/nowhere/a.bwt", NULL, &table, &error));
  EXPECT(error.os_error == ENOENT && strcmp(error.file, "/nowhere/a.bwt") == 0);
  EXPECT_STATUS(BW_STATUS_IO, bw_table_open("/nowhere/a.bwt", NULL, &table, NULL));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_check_abi(BW_ABI_VERSION + 1, &error));
  EXPECT(table == NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(NULL, &error));
  bw_scan_free(NULL);
  bw_snapshot_free(NULL);
  bw_cursor_free(NULL);
  bw_buffer_free(NULL);
  bw_error_clear(NULL);
  bw_error_clear(&error);
}

static void options_are_taken_by_name(const char *folder) {
  const struct { const char *named, *words; } wrong[] = {
    {"sync=comit", "expected sync to be interval, commit or never, found \"comit\"; did you mean commit?"},
    {"timeout=soon", "expected timeout to be a number of seconds, found \"soon\""},
    {"timeout=-1", "expected timeout of 0 seconds or more, found -1"},
    {"creat=1", "expected an option (create, read_only, exclusive, sync, timeout, verify), found creat; did you mean create?"},
    {"verify", "expected an option as name=value, found \"verify\""},
  };
  const char *all[] = {"create=true", "sync=commit", "timeout=0", "verify=1"}, *read_only[] = {"read_only=1", "create=0"};
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  size_t place;
  path_in(folder, "named.bwh", path);
  options.named.count = 1;
  for (place = 0; place < sizeof wrong / sizeof *wrong; place++) {
    options.named.names = &wrong[place].named;
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_open(path, &options, &table, &error));
    EXPECT(strstr(error.message, wrong[place].words) != NULL);
  }
  /* They count over the fields. */
  options.named.names = all, options.named.count = 4;
  options.create = false, options.sync = BW_SYNC_NEVER, options.timeout = 9;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a"), TEXT("b"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  options.named.names = read_only, options.named.count = 2;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_put(table, TEXT("a"), TEXT("c"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  bw_error_clear(&error);
}

static void all_of_it(bw_table *table, bool is_ordered) {
  bw_error error = BW_ERROR_INIT;
  bw_stat stat;
  values_are_put_read_and_deleted(table);
  many_keys_are_one_call(table);
  a_transaction_is_kept_or_taken_back(table);
  a_snapshot_stays_as_it_was(table);
  ranges_and_cursors_need_an_order(table, is_ordered);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_compact(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_sync(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_stat(table, &stat, &error));
  EXPECT(stat.records == 8);
}

static void a_file_keeps_what_was_put(const char *folder, bw_table_kind kind) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_table *table = NULL, *second = NULL;
  const char *names[] = {"exclusive=true", "timeout=0"};
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/a.%s", folder, kind == BW_TABLE_KIND_TREE ? "bwt" : "bwh");
  options.create = true;
  options.kind = kind;
  options.named.names = names, options.named.count = 2;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_LOCK, bw_table_open(path, &options, &second, &error));
  EXPECT(strcmp(error.file, path) == 0);
  all_of_it(table, kind == BW_TABLE_KIND_TREE);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_clear(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  options.create = false;
  options.read_only = true;
  options.named.count = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, TEXT("t"), &value, &error));
  EXPECT_BYTES("kept", value);
  EXPECT(bw_table_put(table, TEXT("t"), TEXT("x"), &error) > BW_STATUS_NONE);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  bw_buffer_free(&value);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  bw_table_kind kind;
  EXPECT(argc == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_check_abi(BW_ABI_VERSION, &error));
  EXPECT(bw_abi_version() == BW_ABI_VERSION && strlen(bw_version()) > 0);
  what_is_no_argument_is_refused();
  options_are_taken_by_name(argv[1]);
  changes_go_on_from_a_position(argv[1]);
  for (kind = BW_TABLE_KIND_HASH;; kind = BW_TABLE_KIND_TREE) {
    EXPECT_STATUS(BW_STATUS_OK, bw_table_new(kind, &table, &error));
    all_of_it(table, kind == BW_TABLE_KIND_TREE);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
    a_file_keeps_what_was_put(argv[1], kind);
    if (kind == BW_TABLE_KIND_TREE) break;
  }
  return 0;
}
