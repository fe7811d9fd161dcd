/* Goal: Thrift calls of a capture are read through the C interface, with what an IDL file says of them.
 *
 * Method: calls of samples/warehouse.pcap.zst, which are counted. Compiled and run as tables.c is, from the folder of the
 * repository.
 */
#include "samples.h"

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

static void calls_are_of_what_meets_a_condition(void) {
  const char *audits[] = {"where=method == \"audit\""}, *wrong[] = {"where=methd == \"audit\""};
  const char *by_name[] = {"where=method == \"audit\"", "idl=samples/warehouse.thrift", "service=NextStore"};
  const char *service[] = {"service=NextStore"};
  const char *names[] = {"method", "arguments"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened("samples/warehouse.pcap.zst", NULL);
  bw_rows *rows = NULL;
  bw_names named, fields = BW_NAMES_INIT;
  bw_idl idl = BW_IDL_INIT;
  named.count = 1;
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

int main(void) {
  calls_are_those_of_the_service_where_there_is_an_idl();
  calls_of_a_service_have_their_arguments_and_results();
  calls_are_of_what_meets_a_condition();
  return 0;
}
