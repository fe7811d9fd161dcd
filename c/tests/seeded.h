/* Random numbers, and expectations that print their seed where they are not met. */
#ifndef SEEDED_H
#define SEEDED_H

#include "expect.h"

/* A state that is the seed again gives the same numbers again. */
static uint64_t seed, state;

static inline uint64_t next_random(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 16;
}

static inline void expect_seeded(int condition, const char *file, int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: failed with seed %llu\n", file, line, (unsigned long long)seed);
  exit(1);
}
#define SAME(condition) expect_seeded((condition) != 0, __FILE__, __LINE__)

#endif
