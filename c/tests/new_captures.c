/* Goal: bw_capture_cut writes the packets that its options select to a new capture, which is there as a whole or not at all.
 *
 * Method: what was written is read again and counted by the same conditions. Compiled and run as tables.c is, from the folder of
 * the repository.
 */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "interrupts.h"
#include "samples.h"

#include <sys/stat.h>

static const char *folder;

static bw_names named(const char *const *options) {
  bw_names names = BW_NAMES_INIT;
  while (options[names.count]) names.count++;
  names.names = options;
  return names;
}

/* Cuts the capture at a path by options whose list ends with a null. */
static bw_cut_counts cut(const char *from, const char *to, const char *const *options) {
  bw_error error = BW_ERROR_INIT, damage = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  const bw_names names = named(options);
  bw_capture *capture = opened(from, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_cut(capture, to, &names, &counts, &damage, &error));
  EXPECT(damage.status == BW_STATUS_OK && damage.message == NULL);
  closed(capture);
  return counts;
}

/* Expects an error of a cut, which leaves no file and no counts. */
static void expect_refusal(bw_status expected, const char *from, const char *to, const char *const *options, const char *message) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  const bw_names names = named(options);
  bw_capture *capture = opened(from, NULL);
  EXPECT_STATUS(expected, bw_capture_cut(capture, to, &names, &counts, NULL, &error));
  if (!strstr(error.message, message)) fprintf(stderr, "found %s\n", error.message);
  EXPECT(strstr(error.message, message) != NULL && counts.packets == 0 && counts.files == 0);
  bw_error_clear(&error);
  closed(capture);
}

/* Packets of the capture at a path that meet a condition. */
static uint64_t packets_where(const char *path, const char *condition) {
  bw_error error = BW_ERROR_INIT;
  const char *const field[] = {"length", NULL}, *const where[] = {condition, NULL};
  const bw_names fields = named(field), options = named(where);
  bw_capture *capture = opened(path, NULL);
  bw_rows *rows = NULL;
  uint64_t count;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, &fields, 0, condition ? &options : NULL, &rows, &error));
  count = count_of(rows);
  closed(capture);
  return count;
}

