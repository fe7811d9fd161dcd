/* Operations that write what was read of a capture to a file: its flows, as another program has them, and its packets. */
#define _XOPEN_SOURCE 700
#include "captures.h"

#include <sys/stat.h>
#include <unistd.h>

/* Files of flows. */

static bw_flow_log *flow_log_in(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_log *log = NULL;
  char path[PATH_SIZE];
  path_in(folder, "f.json", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, "ecs", NULL, &log, &error));
  return log;
}

static void add_flow_log(const char *folder, uint64_t *answer) {
  char path[PATH_SIZE], bytes[1000];
  size_t len;
  FILE *file;
  path_in(folder, "f.json", path);
  file = fopen(path, "rb");
  EXPECT(file);
  while ((len = fread(bytes, 1, sizeof bytes, file)) > 0) add_bytes(answer, bytes, len);
  fclose(file);
}

static bw_status log_of(bw_flow_log *log, const char *path, bw_error *error) {
  bw_capture *capture = NULL;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, NULL, &capture, NULL));
  status = bw_capture_log_flows(capture, log, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  return status;
}

static uint64_t run_flow_log(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_log *log = flow_log_in(folder);
  uint64_t answer = 0, flows = 0;
  EXPECT_STATUS(BW_STATUS_OK, log_of(log, CAPTURE, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
  bw_flow_log_free(log);
  add_number(&answer, flows);
  add_flow_log(folder, &answer);
  return answer;
}

/* The file of before stays. */
static bw_status grow_by_flow_log(const char *folder, bw_error *error) {
  bw_flow_log *log = flow_log_in(folder);
  bw_status status = BW_STATUS_OK;
  uint64_t before = 0, after = 0;
  char path[PATH_SIZE];
  uint32_t round;
  add_flow_log(folder, &before);
  path_in(folder, "grown.pcap", path);
  for (round = 0; round < 20 && status == BW_STATUS_OK; round++) {
    write_flows(path, round);
    status = log_of(log, path, error);
    EXPECT(unlink(path) == 0);
  }
  if (status == BW_STATUS_OK) status = bw_flow_log_finish(log, NULL, error);
  bw_flow_log_free(log);
  add_flow_log(folder, &after);
  EXPECT(before == after);
  return status;
}

static void fail_flow_log(const char *folder) {
  const uint64_t expected = run_flow_log(folder);
  int round;
  for (round = 0; round < 10; round++) {
    bw_error error = BW_ERROR_INIT;
    struct source source;
    bw_flow_log *log = flow_log_in(folder);
    bw_capture *capture;
    memset(&source, 0, sizeof source);
    /* Also at its very beginning. */
    source.fails = true, source.reads = round < 2 ? 0 : rand() % 90;
    capture = of_source(&source);
    EXPECT(bw_capture_log_flows(capture, log, &error) == BW_STATUS_IO && error.os_error == EIO);
    if (round % 2) {
      EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, NULL, &error));
    } else {
      /* The next read does not fail. */
      source.fails = false;
      EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(capture, log, &error));
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, NULL, &error));
    }
    bw_flow_log_free(log);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
    expect_same(run_flow_log(folder), expected, "flows behind a source that failed");
  }
}

static struct own_log {
  bw_flow_log *log;
  FILE *file;
  bool frees;
  int refused;
} own_log;

static int64_t bring_to_own_log(void *context, uint8_t *data, size_t capacity) {
  bw_error error = BW_ERROR_INIT;
  EXPECT(context == &own_log);
  if (own_log.log) {
    EXPECT_STATUS(BW_STATUS_LOCK, bw_flow_log_finish(own_log.log, NULL, &error));
    own_log.refused++;
    if (own_log.frees) bw_flow_log_free(own_log.log), own_log.log = NULL;
  }
  bw_error_clear(&error);
  return (int64_t)fread(data, 1, capacity < 1000 ? capacity : 1000, own_log.file);
}

