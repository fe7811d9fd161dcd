/* Goal: binary output is written by values and bytes through the C interface, and what fails in between loses and doubles nothing.
 *
 * Method: random values, whose seed a failure prints, go to a file and to a function that takes pieces of random lengths and often
 * fails; what comes back by a reader must be what was written. Compiled and run as tables.c is.
 */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "seeded.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 40000, TAKEN_MAX = 1 << 22, GATHERED_MAX = 128 << 10 };

static bw_writer *opened(const char *path, uint32_t mode) {
  bw_error error = BW_ERROR_INIT;
  bw_writer_options options = BW_WRITER_OPTIONS_INIT;
  bw_writer *writer = NULL;
  options.mode = mode;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open(path, &options, &writer, &error));
  return writer;
}

static void put_text(bw_writer *writer, const char *text) {
  bw_error error = BW_ERROR_INIT;
  size_t written = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(writer, (const uint8_t *)text, strlen(text), &written, &error));
  EXPECT(written == strlen(text));
}

static void closed(bw_writer *writer) {
  bw_error error = BW_ERROR_INIT;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(writer, &error));
}

static bool has_text(const char *path, const char *text) {
  char found[1000];
  size_t len;
  FILE *file = fopen(path, "rb");
  EXPECT(file);
  len = fread(found, 1, sizeof found, file);
  fclose(file);
  return len == strlen(text) && memcmp(found, text, len) == 0;
}

/* What a function was given. */
static struct taken {
  uint8_t bytes[TAKEN_MAX];
  size_t len;
  unsigned fails_of_ten;
  int calls;
} taken;

static int64_t take(void *context, const uint8_t *data, size_t len) {
  size_t count = 1 + (size_t)(next_random() % 50000);
  EXPECT(context == &taken && len > 0);
  taken.calls++;
  if (next_random() % 10 < taken.fails_of_ten) return next_random() % 2 ? -EINTR : -ENOSPC;
  if (count > len) count = len;
  EXPECT(taken.len + count <= sizeof taken.bytes);
  memcpy(taken.bytes + taken.len, data, count);
  taken.len += count;
  return (int64_t)count;
}

static int64_t give(void *context, uint8_t *data, size_t capacity) {
  size_t *given = (size_t *)context, left = taken.len - *given, len = left < capacity ? left : capacity;
  memcpy(data, taken.bytes + *given, len);
  *given += len;
  return (int64_t)len;
}

static bw_writer *to_function(unsigned fails_of_ten) {
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = NULL;
  taken.len = 0, taken.calls = 0, taken.fails_of_ten = fails_of_ten;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open_output("a function", take, &taken, &writer, &error));
  return writer;
}

/* Makes a call until it works; how often it failed. */
#define UNTIL_IT_WORKS(call)                                                                                   \
  do {                                                                                                         \
    bw_status status;                                                                                          \
    while ((status = (call)) != BW_STATUS_OK) {                                                                \
      EXPECT(status == BW_STATUS_IO && (error.os_error == EINTR || error.os_error == ENOSPC));                 \
      failures++;                                                                                              \
    }                                                                                                          \
  } while (0)

static int write_values(bw_writer *writer) {
  bw_error error = BW_ERROR_INIT;
  uint64_t before = 0, after = 0;
  int failures = 0, row;
  for (row = 0; row < COUNT; row++) {
    const uint64_t number = next_random() << 16 ^ next_random();
    const size_t len = 1 + (size_t)(next_random() % 8);
    const uint32_t order = next_random() % 2 ? BW_ORDER_BIG : BW_ORDER_LITTLE;
    const unsigned unused = 64 - 8 * (unsigned)len;
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &before, &error));
    UNTIL_IT_WORKS(bw_writer_unsigned(writer, len, order, number >> unused, &error));
    UNTIL_IT_WORKS(bw_writer_signed(writer, len, order, (int64_t)number >> unused, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &after, &error));
    SAME(after == before + 2 * len);
    UNTIL_IT_WORKS(bw_writer_varint(writer, number >> unused, &error));
    UNTIL_IT_WORKS(bw_writer_zigzag(writer, (int64_t)number >> unused, &error));
    UNTIL_IT_WORKS(bw_writer_float(writer, 4, order, (double)(number >> 44) / 16, &error));
    UNTIL_IT_WORKS(bw_writer_float(writer, 8, order, (double)(number >> 11) / 64, &error));
    if (row % 1000 == 0) UNTIL_IT_WORKS(bw_writer_flush(writer, &error));
  }
  UNTIL_IT_WORKS(bw_writer_close(writer, &error));
  bw_error_clear(&error);
  return failures;
}

