/* Goal: captures are read through the C interface as the header says: as batches, values and streams of Arrow's, from files
 * and from functions of the program, with damage behind what is good.
 *
 * Method: captures of samples/, whose packets are counted in several ways that must agree; a capture that is cut; input
 * that comes in pieces of random lengths, whose seed a failure prints; input that never comes, for interrupts. Compiled and
 * run as tables.c is, from the folder of the repository.
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *WEB = "samples/web.pcap.gz";
static const char *VLAN = "samples/vlan.pcapng";
static const char *TUNNELS = "samples/tunnels.pcap";

static bw_capture *opened(const char *path, const bw_capture_options *options) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, options, &capture, &error));
  return capture;
}

static void closed(bw_capture *capture) { EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL)); }

static bw_rows *packets_of(bw_capture *capture, const char *const *names, size_t count, size_t rows_max) {
  bw_error error = BW_ERROR_INIT;
  bw_rows *rows = NULL;
  bw_names fields;
  fields.names = names, fields.count = count;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, &fields, rows_max, NULL, &rows, &error));
  return rows;
}

/* Reads rows to their end, which is `expected`, and adds the numbers of 32 bits in their first column up. */
static uint64_t sum_to_the_end(bw_rows *rows, bw_status expected, size_t *count) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_column column;
  bw_status status;
  uint64_t sum = 0;
  size_t row;
  *count = 0;
  while ((status = bw_rows_next(rows, &batch, &error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &column, &error));
    EXPECT(column.value_type == BW_TYPE_U32 && column.null_count == 0 && column.offsets == NULL);
    EXPECT(column.rows == bw_batch_rows(batch));
    for (row = 0; row < column.rows; row++) sum += ((const uint32_t *)column.values)[row];
    *count += column.rows;
    bw_batch_free(batch);
  }
  EXPECT(status == expected);
  EXPECT_STATUS(expected, bw_rows_next(rows, &batch, &error));
  bw_error_clear(&error);
  return sum;
}

/* The value of a batch of one row in the column of that name. */
static bw_value value_of(const bw_batch *batch, const char *name) {
  bw_error error = BW_ERROR_INIT;
  bw_value value;
  size_t place;
  EXPECT(bw_batch_rows(batch) == 1);
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(bw_batch_schema(batch), name, &place, &error));
  EXPECT(bw_batch_value(batch, 0, place, &value, &error) <= BW_STATUS_NONE);
  return value;
}

static void packets_counts_and_info_agree(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = packets_of(capture, names, 1, 1000);
  bw_batch *info = NULL, *counts = NULL;
  bw_column values, packets;
  size_t count, row;
  uint64_t counted = 0, of_port_80 = 0, bytes = sum_to_the_end(rows, BW_STATUS_NONE, &count);
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_info(capture, &info, &error));
  EXPECT(value_of(info, "packets").data.unsigned_number == count);
  EXPECT(value_of(info, "bytes").data.unsigned_number == bytes);
  EXPECT(value_of(info, "damage").kind == BW_VALUE_KIND_NULL);
  EXPECT_BYTES("pcap", value_of(info, "format").data.bytes);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_count_by(capture, "dst_port", NULL, &counts, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(counts, 0, &values, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(counts, 1, &packets, &error));
  EXPECT(values.value_type == BW_TYPE_U16 && packets.value_type == BW_TYPE_U64 && values.null_count == 1);
  EXPECT((values.validity[0] & 1) == 0);
  for (row = 0; row < values.rows; row++) {
    counted += ((const uint64_t *)packets.values)[row];
    if (((const uint16_t *)values.values)[row] == 80) of_port_80 = ((const uint64_t *)packets.values)[row];
  }
  EXPECT(counted == count && of_port_80 == 1898);
  bw_batch_free(counts);
  bw_batch_free(info);
  closed(capture);
}

static void sums_are_told_by_group_and_interval(void) {
  const double infinite = HUGE_VAL, wrong[] = {-1, -1e300, -infinite, 1e-300, infinite - infinite};
  size_t place;
  const char *by[] = {"dst_port"}, *fields[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_sum_options options = BW_SUM_OPTIONS_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_batch *batch = NULL;
  bw_column column;
  options.by.names = by;
  options.by.count = 1;
  options.fields.names = fields;
  options.fields.count = 1;
  options.top = 2;
  options.where = "proto == 6 and dst_port < 1024";
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_sum(capture, &options, &batch, &error));
  EXPECT(bw_batch_rows(batch) == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &column, &error));
  EXPECT(((const uint16_t *)column.values)[0] == 80);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 1, &column, &error));
  EXPECT(((const uint64_t *)column.values)[0] == 1898);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 2, &column, &error));
  EXPECT(((const uint64_t *)column.values)[0] == 235007);
  bw_batch_free(batch);
  batch = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_sum(capture, NULL, &batch, &error));
  EXPECT(bw_batch_rows(batch) == 1 && value_of(batch, "packets").data.unsigned_number > 1898);
  bw_batch_free(batch);
  batch = NULL;
  for (place = 0; place < sizeof wrong / sizeof *wrong; place++) {
    options.every = wrong[place];
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_sum(capture, &options, &batch, &error));
    EXPECT(strstr(error.message, "expected an interval of a nanosecond or more, found ") != NULL);
  }
  EXPECT(strstr(error.message, "found NaN seconds") != NULL);
  options.every = 1e300;
  options.where = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_sum(capture, &options, &batch, &error));
  bw_batch_free(batch);
  batch = NULL;
  options.every = 0;
  options.where = "dst_prot == 1";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_sum(capture, &options, &batch, &error));
  EXPECT(strstr(error.message, "dst_port") != NULL && batch == NULL);
  bw_error_clear(&error);
  closed(capture);
}

