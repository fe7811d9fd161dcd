/* A user of a cache for killed_caches.py in C: cacher FILE KEY. */
#define _XOPEN_SOURCE 700

#include "bytewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bw_error error = BW_ERROR_INIT;
static bw_cache *cache;

/* Ends the program where a call fails. */
static void check(bw_status status) {
  if (status > BW_STATUS_NONE) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
}

static int below(int bound) { return (int)(random() % bound); }

static void other(void) {
  static const uint64_t LIFETIMES[] = {10, 100, 10000};
  static char value[16 * 101];
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  char key[16];
  int times = 1 + below(100);
  size_t len = 0;
  const size_t key_len = (size_t)snprintf(key, sizeof key, "other %d", below(2000));
  entry.expires_at = bw_cache_now() + LIFETIMES[below(3)];
  entry.tag.data = (const uint8_t *)key + key_len - 1, entry.tag.len = 1;
  for (; times > 0; times--, len += key_len) memcpy(value + len, key, key_len);
  check(bw_cache_set(cache, (const uint8_t *)key, key_len, (const uint8_t *)value, len, &entry, &error));
}

int main(int count, char **arguments) {
  bw_cache_options options = BW_CACHE_OPTIONS_INIT;
  const char *named[] = {"timeout=120"};
  if (count != 3) return 2;
  srandom((unsigned)getpid() ^ (unsigned)time(NULL));
  options.size_limit = 4 << 20;
  options.named.names = named, options.named.count = 1;
  check(bw_cache_open(arguments[1], &options, &cache, &error));
  for (;;) {
    const int step = below(1000);
    char text[32];
    int64_t sum;
    if (step == 0) {
      check(bw_cache_expire(cache, NULL, &error));
    } else if (step < 3) {
      const uint8_t tag = (uint8_t)('0' + below(10));
      check(bw_cache_evict(cache, &tag, 1, NULL, &error));
    } else if (step < 10) {
      const int len = snprintf(text, sizeof text, "other %d", below(2000));
      check(bw_cache_take(cache, (const uint8_t *)text, (size_t)len, NULL, NULL, &error));
    } else if (step < 500) {
      other();
    } else {
      check(bw_cache_increment(cache, (const uint8_t *)arguments[2], strlen(arguments[2]), 1, &sum, &error));
      /* One call, which the system writes whole or not at all. */
      if (write(1, text, (size_t)snprintf(text, sizeof text, "%lld\n", (long long)sum)) < 0) return 1;
    }
  }
}
