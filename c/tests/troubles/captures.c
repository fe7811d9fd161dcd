/* Operations of captures: each question is asked of a file, and of a source of the program's that fails somewhere. */
#include "captures.h"

typedef bw_status (*question)(bw_capture *capture, uint64_t *answer, bw_error *error);

static bw_status ask_columns(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_rows *rows = NULL;
  const bw_status status = bw_capture_packets(&capture, 1, NULL, 100, NULL, &rows, error);
  return status == BW_STATUS_OK ? add_rows(rows, answer, error) : status;
}

bw_status ask_frames(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_frames *frames = NULL;
  bw_slice bytes;
  bw_status status = bw_capture_frames(&capture, 1, &frames, error);
  if (status != BW_STATUS_OK) return status;
  while ((status = bw_frames_next(frames, error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_frames_captured(frames, &bytes, error));
    add_bytes(answer, bytes.data, bytes.len);
  }
  bw_frames_free(frames);
  if (status != BW_STATUS_NONE) return status;
  if ((status = bw_capture_frame(capture, 2, &frames, error)) != BW_STATUS_OK) return status;
  if ((status = bw_frames_next(frames, error)) == BW_STATUS_OK) {
    EXPECT_STATUS(BW_STATUS_OK, bw_frames_captured(frames, &bytes, error));
    add_bytes(answer, bytes.data, bytes.len);
  }
  bw_frames_free(frames);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

static bw_status ask_info(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  const bw_status status = bw_capture_info(capture, &batch, error);
  return add_batch(status, batch, answer);
}

static bw_status ask_sums(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  const char *by[] = {"src_ip"};
  bw_sum_options options = BW_SUM_OPTIONS_INIT;
  bw_status status;
  options.by.names = by, options.by.count = 1;
  status = bw_capture_sum(capture, &options, &batch, error);
  return add_batch(status, batch, answer);
}

static bw_status ask_counts(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_batch *batch = NULL;
  const bw_status status = bw_capture_count_by(capture, "proto", NULL, &batch, error);
  return add_batch(status, batch, answer);
}

static bw_status ask_flows(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_rows *rows = NULL;
  const bw_status status = bw_capture_flows(&capture, 1, NULL, NULL, &rows, error);
  return status == BW_STATUS_OK ? add_rows(rows, answer, error) : status;
}

static bw_status ask_calls(bw_capture *capture, uint64_t *answer, bw_error *error) {
  bw_rows *rows = NULL;
  const bw_status status = bw_capture_calls(&capture, 1, NULL, NULL, NULL, &rows, error);
  return status == BW_STATUS_OK ? add_rows(rows, answer, error) : status;
}

static uint64_t asked(question ask) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  uint64_t answer = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(CAPTURE, NULL, &capture, &error));
  EXPECT_STATUS(BW_STATUS_OK, ask(capture, &answer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
  return answer;
}

int64_t bring(void *context, uint8_t *data, size_t capacity) {
  struct source *source = (struct source *)context;
  if (source->fails && source->reads-- == 0) return -EIO;
  if (source->closes) {
    bw_error error = BW_ERROR_INIT;
    const bw_status status = bw_capture_close(source->closes, &error);
    EXPECT(status == BW_STATUS_LOCK || status == BW_STATUS_OK);
    if (status == BW_STATUS_OK) source->closes = NULL;
    refused += status == BW_STATUS_LOCK;
    bw_error_clear(&error);
  }
  return (int64_t)fread(data, 1, capacity < 1000 ? capacity : 1000, source->file);
}

bw_capture *of_source(struct source *source) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  source->file = fopen(CAPTURE, "rb");
  EXPECT(source->file);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open_input("a source", bring, source, NULL, &capture, &error));
  return capture;
}

static void ask_what_fails(question ask) {
  int round;
  for (round = 0; round < 25; round++) {
    bw_error error = BW_ERROR_INIT;
    struct source source;
    bw_capture *capture;
    uint64_t answer = 0;
    memset(&source, 0, sizeof source);
    source.fails = true, source.reads = rand() % 90;
    capture = of_source(&source);
    EXPECT(ask(capture, &answer, &error) == BW_STATUS_IO && error.os_error == EIO);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
    bw_error_clear(&error);
    fclose(source.file);
  }
}

/* Its own call keeps a capture open; rows and frames of one that is closed end. */
static void ask_what_closes_itself(question ask) {
  bw_error error = BW_ERROR_INIT;
  struct source source;
  uint64_t answer = 0;
  bw_capture *capture;
  bw_status status;
  memset(&source, 0, sizeof source);
  refused = 0;
  source.closes = capture = of_source(&source);
  status = ask(capture, &answer, &error);
  EXPECT(status == (source.closes ? BW_STATUS_OK : BW_STATUS_CLOSED));
  if (source.closes) {
    EXPECT(refused > 0);
    expect_same(answer, asked(ask), "a capture whose source closes it");
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, NULL));
  }
  bw_error_clear(&error);
  fclose(source.file);
}

#define CAPTURE_OPERATION(name)                                                               \
  uint64_t run_##name(const char *folder) { (void)folder; return asked(name); }               \
  void fail_##name(const char *folder) { (void)folder; ask_what_fails(name); }                \
  void itself_##name(const char *folder) { (void)folder; ask_what_closes_itself(name); }
CAPTURE_OPERATION(ask_info)
CAPTURE_OPERATION(ask_frames)
CAPTURE_OPERATION(ask_columns)

#define PAIR_OF_OPERATIONS(name, one, other)                                                                       \
  uint64_t run_##name(const char *folder) { (void)folder; return asked(one) ^ asked(other); }                      \
  void fail_##name(const char *folder) { (void)folder; ask_what_fails(one), ask_what_fails(other); }               \
  void itself_##name(const char *folder) { (void)folder; ask_what_closes_itself(one), ask_what_closes_itself(other); }
PAIR_OF_OPERATIONS(sums, ask_sums, ask_counts)
PAIR_OF_OPERATIONS(flows, ask_flows, ask_calls)

static void put_number(uint8_t *into, uint32_t number, size_t len) {
  while (len--) *into++ = (uint8_t)(number >> 8 * len);
}

/* A capture of packets that are a flow each. */
void write_flows(const char *path, uint32_t round) {
  static const uint8_t head[24] = {0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 1};
  FILE *file = fopen(path, "wb");
  uint32_t place;
  EXPECT(file && fwrite(head, sizeof head, 1, file) == 1);
  for (place = 0; place < 300; place++) {
    uint8_t record[16 + 42];
    memset(record, 0, sizeof record);
    put_number(record + 3, place, 1);
    put_number(record + 8, 42, 4), put_number(record + 12, 42, 4);
    put_number(record + 28, 0x0800, 2);
    put_number(record + 30, 0x45, 1), put_number(record + 32, 28, 2), put_number(record + 38, 64, 1), put_number(record + 39, 17, 1);
    put_number(record + 42, 0x0a000000 + round, 4), put_number(record + 46, 0x0b000001, 4);
    put_number(record + 50, place + 1, 2), put_number(record + 52, 53, 2), put_number(record + 54, 8, 2);
    EXPECT(fwrite(record, sizeof record, 1, file) == 1);
  }
  EXPECT(fclose(file) == 0);
}