static void a_question_is_asked_by_its_name_over_captures_that_are_one_run(void) {
  const char *texts[] = {"top=1"}, *wrong[] = {"topp=1"};
  bw_names named = {texts, 1};
  bw_error error = BW_ERROR_INIT;
  bw_capture *captures[2] = {opened(WEB, NULL), opened(WEB, NULL)};
  bw_rows *rows = NULL;
  bw_batch *batch = NULL;
  uint64_t packets[2];
  size_t count, place;
  for (count = 1; count <= 2; count++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_ask(captures, count, "endpoints", &named, &rows, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(bw_rows_schema(rows), "sent_bytes", &place, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
    EXPECT(bw_batch_rows(batch) == 1);
    packets[count - 1] = value_of(batch, "packets").data.unsigned_number;
    bw_batch_free(batch);
    EXPECT_STATUS(BW_STATUS_NONE, bw_rows_next(rows, &batch, &error));
    bw_rows_free(rows);
  }
  EXPECT(packets[0] > 0 && packets[1] == 2 * packets[0]);
  rows = NULL;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_ask(captures, 1, "endpoint", NULL, &rows, &error));
  EXPECT(strstr(error.message, "did you mean endpoints?") != NULL && rows == NULL);
  named.names = wrong;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_ask(captures, 1, "endpoints", &named, &rows, &error));
  EXPECT(strstr(error.message, "did you mean top?") != NULL && rows == NULL);
  bw_error_clear(&error);
  closed(captures[0]);
  closed(captures[1]);
}

static void packets_are_chosen_by_a_condition(void) {
  const char *names[] = {"length"}, *texts[] = {"where=dst_port == 53", "rows=100"};
  const bw_names fields = {names, 1}, named = {texts, 2};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = NULL;
  size_t count;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, &fields, 0, &named, &rows, &error));
  sum_to_the_end(rows, BW_STATUS_NONE, &count);
  EXPECT(count == 552);
  bw_rows_free(rows);
  bw_error_clear(&error);
  closed(capture);
}

static void values_are_those_of_the_columns_and_text_as_people_write_it(void) {
  const char *names[] = {"src_ip", "length", "dst_port", "ts"};
  bw_error error = BW_ERROR_INIT;
  bw_buffer text = BW_BUFFER_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = packets_of(capture, names, 4, 0);
  bw_batch *batch = NULL;
  bw_column column;
  bw_field field;
  bw_value value;
  size_t row, place;
  EXPECT(bw_schema_len(bw_rows_schema(rows)) == 4);
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_field(bw_rows_schema(rows), 0, &field, &error));
  EXPECT(strcmp(field.name, "src_ip") == 0 && field.value_type == BW_TYPE_ADDRESS && field.is_nullable);
  EXPECT(strstr(field.meaning, "Source address") != NULL);
  EXPECT_STATUS(BW_STATUS_NONE, bw_schema_field(bw_rows_schema(rows), 4, &field, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_schema_find(bw_rows_schema(rows), "lenght", &place, &error));
  EXPECT(strstr(error.message, "did you mean length?") != NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  closed(capture);
  /* A batch needs nothing that it came from. */
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_value(batch, 0, 0, &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_value_text(&value, &text, &error));
  EXPECT(value.kind == BW_VALUE_KIND_ADDRESS && value.data.octets[15] == 0);
  EXPECT_BYTES("::", text);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 1, &column, &error));
  for (row = 0; row < column.rows; row++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_value(batch, row, 1, &value, &error));
    EXPECT(value.data.unsigned_number == ((const uint32_t *)column.values)[row]);
  }
  EXPECT_STATUS(BW_STATUS_NONE, bw_batch_value(batch, 0, 2, &value, &error));
  EXPECT(value.kind == BW_VALUE_KIND_NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_value(batch, 0, 3, &value, &error));
  EXPECT(value.kind == BW_VALUE_KIND_TIME && value.data.signed_number > 0);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_batch_value(batch, column.rows, 1, &value, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_batch_value(batch, 0, 4, &value, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_batch_column(batch, 4, &column, &error));
  value.kind = 99;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_value_text(&value, &text, &error));
  bw_batch_free(batch);
  bw_buffer_free(&text);
  bw_error_clear(&error);
}

static void a_filter_leaves_out_what_it_does_not_match(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_capture *capture = NULL;
  bw_rows *rows;
  size_t count;
  options.filter = "dst port 80";
  capture = opened(WEB, &options);
  rows = packets_of(capture, names, 1, 0);
  sum_to_the_end(rows, BW_STATUS_NONE, &count);
  EXPECT(count == 1898);
  bw_rows_free(rows);
  closed(capture);
  options.filter = "dst prot 80";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open(WEB, &options, &capture, &error));
  EXPECT_STATUS(BW_STATUS_IO, bw_capture_open("samples/missing.pcap", NULL, &capture, &error));
  EXPECT(error.os_error == ENOENT && strstr(error.file, "missing.pcap") != NULL);
  bw_error_clear(&error);
}

/* A file that the program reads itself, in pieces of random lengths. */
struct pieces {
  FILE *file;
  uint64_t random;
  int fails;
};

static int64_t read_piece(void *context, uint8_t *data, size_t capacity) {
  struct pieces *pieces = (struct pieces *)context;
  size_t wanted;
  if (pieces->fails) return -EPIPE;
  pieces->random = pieces->random * 6364136223846793005u + 1442695040888963407u;
  wanted = 1 + (size_t)(pieces->random >> 33) % 70000;
  return (int64_t)fread(data, 1, wanted < capacity ? wanted : capacity, pieces->file);
}

static int64_t read_too_much(void *context, uint8_t *data, size_t capacity) {
  (void)context, (void)data;
  return (int64_t)capacity + 1;
}

static void what_the_program_reads_gives_the_same_packets(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL), *input = NULL;
  bw_rows *rows = packets_of(capture, names, 1, 0);
  struct pieces pieces;
  uint64_t seed = (uint64_t)time(NULL), sum, expected;
  size_t count, expected_count;
  expected = sum_to_the_end(rows, BW_STATUS_NONE, &expected_count);
  bw_rows_free(rows);
  closed(capture);
  pieces.file = fopen(WEB, "rb"), pieces.random = seed, pieces.fails = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a pipe", read_piece, &pieces, NULL, &input, &error));
  rows = packets_of(input, names, 1, 0);
  sum = sum_to_the_end(rows, BW_STATUS_NONE, &count);
  if (sum != expected || count != expected_count) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
  EXPECT(sum == expected && count == expected_count);
  bw_rows_free(rows);
  /* It can be read once. */
  rows = packets_of(input, names, 1, 0);
  sum_to_the_end(rows, BW_STATUS_CLOSED, &count);
  bw_rows_free(rows);
  closed(input);
  fclose(pieces.file);
  bw_error_clear(&error);
}

