/* Goal: what the values of a table are, is kept; copies are whole, and damage is found; entries leave from the front.
 *
 * Method: tables of both kinds, in memory and in files, compiled and run as tables.c is; one of the files is damaged.
 */
#include "expect.h"
#include "files.h"
#include "text.h"

static void values_of_a_file_are_kept_and_others_refused(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_buffer name = BW_BUFFER_INIT;
  bw_table *table = NULL;
  char path[PATH_SIZE];
  int64_t sum = 0;
  path_in(folder, "numbers.bwt", path);
  options.create = true, options.values = "integer";
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("n"), -3, &sum, &error));
  EXPECT(sum == -3);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, TEXT("n"), &name, &error));
  EXPECT(name.len == 8);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_append(table, TEXT("n"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_set_values(table, "string", &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_set_values(table, "integer", &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  options.values = NULL;
  EXPECT_STATUS(BW_STATUS_FORMAT, bw_table_open(path, &options, &table, &error));
  EXPECT(strstr(error.message, "open it with values: integer") != NULL);
  options.values = "";
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_values(table, &name, &error));
  EXPECT_BYTES("integer", name);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  options.values = "two words";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_open(path, &options, &table, &error));
  bw_buffer_free(&name);
  bw_error_clear(&error);
}

static void a_dump_is_loaded_again(const char *folder, bw_table_kind kind) {
  const char *const formats[] = {NULL, "db", "lmdb", "sql"};
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_table *table = NULL, *other = NULL;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  char path[PATH_SIZE], own[512];
  uint64_t count = 0;
  size_t place;
  snprintf(path, sizeof path, "%s/dump%d", folder, (int)kind);
  snprintf(own, sizeof own, "%s/dumped%d", folder, (int)kind);
  options.kind = kind, options.create = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(own, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a\0"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT(""), TEXT(""), &error));
  for (place = 0; place < 4; place++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_table_dump(table, path, formats[place], false, &count, &error));
    EXPECT(count == 2);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_new(kind, &other, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_load(other, path, &count, &error));
    EXPECT(count == 2);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_get(other, TEXT("a\0"), &value, &error));
    EXPECT_BYTES("1", value);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_close(other, &error));
  }
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_dump(table, path, "csv", false, &count, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_dump(table, own, NULL, true, &count, &error));
  EXPECT(strstr(error.message, "expected an output beside the inputs") != NULL);
  EXPECT_STATUS(BW_STATUS_FORMAT, bw_table_load(table, own, &count, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &count, &error));
  EXPECT(count == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  bw_buffer_free(&value);
  bw_error_clear(&error);
}

static void a_copy_is_whole_and_damage_is_found(const char *folder, bw_table_kind kind) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer name = BW_BUFFER_INIT;
  bw_table *table = NULL;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  char path[PATH_SIZE], key[16];
  uint64_t records = 0;
  int number;
  FILE *file;
  snprintf(path, sizeof path, "%s/copy%d", folder, (int)kind);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(kind, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_set_values(table, "mine", &error));
  for (number = 0; number < 5000; number++) {
    snprintf(key, sizeof key, "key %d", number);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, (const uint8_t *)key, strlen(key), TEXT("a value of some length"), &error));
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  EXPECT(bw_table_depth(table) == 1 && bw_table_depth(NULL) == 0);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_backup(table, path, false, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_abort(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_backup(table, path, false, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_backup(table, path, false, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_backup(table, path, true, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_check(path, &records, &error));
  EXPECT(records == 5000);
  options.values = "mine";
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_values(table, &name, &error));
  EXPECT_BYTES("mine", name);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  file = fopen(path, "r+b");
  EXPECT(file != NULL && fseek(file, 150000, SEEK_SET) == 0 && fputs("damage", file) > 0 && fclose(file) == 0);
  EXPECT(bw_table_check(path, &records, &error) > BW_STATUS_NONE);
  EXPECT(strcmp(error.file, path) == 0 && records < 5000);
  EXPECT_STATUS(BW_STATUS_IO, bw_table_check("/nowhere/a.bwt", &records, &error));
  bw_buffer_free(&name);
  bw_error_clear(&error);
}

static void the_first_entry_leaves(bw_table_kind kind) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer key = BW_BUFFER_INIT, value = BW_BUFFER_INIT;
  bw_table *table = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(kind, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("b"), TEXT("2"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_shift(table, &key, &value, &error));
  EXPECT_BYTES("a", key);
  EXPECT_BYTES("1", value);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_shift(table, &key, &value, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_shift(table, &key, &value, &error));
  EXPECT_BYTES("b", key);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  bw_buffer_free(&key), bw_buffer_free(&value);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  values_of_a_file_are_kept_and_others_refused(argv[1]);
  a_copy_is_whole_and_damage_is_found(argv[1], BW_TABLE_KIND_HASH);
  a_dump_is_loaded_again(argv[1], BW_TABLE_KIND_HASH);
  a_copy_is_whole_and_damage_is_found(argv[1], BW_TABLE_KIND_TREE);
  a_dump_is_loaded_again(argv[1], BW_TABLE_KIND_TREE);
  the_first_entry_leaves(BW_TABLE_KIND_HASH);
  the_first_entry_leaves(BW_TABLE_KIND_TREE);
  return 0;
}
