/* Goal: a function of the program that uses the very handle whose call runs it gets an error, or has it freed later; the call
 * goes on and gives what it would have given.
 *
 * Method: captures and readers whose bytes come from functions that call, close and free their own handles, and functions
 * that are shown values of a table. Compiled and run as tables.c is; the address sanitizer looks for what was freed too early.
 */
#include "files.h"
#include "samples.h"

/* Freed memory is overwritten at once, so that the library, which has no checks of its own, does not use it unseen. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "max_free_fill_size=65536:free_fill_byte=221"; }

static size_t web_packets; /* as the file by itself has them */

static struct own {
  FILE *file;
  bw_rows *rows;
  bw_frames *frames;
  bw_capture *capture;
  bw_reader *reader;
  bool frees;
  int refused;
} own;

static void expect_refusal(bw_status status, bw_error *error) {
  EXPECT(status == BW_STATUS_LOCK || status == BW_STATUS_CLOSED);
  EXPECT(error->message && strstr(error->message, "expected "));
  bw_error_clear(error);
  own.refused++;
}

static int64_t bring_and_use_own(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  uint64_t byte = 0;
  EXPECT(context == &own);
  if (own.rows && !own.frees) expect_refusal(bw_rows_next(own.rows, &batch, &error), &error);
  if (own.frames && !own.frees) expect_refusal(bw_frames_next(own.frames, &error), &error);
  if (own.reader && !own.frees) expect_refusal(bw_reader_unsigned(own.reader, 1, BW_ORDER_BIG, &byte, &error), &error);
  if (own.frees) {
    bw_rows_free(own.rows);
    bw_frames_free(own.frames);
    if (own.reader) bw_reader_close(own.reader);
    own.rows = NULL;
    own.frames = NULL;
    own.reader = NULL;
  }
  return (int64_t)fread(data, 1, capacity, own.file);
}

static void open_own(bool frees) {
  memset(&own, 0, sizeof own);
  own.file = fopen(WEB, "rb");
  own.frees = frees;
  EXPECT(own.file);
}

static void open_own_capture(bool frees) {
  bw_error error = BW_ERROR_INIT;
  open_own(frees);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", bring_and_use_own, &own, NULL, &own.capture, &error));
}

static void rows_that_their_own_source_reads_are_refused(void) {
  bw_error error = BW_ERROR_INIT;
  size_t count = 0;
  bw_batch *batch;
  bw_status status;
  open_own_capture(false);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&own.capture, 1, NULL, 1000, NULL, &own.rows, &error));
  while ((status = bw_rows_next(own.rows, &batch, &error)) == BW_STATUS_OK) {
    count += bw_batch_rows(batch);
    bw_batch_free(batch);
  }
  EXPECT(status == BW_STATUS_NONE && count == web_packets && own.refused > 0);
  bw_rows_free(own.rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(own.capture, &error));
  fclose(own.file);
}

static void frames_that_their_own_source_reads_are_refused(void) {
  bw_error error = BW_ERROR_INIT;
  size_t count = 0;
  bw_status status;
  open_own_capture(false);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_frames(&own.capture, 1, &own.frames, &error));
  while ((status = bw_frames_next(own.frames, &error)) == BW_STATUS_OK) count++;
  EXPECT(status == BW_STATUS_NONE && count == web_packets && own.refused > 0);
  bw_frames_free(own.frames);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(own.capture, &error));
  fclose(own.file);
}

static void what_its_own_source_frees_is_freed_when_the_call_returns(void) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_rows *rows;
  bw_frames *frames;
  bw_reader *reader;
  uint64_t byte = 0;

  open_own_capture(true);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&own.capture, 1, NULL, 1000, NULL, &own.rows, &error));
  rows = own.rows;
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  EXPECT(bw_batch_rows(batch) == 1000 && !own.rows);
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(own.capture, &error));
  fclose(own.file);

  open_own_capture(true);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_frames(&own.capture, 1, &own.frames, &error));
  frames = own.frames;
  EXPECT_STATUS(BW_STATUS_OK, bw_frames_next(frames, &error));
  EXPECT(!own.frames);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(own.capture, &error));
  fclose(own.file);

  open_own(true);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("own", bring_and_use_own, &own, &own.reader, &error));
  reader = own.reader;
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_unsigned(reader, 1, BW_ORDER_BIG, &byte, &error));
  EXPECT(!own.reader);
  fclose(own.file);
}