static void input_that_fails_goes_on_when_it_does_not_any_more(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *input = NULL;
  bw_batch *batch = NULL;
  bw_rows *rows;
  struct pieces pieces;
  size_t count;
  pieces.file = fopen(WEB, "rb"), pieces.random = 1, pieces.fails = 1;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a pipe", read_piece, &pieces, NULL, &input, &error));
  rows = packets_of(input, names, 1, 0);
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error));
  EXPECT(error.os_error == EPIPE);
  pieces.fails = 0;
  EXPECT(sum_to_the_end(rows, BW_STATUS_NONE, &count) > 0);
  bw_rows_free(rows);
  closed(input);
  fclose(pieces.file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a liar", read_too_much, NULL, NULL, &input, &error));
  rows = packets_of(input, names, 1, 0);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  closed(input);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open_input("nobody", NULL, NULL, NULL, &input, &error));
  bw_error_clear(&error);
}

static bool on_the_third_question(void *context) { return ++*(int *)context == 3; }

static void a_call_that_waits_ends_when_it_is_told_to(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture;
  bw_rows *rows;
  char path[32];
  int ends[2], questions = 0;
  EXPECT(pipe(ends) == 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  options.interrupted = on_the_third_question, options.interrupted_context = &questions;
  capture = opened(path, &options);
  rows = packets_of(capture, names, 1, 0);
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error));
  EXPECT(error.os_error == EINTR && questions == 3);
  /* Nobody writes: closing ends the read that waits. */
  closed(capture);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  close(ends[0]), close(ends[1]);
  bw_error_clear(&error);
}

/* Copies a file but for its last bytes. */
static void cut(const char *from, const char *to, size_t bytes_less) {
  static char bytes[1 << 20];
  FILE *source = fopen(from, "rb"), *copy = fopen(to, "wb");
  size_t length = fread(bytes, 1, sizeof bytes, source);
  EXPECT(length > bytes_less && fwrite(bytes, 1, length - bytes_less, copy) == length - bytes_less);
  EXPECT(fclose(source) == 0 && fclose(copy) == 0);
}

static void damage_comes_after_what_is_good_and_again(const char *folder) {
  const char *names[] = {"length"}, *whole_path = "samples/fragments.pcap";
  bw_error error = BW_ERROR_INIT;
  char path[512];
  size_t count, whole;
  bw_capture *capture = opened(whole_path, NULL);
  bw_rows *rows = packets_of(capture, names, 1, 0);
  bw_batch *info = NULL, *batch = NULL;
  sum_to_the_end(rows, BW_STATUS_NONE, &whole);
  bw_rows_free(rows);
  closed(capture);
  snprintf(path, sizeof path, "%s/cut.pcap", folder);
  cut(whole_path, path, 3);
  capture = opened(path, NULL);
  rows = packets_of(capture, names, 1, 0);
  sum_to_the_end(rows, BW_STATUS_TRUNCATED, &count);
  EXPECT(count == whole - 1);
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_rows_next(rows, &batch, &error));
  EXPECT(strcmp(error.file, path) == 0 && error.offset > 0);
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_info(capture, &info, &error));
  EXPECT(value_of(info, "packets").data.unsigned_number == count);
  EXPECT(value_of(info, "damage").kind == BW_VALUE_KIND_JSON);
  bw_batch_free(info);
  EXPECT_STATUS(BW_STATUS_NONE, bw_capture_damage(capture, &error));
  closed(capture);
  bw_error_clear(&error);
}

static void rows_end_before_damage_that_is_kept(const char *folder) {
  const char *names[] = {"length"}, *whole_path = "samples/fragments.pcap";
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_batch *counts = NULL;
  char path[512];
  size_t expected, found, cut_off;
  bw_capture *capture;
  bw_rows *rows;
  options.damage = BW_DAMAGE_KEEP;
  snprintf(path, sizeof path, "%s/kept.pcap", folder);
  for (cut_off = 1; cut_off < 298708; cut_off += 5987) {
    cut(whole_path, path, (long)cut_off);
    capture = opened(path, NULL);
    rows = packets_of(capture, names, 1, 0);
    sum_to_the_end(rows, BW_STATUS_TRUNCATED, &expected);
    bw_rows_free(rows);
    closed(capture);
    capture = opened(path, &options);
    EXPECT_STATUS(BW_STATUS_NONE, bw_capture_damage(capture, &error));
    rows = packets_of(capture, names, 1, 0);
    sum_to_the_end(rows, BW_STATUS_NONE, &found);
    EXPECT(found == expected);
    EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_capture_damage(capture, &error));
    EXPECT(strcmp(error.file, path) == 0 && error.offset > 0);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_count_by(capture, "proto", NULL, &counts, &error));
    bw_batch_free(counts);
    bw_rows_free(rows);
    closed(capture);
  }
  options.damage = 2;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open(path, &options, &capture, &error));
  EXPECT(strstr(error.message, "expected a bw_damage from 0 to 1, found 2"));
  bw_error_clear(&error);
}

/* Number of rows, all of which are read. */
static size_t count_of(bw_rows *rows) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  size_t count = 0;
  bw_status status;
  while ((status = bw_rows_next(rows, &batch, &error)) == BW_STATUS_OK) {
    count += bw_batch_rows(batch);
    bw_batch_free(batch);
  }
  EXPECT(status == BW_STATUS_NONE);
  bw_rows_free(rows);
  return count;
}

static void flows_of_captures_are_one_run_and_add_up_in_a_store(const char *folder) {
  const char *names[] = {"src_ip", "bytes"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *captures[2];
  bw_flow_store *store = NULL;
  bw_batch *merge = NULL;
  bw_rows *rows = NULL;
  bw_names fields;
  bw_flow_options never_idle = BW_FLOW_OPTIONS_INIT, short_idle = BW_FLOW_OPTIONS_INIT;
  char path[512];
  uint64_t len = 0;
  size_t count;
  fields.names = names, fields.count = 2;
  captures[0] = opened(WEB, NULL), captures[1] = opened(VLAN, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(captures, 2, &fields, &never_idle, &rows, &error));
  EXPECT(bw_schema_len(bw_rows_schema(rows)) == 2);
  count = count_of(rows);
  EXPECT(count > 900);
  short_idle.idle_timeout = 0.0;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(captures, 2, NULL, &short_idle, &rows, &error));
  EXPECT(count_of(rows) > count);
  snprintf(path, sizeof path, "%s/flows.bwt", folder);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(captures[0], store, NULL, &merge, &error));
  EXPECT(value_of(merge, "added").data.is_true);
  bw_batch_free(merge);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(captures[1], store, NULL, &merge, &error));
  bw_batch_free(merge);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(captures[0], store, NULL, &merge, &error));
  EXPECT(!value_of(merge, "added").data.is_true && value_of(merge, "new_flows").data.unsigned_number == 0);
  bw_batch_free(merge);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  EXPECT(len == 990);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, &fields, &rows, &error));
  EXPECT(count_of(rows) == 990);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open_read_only(path, &store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  EXPECT(count_of(rows) == 990);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  closed(captures[0]), closed(captures[1]);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_flows(NULL, 0, NULL, NULL, &rows, &error));
  bw_error_clear(&error);
}