/* Its own source cannot finish a file, and frees it when the call returns; no capture is its own output. */
static void log_flows_into_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  const uint64_t expected = run_flow_log(folder);
  char path[PATH_SIZE];
  bw_flow_log *log;
  int round;
  for (round = 0; round < 2; round++) {
    bw_capture *capture = NULL;
    memset(&own_log, 0, sizeof own_log);
    own_log.frees = round == 1;
    own_log.file = fopen(CAPTURE, "rb");
    own_log.log = log = flow_log_in(folder);
    EXPECT(own_log.file);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("own", bring_to_own_log, &own_log, NULL, &capture, &error));
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(capture, log, &error));
    EXPECT(own_log.refused > 0);
    if (!own_log.frees) {
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, NULL, &error));
      bw_flow_log_free(log);
    }
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
    fclose(own_log.file);
  }
  path_in(folder, "own.pcap", path);
  write_flows(path, 1);
  {
    const char *force = "force=1";
    bw_flow_options options = BW_FLOW_OPTIONS_INIT;
    options.named.names = &force, options.named.count = 1;
    EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, "zeek", &options, &log, &error));
  }
  EXPECT_STATUS(BW_STATUS_ARGUMENT, log_of(log, path, &error));
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, NULL, &error));
  bw_flow_log_free(log);
  EXPECT_STATUS(BW_STATUS_OK, log_of(log = flow_log_in(folder), path, &error));
  bw_flow_log_free(log);
  EXPECT(unlink(path) == 0);
  expect_same(run_flow_log(folder), expected, "flows of a capture after it was its own output");
  bw_error_clear(&error);
}

/* New captures. */

static bw_status cut_to(const char *from, const char *folder, const char *name, bw_cut_counts *counts, bw_error *error) {
  const char *options[] = {"force=true", "where=length > 60"};
  bw_names named = BW_NAMES_INIT;
  bw_capture *capture = NULL;
  bw_status status;
  char path[PATH_SIZE];
  named.names = options, named.count = 2;
  path_in(folder, name, path);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(from, NULL, &capture, NULL));
  status = bw_capture_cut(capture, path, &named, counts, NULL, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  return status;
}

static uint64_t run_cut(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  bw_capture *capture = NULL;
  uint64_t answer = 0;
  char path[PATH_SIZE];
  EXPECT_STATUS(BW_STATUS_OK, cut_to(CAPTURE, folder, "cut.pcap", &counts, &error));
  path_in(folder, "cut.pcap", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(path, NULL, &capture, &error));
  EXPECT_STATUS(BW_STATUS_OK, ask_frames(capture, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
  add_number(&answer, counts.packets + counts.bytes + counts.files);
  return answer;
}

/* The file of before stays. */
static bw_status grow_by_cut(const char *folder, bw_error *error) {
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  char path[PATH_SIZE];
  struct stat before, after;
  bw_status status;
  path_in(folder, "cut.pcap", path);
  EXPECT(stat(path, &before) == 0);
  status = cut_to("samples/web.pcap.gz", folder, "cut.pcap", &counts, error);
  EXPECT(counts.packets == 0 && stat(path, &after) == 0 && after.st_size == before.st_size && after.st_ino == before.st_ino);
  return status;
}

static void fail_cut(const char *folder) {
  char path[PATH_SIZE];
  int round;
  path_in(folder, "failed.pcap", path);
  for (round = 0; round < 25; round++) {
    bw_error error = BW_ERROR_INIT;
    struct source source;
    struct stat found;
    bw_capture *capture;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    capture = of_source(&source);
    EXPECT(bw_capture_cut(capture, path, NULL, NULL, NULL, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT(stat(path, &found) < 0);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
  }
}

/* Its own source cannot close it, and no capture is its own output. */
static void cut_into_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
  const uint64_t expected = run_cut(folder);
  struct source source;
  bw_capture *capture;
  char path[PATH_SIZE];
  path_in(folder, "cut.pcap", path);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, cut_to(path, folder, "cut.pcap", &counts, &error));
  path_in(folder, "own.pcap", path);
  memset(&source, 0, sizeof source);
  refused = 0;
  source.closes = capture = of_source(&source);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_cut(capture, path, NULL, NULL, NULL, &error));
  EXPECT(refused > 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  EXPECT(unlink(path) == 0);
  expect_same(run_cut(folder), expected, "packets of a capture after it was its own output");
  bw_error_clear(&error);
  fclose(source.file);
}

/* Both. */

uint64_t run_files(const char *folder) { return run_flow_log(folder) ^ run_cut(folder); }
void fail_files(const char *folder) { fail_flow_log(folder), fail_cut(folder); }
void write_files_into_themselves(const char *folder) { log_flows_into_itself(folder), cut_into_itself(folder); }

bw_status grow_by_files(const char *folder, bw_error *error) {
  EXPECT(grow_by_flow_log(folder, error) == BW_STATUS_IO && error->os_error == EFBIG);
  return grow_by_cut(folder, error);
}
