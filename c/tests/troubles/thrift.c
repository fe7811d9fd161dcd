/* Operations of Thrift: messages, and files that define them. */
#define _XOPEN_SOURCE 700
#include "operations.h"

#include <unistd.h>

static const uint8_t MESSAGE[] = "\x0a\0\x01\0\0\0\0\0\0\0\x07\x0b\0\x02\0\0\0\x01" "a";

static bw_status new_fields(const char *path, bw_thrift **fields, bw_error *error) {
  static const char *const names[] = {"time"};
  bw_idl idl = BW_IDL_INIT;
  bw_names paths;
  paths.names = names, paths.count = 1;
  idl.path = path;
  return bw_thrift_new(&idl, "Entry", &paths, BW_PROTOCOL_BINARY, fields, error);
}

uint64_t run_thrift(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  bw_batch *batch = NULL;
  bw_rows *rows = NULL;
  char path[PATH_SIZE];
  uint64_t answer = 0;
  size_t used = 0;
  FILE *file;
  path_in(folder, "e", path);
  file = fopen(path, "wb");
  EXPECT(file && fwrite(MESSAGE, sizeof MESSAGE, 1, file) == 1 && fclose(file) == 0);
  EXPECT_STATUS(BW_STATUS_OK, new_fields("samples/log.thrift", &fields, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, MESSAGE, sizeof MESSAGE, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add_many(fields, MESSAGE, sizeof MESSAGE, false, true, &used, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_batch(BW_STATUS_OK, batch, &answer));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, path, false, 10, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, add_rows(rows, &answer, &error));
  bw_thrift_free(fields);
  EXPECT(unlink(path) == 0);
  return answer;
}

/* Rows stay when what made them is gone. */
void free_fields_below_rows(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  bw_rows *rows = NULL;
  uint64_t answer = 0;
  bw_status status;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, new_fields("samples/log.thrift", &fields, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, "samples/log.thrift", false, 10, &rows, &error));
  bw_thrift_free(fields);
  status = add_rows(rows, &answer, &error);
  EXPECT(status >= BW_STATUS_IO && status != BW_STATUS_INTERNAL);
  bw_error_clear(&error);
}

uint64_t run_idl(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  uint64_t answer;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, new_fields("samples/log.thrift", &fields, &error));
  answer = bw_schema_len(bw_thrift_schema(fields));
  bw_thrift_free(fields);
  return answer;
}

void include_itself(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = NULL;
  char path[PATH_SIZE];
  FILE *file;
  path_in(folder, "own.thrift", path);
  file = fopen(path, "w");
  EXPECT(file && fputs("include \"own.thrift\"\nstruct Entry { 1: i64 time }\n", file) >= 0 && fclose(file) == 0);
  EXPECT(new_fields(path, &fields, &error) >= BW_STATUS_IO);
  EXPECT(error.status != BW_STATUS_INTERNAL && unlink(path) == 0);
  bw_error_clear(&error);
}