static void expect_values(bw_reader *reader) {
  bw_error error = BW_ERROR_INIT;
  bool is_at_end = false;
  int row;
  for (row = 0; row < COUNT; row++) {
    const uint64_t number = next_random() << 16 ^ next_random();
    const size_t len = 1 + (size_t)(next_random() % 8);
    const uint32_t order = next_random() % 2 ? BW_ORDER_BIG : BW_ORDER_LITTLE;
    const unsigned unused = 64 - 8 * (unsigned)len;
    uint64_t positive = 0;
    int64_t number_with_sign = 0;
    double real = 0;
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, len, order, &positive, &error));
    SAME(positive == number >> unused);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_signed(reader, len, order, &number_with_sign, &error));
    SAME(number_with_sign == (int64_t)number >> unused);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_varint(reader, &positive, &error));
    SAME(positive == number >> unused);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_zigzag(reader, &number_with_sign, &error));
    SAME(number_with_sign == (int64_t)number >> unused);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_float(reader, 4, order, &real, &error));
    SAME(real == (double)(number >> 44) / 16);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_float(reader, 8, order, &real, &error));
    SAME(real == (double)(number >> 11) / 64);
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_at_end(reader, &is_at_end, &error));
  SAME(is_at_end);
  bw_reader_close(reader);
}

static void values_come_back_from_a_file_as_they_were_written(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  char path[PATH_SIZE];
  path_in(folder, "values", path);
  state = seed;
  EXPECT(write_values(opened(path, BW_WRITER_MODE_ANEW)) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  state = seed;
  expect_values(reader);
}

/* The choices of the function must not come between those of the values: both are made of the same numbers. */
static uint64_t of_values;

static int64_t take_by_other_numbers(void *context, const uint8_t *data, size_t len) {
  static uint64_t of_function = 1;
  int64_t count;
  of_values = state, state = of_function;
  count = take(context, data, len);
  of_function = state, state = of_values;
  return count;
}

static void a_function_that_often_fails_gets_each_byte_once(void) {
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = NULL;
  bw_reader *reader = NULL;
  size_t given = 0;
  taken.len = 0, taken.fails_of_ten = 7;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open_output("a function", take_by_other_numbers, &taken, &writer, &error));
  state = seed;
  SAME(write_values(writer) > 10);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("what it took", give, &given, &reader, &error));
  state = seed;
  expect_values(reader);
}

static void many_bytes_are_taken_up_where_a_function_failed(void) {
  static uint8_t bytes[3 * GATHERED_MAX + 77];
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = to_function(7);
  size_t begun = 0, written = 0, place;
  int failures = 0;
  for (place = 0; place < sizeof bytes; place++) bytes[place] = (uint8_t)next_random();
  while (bw_writer_write(writer, bytes + begun, sizeof bytes - begun, &written, &error) != BW_STATUS_OK) {
    SAME(written < sizeof bytes - begun && error.status == BW_STATUS_IO);
    begun += written;
    failures++;
  }
  SAME(begun + written == sizeof bytes);
  UNTIL_IT_WORKS(bw_writer_close(writer, &error));
  SAME(failures > 0 && taken.len == sizeof bytes && memcmp(taken.bytes, bytes, sizeof bytes) == 0);
  bw_error_clear(&error);
}

