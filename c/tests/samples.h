/* Captures of samples/, opened, read and closed. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "expect.h"

#include <unistd.h>

#define WEB "samples/web.pcap.gz"
#define VLAN "samples/vlan.pcapng"
#define TUNNELS "samples/tunnels.pcap"

static inline bw_capture *opened(const char *path, const bw_capture_options *options) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, options, &capture, &error));
  return capture;
}

static inline void closed(bw_capture *capture) { EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL)); }

static inline bw_rows *packets_of(bw_capture *capture, const char *const *names, size_t count, size_t rows_max) {
  bw_error error = BW_ERROR_INIT;
  bw_rows *rows = NULL;
  bw_names fields;
  fields.names = names, fields.count = count;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, &fields, rows_max, NULL, &rows, &error));
  return rows;
}

/* Reads rows to their end, which is `expected`, and adds the numbers of 32 bits in their first column up. */
static inline uint64_t sum_to_the_end(bw_rows *rows, bw_status expected, size_t *count) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_column column;
  bw_status status;
  uint64_t sum = 0;
  size_t row;
  *count = 0;
  while ((status = bw_rows_next(rows, &batch, &error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &column, &error));
    EXPECT(column.value_type == BW_TYPE_U32 && column.null_count == 0 && column.offsets == NULL);
    EXPECT(column.rows == bw_batch_rows(batch));
    for (row = 0; row < column.rows; row++) sum += ((const uint32_t *)column.values)[row];
    *count += column.rows;
    bw_batch_free(batch);
  }
  EXPECT(status == expected);
  EXPECT_STATUS(expected, bw_rows_next(rows, &batch, &error));
  bw_error_clear(&error);
  return sum;
}

/* Number of rows, all of which are read. */
static inline size_t count_of(bw_rows *rows) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  size_t count = 0;
  bw_status status;
  while ((status = bw_rows_next(rows, &batch, &error)) == BW_STATUS_OK) {
    count += bw_batch_rows(batch);
    bw_batch_free(batch);
  }
  EXPECT(status == BW_STATUS_NONE);
  bw_rows_free(rows);
  return count;
}

/* The value of a batch of one row in the column of that name. */
static inline bw_value value_of(const bw_batch *batch, const char *name) {
  bw_error error = BW_ERROR_INIT;
  bw_value value;
  size_t place;
  EXPECT(bw_batch_rows(batch) == 1);
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(bw_batch_schema(batch), name, &place, &error));
  EXPECT(bw_batch_value(batch, 0, place, &value, &error) <= BW_STATUS_NONE);
  return value;
}

/* A pipe with the beginning of a capture, which a call waits for the rest of. */
static inline bw_capture *opened_pipe(int ends[2], const bw_capture_options *options) {
  static uint8_t bytes[4096];
  FILE *file = fopen(TUNNELS, "rb");
  char path[32];
  EXPECT(pipe(ends) == 0 && file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes);
  EXPECT(write(ends[1], bytes, sizeof bytes) == (ssize_t)sizeof bytes && fclose(file) == 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  return opened(path, options);
}

#endif
