/* Goal: handles and processes write one table file by turns, and a call that waits for its turn can be ended.
 *
 * Method: two handles of one file, of which one has a transaction open; forked children that count.
 */
#define _POSIX_C_SOURCE 200809L

#include "expect.h"
#include "interrupts.h"
#include "text.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 200
#define CHILDREN 3

static const char *const ENDINGS[] = {"bwh", "bwt"};

static bw_table *opened(const char *path, double timeout, bw_interrupted interrupted, void *context) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL;
  options.create = true, options.timeout = timeout;
  options.interrupted = interrupted, options.interrupted_context = context;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  return table;
}

static void close_table(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
}

static bw_status put(bw_table *table, bw_error *error) { return bw_table_put(table, TEXT("a"), TEXT("2"), error); }
static bw_status delete_entry(bw_table *table, bw_error *error) { return bw_table_delete(table, TEXT("a"), error); }
static bw_status clear(bw_table *table, bw_error *error) { return bw_table_clear(table, error); }
static bw_status compact(bw_table *table, bw_error *error) { return bw_table_compact(table, error); }
static bw_status delete_all(bw_table *table, bw_error *error) {
  uint64_t count;
  return bw_table_delete_range(table, NULL, &count, error);
}
static bw_status increment(bw_table *table, bw_error *error) {
  int64_t sum;
  return bw_table_increment(table, TEXT("n"), 1, &sum, error);
}
static bw_status take(bw_table *table, bw_error *error) {
  bw_buffer value = BW_BUFFER_INIT;
  bw_status status = bw_table_take(table, TEXT("a"), &value, error);
  bw_buffer_free(&value);
  return status;
}
static bw_status begin(bw_table *table, bw_error *error) {
  bw_status status = bw_table_begin(table, error);
  if (status == BW_STATUS_OK) EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(table, error));
  return status;
}

/* The last one is for ordered tables. */
static bw_status (*const CHANGES[])(bw_table *, bw_error *) = {put, increment, begin, compact, take, delete_entry, clear, delete_all};

static void a_change_waits_for_another_writer(const char *path) {
  const size_t count = sizeof CHANGES / sizeof *CHANGES - !strstr(path, ".bwt");
  size_t place;
  for (place = 0; place < count; place++) {
    bw_error error = BW_ERROR_INIT;
    int asked = 0;
    bw_table *one = opened(path, 10, NULL, NULL), *other = opened(path, 0.02, NULL, NULL);
    bw_table *patient = opened(path, 600, on_the_third_question, &asked);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(one, TEXT("a"), TEXT("1"), &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(one, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(one, TEXT("a"), TEXT("held"), &error));
    EXPECT_STATUS(BW_STATUS_LOCK, CHANGES[place](other, &error));
    EXPECT(strstr(error.message, "another object of this process has it") && strcmp(error.file, path) == 0);
    EXPECT_STATUS(BW_STATUS_IO, CHANGES[place](patient, &error));
    EXPECT(error.os_error == EINTR && asked == 3);
    EXPECT_STATUS(BW_STATUS_OK, bw_table_contains(other, TEXT("a"), &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(one, &error));
    EXPECT(CHANGES[place](other, &error) <= BW_STATUS_NONE);
    close_table(one);
    close_table(other);
    close_table(patient);
    bw_error_clear(&error);
  }
}

static void an_entry_is_taken_with_its_value(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_table *table = opened(path, 10, NULL, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("t"), TEXT("taken"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_take(table, TEXT("t"), &value, &error));
  EXPECT_BYTES("taken", value);
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_take(table, TEXT("t"), &value, &error));
  EXPECT_BYTES("taken", value);
  bw_buffer_free(&value);
  close_table(table);
}

static void count(bw_table *table) {
  bw_error error = BW_ERROR_INIT;
  int number;
  for (number = 0; number < TIMES; number++) {
    int64_t sum;
    EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("single"), 1, &sum, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_begin(table, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("both"), 1, &sum, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("both"), 1, &sum, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_table_commit(table, &error));
  }
}

static void processes_lose_no_change_of_each_other(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_table *table = opened(path, 60, NULL, NULL);
  pid_t children[CHILDREN];
  int64_t single = 0, both = 0;
  int place, status;
  for (place = 0; place < CHILDREN; place++) {
    children[place] = fork();
    if (children[place]) continue;
    /* The first goes on with what its parent has opened. */
    count(place ? opened(path, 60, NULL, NULL) : table);
    _exit(0);
  }
  count(table);
  for (place = 0; place < CHILDREN; place++) {
    EXPECT(waitpid(children[place], &status, 0) == children[place] && status == 0);
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("single"), 0, &single, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("both"), 0, &both, &error));
  EXPECT(single == TIMES * (CHILDREN + 1) && both == 2 * single);
  close_table(table);
}

int main(int argc, char **argv) {
  size_t place;
  EXPECT(argc == 2);
  for (place = 0; place < sizeof ENDINGS / sizeof *ENDINGS; place++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/turns.%s", argv[1], ENDINGS[place]);
    unlink(path);
    a_change_waits_for_another_writer(path);
    an_entry_is_taken_with_its_value(path);
    processes_lose_no_change_of_each_other(path);
  }
  return 0;
}
