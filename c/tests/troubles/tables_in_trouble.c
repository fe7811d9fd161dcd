/* Tables that grow until the disk is full, that a second handle uses, and that are aimed at themselves. */
#define _XOPEN_SOURCE 700
#include "tables.h"

#include <unistd.h>

uint8_t much[10000];

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

bw_status grow_by_changes(const char *folder, bw_error *error) { return grow_tables(folder, false, error); }
bw_status grow_by_transactions(const char *folder, bw_error *error) { return grow_tables(folder, true, error); }

bw_status grow_by_backup(const char *folder, bw_error *error) {
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

bw_status grow_by_dump(const char *folder, bw_error *error) {
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

/* Tables that grew stay: the entries of before are looked for in them. */
void expect_entries_of_grown_tables(const char *folder) {
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

static bw_table *own_table;

static void use_own(void *context, size_t place, const bw_slice *value) {
  bw_error error = BW_ERROR_INIT;
  bw_slice key = {TEXT("own")};
  EXPECT(context == &own_table && place == 0 && value);
  expect_lock(bw_table_put(own_table, key.data, key.len, TEXT("1"), &error), &error);
  expect_lock(bw_table_put_many(own_table, &key, &key, 1, &error), &error);
  expect_lock(bw_table_clear(own_table, &error), &error);
  expect_lock(bw_table_begin(own_table, &error), &error);
  expect_lock(bw_table_compact(own_table, &error), &error);
  expect_lock(bw_table_close(own_table, &error), &error);
}

void use_in_own_function(const char *folder) {
  unsigned place;
  for (place = 0; place < 4; place++) {
    bw_error error = BW_ERROR_INIT;
    refused = 0;
    own_table = filled(folder, place % 2 ? BW_TABLE_KIND_TREE : BW_TABLE_KIND_HASH, place >= 2);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_get_with(own_table, TEXT("key 007"), use_own, &own_table, &error));
    EXPECT(refused == 6);
    expect_entries(own_table);
    closed(own_table);
  }
}

static bw_status open_exclusively(const char *path, bw_table **table, bw_error *error) {
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  const char *names[] = {"exclusive=true"};
  options.timeout = 0;
  options.named.names = names, options.named.count = 1;
  return bw_table_open(path, &options, table, error);
}

void second_table(const char *folder) {
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

void walk_what_is_closed(const char *folder) {
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

void keep_a_snapshot_of_what_is_closed(const char *folder) {
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

void close_in_a_transaction(const char *folder) {
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

void back_up_over_itself(const char *folder) {
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

void dump_over_itself(const char *folder) {
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
