/* Writes a record of 12 bytes to a file, which takes the place of an older one when it is whole.
 *
 *   cc writer.c $(pkg-config --cflags --libs bytewright) -o writer && ./writer record.bin
 */
#include <bytewright.h>
#include <stdio.h>

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_writer_options options = BW_WRITER_OPTIONS_INIT;
  bw_writer *writer = NULL;
  uint64_t len = 0;
  options.mode = BW_WRITER_MODE_REPLACE; /* an older file stays until this one is whole */
  if (argc < 2 || bw_writer_open(argv[1], &options, &writer, &error)) return 1;
  if (bw_writer_unsigned(writer, 4, BW_ORDER_BIG, 2, &error) || bw_writer_float(writer, 8, BW_ORDER_LITTLE, 1.5, &error) ||
      bw_writer_position(writer, &len, &error) || bw_writer_close(writer, &error)) {
    fprintf(stderr, "%s\n", error.message);
    bw_error_clear(&error);
    bw_writer_discard(writer, NULL);
    return 1;
  }
  printf("%llu bytes\n", (unsigned long long)len);
  return 0;
}
