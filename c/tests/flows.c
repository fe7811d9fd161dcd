/* Goal: flows of captures are read through the C interface, added up in a store, and written to a file as another program has them.
 *
 * Method: captures of samples/, whose flows are counted in several ways that must agree; a pipe, for interrupts. Compiled and run
 * as tables.c is, from the folder of the repository.
 */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "samples.h"

static void flows_of_captures_are_one_run_and_add_up_in_a_store(const char *folder) {
  const char *names[] = {"src_ip", "bytes"};
  bw_error error = BW_ERROR_INIT;
  bw_capture *captures[2];
  bw_flow_store *store = NULL;
  bw_batch *merge = NULL;
  bw_rows *rows = NULL;
  bw_names fields;
  bw_flow_options never_idle = BW_FLOW_OPTIONS_INIT, short_idle = BW_FLOW_OPTIONS_INIT;
  char path[PATH_SIZE];
  uint64_t len = 0;
  size_t count;
  fields.names = names, fields.count = 2;
  captures[0] = opened(WEB, NULL), captures[1] = opened(VLAN, NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(captures, 2, &fields, &never_idle, &rows, &error));
  EXPECT(bw_schema_len(bw_rows_schema(rows)) == 2);
  count = count_of(rows);
  EXPECT(count > 900);
  short_idle.idle_timeout = 0.0;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(captures, 2, NULL, &short_idle, &rows, &error));
  EXPECT(count_of(rows) > count);
  path_in(folder, "flows.bwt", path);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path, &store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(captures[0], store, NULL, &merge, &error));
  EXPECT(value_of(merge, "added").data.is_true);
  bw_batch_free(merge);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(captures[1], store, NULL, &merge, &error));
  bw_batch_free(merge);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_merge_flows(captures[0], store, NULL, &merge, &error));
  EXPECT(!value_of(merge, "added").data.is_true && value_of(merge, "new_flows").data.unsigned_number == 0);
  bw_batch_free(merge);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_len(store, &len, &error));
  EXPECT(len == 990);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, &fields, &rows, &error));
  EXPECT(count_of(rows) == 990);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open_read_only(path, &store, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_flows(store, NULL, &rows, &error));
  EXPECT(count_of(rows) == 990);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_close(store, &error));
  closed(captures[0]), closed(captures[1]);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_flows(NULL, 0, NULL, NULL, &rows, &error));
  bw_error_clear(&error);
}

static bw_flow_log *flow_log_at(const char *path, const char *format, const bw_flow_options *options) {
  bw_error error = BW_ERROR_INIT;
  bw_flow_log *log = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, format, options, &log, &error));
  return log;
}

static void flows_of_captures_are_written_as_another_program_has_them(const char *folder) {
  const char *where = "where=dst_port == 80", *force = "force=true";
  bw_error error = BW_ERROR_INIT;
  bw_flow_options options = BW_FLOW_OPTIONS_INIT;
  bw_capture *captures[2];
  bw_flow_log *log;
  bw_rows *rows = NULL;
  char path[PATH_SIZE], copy[PATH_SIZE];
  uint64_t flows = 0;
  long length;
  captures[0] = opened(WEB, NULL), captures[1] = opened(VLAN, NULL);
  path_in(folder, "conn.log", path);
  log = flow_log_at(path, "zeek", NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[0], log, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[1], log, &error));
  EXPECT(length_of(path) == -1);
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(captures, 2, NULL, NULL, &rows, &error));
  EXPECT(flows == count_of(rows) && (length = length_of(path)) > 50000);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, &flows, &error));
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_capture_log_flows(captures[0], log, &error));
  bw_flow_log_free(log);

  /* Given up, the older file stays. */
  log = flow_log_at(path, "ecs", NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[0], log, &error));
  bw_flow_log_free(log);
  EXPECT(length_of(path) == length);

  options.named.names = &where, options.named.count = 1;
  log = flow_log_at(path, "ipfix", &options);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(captures[0], log, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
  EXPECT(flows == 188 && length_of(path) < length);
  bw_flow_log_free(log);

  /* A capture is replaced with `force` only, and one that is read never. */
  path_in(folder, "copy.pcapng", copy);
  copy_cut_short(VLAN, copy, 0);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(copy, "zeek", &options, &log, &error));
  EXPECT(strstr(error.message, "found a packet capture") != NULL);
  options.named.names = &force;
  log = flow_log_at(copy, "zeek", &options);
  closed(captures[1]);
  captures[1] = opened(copy, NULL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_log_flows(captures[1], log, &error));
  EXPECT(strstr(error.message, "found one of them") != NULL);
  EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, NULL, &error));
  bw_flow_log_free(log);
  EXPECT(length_of(copy) == length_of(VLAN));
  options.named.names = &where, options.named.count = 1, where = "filter=tcp";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(path, "zeek", &options, &log, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_flow_log_create(path, "zek", NULL, &log, &error));
  EXPECT(strstr(error.message, "did you mean zeek?") != NULL);
  closed(captures[0]), closed(captures[1]);
  bw_error_clear(&error);
}

