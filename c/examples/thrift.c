/* Prints fields of the Thrift messages of a file, a line for each message.
 *
 *   cc thrift.c $(pkg-config --cflags --libs bytewright) -o pluck && ./pluck log.thrift Entry entries.bin time place.city
 */
#include <bytewright.h>
#include <stdio.h>

static bw_status print_batch(const bw_batch *batch, bw_buffer *text, bw_error *error) {
  size_t columns = bw_schema_len(bw_batch_schema(batch)), row, column;
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

static bw_status print_rows(bw_rows *rows, bw_error *error) {
  bw_buffer text = BW_BUFFER_INIT;
  bw_batch *batch = NULL;
  bw_status status;
  while ((status = bw_rows_next(rows, &batch, error)) == BW_STATUS_OK) {
    status = print_batch(batch, &text, error);
    bw_batch_free(batch);
    if (status != BW_STATUS_OK) break;
  }
  bw_buffer_free(&text);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_names paths;
  bw_thrift *fields = NULL;
  bw_rows *rows = NULL;
  bw_status status;
  if (argc < 5) {
    fprintf(stderr, "usage: pluck IDL TYPE FILE PATH...\n");
    return 2;
  }
  idl.path = argv[1];
  paths.names = (const char *const *)(argv + 4);
  paths.count = (size_t)(argc - 4);
  status = bw_thrift_new(&idl, argv[2], &paths, BW_PROTOCOL_BINARY, &fields, &error);
  if (status == BW_STATUS_OK) status = bw_thrift_rows(fields, argv[3], false, 0, &rows, &error);
  if (status == BW_STATUS_OK) status = print_rows(rows, &error);
  bw_rows_free(rows);
  bw_thrift_free(fields);
  if (status == BW_STATUS_OK) return 0;
  fprintf(stderr, "pluck: %s\n", error.message);
  bw_error_clear(&error);
  return 1;
}
