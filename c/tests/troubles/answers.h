/* Answers of operations, which are sums of what was seen, and the count of what was refused to functions of the program's. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "expect.h"

void add_bytes(uint64_t *answer, const void *bytes, size_t len);
void add_number(uint64_t *answer, uint64_t number);
void add_value(void *answer, size_t place, const bw_slice *value);
bw_status add_rows(bw_rows *rows, uint64_t *answer, bw_error *error);
bw_status add_batch(bw_status status, bw_batch *batch, uint64_t *answer);

/* The seed of this run, which BYTEWRIGHT_SEED can name; a failure prints it. */
extern const char *seed_text;
void expect_same(uint64_t found, uint64_t expected, const char *what);

/* How often functions were refused the object that had called them. */
extern int refused;
void expect_lock(bw_status status, bw_error *error);

#endif
