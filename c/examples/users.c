/* Counts visits of users in a file, in one transaction, and prints those of a prefix, the highest key first.
 *
 *   cc users.c $(pkg-config --cflags --libs bytewright) -o users && ./users users.bwt
 */
#include <bytewright.h>
#include <stdio.h>

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_range range = BW_RANGE_INIT;
  bw_slice key, value;
  bw_scan *scan = NULL;
  bw_table *users = NULL;
  int64_t visits;
  if (argc < 2) return 2;
  options.create = true;
  options.timeout = 2.5; /* seconds, while another process writes */
  if (bw_table_open(argv[1], &options, &users, &error)) goto failed;
  if (bw_table_begin(users, &error)) goto failed;
  if (bw_table_increment(users, (const uint8_t *)"user:ada", 8, 1, &visits, &error)) goto failed;
  if (bw_table_increment(users, (const uint8_t *)"user:bob", 8, 2, &visits, &error)) goto failed;
  if (bw_table_commit(users, &error)) goto failed;
  range.prefix.data = (const uint8_t *)"user:";
  range.prefix.len = 5;
  range.reverse = true;
  if (bw_table_scan(users, &range, &scan, &error)) goto failed;
  while (bw_scan_next(scan, &key, &value, &error) == BW_STATUS_OK)
    printf("%.*s %.*s\n", (int)key.len, (const char *)key.data, (int)value.len, (const char *)value.data);
  bw_scan_free(scan);
  return bw_table_close(users, &error);
failed:
  fprintf(stderr, "%s\n", error.message);
  bw_error_clear(&error);
  bw_table_close(users, NULL);
  return 1;
}