static bool on_every_third_question(void *context) { return ++*(int *)context % 3 == 0; }

static void a_file_of_flows_goes_on_after_an_interrupt_or_is_given_up(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_capture *capture, *other = opened(VLAN, NULL);
  bw_flow_log *log;
  static uint8_t bytes[4096];
  FILE *file = fopen("samples/tunnels.pcap", "rb");
  char path[PATH_SIZE], pipe_path[32];
  int ends[2], questions = 0, round;
  uint64_t flows = 0;
  size_t length;
  EXPECT(file);
  options.interrupted = on_every_third_question, options.interrupted_context = &questions;
  path_in(folder, "interrupted.log", path);
  for (round = 0; round < 2; round++) {
    EXPECT(pipe(ends) == 0);
    snprintf(pipe_path, sizeof pipe_path, "/dev/fd/%d", ends[0]);
    capture = opened(pipe_path, &options);
    log = flow_log_at(path, "zeek-json", NULL);
    rewind(file);
    length = fread(bytes, 1, sizeof bytes, file);
    EXPECT(write(ends[1], bytes, length) == (ssize_t)length);
    EXPECT_STATUS(BW_STATUS_IO, bw_capture_log_flows(capture, log, &error));
    EXPECT(error.os_error == EINTR && length_of(path) == -1);
    EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_capture_log_flows(other, log, &error));
    if (round == 0) {
      /* Not read to its end, it leaves no file. */
      EXPECT_STATUS(BW_STATUS_CLOSED, bw_flow_log_finish(log, &flows, &error));
      EXPECT(length_of(path) == -1);
      close(ends[1]);
    } else {
      while ((length = fread(bytes, 1, sizeof bytes, file)) > 0) EXPECT(write(ends[1], bytes, length) == (ssize_t)length);
      close(ends[1]);
      while (bw_capture_log_flows(capture, log, &error) == BW_STATUS_IO) EXPECT(error.os_error == EINTR);
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
    }
    bw_flow_log_free(log);
    closed(capture);
    close(ends[0]);
  }
  fclose(file);
  capture = opened("samples/tunnels.pcap", NULL);
  log = flow_log_at(path, "zeek", NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_log_flows(capture, log, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, NULL, &error));
  bw_flow_log_free(log);
  {
    bw_rows *rows = NULL;
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_flows(&capture, 1, NULL, NULL, &rows, &error));
    EXPECT(flows > 0 && flows == count_of(rows));
  }
  closed(capture), closed(other);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  flows_of_captures_are_one_run_and_add_up_in_a_store(argv[1]);
  flows_of_captures_are_written_as_another_program_has_them(argv[1]);
  a_file_of_flows_goes_on_after_an_interrupt_or_is_given_up(argv[1]);
  return 0;
}
