/* Goal: a file that another program cuts, moves or removes under open ordered tables is an error or changes nothing.
 *
 * Method: one handle reads and another writes, in this process or a forked one, while the file is cut to half or to nothing.
 * It is compiled and linked in all ways that tests/run.sh knows.
 */
#define _POSIX_C_SOURCE 200809L

#include "expect.h"
#include "files.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS 3000
#define LONG_KEYS 20
#define LONG_LEN 40000
#define ALL (KEYS + LONG_KEYS)

enum cut { HALF, HALF_A_PAGE, NOTHING, CUTS };

static uint8_t long_value[LONG_LEN];

/* The entry with a number, from 0: short ones, and behind them long ones. */
static size_t value_of(size_t number, uint8_t *value) {
  size_t len = number < KEYS ? 10 + number % 90 : LONG_LEN - number;
  memset(value, (int)('a' + number % 26), len);
  return len;
}

static size_t key_of(size_t number, char key[16]) {
  return (size_t)snprintf(key, 16, "key%05d", (int)number);
}

static bool is_damage(bw_status status) {
  return status == BW_STATUS_CORRUPT || status == BW_STATUS_FORMAT || status == BW_STATUS_IO;
}

static bw_table *opened(const char *path, bool read_only) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL;
  options.read_only = read_only;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  return table;
}

static void make(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL;
  size_t number;
  unlink(path);
  options.create = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
  for (number = 0; number < ALL; number++) {
    char key[16];
    size_t key_len = key_of(number, key), len = value_of(number, long_value);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, (const uint8_t *)key, key_len, long_value, len, &error));
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
}

static void cut(const char *path, enum cut how) {
  struct stat status;
  EXPECT(stat(path, &status) == 0);
  switch (how) {
    case HALF: EXPECT(truncate(path, status.st_size / 2) == 0); break;
    case HALF_A_PAGE: EXPECT(truncate(path, status.st_size / 8192 * 4096 + 1000) == 0); break;
    default: EXPECT(truncate(path, 0) == 0);
  }
}

/* Counts the keys whose value can be read; all others are to be errors. */
static size_t answers(const bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  size_t number, count = 0;
  for (number = 0; number < ALL; number++) {
    char key[16];
    size_t key_len = key_of(number, key), len = value_of(number, long_value);
    bw_status status = bw_table_get(table, (const uint8_t *)key, key_len, &value, &error);
    if (status == BW_STATUS_OK) {
      EXPECT(value.len == len && memcmp(value.data, long_value, len) == 0);
      count++;
    } else {
      EXPECT(is_damage(status));
    }
  }
  bw_buffer_free(&value);
  bw_error_clear(&error);
  return count;
}

/* Counts the entries that a scan gives before it ends or fails. */
static size_t walked(bw_table *table, bw_status *last) {
  bw_error error = BW_ERROR_INIT;
  bw_scan *scan = NULL;
  bw_slice key, value;
  size_t count = 0;
  *last = bw_table_scan(table, NULL, &scan, &error);
  while (*last == BW_STATUS_OK && (*last = bw_scan_next(scan, &key, &value, &error)) == BW_STATUS_OK) count++;
  bw_scan_free(scan);
  bw_error_clear(&error);
  return count;
}

static void put_some(bw_table *writer) {
  bw_error error = BW_ERROR_INIT;
  size_t number;
  for (number = 0; number < 100; number++) {
    char key[16];
    size_t key_len = key_of(90000 + number, key);
    bw_status status = bw_table_put(writer, (const uint8_t *)key, key_len, long_value, number * 100, &error);
    EXPECT(status == BW_STATUS_OK || is_damage(status));
  }
  bw_error_clear(&error);
}

static void a_cut_is_an_error(const char *path, enum cut how, bool is_read) {
  bw_error error = BW_ERROR_INIT;
  bw_table *tables[2];
  bw_status last;
  uint64_t len;
  size_t place;
  make(path);
  tables[0] = opened(path, true), tables[1] = opened(path, false);
  for (place = 0; place < 2 && is_read; place++) EXPECT(answers(tables[place]) == ALL);
  cut(path, how);
  for (place = 0; place < 2; place++) {
    bw_status told = bw_table_len(tables[place], &len, &error);
    EXPECT(answers(tables[place]) < ALL);
    EXPECT(is_damage(told) || len == ALL);
    EXPECT(walked(tables[place], &last) < ALL && is_damage(last));
  }
  put_some(tables[1]);
  EXPECT(answers(tables[0]) < ALL);
  for (place = 0; place < 2; place++) {
    bw_status closed = bw_table_close(tables[place], &error);
    EXPECT(closed == BW_STATUS_OK || is_damage(closed));
  }
  bw_error_clear(&error);
}

static void a_cut_ends_no_process(const char *path, enum cut how) {
  int to_child[2], to_parent[2], status = -1;
  char word;
  pid_t child;
  bw_table *reader;
  make(path);
  EXPECT(pipe(to_child) == 0 && pipe(to_parent) == 0);
  child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    bw_table *writer = opened(path, false);
    EXPECT(write(to_parent[1], "o", 1) == 1 && read(to_child[0], &word, 1) == 1);
    put_some(writer);
    EXPECT(answers(writer) < ALL);
    bw_table_close(writer, NULL);
    _exit(7);
  }
  reader = opened(path, true);
  EXPECT(answers(reader) == ALL);
  EXPECT(read(to_parent[0], &word, 1) == 1);
  cut(path, how);
  EXPECT(write(to_child[1], "c", 1) == 1);
  EXPECT(answers(reader) < ALL);
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT(answers(reader) < ALL);
  bw_table_close(reader, NULL);
  close(to_child[0]), close(to_child[1]), close(to_parent[0]), close(to_parent[1]);
}

static void a_file_that_is_moved_and_removed_goes_on(const char *path, const char *moved) {
  bw_error error = BW_ERROR_INIT;
  bw_table *reader, *writer;
  bw_status last;
  make(path);
  reader = opened(path, true), writer = opened(path, false);
  EXPECT(rename(path, moved) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(writer, (const uint8_t *)"moved", 5, (const uint8_t *)"1", 1, &error));
  EXPECT(walked(reader, &last) == ALL + 1 && last == BW_STATUS_NONE);
  EXPECT(unlink(moved) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(writer, (const uint8_t *)"removed", 7, long_value, LONG_LEN, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_compact(writer, &error));
  EXPECT(walked(reader, &last) == ALL + 2 && last == BW_STATUS_NONE);
  EXPECT(answers(reader) == ALL && answers(writer) == ALL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(reader, &error));
  EXPECT(access(path, F_OK) != 0 && access(moved, F_OK) != 0);
}

int main(int argc, char **argv) {
  char path[PATH_SIZE], moved[PATH_SIZE];
  int how;
  EXPECT(argc == 2);
  path_in(argv[1], "cut.bwt", path);
  path_in(argv[1], "moved.bwt", moved);
  for (how = HALF; how < CUTS; how++) {
    a_cut_is_an_error(path, (enum cut)how, false);
    a_cut_is_an_error(path, (enum cut)how, true);
    a_cut_ends_no_process(path, (enum cut)how);
  }
  a_file_that_is_moved_and_removed_goes_on(path, moved);
  return 0;
}
