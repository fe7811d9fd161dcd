/* Prints the Thrift calls of a capture with what they carry, a line for each call.
 *
 *   cc calls.c $(pkg-config --cflags --libs bytewright) -o calls && ./calls web.pcap.gz shop.thrift Shop
 */
#include <bytewright.h>
#include <stdio.h>

static bw_status print_batch(const bw_batch *batch, size_t columns, bw_buffer *text, bw_error *error) {
  size_t row, column;
  bw_value value;
  for (row = 0; row < bw_batch_rows(batch); row++) {
    for (column = 0; column < columns; column++) {
      bw_status status = bw_batch_value(batch, row, column, &value, error);
      if (status <= BW_STATUS_NONE) status = bw_value_text(&value, text, error);
      if (status != BW_STATUS_OK) return status;
      printf("%.*s%c", (int)text->len, (const char *)text->data, column + 1 < columns ? '\t' : '\n');
    }
  }
  return BW_STATUS_OK;
}

static bw_status print_calls(bw_capture *capture, const bw_idl *idl, bw_error *error) {
  static const char *const names[] = {"method", "arguments", "result"};
  bw_names fields;
  bw_buffer text = BW_BUFFER_INIT;
  bw_rows *calls = NULL;
  bw_batch *batch = NULL;
  bw_status status;
  fields.names = names;
  fields.count = 3;
  status = bw_capture_calls(&capture, 1, &fields, idl, NULL, &calls, error);
  while (status == BW_STATUS_OK && (status = bw_rows_next(calls, &batch, error)) == BW_STATUS_OK) {
    status = print_batch(batch, fields.count, &text, error);
    bw_batch_free(batch);
  }
  bw_rows_free(calls);
  bw_buffer_free(&text);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_capture *capture = NULL;
  bw_status status;
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: calls CAPTURE IDL [SERVICE]\n");
    return 2;
  }
  idl.path = argv[2];
  idl.service = argc > 3 ? argv[3] : NULL;
  status = bw_capture_open(argv[1], NULL, &capture, &error);
  if (status == BW_STATUS_OK) status = print_calls(capture, &idl, &error);
  bw_capture_close(capture, NULL);
  if (status == BW_STATUS_OK) return 0;
  fprintf(stderr, "calls: %s\n", error.message);
  bw_error_clear(&error);
  return 1;
}
