/* Goal: captures are counted and summed up through the C interface, and asked by the names of questions.
 *
 * Method: captures of samples/, whose packets are counted in several ways that must agree. Compiled and run as tables.c is,
 * from the folder of the repository.
 */
#include "samples.h"

#include <math.h>

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

static void counts_are_of_what_meets_a_condition(void) {
  const char *ports[] = {"where=dst_port == 80"}, *misspelt[] = {"wher=dst_port == 80"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_batch *counts = NULL;
  bw_column column;
  bw_names named;
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
  bw_error_clear(&error);
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

int main(void) {
  packets_counts_and_info_agree();
  counts_are_of_what_meets_a_condition();
  sums_are_told_by_group_and_interval();
  a_question_is_asked_by_its_name_over_captures_that_are_one_run();
  return 0;
}
