/* Operations of caches, in memory and in a file. */
#include "tables.h"

static bw_cache *cache_in(const char *folder, bool is_in_file) {
  bw_error error = BW_ERROR_INIT;
  bw_cache *cache = NULL;
  char path[PATH_SIZE];
  path_in(folder, "c.bwc", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_open(is_in_file ? path : NULL, NULL, &cache, &error));
  return cache;
}

static void set_entries(bw_cache *cache, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  char key[16];
  unsigned number;
  entry.tag.data = (const uint8_t *)"even", entry.tag.len = 4;
  for (number = 0; number < ENTRIES; number++) {
    const size_t len = key_of(number, key);
    const bw_cache_entry *how = number % 2 ? NULL : &entry;
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, (const uint8_t *)key, len, (const uint8_t *)key, len, how, &error));
  }
  for (number = 0; number < ENTRIES; number++) {
    const size_t len = key_of(number, key);
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_get(cache, (const uint8_t *)key, len, &value, NULL, &error));
    add_bytes(answer, value.data, value.len);
  }
  bw_buffer_free(&value);
}

static void use_cache(bw_cache *cache, uint64_t *answer) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  uint64_t count = 0;
  int64_t sum = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(cache, NULL, &error));
  set_entries(cache, answer);
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_add(cache, TEXT("key 001"), TEXT("other"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_touch(cache, TEXT("key 001"), 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_expire(cache, &count, &error));
  add_number(answer, count);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_increment(cache, TEXT("sum"), 7, &sum, &error));
  add_number(answer, (uint64_t)sum);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_take(cache, TEXT("key 003"), &value, &entry, &error));
  add_bytes(answer, value.data, value.len);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_evict(cache, TEXT("even"), &count, &error));
  add_number(answer, count);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_keys(cache, add_value, answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &count, NULL, &error));
  add_number(answer, count);
  bw_buffer_free(&value);
}

uint64_t run_cache(const char *folder) {
  uint64_t answer = 0;
  int place;
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_cache *cache = cache_in(folder, place == 1);
    use_cache(cache, &answer);
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(cache, &error));
  }
  return answer;
}

bw_status grow_by_sets(const char *folder, bw_error *error) {
  bw_cache *cache = cache_in(folder, true);
  bw_status status = BW_STATUS_OK;
  uint64_t before = 0, after = 0;
  uint32_t number;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &before, NULL, NULL));
  for (number = 0; number < 10000 && status == BW_STATUS_OK; number++)
    status = bw_cache_set(cache, (const uint8_t *)&number, sizeof number, much, sizeof much, NULL, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &after, NULL, NULL));
  EXPECT(after == before + number - 1);
  (void)bw_cache_close(cache, NULL);
  return status;
}

void second_cache(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_cache *first = cache_in(folder, true), *second = cache_in(folder, true);
  uint64_t answers[2] = {0, 0};
  set_entries(first, &answers[0]);
  set_entries(second, &answers[1]);
  EXPECT(answers[0] == answers[1]);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(first, NULL, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_get(second, TEXT("key 001"), &value, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(second, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(first, &error));
}

static struct own_cache {
  bw_cache *cache;
  int refused;
} own_cache;

static void change_own_cache(void *context, size_t place, const bw_slice *key) {
  bw_error error = BW_ERROR_INIT;
  struct own_cache *own_one = (struct own_cache *)context;
  (void)place;
  EXPECT_STATUS(BW_STATUS_LOCK, bw_cache_set(own_one->cache, key->data, key->len, TEXT("other"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_LOCK, bw_cache_close(own_one->cache, &error));
  own_one->refused++;
  bw_error_clear(&error);
}

void change_a_cache_in_its_own_function(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  uint64_t answer = 0;
  own_cache.cache = cache_in(folder, true);
  own_cache.refused = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(own_cache.cache, NULL, &error));
  set_entries(own_cache.cache, &answer);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_keys(own_cache.cache, change_own_cache, &own_cache, &error));
  EXPECT(own_cache.refused == ENTRIES);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(own_cache.cache, &error));
}