static int64_t bring_a_byte_and_close_own_reader(void *context, uint8_t *data, size_t capacity) {
  EXPECT(context == &own && capacity > 0);
  if (own.reader) bw_reader_close(own.reader);
  own.reader = NULL;
  *data = (uint8_t)++own.refused;
  return 1;
}

static void a_reader_that_its_own_source_closes_brings_all_that_the_call_asks_for(void) {
  bw_error error = BW_ERROR_INIT;
  uint8_t data[4] = {0};
  size_t len = 0;
  memset(&own, 0, sizeof own);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("own", bring_a_byte_and_close_own_reader, &own, &own.reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_read(own.reader, data, sizeof data, &len, &error));
  EXPECT(!own.reader && len == sizeof data && memcmp(data, "\1\2\3\4", sizeof data) == 0);
}

/* A program that has one error and one place for all its calls. */
static struct shared {
  bw_table *table;
  bw_error error;
  int refused;
} shared;

static void fail_with_the_error_of_the_call(void *context, size_t place, const bw_slice *value) {
  EXPECT(context == &shared && place == 0 && value);
  EXPECT_STATUS(BW_STATUS_LOCK, bw_table_clear(shared.table, &shared.error));
  EXPECT(shared.error.message && strstr(shared.error.message, "expected a table that no call is using"));
  shared.refused++;
}

static void an_error_serves_a_call_and_the_calls_of_its_function(void) {
  const bw_slice keys[2] = {{(const uint8_t *)"a", 1}, {NULL, 1}};
  const bw_error unused = BW_ERROR_INIT;
  shared.error = unused;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_HASH, &shared.table, &shared.error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(shared.table, keys[0].data, 1, (const uint8_t *)"1", 1, &shared.error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_get_many(shared.table, keys, 2, fail_with_the_error_of_the_call, &shared, &shared.error));
  EXPECT(strstr(shared.error.message, "expected bytes, found a null pointer"));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_many(shared.table, keys, 1, fail_with_the_error_of_the_call, &shared, &shared.error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_with(shared.table, keys[0].data, 1, fail_with_the_error_of_the_call, &shared, &shared.error));
  EXPECT(shared.refused == 2);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_table_get_with(shared.table, keys[0].data, 1, NULL, &shared, &shared.error));
  bw_error_clear(&shared.error);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(shared.table, NULL));
}

static void a_reader_that_its_own_source_reads_is_refused(void) {
  bw_error error = BW_ERROR_INIT;
  uint64_t byte = 0;
  size_t count = 0;
  open_own(false);
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open_input("own", bring_and_use_own, &own, &own.reader, &error));
  while (bw_reader_unsigned(own.reader, 1, BW_ORDER_BIG, &byte, &error) == BW_STATUS_OK) count++;
  EXPECT(count > 1000 && own.refused > 0);
  bw_reader_close(own.reader);
  fclose(own.file);
}

static void count_packets_of_the_file(void) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_frames *frames = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_frames(&capture, 1, &frames, &error));
  while (bw_frames_next(frames, &error) == BW_STATUS_OK) web_packets++;
  EXPECT(web_packets > 1000);
  bw_frames_free(frames);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
}

static int64_t bring_and_close_own_capture(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  EXPECT(context == &own);
  if (own.capture) {
    bw_status status = bw_capture_info(own.capture, &batch, &error);
    EXPECT(status != BW_STATUS_OK && status != BW_STATUS_INTERNAL);
    bw_error_clear(&error);
    expect_refusal(bw_capture_close(own.capture, &error), &error);
  }
  return (int64_t)fread(data, 1, capacity, own.file);
}

static void a_capture_that_its_own_source_closes_is_read_to_its_end(void) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture;
  open_own(false);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", bring_and_close_own_capture, &own, NULL, &capture, &error));
  own.capture = capture;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_info(capture, &batch, &error));
  EXPECT(own.refused > 0);
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
  fclose(own.file);
}

static struct closing {
  bw_capture *capture;
  bw_flow_store *store;
} closing;

/* Has the call end, without the store that it merges into. */
static int64_t close_own_store(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  EXPECT(context == &closing && data && capacity > 0);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_capture_info(closing.capture, &batch, &error));
  if (closing.store) EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(closing.store, &error));
  closing.store = NULL;
  bw_error_clear(&error);
  return -EINTR;
}

