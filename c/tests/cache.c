/* Goal: caches do through the C interface what the header says, in memory and in a file.
 *
 * Method: one script over both. It is compiled and run as tables.c is.
 */
#include "expect.h"
#include "files.h"
#include "text.h"

static void entries_are_set_and_found_until_they_expire(bw_cache *cache) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT, told = BW_CACHE_ENTRY_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  uint64_t count = 0, used = 0;
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_get(cache, TEXT("a"), &value, &told, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, TEXT("a"), TEXT("one\0two"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_get(cache, TEXT("a"), &value, &told, &error));
  EXPECT_BYTES("one\0two", value);
  EXPECT(told.kind == BW_CACHE_KIND_BYTES && told.expires_at == 0);
  entry.kind = BW_CACHE_KIND_TEXT;
  entry.expires_at = bw_cache_now() + 3600 * 1000;
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_add(cache, TEXT("a"), TEXT("other"), &entry, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_add(cache, TEXT("b"), TEXT("text"), &entry, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_get(cache, TEXT("b"), &value, &told, &error));
  EXPECT(told.kind == BW_CACHE_KIND_TEXT && told.expires_at == entry.expires_at);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_touch(cache, TEXT("b"), 1, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_get(cache, TEXT("b"), &value, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_get(cache, TEXT("a"), NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_touch(cache, TEXT("b"), 0, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &count, &used, &error));
  EXPECT(count == 2 && used > 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_expire(cache, &count, &error));
  EXPECT(count == 1);
  bw_buffer_free(&value);
}

static void integers_are_added_to(bw_cache *cache) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry told = BW_CACHE_ENTRY_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  int64_t sum = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_increment(cache, TEXT("sum"), 40, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_increment(cache, TEXT("sum"), 2, &sum, &error));
  EXPECT(sum == 42);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_take(cache, TEXT("sum"), &value, &told, &error));
  EXPECT(told.kind == BW_CACHE_KIND_INTEGER);
  EXPECT_BYTES("\x2a\0\0\0\0\0\0\0", value);
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_take(cache, TEXT("sum"), NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_cache_increment(cache, TEXT("a"), 1, &sum, &error));
  bw_buffer_free(&value);
  bw_error_clear(&error);
}

static void show(void *context, size_t place, const bw_slice *key) {
  char *text = (char *)context;
  sprintf(text + strlen(text), "%d %.*s,", (int)place, (int)key->len, (const char *)key->data);
}

static void entries_of_a_tag_go_together(bw_cache *cache) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  char keys[64] = "";
  uint64_t count = 0;
  entry.tag.data = (const uint8_t *)"books", entry.tag.len = 5;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, TEXT("x"), TEXT("1"), &entry, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, TEXT("y"), TEXT("2"), NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, TEXT("z"), TEXT("3"), &entry, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_evict(cache, TEXT("books"), &count, &error));
  EXPECT(count == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_keys(cache, show, keys, &error));
  EXPECT(strcmp(keys, "0 a,1 y,") == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_clear(cache, &count, &error));
  EXPECT(count == 2);
}

static void what_no_cache_keeps_is_refused(bw_cache *cache) {
  static const struct {
    uint32_t kind;
    const char *value, *told;
  } WRONG[] = {
    {6, "v", "expected a bw_cache_kind from 0 to 5, found 6"},
    {BW_CACHE_KIND_TEXT, "\xff", "expected text in UTF-8 as the value, found other bytes"},
    {BW_CACHE_KIND_FLOAT, "1.5", "expected 8 bytes as the value of a number, found 3 bytes"},
  };
  bw_error error = BW_ERROR_INIT;
  size_t place;
  for (place = 0; place < sizeof WRONG / sizeof *WRONG; place++) {
    bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
    const uint8_t *value = (const uint8_t *)WRONG[place].value;
    entry.kind = WRONG[place].kind;
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_cache_set(cache, TEXT("w"), value, strlen(WRONG[place].value), &entry, &error));
    EXPECT(strcmp(error.message, WRONG[place].told) == 0);
  }
  bw_error_clear(&error);
}