/* Bytes of a file, and none where there is no file. */
static long length_of(const char *path) {
  FILE *file = fopen(path, "rb");
  long length;
  if (!file) return -1;
  EXPECT(fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fclose(file) == 0);
  return length;
}

static bw_flow_log *flow_log_at(const char *path, const char *format, const bw_flow_options *options) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_log *log = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, format, options, &log, &error));
  return log;
}

static void flows_of_captures_are_written_as_another_program_has_them(const char *folder) {
  const char *where = "where=dst_port == 80", *force = "force=true";
  bw_error error = BW_ERROR_INIT;
  bw_flow_options options = BW_FLOW_OPTIONS_INIT;
  bw_capture *captures[2];
  bw_flow_log *log;
  bw_rows *rows = NULL;
  char path[512], copy[512];
  uint64_t flows = 0;
  long length;
  captures[0] = opened(WEB, NULL), captures[1] = opened(VLAN, NULL);
  snprintf(path, sizeof path, "%s/conn.log", folder);
  log = flow_log_at(path, "zeek", NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[0], log, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[1], log, &error));
  EXPECT(length_of(path) == -1);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(captures, 2, NULL, NULL, &rows, &error));
  EXPECT(flows == count_of(rows) && (length = length_of(path)) > 50000);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, &flows, &error));
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_capture_log_flows(captures[0], log, &error));
  bw_flow_log_free(log);

  /* Given up, the older file stays. */
  log = flow_log_at(path, "ecs", NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[0], log, &error));
  bw_flow_log_free(log);
  EXPECT(length_of(path) == length);

  options.named.names = &where, options.named.count = 1;
  log = flow_log_at(path, "ipfix", &options);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[0], log, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
  EXPECT(flows == 188 && length_of(path) < length);
  bw_flow_log_free(log);

  /* A capture is replaced with `force` only, and one that is read never. */
  snprintf(copy, sizeof copy, "%s/copy.pcapng", folder);
  cut(VLAN, copy, 0);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(copy, "zeek", &options, &log, &error));
  EXPECT(strstr(error.message, "found a packet capture") != NULL);
  options.named.names = &force;
  log = flow_log_at(copy, "zeek", &options);
  closed(captures[1]);
  captures[1] = opened(copy, NULL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_log_flows(captures[1], log, &error));
  EXPECT(strstr(error.message, "found one of them") != NULL);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, NULL, &error));
  bw_flow_log_free(log);
  EXPECT(length_of(copy) == length_of(VLAN));
  options.named.names = &where, options.named.count = 1, where = "filter=tcp";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(path, "zeek", &options, &log, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(path, "zek", NULL, &log, &error));
  EXPECT(strstr(error.message, "did you mean zeek?") != NULL);
  closed(captures[0]), closed(captures[1]);
  bw_error_clear(&error);
}

static bool on_every_third_question(void *context) { return ++*(int *)context % 3 == 0; }

static void a_file_of_flows_goes_on_after_an_interrupt_or_is_given_up(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_capture *capture, *other = opened(VLAN, NULL);
  bw_flow_log *log;
  static uint8_t bytes[4096];
  FILE *file = fopen("samples/tunnels.pcap", "rb");
  char path[512], pipe_path[32];
  int ends[2], questions = 0, round;
  uint64_t flows = 0;
  size_t length;
  EXPECT(file);
  options.interrupted = on_every_third_question, options.interrupted_context = &questions;
  snprintf(path, sizeof path, "%s/interrupted.log", folder);
  for (round = 0; round < 2; round++) {
    EXPECT(pipe(ends) == 0);
    snprintf(pipe_path, sizeof pipe_path, "/dev/fd/%d", ends[0]);
    capture = opened(pipe_path, &options);
    log = flow_log_at(path, "zeek-json", NULL);
    rewind(file);
    length = fread(bytes, 1, sizeof bytes, file);
    EXPECT(write(ends[1], bytes, length) == (ssize_t)length);
    EXPECT_STATUS(BW_STATUS_IO, bw_capture_log_flows(capture, log, &error));
    EXPECT(error.os_error == EINTR && length_of(path) == -1);
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_log_flows(other, log, &error));
    if (round == 0) {
      /* Not read to its end, it leaves no file. */
      EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, &flows, &error));
      EXPECT(length_of(path) == -1);
      close(ends[1]);
    } else {
      while ((length = fread(bytes, 1, sizeof bytes, file)) > 0) EXPECT(write(ends[1], bytes, length) == (ssize_t)length);
      close(ends[1]);
      while (bw_capture_log_flows(capture, log, &error) == BW_STATUS_IO) EXPECT(error.os_error == EINTR);
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
    }
    bw_flow_log_free(log);
    closed(capture);
    close(ends[0]);
  }
  fclose(file);
  capture = opened("samples/tunnels.pcap", NULL);
  log = flow_log_at(path, "zeek", NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(capture, log, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, NULL, &error));
  bw_flow_log_free(log);
  {
    bw_rows *rows = NULL;
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(&capture, 1, NULL, NULL, &rows, &error));
    EXPECT(flows > 0 && flows == count_of(rows));
  }
  closed(capture), closed(other);
  bw_error_clear(&error);
}

/* Brings a file in pieces, and is interrupted before every third of them, as by a signal. */
struct stuttering {
  FILE *file;
  int calls;
};

static int64_t read_stuttering(void *context, uint8_t *data, size_t capacity) {
  struct stuttering *input = (struct stuttering *)context;
  if (++input->calls % 3 == 0) return -EINTR;
  return (int64_t)fread(data, 1, capacity < 4096 ? capacity : 4096, input->file);
}

