/* Goal: binary input is read by values, bytes and records through the C interface, with damage behind what is good.
 *
 * Method: a file of random records, whose seed a failure prints, is read by values and by records, from the file and from a
 * function that brings pieces of random lengths; all must give what was written. Compiled and run as tables.c is.
 */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "seeded.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 40000, RECORD_LEN = 17 };

static uint8_t bytes[COUNT * RECORD_LEN];

static uint64_t big(const uint8_t *from, size_t len) {
  uint64_t number = 0;
  size_t place;
  for (place = 0; place < len; place++) number = number << 8 | from[place];
  return number;
}

static void write_file(const char *path, size_t len) {
  FILE *file = fopen(path, "wb");
  EXPECT(fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
}

struct source {
  size_t given;
};

static int64_t bring(void *context, uint8_t *data, size_t capacity) {
  struct source *source = (struct source *)context;
  size_t len = 1 + (size_t)(next_random() % 5000), left = sizeof bytes - source->given;
  if (len > capacity) len = capacity;
  if (len > left) len = left;
  memcpy(data, bytes + source->given, len);
  source->given += len;
  return (int64_t)len;
}

/* N (4 bytes, unsigned), s> (2, signed), Q< (8), a3. */
static void values_are_those_that_were_written(bw_reader *reader) {
  bw_error error = BW_ERROR_INIT;
  uint64_t number = 0, low = 0, position = 0;
  int64_t small = 0;
  uint8_t text[3];
  size_t row, len = 0;
  bool is_at_end = false;
  for (row = 0; row < COUNT; row++) {
    const uint8_t *record = bytes + row * RECORD_LEN;
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 4, BW_ORDER_BIG, &number, &error));
    SAME(number == big(record, 4));
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_signed(reader, 2, BW_ORDER_BIG, &small, &error));
    SAME(small == (int16_t)big(record + 4, 2));
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 8, BW_ORDER_LITTLE, &number, &error));
    memcpy(&low, record + 6, 8);
    SAME(number == low);
    EXPECT_STATUS(BW_STATUS_OK, bw_reader_read(reader, text, 3, &len, &error));
    SAME(len == 3 && memcmp(text, record + 14, 3) == 0);
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_position(reader, &position, &error));
  EXPECT(position == sizeof bytes);
  EXPECT_STATUS(BW_STATUS_NONE, bw_reader_unsigned(reader, 4, BW_ORDER_BIG, &number, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_reader_read(reader, text, 3, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_at_end(reader, &is_at_end, &error));
  EXPECT(is_at_end);
  bw_reader_close(reader);
}

static size_t expect_batch(const bw_batch *batch, size_t row) {
  bw_error error = BW_ERROR_INIT;
  bw_column ids, small, low, text;
  size_t place;
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &ids, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 1, &small, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 2, &low, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 3, &text, &error));
  EXPECT(ids.value_type == BW_TYPE_U32 && small.value_type == BW_TYPE_I16);
  EXPECT(low.value_type == BW_TYPE_U64 && text.value_type == BW_TYPE_BYTES);
  for (place = 0; place < ids.rows; place++) {
    const uint8_t *record = bytes + (row + place) * RECORD_LEN;
    SAME(((const uint32_t *)ids.values)[place] == big(record, 4));
    SAME(((const int16_t *)small.values)[place] == (int16_t)big(record + 4, 2));
    SAME(memcmp((const uint64_t *)low.values + place, record + 6, 8) == 0);
    SAME(memcmp((const uint8_t *)text.values + text.offsets[place], record + 14, 3) == 0);
  }
  return ids.rows;
}

static const char *const NAMES[] = {"id", "small", "low", "text"};