static uint64_t captured_bytes(const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(path, NULL);
  bw_batch *batch = NULL;
  bw_value value;
  size_t column;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_info(capture, &batch, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_find(bw_batch_schema(batch), "captured_bytes", &column, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_value(batch, 0, column, &value, &error));
  bw_batch_free(batch);
  closed(capture);
  return value.data.unsigned_number;
}

static void what_a_condition_selects_is_a_new_capture(void) {
  const char *const none[] = {NULL}, *const options[] = {"where=length > 1000", "snaplen=80", NULL};
  char path[PATH_SIZE];
  uint64_t expected = packets_where(WEB, "where=length > 1000"), all = packets_where(WEB, NULL);
  bw_cut_counts counts = cut(WEB, path_in(folder, "long.pcapng.zst", path), options);
  EXPECT(expected > 0 && expected < all);
  EXPECT(counts.packets == expected && counts.bytes > 1000 * expected && counts.files == 1 && counts.duplicates == 0);
  EXPECT(packets_where(path, NULL) == expected && captured_bytes(path) <= 80 * expected);
  EXPECT(packets_where(path, "where=length > 1000") == expected && unlink(path) == 0);
  counts = cut(WEB, path_in(folder, "all.pcap", path), none);
  EXPECT(counts.packets == all && packets_where(path, NULL) == all && unlink(path) == 0);
}

static void no_capture_but_with_force_is_replaced_and_never_its_own_input(void) {
  const char *const none[] = {NULL}, *const force[] = {"force=true", "where=length > 1000", NULL};
  char path[PATH_SIZE], link_path[PATH_SIZE];
  off_t length;
  uint64_t all = cut(WEB, path_in(folder, "own.pcap", path), none).packets;
  expect_refusal(BW_STATUS_ARGUMENT, VLAN, path, none, "force");
  length = length_of(path);
  expect_refusal(BW_STATUS_ARGUMENT, path, path, force, "input");
  EXPECT(symlink(path, path_in(folder, "link.pcap", link_path)) == 0);
  expect_refusal(BW_STATUS_ARGUMENT, path, link_path, force, "input");
  EXPECT(unlink(link_path) == 0 && link(path, link_path) == 0);
  expect_refusal(BW_STATUS_ARGUMENT, path, link_path, force, "input");
  EXPECT(length_of(path) == length && packets_where(path, NULL) == all);
  EXPECT(cut(WEB, path, force).packets < all && length_of(path) < length && length_of(link_path) == length);
  EXPECT(unlink(path) == 0 && unlink(link_path) == 0 && names_in(folder) == 0);
}

static void nonsense_is_refused_and_leaves_nothing(void) {
  const char *const none[] = {NULL}, *const unknown[] = {"snaplan=80", NULL}, *const condition[] = {"where=lenght > 1", NULL},
      *const rule[] = {"payload=cut", NULL}, *const keep[] = {"keep=3", NULL};
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  bw_capture *capture = opened(WEB, NULL);
  char path[PATH_SIZE];
  expect_refusal(BW_STATUS_ARGUMENT, WEB, path_in(folder, "none.txt", path), none, "none.txt");
  path_in(folder, "none.pcap", path);
  expect_refusal(BW_STATUS_ARGUMENT, WEB, path, unknown, "did you mean snaplen?");
  expect_refusal(BW_STATUS_ARGUMENT, WEB, path, condition, "did you mean length?");
  expect_refusal(BW_STATUS_ARGUMENT, WEB, path, rule, "expected anonymize beside payload");
  expect_refusal(BW_STATUS_ARGUMENT, WEB, path, keep, "expected rotate beside keep");
  expect_refusal(BW_STATUS_IO, WEB, "/nowhere/none.pcap", none, "/nowhere/none.pcap");
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_cut(NULL, path, NULL, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_cut(capture, NULL, NULL, NULL, NULL, &error));
  counts.size = 3;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_cut(capture, path, NULL, &counts, NULL, &error));
  EXPECT(strstr(error.message, "expected a bw_cut_counts initialized with BW_CUT_COUNTS_INIT") != NULL && names_in(folder) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_cut(capture, path, NULL, NULL, NULL, NULL));
  EXPECT(unlink(path) == 0);
  bw_error_clear(&error);
  closed(capture);
}

static void a_rotated_capture_is_several_files(void) {
  const char *const options[] = {"rotate=400p", "keep=2", NULL};
  char path[PATH_SIZE];
  bw_cut_counts counts = cut(WEB, path_in(folder, "%n.pcap", path), options);
  EXPECT(counts.packets == packets_where(WEB, NULL) && counts.files == (counts.packets + 399) / 400 && names_in(folder) == 2);
  EXPECT(snprintf(path, sizeof path, "%s/%05d.pcap", folder, (int)counts.files - 1) > 0 && packets_where(path, NULL) == 400 && unlink(path) == 0);
  EXPECT(snprintf(path, sizeof path, "%s/%05d.pcap", folder, (int)counts.files) > 0 && unlink(path) == 0);
}

