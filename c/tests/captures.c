/* Goal: packets of captures are read through the C interface as the header says: as batches, values, bytes and streams of Arrow's.
 *
 * Method: captures of samples/, whose packets are counted in several ways that must agree. Compiled and run as tables.c is,
 * from the folder of the repository.
 */
#include "samples.h"

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

int main(void) {
  a_filter_leaves_out_what_it_does_not_match();
  packets_are_chosen_by_a_condition();
  values_are_those_of_the_columns_and_text_as_people_write_it();
  rows_and_batches_leave_as_arrow();
  packets_with_their_bytes_are_those_of_the_columns();
  null_is_an_error_or_nothing();
  return 0;
}