static void records_are_columns_and_what_is_cut_comes_behind_them(const char *path, size_t count, bw_status end) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  bw_rows *rows = NULL;
  bw_batch *batch = NULL;
  bw_names names;
  size_t row = 0;
  bw_status status;
  names.names = NAMES, names.count = 4;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_records(reader, "N s> Q< a3", &names, 3, &batch, &error));
  row += expect_batch(batch, 0);
  EXPECT(row == 3);
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_rows(reader, "N s> Q< a3", &names, 1000, &rows, &error));
  while ((status = bw_rows_next(rows, &batch, &error)) == BW_STATUS_OK) {
    row += expect_batch(batch, row);
    bw_batch_free(batch);
  }
  EXPECT(status == end && row == count);
  EXPECT_STATUS(end, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  bw_error_clear(&error);
}

static void rows_of_records_leave_as_arrow(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  bw_rows *rows = NULL;
  struct ArrowArrayStream stream;
  struct ArrowArray array;
  int64_t count = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_rows(reader, "N s> Q< a3", NULL, 0, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_stream(rows, &stream, &error));
  while (stream.get_next(&stream, &array) == 0 && array.release != NULL) {
    SAME(((const uint32_t *)array.children[0]->buffers[1])[0] == big(bytes + count * RECORD_LEN, 4));
    count += array.length;
    array.release(&array);
  }
  EXPECT(count == COUNT);
  stream.release(&stream);
}

static void places_are_gone_to_and_nonsense_is_refused(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  bw_rows *rows = NULL;
  uint64_t number = 0, skipped = 0;
  double real = 0;
  uint8_t byte;
  size_t len;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_seek(reader, BW_WHENCE_END, -RECORD_LEN, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 4, BW_ORDER_BIG, &number, &error));
  SAME(number == big(bytes + sizeof bytes - RECORD_LEN, 4));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_skip(reader, 100, &skipped, &error));
  EXPECT(skipped == RECORD_LEN - 4);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_seek(reader, BW_WHENCE_END, -2, &error));
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_reader_unsigned(reader, 4, BW_ORDER_BIG, &number, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_read(reader, &byte, 1, &len, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_unsigned(reader, 9, BW_ORDER_BIG, &number, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_unsigned(reader, 4, 2, &number, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_float(reader, 3, 0, &real, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_seek(reader, 3, 0, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_rows(reader, "no template", NULL, 0, &rows, &error));
  bw_reader_close(reader);
  EXPECT_STATUS(BW_STATUS_IO, bw_reader_open("/nowhere/file", &reader, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_rows(NULL, "N", NULL, 0, &rows, &error));
  bw_reader_close(NULL);
  bw_error_clear(&error);
}

static void numbers_of_other_kinds_are_read(const char *path) {
  static const uint8_t numbers[] = {0x96, 0x01, 0x3f, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0xbf, 0xff, 0xff, 0xfe, 3};
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  uint64_t number = 0;
  int64_t negative = 0;
  double real = 0;
  FILE *file = fopen(path, "wb");
  EXPECT(fwrite(numbers, 1, sizeof numbers, file) == sizeof numbers && fclose(file) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_varint(reader, &number, &error));
  EXPECT(number == 150);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_float(reader, 4, BW_ORDER_BIG, &real, &error));
  EXPECT(real == 1.5);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_float(reader, 8, BW_ORDER_LITTLE, &real, &error));
  EXPECT(real == -1.5);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_signed(reader, 3, BW_ORDER_BIG, &negative, &error));
  EXPECT(negative == -2);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_zigzag(reader, &negative, &error));
  EXPECT(negative == -2);
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_reader_varint(reader, &number, &error));
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_reader_zigzag(reader, &negative, &error));
  bw_reader_close(reader);
  bw_error_clear(&error);
}

static bool is_asked(void *context) {
  int *asked = (int *)context;
  return ++*asked <= 2;
}