static bw_capture *opened_stuttering(struct stuttering *input, const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  input->file = fopen(path, "rb"), input->calls = 0;
  EXPECT(input->file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a stuttering input", read_stuttering, input, NULL, &capture, &error));
  return capture;
}

static bool always(void *context) { return ++*(int *)context > 0; }

/* Calls that return a batch about a capture. */
enum question { INFO, COUNTS, COUNTS_OF_LONG, SUMS, SUMS_OF_LONG, MERGE, QUESTIONS };

static bw_status asked(enum question question, bw_capture *capture, bw_flow_store *store, bw_batch **batch, bw_error *error) {
  const char *by[] = {"proto"}, *fields[] = {"length"}, *of_long[] = {"where=length > 200"};
  bw_sum_options sums = BW_SUM_OPTIONS_INIT;
  bw_names named = BW_NAMES_INIT;
  named.names = of_long, named.count = 1;
  sums.by.names = by, sums.by.count = 1;
  sums.fields.names = fields, sums.fields.count = 1;
  switch (question) {
    case INFO: return bw_capture_info(capture, batch, error);
    case COUNTS: return bw_capture_count_by(capture, "proto", NULL, batch, error);
    case COUNTS_OF_LONG: return bw_capture_count_by(capture, "proto", &named, batch, error);
    case SUMS_OF_LONG:
      sums.named = named;
      return bw_capture_sum(capture, &sums, batch, error);
    case SUMS: return bw_capture_sum(capture, &sums, batch, error);
    default: return bw_capture_merge_flows(capture, store, NULL, batch, error);
  }
}

/* Makes a call until it is not interrupted any more; the number of packets in its answer, and in `rounds` that of interrupts. */
static uint64_t packets_asked(enum question question, bw_capture *capture, bw_flow_store *store, int *rounds) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_value value;
  bw_status status;
  size_t place, row;
  uint64_t packets = 0;
  *rounds = 0;
  while ((status = asked(question, capture, store, &batch, &error)) == BW_STATUS_IO) {
    EXPECT(error.os_error == EINTR && ++*rounds < 1000);
  }
  EXPECT_STATUS(BW_STATUS_OK, status);
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(bw_batch_schema(batch), "packets", &place, &error));
  for (row = 0; row < bw_batch_rows(batch); row++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_value(batch, row, place, &value, &error));
    packets += value.data.unsigned_number;
  }
  if (question == MERGE) EXPECT(value_of(batch, "added").data.is_true);
  bw_batch_free(batch);
  bw_error_clear(&error);
  return packets;
}

static bw_flow_store *store_at(const char *folder, const char *name) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/%s.bwt", folder, name);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &store, &error));
  return store;
}

static uint64_t closed_store(bw_flow_store *store) {
  bw_error error = BW_ERROR_INIT;
  uint64_t len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  return len;
}

/* Makes a call once, which is interrupted. */
static void interrupted(enum question question, bw_capture *capture, bw_flow_store *store) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  EXPECT_STATUS(BW_STATUS_IO, asked(question, capture, store, &batch, &error));
  EXPECT(error.os_error == EINTR);
  bw_error_clear(&error);
}

/* A pipe with the beginning of a capture, which a call waits for the rest of. */
static bw_capture *opened_pipe(int ends[2], const bw_capture_options *options) {
  static uint8_t bytes[4096];
  FILE *file = fopen("samples/tunnels.pcap", "rb");
  char path[32];
  EXPECT(pipe(ends) == 0 && file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes);
  EXPECT(write(ends[1], bytes, sizeof bytes) == (ssize_t)sizeof bytes && fclose(file) == 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  return opened(path, options);
}

static void a_call_over_a_whole_capture_goes_on_after_an_interrupt(const char *folder) {
  enum { FILE_ITSELF, PIPE, INPUT, FORMS };
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  int question, form, questions = 0, rounds;
  options.interrupted = always, options.interrupted_context = &questions;
  for (question = 0; question < QUESTIONS; question++) {
    uint64_t packets[FORMS], flows[FORMS];
    for (form = 0; form < FORMS; form++) {
      static uint8_t bytes[4096];
      FILE *file = fopen(TUNNELS, "rb");
      struct stuttering input;
      bw_flow_store *store;
      bw_capture *capture;
      char name[32];
      int ends[2];
      size_t length;
      snprintf(name, sizeof name, "goes_on_%d_%d", question, form);
      store = store_at(folder, name);
      if (form == FILE_ITSELF) {
        capture = opened(TUNNELS, NULL);
      } else if (form == INPUT) {
        capture = opened_stuttering(&input, TUNNELS);
      } else {
        capture = opened_pipe(ends, &options);
        interrupted((enum question)question, capture, store);
        interrupted((enum question)question, capture, store);
        EXPECT(file && fseek(file, sizeof bytes, SEEK_SET) == 0);
        while ((length = fread(bytes, 1, sizeof bytes, file)) > 0) EXPECT(write(ends[1], bytes, length) == (ssize_t)length);
        close(ends[1]);
      }
      packets[form] = packets_asked((enum question)question, capture, store, &rounds);
      EXPECT(packets[form] > 0 && packets[form] == packets[0]);
      EXPECT(form == FILE_ITSELF ? rounds == 0 : form == PIPE || rounds > 5);
      flows[form] = closed_store(store);
      EXPECT(flows[form] == flows[0] && (flows[form] > 0) == (question == MERGE));
      closed(capture);
      if (form == PIPE) close(ends[0]);
      if (form == INPUT) fclose(input.file);
      fclose(file);
    }
  }
}

static void another_call_gives_up_one_that_was_interrupted(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture, *other = opened(TUNNELS, NULL);
  bw_flow_store *store, *same;
  bw_rows *rows = NULL;
  struct stuttering input;
  uint64_t len = 0;
  int ends[2], question, closes_store_first, questions = 0;
  options.interrupted = always, options.interrupted_context = &questions;
  for (question = 0; question < QUESTIONS; question++) {
    char name[32];
    snprintf(name, sizeof name, "given_up_%d", question);
    store = store_at(folder, name);
    /* What can be read once is gone, with the usual error, for the call that was interrupted as well. */
    capture = opened_stuttering(&input, TUNNELS);
    interrupted((enum question)question, capture, store);
    EXPECT_STATUS(BW_STATUS_CLOSED, asked((enum question)((question + 1) % QUESTIONS), capture, store, &batch, &error));
    EXPECT_STATUS(BW_STATUS_CLOSED, asked((enum question)question, capture, store, &batch, &error));
    closed(capture);
    fclose(input.file);
    capture = opened_stuttering(&input, TUNNELS);
    interrupted((enum question)question, capture, store);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, NULL, 0, NULL, &rows, &error));
    EXPECT_STATUS(BW_STATUS_CLOSED, bw_rows_next(rows, &batch, &error));
    bw_rows_free(rows);
    EXPECT_STATUS(BW_STATUS_CLOSED, asked((enum question)question, capture, store, &batch, &error));
    closed(capture);
    fclose(input.file);
    /* Closing ends it, whichever handle is the first. */
    for (closes_store_first = 0; closes_store_first < 2; closes_store_first++) {
      if (!store) store = store_at(folder, name);
      capture = opened_pipe(ends, &options);
      interrupted((enum question)question, capture, store);
      if (closes_store_first) closed_store(store);
      closed(capture);
      if (!closes_store_first) closed_store(store);
      store = NULL;
      close(ends[0]), close(ends[1]);
    }
  }

  /* A merge that is given up adds nothing, and leaves its store to others at once. Rows that were begun before it go on. */
  store = store_at(folder, "given_up");
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(other, store, NULL, &batch, &error));
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  capture = opened_pipe(ends, &options);
  interrupted(MERGE, capture, store);
  EXPECT(count_of(rows) == len && len > 0);
  closed(other);
  other = opened(VLAN, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(other, store, NULL, &batch, &error));
  EXPECT(value_of(batch, "added").data.is_true);
  bw_batch_free(batch);
  closed(capture), closed(other);
  close(ends[0]), close(ends[1]);
  capture = opened_pipe(ends, &options);
  interrupted(MERGE, capture, store);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  same = store_at(folder, "given_up");
  EXPECT(closed_store(same) > len);
  closed(capture);
  close(ends[0]), close(ends[1]);
  bw_error_clear(&error);
}

