/* Goal: captures are read from functions of the program and from pipes as they are from files, in pieces, with errors and waits.
 *
 * Method: input that comes in pieces of random lengths, whose seed a failure prints; input that fails; input that never comes, for
 * interrupts. Compiled and run as tables.c is, from the folder of the repository.
 */
#include "interrupts.h"
#include "samples.h"
#include "seeded.h"

#include <time.h>

/* A file that the program reads itself, in pieces of random lengths. */
struct pieces {
  FILE *file;
  int fails;
};

static int64_t read_piece(void *context, uint8_t *data, size_t capacity) {
  struct pieces *pieces = (struct pieces *)context;
  size_t wanted;
  if (pieces->fails) return -EPIPE;
  wanted = 1 + (size_t)(next_random() % 70000);
  return (int64_t)fread(data, 1, wanted < capacity ? wanted : capacity, pieces->file);
}

static int64_t read_too_much(void *context, uint8_t *data, size_t capacity) {
  (void)context, (void)data;
  return (int64_t)capacity + 1;
}

static void what_the_program_reads_gives_the_same_packets(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL), *input = NULL;
  bw_rows *rows = packets_of(capture, names, 1, 0);
  struct pieces pieces;
  uint64_t sum, expected;
  size_t count, expected_count;
  expected = sum_to_the_end(rows, BW_STATUS_NONE, &expected_count);
  bw_rows_free(rows);
  closed(capture);
  pieces.file = fopen(WEB, "rb"), pieces.fails = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a pipe", read_piece, &pieces, NULL, &input, &error));
  rows = packets_of(input, names, 1, 0);
  sum = sum_to_the_end(rows, BW_STATUS_NONE, &count);
  SAME(sum == expected && count == expected_count);
  bw_rows_free(rows);
  /* It can be read once. */
  rows = packets_of(input, names, 1, 0);
  sum_to_the_end(rows, BW_STATUS_CLOSED, &count);
  bw_rows_free(rows);
  closed(input);
  fclose(pieces.file);
  bw_error_clear(&error);
}

static void input_that_fails_goes_on_when_it_does_not_any_more(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *input = NULL;
  bw_batch *batch = NULL;
  bw_rows *rows;
  struct pieces pieces;
  size_t count;
  pieces.file = fopen(WEB, "rb"), pieces.fails = 1;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a pipe", read_piece, &pieces, NULL, &input, &error));
  rows = packets_of(input, names, 1, 0);
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error));
  EXPECT(error.os_error == EPIPE);
  pieces.fails = 0;
  EXPECT(sum_to_the_end(rows, BW_STATUS_NONE, &count) > 0);
  bw_rows_free(rows);
  closed(input);
  fclose(pieces.file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a liar", read_too_much, NULL, NULL, &input, &error));
  rows = packets_of(input, names, 1, 0);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  closed(input);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_open_input("nobody", NULL, NULL, NULL, &input, &error));
  bw_error_clear(&error);
}

static void a_call_that_waits_ends_when_it_is_told_to(void) {
  const char *names[] = {"length"};
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture;
  bw_rows *rows;
  char path[32];
  int ends[2], questions = 0;
  EXPECT(pipe(ends) == 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  options.interrupted = on_the_third_question, options.interrupted_context = &questions;
  capture = opened(path, &options);
  rows = packets_of(capture, names, 1, 0);
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error));
  EXPECT(error.os_error == EINTR && questions == 3);
  /* Nobody writes: closing ends the read that waits. */
  closed(capture);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  close(ends[0]), close(ends[1]);
  bw_error_clear(&error);
}

int main(void) {
  state = seed = (uint64_t)time(NULL);
  what_the_program_reads_gives_the_same_packets();
  input_that_fails_goes_on_when_it_does_not_any_more();
  a_call_that_waits_ends_when_it_is_told_to();
  return 0;
}
