/* Operations of readers and writers of values. */
#include "captures.h"
#include "text.h"

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

uint64_t run_reader(const char *folder) {
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

void fail_reader(const char *folder) {
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

void read_by_own_function(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  uint64_t answer = 0;
  (void)folder;
  refused = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("own", read_own, &reader, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, read_all(reader, &answer, &error));
  EXPECT(refused > 0);
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

uint64_t run_writer(const char *folder) {
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
bw_status grow_by_writer(const char *folder, bw_error *error) {
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
void fail_writer(const char *folder) {
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
void write_by_own_function(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  (void)folder;
  refused = 0;
  sink.len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_open_output("own", write_own, &sink, &sink.writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(sink.writer, TEXT("once"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_flush(sink.writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_write(sink.writer, TEXT("more"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_close(sink.writer, &error));
  EXPECT(refused == 12 && sink.len == 8);
}