static void a_call_that_has_failed_begins_anew(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture;
  char path[512];
  int rounds;
  snprintf(path, sizeof path, "%s/growing.pcap", folder);
  cut(TUNNELS, path, 3);
  capture = opened(path, NULL);
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_capture_count_by(capture, "proto", NULL, &batch, &error));
  cut(TUNNELS, path, 0);
  EXPECT(packets_asked(COUNTS, capture, NULL, &rounds) > 0);
  closed(capture);
  bw_error_clear(&error);
}

static void calls_are_those_of_the_service_where_there_is_an_idl(void) {
  const char *names[] = {"method", "outcome", "latency"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened("samples/warehouse.pcap.zst", NULL);
  bw_batch *batch = NULL;
  bw_column column;
  bw_rows *rows = NULL;
  bw_names fields;
  bw_idl idl = BW_IDL_INIT;
  size_t all, audits = 0, row;
  const char *text;
  fields.names = names, fields.count = 3;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, &fields, NULL, NULL, &rows, &error));
  all = count_of(rows);
  idl.path = "samples/warehouse.thrift", idl.service = "NextStore";
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, &fields, &idl, NULL, &rows, &error));
  while (bw_rows_next(rows, &batch, &error) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &column, &error));
    text = (const char *)column.values;
    EXPECT(column.value_type == BW_TYPE_TEXT && column.offsets[0] == 0);
    for (row = 0; row < column.rows; row++) {
      size_t length = (size_t)(column.offsets[row + 1] - column.offsets[row]);
      audits += length == 5 && memcmp(text + column.offsets[row], "audit", 5) == 0;
    }
    bw_batch_free(batch);
  }
  EXPECT(audits == 61 && all >= audits);
  bw_rows_free(rows);
  idl.service = "Nobody";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_calls(&capture, 1, &fields, &idl, NULL, &rows, &error));
  closed(capture);
  bw_error_clear(&error);
}

/* Returns true if the value of a row is that text; a null pointer stands for none. */
static bool is_json(const bw_batch *batch, size_t row, size_t place, const char *text) {
  bw_error error = BW_ERROR_INIT;
  bw_value value;
  bw_status status = bw_batch_value(batch, row, place, &value, &error);
  if (text == NULL) return status == BW_STATUS_NONE;
  return status == BW_STATUS_OK && value.kind == BW_VALUE_KIND_JSON && value.data.bytes.len == strlen(text) &&
         memcmp(value.data.bytes.data, text, strlen(text)) == 0;
}

static void calls_of_a_service_have_their_arguments_and_results(void) {
  const char *names[] = {"result", "method", "arguments"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened("samples/warehouse.pcap.zst", NULL);
  bw_batch *batch = NULL;
  bw_rows *rows = NULL;
  bw_names fields;
  bw_idl idl = BW_IDL_INIT;
  const bw_schema *schema = NULL;
  size_t unicorns = 0, without = 0, pings = 0, row;
  fields.names = names, fields.count = 3;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_calls(&capture, 1, &fields, NULL, NULL, &rows, &error));
  EXPECT(strstr(error.message, "found result") != NULL);
  idl.path = "samples/warehouse.thrift", idl.service = "NextStore";
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, &fields, &idl, NULL, &rows, &error));
  while (bw_rows_next(rows, &batch, &error) == BW_STATUS_OK) {
    for (row = 0; row < bw_batch_rows(batch); row++) {
      unicorns += is_json(batch, row, 2, "{\"name\":\"unicorn\"}") &&
                  is_json(batch, row, 0, "{\"not_found\":{\"name\":\"unicorn\"}}");
      pings += is_json(batch, row, 2, "{}") && is_json(batch, row, 0, "{}");
      without += is_json(batch, row, 0, NULL);
    }
    bw_batch_free(batch);
  }
  EXPECT(unicorns == 75 && pings == 567 && without == 254);
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, NULL, &idl, NULL, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_named("calls", &schema, &error));
  EXPECT(bw_schema_len(bw_rows_schema(rows)) == 14 && bw_schema_len(schema) == 14);
  bw_rows_free(rows);
  closed(capture);
  bw_error_clear(&error);
}

