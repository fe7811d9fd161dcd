/* Operations of stores of flows. */
#define _XOPEN_SOURCE 700
#include "captures.h"

#include <unistd.h>

static bw_flow_store *store_of(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = NULL;
  char path[PATH_SIZE];
  path_in(folder, "m.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &store, &error));
  return store;
}

static uint64_t len_of(const bw_flow_store *store) {
  bw_error error = BW_ERROR_INIT;
  uint64_t len = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  return len;
}

static bw_status merge(bw_flow_store *store, const char *path, bw_error *error) {
  bw_error ignored = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  bw_batch *batch = NULL;
  uint64_t answer = 0;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, NULL, &capture, &ignored));
  status = bw_capture_merge_flows(capture, store, NULL, &batch, error);
  status = add_batch(status, batch, &answer);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &ignored));
  return status;
}

uint64_t run_merge(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = store_of(folder);
  uint64_t answer;
  EXPECT_STATUS(BW_STATUS_OK, merge(store, CAPTURE, &error));
  answer = len_of(store);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  return answer;
}

uint64_t run_walk_of_store(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store = NULL;
  bw_rows *rows = NULL;
  char path[PATH_SIZE];
  uint64_t answer = run_merge(folder);
  path_in(folder, "m.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open_read_only(path, &store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_rows(rows, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  return answer;
}

/* A capture of which a part was read adds nothing. */
void fail_merge(const char *folder) {
  bw_flow_store *store = store_of(folder);
  const uint64_t before = len_of(store);
  int round;
  for (round = 0; round < 10; round++) {
    bw_error error = BW_ERROR_INIT;
    bw_batch *batch = NULL;
    struct source source;
    bw_capture *capture;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    capture = of_source(&source);
    EXPECT(bw_capture_merge_flows(capture, store, NULL, &batch, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT(len_of(store) == before);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, NULL));
}

bw_status grow_by_merges(const char *folder, bw_error *error) {
  bw_flow_store *store = store_of(folder);
  bw_status status = BW_STATUS_OK;
  char path[PATH_SIZE];
  uint32_t round;
  path_in(folder, "grown.pcap", path);
  for (round = 0; round < 10000 && status == BW_STATUS_OK; round++) {
    write_flows(path, round);
    status = merge(store, path, error);
    EXPECT(unlink(path) == 0);
  }
  (void)bw_flow_store_close(store, NULL);
  return status;
}

void second_store(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *first, *second = NULL;
  char path[PATH_SIZE];
  /* The file is made with the first capture. */
  (void)run_merge(folder);
  first = store_of(folder);
  path_in(folder, "m.bwt", path);
  EXPECT_STATUS(BW_STATUS_LOCK, bw_flow_store_open(path, &second, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(first, &error));
  bw_error_clear(&error);
}

void merge_a_store_into_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store;
  char path[PATH_SIZE];
  const uint64_t before = run_merge(folder);
  path_in(folder, "m.bwt", path);
  store = store_of(folder);
  EXPECT_STATUS(BW_STATUS_FORMAT, merge(store, path, &error));
  EXPECT(len_of(store) == before);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, NULL));
  bw_error_clear(&error);
}

void walk_a_store_that_is_closed(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_store *store;
  bw_rows *rows = NULL;
  bw_status status;
  uint64_t answer = 0;
  (void)run_merge(folder);
  store = store_of(folder);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  status = add_rows(rows, &answer, &error);
  EXPECT(status == BW_STATUS_OK || status == BW_STATUS_CLOSED);
  bw_error_clear(&error);
}