static void what_is_over_the_limits_is_evicted(const char *path) {
  static uint8_t much[300000];
  bw_error error = BW_ERROR_INIT;
  bw_cache_options options = BW_CACHE_OPTIONS_INIT;
  bw_cache *cache = NULL;
  uint64_t count = 0, used = 0;
  uint32_t number;
  options.size_limit = 1 << 20;
  options.count_limit = 100;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_open(path, &options, &cache, &error));
  for (number = 0; number < 3000; number++)
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, (const uint8_t *)&number, sizeof number, much, 1000, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_len(cache, &count, &used, &error));
  EXPECT(count > 50 && count <= 100 && used <= 1 << 20);
  EXPECT_STATUS(BW_STATUS_LIMIT, bw_cache_set(cache, TEXT("much"), much, sizeof much, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(cache, &error));
  options.size_limit = 1000;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_cache_open(path, &options, &cache, &error));
  bw_error_clear(&error);
}

/* Changes bytes of all frames and records of a file, which are behind its first 69,632 bytes. */
static void spoil(const char *path) {
  FILE *file = fopen(path, "r+b");
  long at, len;
  EXPECT(file && fseek(file, 0, SEEK_END) == 0 && (len = ftell(file)) > 69632);
  for (at = 69632; at < len; at += 64) EXPECT(fseek(file, at, SEEK_SET) == 0 && fputc(0xaa, file) == 0xaa);
  EXPECT(fclose(file) == 0);
}

static bw_cache *filled(const char *path, bool clears_damage) {
  bw_error error = BW_ERROR_INIT;
  bw_cache_options options = BW_CACHE_OPTIONS_INIT;
  bw_cache *cache = NULL;
  static uint8_t value[1000];
  uint32_t number;
  options.clears_damage = clears_damage;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_open(path, &options, &cache, &error));
  for (number = 0; number < 200; number++)
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, (const uint8_t *)&number, sizeof number, value, sizeof value, NULL, &error));
  return cache;
}

static void damage_is_an_error_or_cleared_for_all_who_have_the_file(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_buffer value = BW_BUFFER_INIT;
  bw_cache *cache = filled(path, false), *other;
  const uint32_t number = 7;
  char keys[64] = "";
  spoil(path);
  EXPECT_STATUS(BW_STATUS_CORRUPT, bw_cache_get(cache, (const uint8_t *)&number, sizeof number, &value, NULL, &error));
  EXPECT_STATUS(BW_STATUS_CORRUPT, bw_cache_keys(cache, show, keys, &error));
  (void)bw_cache_close(cache, NULL);
  remove(path);

  cache = filled(path, true), other = filled(path, true);
  EXPECT(bw_cache_clearings(cache) == 0 && bw_cache_clearings(NULL) == 0);
  spoil(path);
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_get(cache, (const uint8_t *)&number, sizeof number, &value, NULL, &error));
  EXPECT(bw_cache_clearings(cache) == 1);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, TEXT("a"), TEXT("1"), NULL, &error));
  /* The other one goes on with what was set since. */
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_keys(other, show, keys, &error));
  EXPECT(strcmp(keys, "0 a,") == 0 && bw_cache_clearings(other) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(cache, &error));

  cache = filled(path, true);
  spoil(path);
  EXPECT_STATUS(BW_STATUS_NONE, bw_cache_take(cache, (const uint8_t *)&number, sizeof number, NULL, NULL, &error));
  EXPECT(bw_cache_clearings(cache) == 1);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(cache, &error));
  bw_buffer_free(&value);
  bw_error_clear(&error);
  remove(path);
}

static void a_table_is_no_cache(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL;
  bw_cache *cache = NULL;
  options.create = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a"), TEXT("1"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  EXPECT_STATUS(BW_STATUS_FORMAT, bw_cache_open(path, NULL, &cache, &error));
  EXPECT(cache == NULL && strstr(error.message, "cache") != NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(NULL, &error));
  bw_error_clear(&error);
}

int main(int count, char **arguments) {
  char path[PATH_SIZE];
  int place;
  EXPECT(count == 2);
  for (place = 0; place < 2; place++) {
    bw_error error = BW_ERROR_INIT;
    bw_cache *cache = NULL;
    path_in(arguments[1], "c.bwc", path);
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_open(place ? path : NULL, NULL, &cache, &error));
    entries_are_set_and_found_until_they_expire(cache);
    integers_are_added_to(cache);
    entries_of_a_tag_go_together(cache);
    what_no_cache_keeps_is_refused(cache);
    EXPECT_STATUS(BW_STATUS_OK, bw_cache_close(cache, &error));
  }
  what_is_over_the_limits_is_evicted(NULL);
  what_is_over_the_limits_is_evicted(path);
  remove(path);
  damage_is_an_error_or_cleared_for_all_who_have_the_file(path);
  path_in(arguments[1], "t.bwh", path);
  a_table_is_no_cache(path);
  return 0;
}
