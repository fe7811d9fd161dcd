/* Counts the words of its standard input and prints them in order, the highest counts in a file that stays.
 *
 *   cc table.c $(pkg-config --cflags --libs bytewright) -o words && ./words words.bwt < text
 */
#include <bytewright.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what, bw_error *error) {
  fprintf(stderr, "words: cannot %s: %s\n", what, error->message);
  bw_error_clear(error);
  return 1;
}

/* Adds the words of the input to the table, all of them or, on an error, none. */
static bw_status count_words(bw_table *words, bw_error *error) {
  char word[256];
  bw_status status = bw_table_begin(words, error);
  while (status == BW_STATUS_OK && scanf("%255s", word) == 1) {
    int64_t count;
    status = bw_table_increment(words, (const uint8_t *)word, strlen(word), 1, &count, error);
  }
  return status == BW_STATUS_OK ? bw_table_commit(words, error) : status;
}

static bw_status print_words(const bw_table *words, bw_error *error) {
  bw_scan *scan = NULL;
  bw_slice word, count;
  bw_status status = bw_table_scan(words, NULL, &scan, error);
  while (status == BW_STATUS_OK && (status = bw_scan_next(scan, &word, &count, error)) == BW_STATUS_OK) {
    printf("%.*s %.*s\n", (int)count.len, (const char *)count.data, (int)word.len, (const char *)word.data);
  }
  bw_scan_free(scan);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *words = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: words FILE.bwt < TEXT\n");
    return 2;
  }
  if (bw_check_abi(BW_ABI_VERSION, &error) != BW_STATUS_OK) return failed("start", &error);
  options.create = true;
  if (bw_table_open(argv[1], &options, &words, &error) != BW_STATUS_OK) return failed("open the table", &error);
  if (count_words(words, &error) != BW_STATUS_OK || print_words(words, &error) != BW_STATUS_OK) {
    bw_table_close(words, NULL);
    return failed("count", &error);
  }
  if (bw_table_close(words, &error) != BW_STATUS_OK) return failed("close the table", &error);
  return 0;
}
