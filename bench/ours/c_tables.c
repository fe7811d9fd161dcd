/* Ours, through the C interface: the tables as a program in C has them.
 *
 *   c_tables times hash|tree RECORDS
 *
 * The crate table-workload has the same task.
 */
#define _POSIX_C_SOURCE 200809L
#include <bytewright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHECKED_COUNT_MAX = 20000 };

/* The file that record-generator writes, in memory. */
struct records {
  size_t count, key_len, value_len;
  uint8_t *bytes, *order;
};

static void fail(const char *what) {
  fprintf(stderr, "c_tables: %s\n", what);
  exit(1);
}

static uint8_t *read_bytes(FILE *file, size_t len) {
  uint8_t *bytes = (uint8_t *)malloc(len);
  if (bytes == NULL || fread(bytes, 1, len, file) != len) fail("the records end too early");
  return bytes;
}

static struct records load(const char *path) {
  struct records records;
  FILE *file = fopen(path, "rb");
  if (file == NULL || fscanf(file, "%zu %zu %zu", &records.count, &records.key_len, &records.value_len) != 3)
    fail("expected a file by record-generator");
  fgetc(file);
  records.bytes = read_bytes(file, records.count * (records.key_len + records.value_len));
  records.order = read_bytes(file, records.count * 4);
  fclose(file);
  return records;
}

/* The key that comes at a place of the shuffled order. */
static const uint8_t *shuffled_key(const struct records *records, size_t place) {
  const uint8_t *bytes = records->order + 4 * place;
  size_t number = bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
  return records->bytes + number * (records->key_len + records->value_len);
}

static uint32_t crc32(uint32_t crc, const uint8_t *bytes, size_t len) {
  size_t place;
  int bit;
  crc = ~crc;
  for (place = 0; place < len; place++) {
    crc ^= bytes[place];
    for (bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

static double processor_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void get(const bw_table *table, const uint8_t *key, size_t key_len, bw_buffer *value) {
  if (bw_table_get(table, key, key_len, value, NULL) != BW_STATUS_OK) fail("a record is missing");
}

static void print_answer(const struct records *records, const bw_table *table) {
  size_t place, checked = records->count < CHECKED_COUNT_MAX ? records->count : CHECKED_COUNT_MAX;
  bw_buffer value = BW_BUFFER_INIT;
  uint64_t len = 0;
  uint32_t crc = 0;
  for (place = 0; place < checked; place++) {
    get(table, shuffled_key(records, place), records->key_len, &value);
    crc = crc32(crc, value.data, value.len);
  }
  if (bw_table_len(table, &len, NULL) != BW_STATUS_OK) fail("the table has no length");
  printf("{\"records\":%llu,\"crc\":%lu,", (unsigned long long)len, (unsigned long)crc);
  bw_buffer_free(&value);
}

static void add_len(void *context, size_t place, const bw_slice *value) {
  (void)place;
  *(unsigned long long *)context += value->len;
}

static void times(const struct records *records, bw_table *table) {
  size_t record_len = records->key_len + records->value_len, place;
  unsigned long long value_bytes = 0;
  double start_s = processor_s(), stored_s, got_s;
  for (place = 0; place < records->count; place++) {
    const uint8_t *key = records->bytes + place * record_len;
    if (bw_table_put(table, key, records->key_len, key + records->key_len, records->value_len, NULL) != BW_STATUS_OK)
      fail("a put failed");
  }
  stored_s = processor_s();
  for (place = 0; place < records->count; place++) {
    const uint8_t *key = shuffled_key(records, place);
    if (bw_table_get_with(table, key, records->key_len, add_len, &value_bytes, NULL) != BW_STATUS_OK)
      fail("a record is missing");
  }
  got_s = processor_s();
  print_answer(records, table);
  printf("\"value_bytes\":%llu,\"figures\":{\"put_s\":%.9f,\"get_s\":%.9f}}\n", value_bytes, stored_s - start_s,
         got_s - stored_s);
}

int main(int argc, char **argv) {
  struct records records;
  bw_table *table = NULL;
  if (argc != 4 || strcmp(argv[1], "times") != 0) {
    fprintf(stderr, "usage: c_tables times hash|tree RECORDS\n");
    return 2;
  }
  records = load(argv[3]);
  if (bw_table_new(strcmp(argv[2], "hash") == 0 ? BW_TABLE_KIND_HASH : BW_TABLE_KIND_TREE, &table, NULL) != BW_STATUS_OK)
    fail("no table");
  times(&records, table);
  bw_table_close(table, NULL);
  free(records.bytes);
  free(records.order);
  return 0;
}