static void a_damaged_capture_is_written_up_to_its_damage(void) {
  static uint8_t bytes[20000];
  bw_error error = BW_ERROR_INIT, damage = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  const char *const force[] = {"force=true", NULL};
  const bw_names names = named(force);
  char damaged[PATH_SIZE], path[PATH_SIZE];
  FILE *file = fopen(VLAN, "rb");
  bw_capture *capture;
  EXPECT(file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
  file = fopen(path_in(folder, "damaged.pcapng", damaged), "wb");
  EXPECT(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
  path_in(folder, "whole.pcapng", path);
  capture = opened(damaged, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_cut(capture, path, NULL, &counts, &damage, &error));
  EXPECT(counts.packets == 76 && damage.status == BW_STATUS_TRUNCATED && damage.offset == 17968 && packets_where(path, NULL) == 76);
  counts.packets = 0;
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_capture_cut(capture, path, &names, &counts, NULL, &error));
  EXPECT(counts.packets == 76 && counts.files == 1 && strcmp(error.message, damage.message) == 0 && packets_where(path, NULL) == 76);
  closed(capture);
  /* One error may serve as both, and is empty without damage. */
  capture = opened(path, NULL);
  EXPECT(unlink(damaged) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_cut(capture, damaged, NULL, NULL, &error, &error));
  EXPECT(error.status == BW_STATUS_OK && error.message == NULL);
  closed(capture);
  EXPECT(unlink(path) == 0 && unlink(damaged) == 0);
  bw_error_clear(&damage);
}

static void an_interrupted_cut_leaves_the_file_that_was_there(void) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_capture *capture;
  FILE *old;
  char path[PATH_SIZE];
  int ends[2], questions = 0;
  EXPECT((old = fopen(path_in(folder, "cut.pcap", path), "wb")) != NULL && fputs("old", old) >= 0 && fclose(old) == 0);
  options.interrupted = from_the_third_question_on, options.interrupted_context = &questions;
  capture = opened_pipe(ends, &options);
  EXPECT(bw_capture_cut(capture, path, NULL, NULL, NULL, &error) == BW_STATUS_IO && error.os_error == EINTR);
  EXPECT(questions >= 3 && length_of(path) == 3 && names_in(folder) == 1);
  closed(capture);
  close(ends[0]), close(ends[1]);
  EXPECT(unlink(path) == 0);
  bw_error_clear(&error);
}

static struct own {
  FILE *file;
  bw_capture *capture;
  const char *path;
  int calls, calls_until_it_fails;
} own;

static int64_t bring_and_use_own(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  EXPECT(context == &own);
  if (own.calls++ == own.calls_until_it_fails) return -EIO;
  EXPECT_STATUS(BW_STATUS_LOCK, bw_capture_close(own.capture, &error));
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_capture_cut(own.capture, own.path, NULL, NULL, NULL, &error));
  bw_error_clear(&error);
  return (int64_t)fread(data, 1, capacity < 500 ? capacity : 500, own.file);
}

static bw_status cut_own(int calls_until_it_fails, bw_cut_counts *counts, bw_error *error) {
  bw_status status;
  memset(&own, 0, sizeof own);
  own.file = fopen(TUNNELS, "rb");
  own.path = "/nowhere/own.pcap";
  own.calls_until_it_fails = calls_until_it_fails;
  EXPECT(own.file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", bring_and_use_own, &own, NULL, &own.capture, error));
  {
    char path[PATH_SIZE];
    status = bw_capture_cut(own.capture, path_in(folder, "own.pcap", path), NULL, counts, NULL, error);
  }
  closed(own.capture);
  fclose(own.file);
  return status;
}

static void a_capture_that_its_own_source_closes_is_cut_to_its_end(void) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  char path[PATH_SIZE];
  EXPECT_STATUS(BW_STATUS_OK, cut_own(-1, &counts, &error));
  EXPECT(own.calls > 2 && counts.packets == packets_where(TUNNELS, NULL));
  EXPECT(packets_where(path_in(folder, "own.pcap", path), NULL) == counts.packets && unlink(path) == 0);
}

static void a_source_that_fails_leaves_no_file(void) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  int calls;
  for (calls = 0; calls < 5; calls++) {
    EXPECT(cut_own(calls, &counts, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT(counts.packets == 0 && names_in(folder) == 0);
  }
  bw_error_clear(&error);
}

int main(int count, char **arguments) {
  EXPECT(count == 2);
  folder = arguments[1];
  what_a_condition_selects_is_a_new_capture();
  no_capture_but_with_force_is_replaced_and_never_its_own_input();
  nonsense_is_refused_and_leaves_nothing();
  a_rotated_capture_is_several_files();
  a_damaged_capture_is_written_up_to_its_damage();
  an_interrupted_cut_leaves_the_file_that_was_there();
  a_capture_that_its_own_source_closes_is_cut_to_its_end();
  a_source_that_fails_leaves_no_file();
  return 0;
}
