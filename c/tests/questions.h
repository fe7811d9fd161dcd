/* Calls that answer with a batch about a whole capture, and that an interrupt leaves to be made again. */
#ifndef QUESTIONS_H
#define QUESTIONS_H

#include "samples.h"

enum question { INFO, COUNTS, COUNTS_OF_LONG, SUMS, SUMS_OF_LONG, MERGE, QUESTIONS };

static inline bw_status asked(enum question question, bw_capture *capture, bw_flow_store *store, bw_batch **batch,
                              bw_error *error) {
  const char *by[] = {"proto"}, *fields[] = {"length"}, *of_long[] = {"where=length > 200"};
  bw_sum_options sums = BW_SUM_OPTIONS_INIT;
  bw_names named = BW_NAMES_INIT;
  named.names = of_long, named.count = 1;
  sums.by.names = by, sums.by.count = 1;
  sums.fields.names = fields, sums.fields.count = 1;
  switch (question) {
    case INFO: return bw_capture_info(capture, batch, error);
    case COUNTS: return bw_capture_count_by(capture, "proto", NULL, batch, error);
    case COUNTS_OF_LONG: return bw_capture_count_by(capture, "proto", &named, batch, error);
    case SUMS_OF_LONG:
      sums.named = named;
      return bw_capture_sum(capture, &sums, batch, error);
    case SUMS: return bw_capture_sum(capture, &sums, batch, error);
    default: return bw_capture_merge_flows(capture, store, NULL, batch, error);
  }
}

/* Makes a call once, which is interrupted. */
static inline void interrupted(enum question question, bw_capture *capture, bw_flow_store *store) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  EXPECT_STATUS(BW_STATUS_IO, asked(question, capture, store, &batch, &error));
  EXPECT(error.os_error == EINTR);
  bw_error_clear(&error);
}

/* Makes a call until it is not interrupted any more; the number of packets in its answer, and in `rounds` that of interrupts. */
static inline uint64_t packets_asked(enum question question, bw_capture *capture, bw_flow_store *store, int *rounds) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_value value;
  bw_status status;
  size_t place, row;
  uint64_t packets = 0;
  *rounds = 0;
  while ((status = asked(question, capture, store, &batch, &error)) == BW_STATUS_IO) {
    EXPECT(error.os_error == EINTR && ++*rounds < 1000);
  }
  EXPECT_STATUS(BW_STATUS_OK, status);
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(bw_batch_schema(batch), "packets", &place, &error));
  for (row = 0; row < bw_batch_rows(batch); row++) {
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_value(batch, row, place, &value, &error));
    packets += value.data.unsigned_number;
  }
  if (question == MERGE) EXPECT(value_of(batch, "added").data.is_true);
  bw_batch_free(batch);
  bw_error_clear(&error);
  return packets;
}

#endif