static void a_wait_for_a_pipe_ends_when_the_program_says_so(const char *path) {
  static const uint8_t number_bytes[] = {0x01, 0x02};
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  bw_rows *rows = NULL;
  bw_batch *batch = NULL;
  uint64_t number = 0;
  bool is_at_end = true;
  int asked = 0, writer;
  EXPECT(mkfifo(path, 0600) == 0);
  writer = open(path, O_RDWR);
  EXPECT(writer >= 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_set_interrupted(reader, is_asked, &asked, &error));
  EXPECT_STATUS(BW_STATUS_IO, bw_reader_unsigned(reader, 2, BW_ORDER_BIG, &number, &error));
  EXPECT(error.os_error == 4 && asked == 2);
  EXPECT(write(writer, number_bytes, 2) == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_at_end(reader, &is_at_end, &error));
  EXPECT(!is_at_end);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 2, BW_ORDER_BIG, &number, &error));
  EXPECT(number == 0x102);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_rows(reader, "n", NULL, 1, &rows, &error));
  asked = 0;
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error));
  EXPECT(error.os_error == 4);
  EXPECT(write(writer, number_bytes, 2) == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  bw_batch_free(batch);
  close(writer);
  EXPECT_STATUS(BW_STATUS_NONE, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  bw_error_clear(&error);
}

static int64_t bring_gzip(void *context, uint8_t *data, size_t capacity) {
  static const uint8_t beginning[] = {0x1f, 0x8b};
  bool *is_given = (bool *)context;
  if (*is_given || capacity < sizeof beginning) return 0;
  *is_given = true;
  memcpy(data, beginning, sizeof beginning);
  return sizeof beginning;
}

static bw_names one_name(const char *const *name) {
  bw_names names = BW_NAMES_INIT;
  names.names = name;
  names.count = 1;
  return names;
}

static void options_are_given_by_name(void) {
  const char *path = "samples/web.pcap.gz";
  const char *const none = "compressed=none", *const unknown = "compresed=none";
  const bw_names as_it_is = one_name(&none), wrong = one_name(&unknown);
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  uint64_t number = 0;
  bool is_given = false;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_with(path, NULL, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 2, BW_ORDER_BIG, &number, &error));
  EXPECT(number != 0x1f8b);
  bw_reader_close(reader);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_with(path, &as_it_is, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 2, BW_ORDER_BIG, &number, &error));
  EXPECT(number == 0x1f8b);
  bw_reader_close(reader);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input_with("bytes", bring_gzip, &is_given, &as_it_is, &reader, &error));
  number = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 2, BW_ORDER_BIG, &number, &error));
  EXPECT(number == 0x1f8b);
  bw_reader_close(reader);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_open_with(path, &wrong, &reader, &error));
  EXPECT(strstr(error.message, "did you mean compressed?") != NULL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_reader_open_input_with("bytes", bring_gzip, &is_given, &wrong, &reader, &error));
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  struct source source;
  char path[PATH_SIZE];
  size_t place;
  if (argc != 2) return 2;
  state = seed = (uint64_t)time(NULL);
  for (place = 0; place < sizeof bytes; place++) bytes[place] = (uint8_t)next_random();
  bytes[0] = 0x20; /* not the beginning of a compressed file */
  path_in(argv[1], "records", path);
  write_file(path, sizeof bytes);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(path, &reader, &error));
  values_are_those_that_were_written(reader);
  source.given = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("a pipe", bring, &source, &reader, &error));
  values_are_those_that_were_written(reader);
  records_are_columns_and_what_is_cut_comes_behind_them(path, COUNT, BW_STATUS_NONE);
  rows_of_records_leave_as_arrow(path);
  places_are_gone_to_and_nonsense_is_refused(path);
  options_are_given_by_name();
  write_file(path, sizeof bytes - 1);
  records_are_columns_and_what_is_cut_comes_behind_them(path, COUNT - 1, BW_STATUS_TRUNCATED);
  numbers_of_other_kinds_are_read(path);
  path_in(argv[1], "pipe", path);
  a_wait_for_a_pipe_ends_when_the_program_says_so(path);
  return 0;
}
