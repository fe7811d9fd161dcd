/* Prints records of a file in columns: an id of 4 bytes and a temperature of 2, the most significant first.
 *
 *   cc reader.c $(pkg-config --cflags --libs bytewright) -o records && ./records measured.bin
 */
#include <bytewright.h>
#include <stdio.h>

int main(int argc, char **argv) {
  static const char *const names[] = {"id", "temperature"};
  static const bw_names columns = {names, 2};
  bw_error error = BW_ERROR_INIT;
  bw_reader *reader = NULL;
  bw_batch *batch = NULL;
  bw_column ids, temperatures;
  bw_status status;
  size_t row;
  if (argc != 2) {
    fprintf(stderr, "usage: records FILE\n");
    return 2;
  }
  status = bw_reader_open(argv[1], &reader, &error);
  while (status == BW_STATUS_OK &&
         (status = bw_reader_records(reader, "N s>", &columns, 0, &batch, &error)) == BW_STATUS_OK) {
    status = bw_batch_column(batch, 0, &ids, &error);
    if (status == BW_STATUS_OK) status = bw_batch_column(batch, 1, &temperatures, &error);
    for (row = 0; status == BW_STATUS_OK && row < ids.rows; row++)
      printf("%lu %d\n", (unsigned long)((const uint32_t *)ids.values)[row], ((const int16_t *)temperatures.values)[row]);
    bw_batch_free(batch);
  }
  bw_reader_close(reader);
  if (status == BW_STATUS_NONE) return 0;
  fprintf(stderr, "records: %s\n", error.message);
  bw_error_clear(&error);
  return 1;
}
