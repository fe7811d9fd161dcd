/* Goal: a call over a whole capture that is interrupted goes on when it is made again, until another one gives it up.
 *
 * Method: each such call is made of a file, of a pipe to which nobody writes yet, and of a function that is often interrupted; all
 * must give the same. Compiled and run as tables.c is, from the folder of the repository.
 */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "questions.h"

/* Brings a file in pieces, and is interrupted before every third of them, as by a signal. */
struct stuttering {
  FILE *file;
  int calls;
};

static int64_t read_stuttering(void *context, uint8_t *data, size_t capacity) {
  struct stuttering *input = (struct stuttering *)context;
  if (++input->calls % 3 == 0) return -EINTR;
  return (int64_t)fread(data, 1, capacity < 4096 ? capacity : 4096, input->file);
}

static bw_capture *opened_stuttering(struct stuttering *input, const char *path) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  input->file = fopen(path, "rb"), input->calls = 0;
  EXPECT(input->file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a stuttering input", read_stuttering, input, NULL, &capture, &error));
  return capture;
}

static bool always(void *context) { return ++*(int *)context > 0; }

static bw_flow_store *store_at(const char *folder, const char *name) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = NULL;
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s.bwt", folder, name);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &store, &error));
  return store;
}

static uint64_t closed_store(bw_flow_store *store) {
  bw_error error = BW_ERROR_INIT;
  uint64_t len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  return len;
}

static void a_call_over_a_whole_capture_goes_on_after_an_interrupt(const char *folder) {
  enum { FILE_ITSELF, PIPE, INPUT, FORMS };
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  int question, form, questions = 0, rounds;
  options.interrupted = always, options.interrupted_context = &questions;
  for (question = 0; question < QUESTIONS; question++) {
    uint64_t packets[FORMS], flows[FORMS];
    for (form = 0; form < FORMS; form++) {
      static uint8_t bytes[4096];
      FILE *file = fopen(TUNNELS, "rb");
      struct stuttering input;
      bw_flow_store *store;
      bw_capture *capture;
      char name[32];
      int ends[2];
      size_t length;
      snprintf(name, sizeof name, "goes_on_%d_%d", question, form);
      store = store_at(folder, name);
      if (form == FILE_ITSELF) {
        capture = opened(TUNNELS, NULL);
      } else if (form == INPUT) {
        capture = opened_stuttering(&input, TUNNELS);
      } else {
        capture = opened_pipe(ends, &options);
        interrupted((enum question)question, capture, store);
        interrupted((enum question)question, capture, store);
        EXPECT(file && fseek(file, sizeof bytes, SEEK_SET) == 0);
        while ((length = fread(bytes, 1, sizeof bytes, file)) > 0) EXPECT(write(ends[1], bytes, length) == (ssize_t)length);
        close(ends[1]);
      }
      packets[form] = packets_asked((enum question)question, capture, store, &rounds);
      EXPECT(packets[form] > 0 && packets[form] == packets[0]);
      EXPECT(form == FILE_ITSELF ? rounds == 0 : form == PIPE || rounds > 5);
      flows[form] = closed_store(store);
      EXPECT(flows[form] == flows[0] && (flows[form] > 0) == (question == MERGE));
      closed(capture);
      if (form == PIPE) close(ends[0]);
      if (form == INPUT) fclose(input.file);
      fclose(file);
    }
  }
}

static void another_call_gives_up_one_that_was_interrupted(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture, *other = opened(TUNNELS, NULL);
  bw_flow_store *store, *same;
  bw_rows *rows = NULL;
  struct stuttering input;
  uint64_t len = 0;
  int ends[2], question, closes_store_first, questions = 0;
  options.interrupted = always, options.interrupted_context = &questions;
  for (question = 0; question < QUESTIONS; question++) {
    char name[32];
    snprintf(name, sizeof name, "given_up_%d", question);
    store = store_at(folder, name);
    /* What can be read once is gone, with the usual error, for the call that was interrupted as well. */
    capture = opened_stuttering(&input, TUNNELS);
    interrupted((enum question)question, capture, store);
    EXPECT_STATUS(BW_STATUS_CLOSED, asked((enum question)((question + 1) % QUESTIONS), capture, store, &batch, &error));
    EXPECT_STATUS(BW_STATUS_CLOSED, asked((enum question)question, capture, store, &batch, &error));
    closed(capture);
    fclose(input.file);
    capture = opened_stuttering(&input, TUNNELS);
    interrupted((enum question)question, capture, store);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, NULL, 0, NULL, &rows, &error));
    EXPECT_STATUS(BW_STATUS_CLOSED, bw_rows_next(rows, &batch, &error));
    bw_rows_free(rows);
    EXPECT_STATUS(BW_STATUS_CLOSED, asked((enum question)question, capture, store, &batch, &error));
    closed(capture);
    fclose(input.file);
    /* Closing ends it, whichever handle is the first. */
    for (closes_store_first = 0; closes_store_first < 2; closes_store_first++) {
      if (!store) store = store_at(folder, name);
      capture = opened_pipe(ends, &options);
      interrupted((enum question)question, capture, store);
      if (closes_store_first) closed_store(store);
      closed(capture);
      if (!closes_store_first) closed_store(store);
      store = NULL;
      close(ends[0]), close(ends[1]);
    }
  }

  /* A merge that is given up adds nothing, and leaves its store to others at once. Rows that were begun before it go on. */
  store = store_at(folder, "given_up");
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(other, store, NULL, &batch, &error));
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  capture = opened_pipe(ends, &options);
  interrupted(MERGE, capture, store);
  EXPECT(count_of(rows) == len && len > 0);
  closed(other);
  other = opened(VLAN, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(other, store, NULL, &batch, &error));
  EXPECT(value_of(batch, "added").data.is_true);
  bw_batch_free(batch);
  closed(capture), closed(other);
  close(ends[0]), close(ends[1]);
  capture = opened_pipe(ends, &options);
  interrupted(MERGE, capture, store);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  same = store_at(folder, "given_up");
  EXPECT(closed_store(same) > len);
  closed(capture);
  close(ends[0]), close(ends[1]);
  bw_error_clear(&error);
}

static void a_call_that_has_failed_begins_anew(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  bw_capture *capture;
  char path[PATH_SIZE];
  int rounds;
  path_in(folder, "growing.pcap", path);
  copy_cut_short(TUNNELS, path, 3);
  capture = opened(path, NULL);
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_capture_count_by(capture, "proto", NULL, &batch, &error));
  copy_cut_short(TUNNELS, path, 0);
  EXPECT(packets_asked(COUNTS, capture, NULL, &rounds) > 0);
  closed(capture);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  a_call_over_a_whole_capture_goes_on_after_an_interrupt(argv[1]);
  another_call_gives_up_one_that_was_interrupted(argv[1]);
  a_call_that_has_failed_begins_anew(argv[1]);
  return 0;
}