static void a_number_that_does_not_fit_writes_nothing(void) {
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = to_function(0);
  uint64_t position = 1;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_unsigned(writer, 1, BW_ORDER_BIG, 256, &error));
  EXPECT(strstr(error.message, "expected a number that fits into 1 bytes, found 256") != NULL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_unsigned(writer, 7, BW_ORDER_BIG, (uint64_t)1 << 56, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_signed(writer, 1, BW_ORDER_BIG, 128, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_signed(writer, 3, BW_ORDER_BIG, -8388609, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_float(writer, 4, BW_ORDER_BIG, 1e39, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_float(writer, 2, BW_ORDER_BIG, 1, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_unsigned(writer, 0, BW_ORDER_BIG, 0, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_signed(writer, 9, BW_ORDER_BIG, 0, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_unsigned(writer, 1, 2, 0, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_write(writer, NULL, 1, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &position, &error));
  EXPECT(position == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 1, BW_ORDER_BIG, 255, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_signed(writer, 1, BW_ORDER_BIG, -128, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_signed(writer, 3, BW_ORDER_LITTLE, -2, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_signed(writer, 8, BW_ORDER_BIG, INT64_MIN, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 8, BW_ORDER_BIG, UINT64_MAX, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(writer, NULL, 0, NULL, &error));
  closed(writer);
  EXPECT(taken.len == 21 && memcmp(taken.bytes, "\xff\x80\xfe\xff\xff\x80\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 21) == 0);
  bw_error_clear(&error);
}

static void the_mode_says_what_becomes_of_a_file(const char *folder) {
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = NULL;
  bw_writer_options options = BW_WRITER_OPTIONS_INIT;
  uint64_t position = 0;
  path_in(folder, "modes", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open(path, NULL, &writer, &error));
  put_text(writer, "some text that is longer");
  closed(writer);
  options.sync = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open(path, &options, &writer, &error));
  put_text(writer, "anew");
  closed(writer);
  EXPECT(has_text(path, "anew"));
  writer = opened(path, BW_WRITER_MODE_APPEND);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &position, &error));
  EXPECT(position == 4);
  put_text(writer, ", and more");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_sync(writer, &error));
  EXPECT(has_text(path, "anew, and more"));
  closed(writer);
  options.mode = 3;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_open(path, &options, &writer, &error));
  options.mode = BW_WRITER_MODE_ANEW, options.size = 1;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_open(path, &options, &writer, &error));
  EXPECT(strstr(error.message, "expected a bw_writer_options initialized with BW_WRITER_OPTIONS_INIT") != NULL);
  EXPECT_STATUS(BW_STATUS_IO, bw_writer_open("/nowhere/file", NULL, &writer, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_open(NULL, NULL, &writer, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_open(path, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_open_output("none", NULL, NULL, &writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(NULL, &error));
  EXPECT(has_text(path, "anew, and more"));
  EXPECT(unlink(path) == 0);
  bw_error_clear(&error);
}

static void a_file_is_replaced_when_the_new_one_is_whole_and_never_else(const char *folder) {
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  const size_t names = names_in(folder);
  bw_writer *writer = opened(path_in(folder, "replaced", path), BW_WRITER_MODE_REPLACE);
  struct stat found;
  put_text(writer, "old");
  closed(writer);
  EXPECT(has_text(path, "old") && chmod(path, 0640) == 0);
  writer = opened(path, BW_WRITER_MODE_REPLACE);
  put_text(writer, "half of the n");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_flush(writer, &error));
  EXPECT(has_text(path, "old"));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, &error));
  EXPECT(has_text(path, "old") && names_in(folder) == names + 1);
  writer = opened(path, BW_WRITER_MODE_REPLACE);
  put_text(writer, "new");
  EXPECT(has_text(path, "old"));
  closed(writer);
  EXPECT(has_text(path, "new") && stat(path, &found) == 0 && (found.st_mode & 0777) == 0640 && names_in(folder) == names + 1);
  EXPECT(unlink(path) == 0);
  bw_error_clear(&error);
}

static void what_is_discarded_is_not_written(const char *folder) {
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = opened(path_in(folder, "discarded", path), BW_WRITER_MODE_ANEW);
  put_text(writer, "flushed");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_flush(writer, &error));
  put_text(writer, ", and gathered");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, &error));
  EXPECT(has_text(path, "flushed") && unlink(path) == 0);
  writer = to_function(0);
  put_text(writer, "gathered");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, &error));
  EXPECT(taken.calls == 0);
}

static void a_length_at_the_beginning_is_written_at_the_end(const char *folder) {
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = opened(path_in(folder, "length", path), BW_WRITER_MODE_ANEW);
  uint64_t position = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 2, BW_ORDER_BIG, 0, &error));
  put_text(writer, "body");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_seek(writer, BW_WHENCE_BEGINNING, 0, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 2, BW_ORDER_BIG, 0x4142, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_seek(writer, BW_WHENCE_HERE, 1, &error));
  put_text(writer, "r");
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_seek(writer, BW_WHENCE_END, 0, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &position, &error));
  EXPECT(position == 6);
  EXPECT(bw_writer_seek(writer, BW_WHENCE_HERE, -7, &error) == BW_STATUS_IO && error.os_error == EINVAL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_writer_seek(writer, 3, 0, &error));
  closed(writer);
  EXPECT(has_text(path, "ABbrdy") && unlink(path) == 0);
  writer = to_function(0);
  put_text(writer, "x");
  EXPECT(bw_writer_seek(writer, BW_WHENCE_BEGINNING, 0, &error) == BW_STATUS_IO && error.os_error == ESPIPE);
  closed(writer);
  EXPECT(taken.len == 1);
  bw_error_clear(&error);
}

static int64_t answer_as_told(void *context, const uint8_t *data, size_t len) {
  (void)data, (void)len;
  return *(int64_t *)context;
}

