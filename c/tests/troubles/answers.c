/* Sums of what operations saw, and refusals. */
#include "answers.h"

void add_bytes(uint64_t *answer, const void *bytes, size_t len) {
  size_t place;
  for (place = 0; place < len; place++) *answer = (*answer ^ ((const uint8_t *)bytes)[place]) * 1099511628211u;
}
void add_number(uint64_t *answer, uint64_t number) { add_bytes(answer, &number, sizeof number); }

void add_value(void *context, size_t place, const bw_slice *value) {
  add_number((uint64_t *)context, place);
  if (value) add_bytes((uint64_t *)context, value->data, value->len);
}

bw_status add_rows(bw_rows *rows, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  bw_status status;
  while ((status = bw_rows_next(rows, &batch, error)) == BW_STATUS_OK) {
    bw_column column;
    EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &column, error));
    add_number(answer, bw_batch_rows(batch));
    bw_batch_free(batch);
  }
  bw_rows_free(rows);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

bw_status add_batch(bw_status status, bw_batch *batch, uint64_t *answer) {
  if (status != BW_STATUS_OK) return status;
  add_number(answer, bw_batch_rows(batch));
  bw_batch_free(batch);
  return status;
}

const char *seed_text;
void expect_same(uint64_t found, uint64_t expected, const char *what) {
  if (found == expected) return;
  fprintf(stderr, "%s: expected another answer, with BYTEWRIGHT_SEED=%s\n", what, seed_text);
  exit(1);
}

int refused;

void expect_lock(bw_status status, bw_error *error) {
  EXPECT(status == BW_STATUS_LOCK);
  bw_error_clear(error);
  refused++;
}