static void counts_and_calls_are_of_what_meets_a_condition(void) {
  const char *ports[] = {"where=dst_port == 80"}, *misspelt[] = {"wher=dst_port == 80"};
  const char *audits[] = {"where=method == \"audit\""}, *wrong[] = {"where=methd == \"audit\""};
  const char *by_name[] = {"where=method == \"audit\"", "idl=samples/warehouse.thrift", "service=NextStore"};
  const char *service[] = {"service=NextStore"};
  const char *names[] = {"method", "arguments"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_batch *counts = NULL;
  bw_column column;
  bw_rows *rows = NULL;
  bw_names named, fields = BW_NAMES_INIT;
  bw_idl idl = BW_IDL_INIT;
  named.names = ports, named.count = 1;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_count_by(capture, "dst_port", &named, &counts, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(counts, 0, &column, &error));
  EXPECT(column.rows == 1 && ((const uint16_t *)column.values)[0] == 80);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(counts, 1, &column, &error));
  EXPECT(((const uint64_t *)column.values)[0] == 1898);
  bw_batch_free(counts);
  named.names = misspelt;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_count_by(capture, "dst_port", &named, &counts, &error));
  EXPECT(strstr(error.message, "did you mean where?") != NULL);
  closed(capture);

  capture = opened("samples/warehouse.pcap.zst", NULL);
  idl.path = "samples/warehouse.thrift", idl.service = "NextStore";
  named.names = audits;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, NULL, NULL, &named, &rows, &error));
  EXPECT(count_of(rows) == 61);
  fields.names = names, fields.count = 2;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, &fields, &idl, &named, &rows, &error));
  EXPECT(count_of(rows) == 61);
  named.names = by_name, named.count = 3;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_calls(&capture, 1, &fields, NULL, &named, &rows, &error));
  EXPECT(count_of(rows) == 61);
  named.names = wrong, named.count = 1;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_calls(&capture, 1, NULL, NULL, &named, &rows, &error));
  EXPECT(strstr(error.message, "did you mean method?") != NULL);
  named.names = service;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_calls(&capture, 1, NULL, NULL, &named, &rows, &error));
  EXPECT(strstr(error.message, "expected idl with service") != NULL);
  closed(capture);
  bw_error_clear(&error);
}

static void rows_and_batches_leave_as_arrow(void) {
  const char *names[] = {"length", "src_ip"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = packets_of(capture, names, 1, 0);
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray array;
  bw_batch *batch = NULL;
  size_t count;
  int64_t row, streamed = 0;
  uint64_t sum = 0, expected = sum_to_the_end(rows, BW_STATUS_NONE, &count);
  bw_rows_free(rows);
  rows = packets_of(capture, names, 2, 1000);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_stream(rows, &stream, &error));
  EXPECT(stream.get_schema(&stream, &schema) == 0);
  EXPECT(schema.n_children == 2 && strcmp(schema.children[0]->format, "I") == 0);
  EXPECT(strcmp(schema.children[1]->format, "U") == 0);
  schema.release(&schema);
  while (stream.get_next(&stream, &array) == 0 && array.release != NULL) {
    const uint32_t *lengths = (const uint32_t *)array.children[0]->buffers[1];
    for (row = 0; row < array.length; row++) sum += lengths[row];
    streamed += array.length;
    array.release(&array);
  }
  EXPECT(sum == expected && (size_t)streamed == count);
  stream.release(&stream);
  rows = packets_of(capture, names, 2, 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_arrow(batch, &schema, &array, &error));
  EXPECT((size_t)array.length == bw_batch_rows(batch) && strcmp(schema.children[1]->name, "src_ip") == 0);
  bw_batch_free(batch);
  schema.release(&schema);
  array.release(&array);
  closed(capture);
}