static void a_function_that_took_nothing_or_too_much_is_an_error(void) {
  static const int64_t answers[] = {0, 5, INT64_MAX, INT64_MIN};
  bw_error error = BW_ERROR_INIT;
  int64_t answer = 0;
  size_t place;
  bw_writer *writer = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open_output("odd", answer_as_told, &answer, &writer, &error));
  put_text(writer, "four");
  for (place = 0; place < sizeof answers / sizeof *answers; place++) {
    answer = answers[place];
    EXPECT_STATUS(answer < 0 ? BW_STATUS_IO : BW_STATUS_ARGUMENT, bw_writer_flush(writer, &error));
    EXPECT(strstr(error.message, "bw_write") != NULL && strcmp(error.file, "odd") == 0);
  }
  answer = -EPIPE;
  EXPECT(bw_writer_close(writer, &error) == BW_STATUS_IO && error.os_error == EPIPE);
  answer = 1;
  closed(writer);
  bw_error_clear(&error);
}

static void a_full_device_leaves_the_writer_open(void) {
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer;
  int round;
  if (access("/dev/full", W_OK) != 0) return;
  writer = opened("/dev/full", BW_WRITER_MODE_ANEW);
  put_text(writer, "lost");
  for (round = 0; round < 2; round++)
    EXPECT(bw_writer_close(writer, &error) == BW_STATUS_IO && error.os_error == ENOSPC);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, &error));
  bw_error_clear(&error);
}

static void *read_pipe(void *path) {
  static char found[300000];
  size_t len = 0;
  ssize_t count;
  int input = open((const char *)path, O_RDONLY);
  EXPECT(input >= 0);
  while ((count = read(input, found + len, sizeof found - len)) > 0) len += (size_t)count;
  EXPECT(count == 0 && len == 200000 && found[0] == 'a' && found[199999] == 'a');
  close(input);
  return NULL;
}

static void a_named_pipe_is_written_in_its_order(const char *folder) {
  static uint8_t bytes[100000];
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer;
  uint64_t position = 0;
  pthread_t reader;
  int round;
  path_in(folder, "pipe", path);
  memset(bytes, 'a', sizeof bytes);
  EXPECT(mkfifo(path, 0600) == 0 && pthread_create(&reader, NULL, read_pipe, path) == 0);
  writer = opened(path, BW_WRITER_MODE_APPEND);
  for (round = 0; round < 2; round++)
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(writer, bytes, sizeof bytes, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_position(writer, &position, &error));
  EXPECT(position == 2 * sizeof bytes);
  EXPECT(bw_writer_seek(writer, BW_WHENCE_BEGINNING, 0, &error) == BW_STATUS_IO && error.os_error == ESPIPE);
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_sync(writer, &error));
  closed(writer);
  EXPECT(pthread_join(reader, NULL) == 0 && unlink(path) == 0);
  bw_error_clear(&error);
}

static void a_child_writes_nothing_of_its_parent(const char *folder) {
  char path[PATH_SIZE];
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = opened(path_in(folder, "forked", path), BW_WRITER_MODE_ANEW), *other = to_function(0);
  pid_t child;
  int status = 0;
  put_text(writer, "once");
  put_text(other, "once");
  child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    EXPECT_STATUS(BW_STATUS_CLOSED, bw_writer_unsigned(writer, 1, BW_ORDER_BIG, 1, &error));
    EXPECT_STATUS(BW_STATUS_CLOSED, bw_writer_flush(writer, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(writer, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(other, &error));
    _exit(taken.calls);
  }
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  closed(writer);
  closed(other);
  EXPECT(has_text(path, "once") && taken.len == 4 && unlink(path) == 0);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  seed = (uint64_t)time(NULL);
  state = seed;
  values_come_back_from_a_file_as_they_were_written(argv[1]);
  a_function_that_often_fails_gets_each_byte_once();
  many_bytes_are_taken_up_where_a_function_failed();
  a_number_that_does_not_fit_writes_nothing();
  the_mode_says_what_becomes_of_a_file(argv[1]);
  a_file_is_replaced_when_the_new_one_is_whole_and_never_else(argv[1]);
  what_is_discarded_is_not_written(argv[1]);
  a_length_at_the_beginning_is_written_at_the_end(argv[1]);
  a_function_that_took_nothing_or_too_much_is_an_error();
  a_full_device_leaves_the_writer_open();
  a_named_pipe_is_written_in_its_order(argv[1]);
  a_child_writes_nothing_of_its_parent(argv[1]);
  return 0;
}