static void a_merge_whose_own_source_closes_its_store_ends_for_good(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_flow_store *again = NULL;
  char path[PATH_SIZE];
  path_in(folder, "closing.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &closing.store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", close_own_store, &closing, NULL, &closing.capture, &error));
  EXPECT_STATUS(BW_STATUS_IO, bw_capture_merge_flows(closing.capture, closing.store, NULL, &batch, &error));
  EXPECT(error.os_error == EINTR && !closing.store);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &again, &error));
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_capture_merge_flows(closing.capture, again, NULL, &batch, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(again, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(closing.capture, &error));
  bw_error_clear(&error);
}

/* Asks the store that its own call merges into, and is interrupted after the beginning of a capture. */
static int64_t ask_own_store(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  uint64_t len = 1;
  FILE *file = (FILE *)context;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(closing.store, &len, &error));
  EXPECT(len == 0);
  return ftell(file) > 10000 ? -EINTR : (int64_t)fread(data, 1, capacity < 4096 ? capacity : 4096, file);
}

static void a_merge_whose_own_source_asks_its_store_leaves_it_to_others(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_capture *other = NULL;
  char path[PATH_SIZE];
  FILE *file = fopen(TUNNELS, "rb");
  EXPECT(file);
  path_in(folder, "asked.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &closing.store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", ask_own_store, file, NULL, &closing.capture, &error));
  EXPECT_STATUS(BW_STATUS_IO, bw_capture_merge_flows(closing.capture, closing.store, NULL, &batch, &error));
  EXPECT(error.os_error == EINTR);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(WEB, NULL, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(other, closing.store, NULL, &batch, &error));
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(closing.store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(closing.capture, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(other, &error));
  fclose(file);
  bw_error_clear(&error);
}

static void use_own_table(void *context, size_t place, const bw_slice *value) {
  bw_table *table = (bw_table *)context;
  bw_error error = BW_ERROR_INIT;
  bw_buffer own_value = BW_BUFFER_INIT;
  bw_scan *scan = NULL;
  EXPECT(place == 0 && value->len == 1);
  expect_refusal(bw_table_put(table, (const uint8_t *)"a", 1, (const uint8_t *)"22", 2, &error), &error);
  expect_refusal(bw_table_clear(table, &error), &error);
  expect_refusal(bw_table_close(table, &error), &error);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get(table, (const uint8_t *)"a", 1, &own_value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_contains(table, (const uint8_t *)"a", 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_scan(table, NULL, &scan, &error));
  bw_scan_free(scan);
  EXPECT_BYTES("1", own_value);
  bw_buffer_free(&own_value);
  EXPECT(value->data[0] == '1');
}

static void a_table_that_shows_a_value_is_read_but_not_changed_meanwhile(const char *folder, uint32_t kind) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_slice key = {(const uint8_t *)"a", 1};
  bw_table *table = NULL;
  char path[PATH_SIZE];
  own.refused = 0;
  options.create = true, options.kind = kind;
  snprintf(path, sizeof path, "%s/shown%d", folder ? folder : "", (int)kind);
  if (folder) EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  else EXPECT_STATUS(BW_STATUS_OK, bw_table_new(kind, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, key.data, 1, (const uint8_t *)"1", 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_many(table, &key, 1, use_own_table, table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_get_with(table, key.data, 1, use_own_table, table, &error));
  EXPECT(own.refused == 6);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, key.data, 1, (const uint8_t *)"2", 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
}

int main(int count, char **arguments) {
  EXPECT(count == 2);
  count_packets_of_the_file();
  rows_that_their_own_source_reads_are_refused();
  frames_that_their_own_source_reads_are_refused();
  what_its_own_source_frees_is_freed_when_the_call_returns();
  a_reader_that_its_own_source_closes_brings_all_that_the_call_asks_for();
  an_error_serves_a_call_and_the_calls_of_its_function();
  a_reader_that_its_own_source_reads_is_refused();
  a_capture_that_its_own_source_closes_is_read_to_its_end();
  a_merge_whose_own_source_closes_its_store_ends_for_good(arguments[1]);
  a_merge_whose_own_source_asks_its_store_leaves_it_to_others(arguments[1]);
  a_table_that_shows_a_value_is_read_but_not_changed_meanwhile(NULL, BW_TABLE_KIND_HASH);
  a_table_that_shows_a_value_is_read_but_not_changed_meanwhile(NULL, BW_TABLE_KIND_TREE);
  a_table_that_shows_a_value_is_read_but_not_changed_meanwhile(arguments[1], BW_TABLE_KIND_HASH);
  a_table_that_shows_a_value_is_read_but_not_changed_meanwhile(arguments[1], BW_TABLE_KIND_TREE);
  return 0;
}
