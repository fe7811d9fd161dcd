/* Goal: what is good of a damaged capture is read through the C interface, and then the damage is told, or kept.
 *
 * Method: a capture that is cut. Compiled and run as tables.c is, from the folder of the repository.
 */
#include "files.h"
#include "samples.h"

static void damage_comes_after_what_is_good_and_again(const char *folder) {
  const char *names[] = {"length"}, *whole_path = "samples/fragments.pcap";
  bw_error error = BW_ERROR_INIT;
  char path[PATH_SIZE];
  size_t count, whole;
  bw_capture *capture = opened(whole_path, NULL);
  bw_rows *rows = packets_of(capture, names, 1, 0);
  bw_batch *info = NULL, *batch = NULL;
  sum_to_the_end(rows, BW_STATUS_NONE, &whole);
  bw_rows_free(rows);
  closed(capture);
  path_in(folder, "cut.pcap", path);
  copy_cut_short(whole_path, path, 3);
  capture = opened(path, NULL);
  rows = packets_of(capture, names, 1, 0);
  sum_to_the_end(rows, BW_STATUS_TRUNCATED, &count);
  EXPECT(count == whole - 1);
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_rows_next(rows, &batch, &error));
  EXPECT(strcmp(error.file, path) == 0 && error.offset > 0);
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_info(capture, &info, &error));
  EXPECT(value_of(info, "packets").data.unsigned_number == count);
  EXPECT(value_of(info, "damage").kind == BW_VALUE_KIND_JSON);
  bw_batch_free(info);
  EXPECT_STATUS(BW_STATUS_NONE, bw_capture_damage(capture, &error));
  closed(capture);
  bw_error_clear(&error);
}

static void rows_end_before_damage_that_is_kept(const char *folder) {
  const char *names[] = {"length"}, *whole_path = "samples/fragments.pcap";
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_batch *counts = NULL;
  char path[PATH_SIZE];
  size_t expected, found, cut_off;
  bw_capture *capture;
  bw_rows *rows;
  options.damage = BW_DAMAGE_KEEP;
  path_in(folder, "kept.pcap", path);
  for (cut_off = 1; cut_off < 298708; cut_off += 5987) {
    copy_cut_short(whole_path, path, (long)cut_off);
    capture = opened(path, NULL);
    rows = packets_of(capture, names, 1, 0);
    sum_to_the_end(rows, BW_STATUS_TRUNCATED, &expected);
    bw_rows_free(rows);
    closed(capture);
    capture = opened(path, &options);
    EXPECT_STATUS(BW_STATUS_NONE, bw_capture_damage(capture, &error));
    rows = packets_of(capture, names, 1, 0);
    sum_to_the_end(rows, BW_STATUS_NONE, &found);
    EXPECT(found == expected);
    EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_capture_damage(capture, &error));
    EXPECT(strcmp(error.file, path) == 0 && error.offset > 0);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_count_by(capture, "proto", NULL, &counts, &error));
    bw_batch_free(counts);
    bw_rows_free(rows);
    closed(capture);
  }
  options.damage = 2;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open(path, &options, &capture, &error));
  EXPECT(strstr(error.message, "expected a bw_damage from 0 to 1, found 2"));
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  damage_comes_after_what_is_good_and_again(argv[1]);
  rows_end_before_damage_that_is_kept(argv[1]);
  return 0;
}