static void packets_with_their_bytes_are_those_of_the_columns(void) {
  const char *names[] = {"caplen"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = packets_of(capture, names, 1, 0);
  bw_frames *frames = NULL;
  const bw_schema *schema = NULL;
  bw_slice bytes, payload;
  bw_value value, other;
  bw_status status;
  size_t count, place, found = 0, payloads = 0;
  uint64_t sum = 0, expected = sum_to_the_end(rows, BW_STATUS_NONE, &count);
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_named("packets", &schema, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(schema, "caplen", &place, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_frames(&capture, 1, &frames, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_frames_captured(frames, &bytes, &error));
  while ((status = bw_frames_next(frames, &error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_frames_captured(frames, &bytes, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_frames_value(frames, place, &value, &error));
    EXPECT(value.data.unsigned_number == bytes.len);
    if (bw_frames_payload(frames, &payload, &error) == BW_STATUS_OK && payload.len > 0) {
      EXPECT(payload.data > bytes.data && payload.data + payload.len <= bytes.data + bytes.len);
      payloads++;
    }
    sum += bytes.len;
    found++;
  }
  EXPECT_STATUS(BW_STATUS_NONE, status);
  EXPECT_STATUS(BW_STATUS_NONE, bw_frames_next(frames, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_frames_value(frames, place, &value, &error));
  EXPECT(found == count && sum == expected && payloads > 0);
  bw_frames_free(frames);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_frames(&capture, 1, &frames, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_frames_next(frames, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(schema, "src_mac", &place, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_frames_value(frames, place, &value, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(schema, "dst_mac", &place, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_frames_value(frames, place, &other, &error));
  EXPECT(value.kind == BW_VALUE_KIND_TEXT && value.data.bytes.len == 17 && value.data.bytes.data[2] == ':');
  EXPECT(other.kind == BW_VALUE_KIND_TEXT && memcmp(value.data.bytes.data, other.data.bytes.data, 17) != 0);
  while ((status = bw_frames_next(frames, &error)) == BW_STATUS_OK) {
  }
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_frames_value(frames, 10000, &value, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_schema_named("parcels", &schema, &error));
  EXPECT(strstr(error.message, "packets, flows, calls") != NULL);
  bw_frames_free(frames);
  closed(capture);
  bw_error_clear(&error);
}

static void null_is_an_error_or_nothing(void) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  bw_rows *rows = NULL;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open(NULL, NULL, &capture, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open(WEB, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_packets(&capture, 1, NULL, 0, NULL, &rows, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_rows_next(NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_rows_stream(NULL, NULL, &error));
  EXPECT(bw_rows_schema(NULL) == NULL && bw_schema_len(NULL) == 0 && bw_batch_rows(NULL) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(NULL, "zeek", NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_log_flows(NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_finish(NULL, NULL, &error));
  bw_rows_free(NULL), bw_batch_free(NULL), bw_frames_free(NULL), bw_flow_log_free(NULL);
  bw_error_clear(&error);
}

/* A socket at a port of this machine to which nobody else sends. */
static int bound_socket(struct sockaddr_in *to) {
  socklen_t length = sizeof *to;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  memset(to, 0, sizeof *to);
  to->sin_family = AF_INET, to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT(bind(fd, (const struct sockaddr *)to, sizeof *to) == 0);
  EXPECT(getsockname(fd, (struct sockaddr *)to, &length) == 0);
  return fd;
}

static void packets_of_an_interface_come_until_it_is_stopped(void) {
  const char *names[] = {"caplen"};
  bw_error error = BW_ERROR_INIT;
  bw_live_options live = BW_LIVE_OPTIONS_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_live_counts counts;
  bw_capture *capture = NULL;
  bw_batch *batch = NULL;
  bw_rows *rows;
  bw_status status;
  struct sockaddr_in to;
  const int fd = bound_socket(&to);
  char filter[40];
  snprintf(filter, sizeof filter, "udp dst port %d", ntohs(to.sin_port));
  EXPECT(bw_capture_open_live(NULL, NULL, NULL, &capture, &error) == BW_STATUS_ARGUMENT);
  live.snaplen = 44, options.filter = filter;
  status = bw_capture_open_live("lo", &live, &options, &capture, &error);
  if (status == BW_STATUS_MISSING_LIBRARY || status == BW_STATUS_IO) {
    fprintf(stderr, "c: gap: nothing was captured: %s\n", error.message);
    bw_error_clear(&error);
    close(fd);
    return;
  }
  EXPECT_STATUS(BW_STATUS_OK, status);
  EXPECT(bw_capture_open_live("no such", NULL, NULL, &capture, &error) == BW_STATUS_ARGUMENT);
  EXPECT(strstr(error.message, "there are ") != NULL);
  bw_error_clear(&error);
  rows = packets_of(capture, names, 1, 100);
  EXPECT(sendto(fd, "data", 4, 0, (const struct sockaddr *)&to, sizeof to) == 4);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  EXPECT(value_of(batch, "caplen").data.unsigned_number == 44);
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(capture, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_live_counts(capture, &counts, &error));
  EXPECT(counts.captured == 1 && counts.dropped == 0);
  closed(capture);
  close(fd);
  capture = opened(WEB, NULL);
  EXPECT_STATUS(BW_STATUS_NONE, bw_capture_live_counts(capture, &counts, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(capture, &error));
  closed(capture);
}

/* Has a call end once a packet was read, and remembers how many were. */
struct ending {
  bw_capture *capture;
  int fd;
  struct sockaddr_in to;
  bool stops;
};

static bool end_after_a_packet(void *context) {
  struct ending *ending = (struct ending *)context;
  bw_live_counts counts;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_live_counts(ending->capture, &counts, NULL));
  if (counts.captured == 0) {
    EXPECT(sendto(ending->fd, "data", 4, 0, (const struct sockaddr *)&ending->to, sizeof ending->to) == 4);
    return false;
  }
  if (!ending->stops) return true;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(ending->capture, NULL));
  return false;
}

static void flows_of_an_interface_are_kept_however_reading_it_ends(const char *folder) {
  enum { STOPPED, FINISHED, FREED, CLOSED, ENDS };
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  struct ending ending;
  char filter[40], path[512];
  int end;
  ending.fd = bound_socket(&ending.to);
  snprintf(filter, sizeof filter, "udp dst port %d", ntohs(ending.to.sin_port));
  options.filter = filter;
  options.interrupted = end_after_a_packet, options.interrupted_context = &ending;
  for (end = STOPPED; end < ENDS; end++) {
    bw_flow_log *log;
    uint64_t flows = 0;
    if (bw_capture_open_live("lo", NULL, &options, &ending.capture, &error) != BW_STATUS_OK) {
      fprintf(stderr, "c: gap: nothing was captured: %s\n", error.message);
      break;
    }
    ending.stops = end == STOPPED;
    snprintf(path, sizeof path, "%s/live%d.log", folder, end);
    log = flow_log_at(path, "ecs", NULL);
    EXPECT_STATUS(ending.stops ? BW_STATUS_OK : BW_STATUS_IO, bw_capture_log_flows(ending.capture, log, &error));
    EXPECT(length_of(path) == -1);
    if (end == CLOSED) {
      closed(ending.capture);
      ending.capture = NULL;
      EXPECT(length_of(path) > 100);
    }
    if (end != FREED) {
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
      EXPECT(flows == 1);
    }
    bw_flow_log_free(log);
    EXPECT(length_of(path) > 100);
    if (ending.capture) closed(ending.capture);
  }
  close(ending.fd);
  bw_error_clear(&error);
}

static void a_count_of_an_interface_goes_on_until_it_is_stopped(void) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  struct ending ending;
  char filter[40];
  int rounds;
  ending.fd = bound_socket(&ending.to), ending.stops = false;
  snprintf(filter, sizeof filter, "udp dst port %d", ntohs(ending.to.sin_port));
  options.filter = filter;
  options.interrupted = end_after_a_packet, options.interrupted_context = &ending;
  if (bw_capture_open_live("lo", NULL, &options, &ending.capture, &error) == BW_STATUS_OK) {
    interrupted(COUNTS, ending.capture, NULL);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(ending.capture, &error));
    EXPECT(packets_asked(COUNTS, ending.capture, NULL, &rounds) > 0);
    closed(ending.capture);
  } else {
    fprintf(stderr, "c: gap: nothing was captured: %s\n", error.message);
  }
  close(ending.fd);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  packets_counts_and_info_agree();
  packets_of_an_interface_come_until_it_is_stopped();
  sums_are_told_by_group_and_interval();
  a_question_is_asked_by_its_name_over_captures_that_are_one_run();
  packets_are_chosen_by_a_condition();
  values_are_those_of_the_columns_and_text_as_people_write_it();
  a_filter_leaves_out_what_it_does_not_match();
  what_the_program_reads_gives_the_same_packets();
  input_that_fails_goes_on_when_it_does_not_any_more();
  a_call_that_waits_ends_when_it_is_told_to();
  damage_comes_after_what_is_good_and_again(argv[1]);
  rows_end_before_damage_that_is_kept(argv[1]);
  flows_of_captures_are_one_run_and_add_up_in_a_store(argv[1]);
  flows_of_captures_are_written_as_another_program_has_them(argv[1]);
  a_file_of_flows_goes_on_after_an_interrupt_or_is_given_up(argv[1]);
  flows_of_an_interface_are_kept_however_reading_it_ends(argv[1]);
  a_call_over_a_whole_capture_goes_on_after_an_interrupt(argv[1]);
  another_call_gives_up_one_that_was_interrupted(argv[1]);
  a_call_that_has_failed_begins_anew(argv[1]);
  a_count_of_an_interface_goes_on_until_it_is_stopped();
  calls_are_those_of_the_service_where_there_is_an_idl();
  calls_of_a_service_have_their_arguments_and_results();
  counts_and_calls_are_of_what_meets_a_condition();
  rows_and_batches_leave_as_arrow();
  packets_with_their_bytes_are_those_of_the_columns();
  null_is_an_error_or_nothing();
  return 0;
}
