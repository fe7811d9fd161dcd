/* Goal: Tokyo Cabinet's names and methods do through the C interface what the header says.
 *
 * Method: each of the four kinds is opened by its name and asked by method names. Whatever is not special to C is a case of
 * conformance/adb.json, which Ruby and Perl run. run.sh says how this is compiled and run.
 */
#include "expect.h"
#include "text.h"

#define ARGUMENTS_MAX 6

/* The strings of the last answer, each with a line break behind it. */
static char told[200];
static void tell(void *context, size_t place, const bw_slice *string) {
  const size_t len = strlen(told);
  EXPECT(place == *(size_t *)context && len + string->len + 2 < sizeof told);
  *(size_t *)context += 1;
  memcpy(told + len, string->data, string->len);
  memcpy(told + len + string->len, "\n", 2);
}

/* Calls a method with texts, of which the last is null. */
static bw_status called(bw_table *table, const char *method, const char *const *texts) {
  bw_error error = BW_ERROR_INIT;
  bw_slice arguments[ARGUMENTS_MAX];
  size_t count = 0, places = 0;
  bw_status status;
  for (; texts && texts[count]; count++) {
    arguments[count].data = (const uint8_t *)texts[count];
    arguments[count].len = strlen(texts[count]);
  }
  told[0] = '\0';
  status = bw_adb_call(table, method, arguments, count, tell, &places, &error);
  bw_error_clear(&error);
  return status;
}

static void methods_are_called_by_their_names(const char *name, bool is_in_memory) {
  const char *const list[] = {"putlist", "b", "2", "a", "1", NULL}, *const prefix[] = {"", "1", NULL};
  const char *const part[] = {"getpart", "b", "5", NULL}, *const with_misc[] = {"iternext", NULL};
  const char *const regex[] = {"regex", "a", NULL};
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  const bool is_ordered = strchr(name, '+') || strstr(name, ".bwt");
  uint64_t len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open(name, NULL, NULL, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, called(table, "misc", list));
  EXPECT_STATUS(BW_STATUS_OK, called(table, "fwmkeys", prefix));
  EXPECT(strcmp(told, is_ordered ? "a\n" : "b\n") == 0);
  EXPECT_STATUS(BW_STATUS_NONE, called(table, "misc", part));
  EXPECT_STATUS(BW_STATUS_NONE, called(table, "misc", NULL));
  EXPECT_STATUS(BW_STATUS_NONE, called(table, "misc", regex));
  EXPECT_STATUS(BW_STATUS_NONE, called(table, "nothing", NULL));
  EXPECT_STATUS(BW_STATUS_OK, called(table, "iterinit", NULL));
  EXPECT_STATUS(BW_STATUS_OK, called(table, "iternext", NULL));
  EXPECT(strcmp(told, is_ordered ? "a\n" : "b\n") == 0);
  EXPECT_STATUS(BW_STATUS_OK, called(table, "misc", with_misc));
  EXPECT(strcmp(told, is_ordered ? "b\n2\n" : "a\n1\n") == 0);
  EXPECT_STATUS(BW_STATUS_NONE, called(table, "iternext", NULL));
  EXPECT_STATUS(is_in_memory ? BW_STATUS_NONE : BW_STATUS_OK, called(table, "tranbegin", NULL));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("c"), TEXT("3"), &error));
  EXPECT_STATUS(is_in_memory ? BW_STATUS_NONE : BW_STATUS_OK, called(table, "tranabort", NULL));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &len, &error));
  EXPECT(len == (is_in_memory ? 3 : 2));
  EXPECT_STATUS(BW_STATUS_OK, called(table, "size", NULL));
  EXPECT(strtoul(told, NULL, 10) > 0);
  EXPECT_STATUS(BW_STATUS_OK, called(table, "vanish", NULL));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
}

static void keep_bytes(void *context, size_t place, const bw_slice *bytes) {
  if (place == 0) memcpy(context, bytes->data, bytes->len);
}

static void numbers_are_those_of_c(void) {
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  const int five = 5;
  const double half = 0.5;
  int sum = 0;
  double real = 0;
  bw_slice arguments[2] = {{TEXT("n")}, {TEXT("")}};
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open("*", NULL, NULL, &table, &error));
  arguments[1].data = (const uint8_t *)&five, arguments[1].len = sizeof five;
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_call(table, "addint", arguments, 2, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_call(table, "addint", arguments, 2, keep_bytes, &sum, &error));
  EXPECT(sum == 10);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_adb_call(table, "adddouble", arguments, 2, NULL, NULL, &error));
  arguments[0].data = (const uint8_t *)"d";
  arguments[1].data = (const uint8_t *)&half, arguments[1].len = sizeof half;
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_call(table, "adddouble", arguments, 2, keep_bytes, &real, &error));
  EXPECT(real == 0.5);
  arguments[0].data = (const uint8_t *)"@true", arguments[0].len = 5;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_adb_call(table, "copy", arguments, 1, NULL, NULL, &error));
  EXPECT(strstr(error.message, "found a command") != NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  bw_error_clear(&error);
}

static void bounds_hold_for_all_that_adds_entries(void) {
  bw_error error = BW_ERROR_INIT;
  bw_table *table = NULL;
  bw_slice keys[2] = {{TEXT("y")}, {TEXT("z")}}, values[2] = {{TEXT("")}, {TEXT("")}};
  uint64_t len = 0;
  int64_t sum = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open("+#capnum=2", NULL, NULL, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("a"), TEXT(""), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_create(table, TEXT("b"), TEXT(""), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_append(table, TEXT("c"), TEXT(""), &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_contains(table, TEXT("a"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_increment(table, TEXT("d"), 1, &sum, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_table_contains(table, TEXT("b"), &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put_many(table, keys, values, 2, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &len, &error));
  EXPECT(len == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
}

static bool asked;
static bool end_at_once(void *context) {
  (void)context;
  asked = true;
  return true;
}

static void what_is_wrong_is_an_error(const char *name) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL, *other = NULL;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_adb_open("what.txt", NULL, NULL, &table, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_adb_open(NULL, NULL, NULL, &table, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_adb_open("*", NULL, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_FORMAT, bw_adb_open("old.tch", NULL, NULL, &table, &error));
  EXPECT(strstr(error.message, "convert it with: bytewright table convert old.tch old.bwh") != NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_HASH, &table, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_adb_call(table, "sync", NULL, 0, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open(name, NULL, NULL, &table, &error));
  EXPECT_STATUS(BW_STATUS_LOCK, bw_adb_open(name, NULL, NULL, &other, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  options.create = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(name, &options, &table, &error));
  EXPECT_STATUS(BW_STATUS_IO, bw_adb_open(name, end_at_once, NULL, &other, &error));
  EXPECT(asked && error.os_error == EINTR);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_adb_open(name, NULL, NULL, &table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  bw_error_clear(&error);
}

int main(int count, char **arguments) {
  char hashed[1000], ordered[1000];
  if (count < 2) return 2;
  snprintf(hashed, sizeof hashed, "%s/casket.bwh#mode=wct", arguments[1]);
  snprintf(ordered, sizeof ordered, "%s/casket.bwt", arguments[1]);
  methods_are_called_by_their_names("*", true);
  methods_are_called_by_their_names("+#bnum=1", true);
  methods_are_called_by_their_names(hashed, false);
  methods_are_called_by_their_names(ordered, false);
  numbers_are_those_of_c();
  bounds_hold_for_all_that_adds_entries();
  what_is_wrong_is_an_error(ordered);
  return 0;
}
