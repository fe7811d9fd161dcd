/* A writer of killed.py in C: worker FILE KEY. */
#define _XOPEN_SOURCE 700

#include "bytewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bw_error error = BW_ERROR_INIT;
static bw_table *table;

/* Ends the program where a call fails. */
static void check(bw_status status) {
  if (status > BW_STATUS_NONE) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
}

static int below(int bound) { return (int)(random() % bound); }

static int64_t add(const char *key, int64_t by) {
  int64_t sum = 0;
  check(bw_table_increment(table, (const uint8_t *)key, strlen(key), by, &sum, &error));
  return sum;
}

static void put(const char *key, const char *value, size_t len) {
  check(bw_table_put(table, (const uint8_t *)key, strlen(key), (const uint8_t *)value, len, &error));
}

static void transfer(void) {
  int amount = below(100);
  char from[16], to[16];
  snprintf(from, sizeof from, "account %d", below(20));
  snprintf(to, sizeof to, "account %d", below(20));
  check(bw_table_begin(table, &error));
  add(from, -amount);
  add(to, amount);
  check(bw_table_commit(table, &error));
}

static void pair(void) {
  char number[16];
  snprintf(number, sizeof number, "%d", below(1000000));
  check(bw_table_begin(table, &error));
  put("pair a", number, strlen(number));
  put("pair b", number, strlen(number));
  check(bw_table_commit(table, &error));
}

static void other(void) {
  static char value[16 * 300];
  char key[16];
  size_t len = 0;
  int times;
  snprintf(key, sizeof key, "other %d", below(200));
  if (below(2)) {
    check(bw_table_delete(table, (const uint8_t *)key, strlen(key), &error));
    return;
  }
  for (times = 1 + below(300); times > 0; times--, len += strlen(key)) memcpy(value + len, key, strlen(key));
  put(key, value, len);
}

int main(int argc, char **argv) {
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  if (argc != 3) return 2;
  options.create = true, options.timeout = 120;
  srandom((unsigned)getpid());
  check(bw_table_open(argv[1], &options, &table, &error));
  for (;;) {
    int step = below(1000);
    if (step == 0) check(bw_table_compact(table, &error));
    else if (step < 80) transfer();
    else if (step < 140) pair();
    else if (step < 250) other();
    else {
      /* One call, which the system writes whole or not at all. */
      char line[32];
      int len = snprintf(line, sizeof line, "%lld\n", (long long)add(argv[2], 1));
      if (write(1, line, (size_t)len) != len) return 1;
    }
  }
}
