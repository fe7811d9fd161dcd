/* Expectations of tests in C; the first that is not met ends the program. */
#ifndef EXPECT_H
#define EXPECT_H

#include <bytewright.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);           \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

#define EXPECT_STATUS(expected, call)                                                    \
  do {                                                                                   \
    bw_status found = (call);                                                            \
    if (found != (expected)) {                                                           \
      fprintf(stderr, "%s:%d: expected status %d of %s, found %d\n", __FILE__, __LINE__, \
              (int)(expected), #call, (int)found);                                       \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

#define EXPECT_BYTES(text, buffer) EXPECT((buffer).len == sizeof(text) - 1 && memcmp((buffer).data, text, (buffer).len) == 0)

#endif
