/* Goal: no error is as long as what a program hands in.
 *
 * Method: a megabyte in the place of each text that a function takes, in ASCII and as bytes that are no UTF-8.
 * Compiled and run as tables.c is, from the folder of the repository.
 */
#include "samples.h"

enum { LONG = 1 << 20, MESSAGE_MAX = 1024 };

static char named[LONG + 1];

static void expect_short(bw_status status, bw_error *error, const char *what) {
  if (status < BW_STATUS_IO || strlen(error->message) >= MESSAGE_MAX || (error->file != NULL && strlen(error->file) >= MESSAGE_MAX)) {
    fprintf(stderr, "%s: expected an error with a short message, found status %d with %u bytes\n", what, (int)status,
            (unsigned)(error->message ? strlen(error->message) : 0));
    exit(1);
  }
  bw_error_clear(error);
}

#define EXPECT_SHORT(call) expect_short((call), &error, #call)

/* An option as "name=value". */
static bw_names option_of(const char **place, const char *name, const char *text) {
  bw_names options;
  snprintf(named, sizeof named, "%s=%s", name, text);
  *place = named;
  options.names = place, options.count = 1;
  return options;
}

static void texts_of_tables(const char *text) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL, *other = NULL;
  uint64_t records;
  const char *place;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_HASH, &table, &error));
  EXPECT_SHORT(bw_table_open(text, NULL, &other, &error));
  options.values = text;
  EXPECT_SHORT(bw_table_open("/nowhere/a.bwt", &options, &other, &error));
  options.values = NULL;
  options.named.names = &text, options.named.count = 1;
  EXPECT_SHORT(bw_table_open("/nowhere/a.bwt", &options, &other, &error));
  options.named = option_of(&place, "sync", text);
  EXPECT_SHORT(bw_table_open("/nowhere/a.bwt", &options, &other, &error));
  EXPECT_SHORT(bw_table_set_values(table, text, &error));
  EXPECT_SHORT(bw_table_backup(table, text, false, &error));
  EXPECT_SHORT(bw_table_dump(table, text, NULL, false, &records, &error));
  EXPECT_SHORT(bw_table_dump(table, "/nowhere/a.dump", text, false, &records, &error));
  EXPECT_SHORT(bw_table_load(table, text, &records, &error));
  EXPECT_SHORT(bw_table_check(text, &records, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  table = NULL;
  EXPECT_SHORT(bw_adb_open(text, NULL, NULL, &table, &error));
}

static void texts_of_captures(const char *text) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL), *other = NULL;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_flow_options flows = BW_FLOW_OPTIONS_INIT;
  bw_sum_options sums = BW_SUM_OPTIONS_INIT;
  bw_names names = BW_NAMES_INIT, where;
  bw_idl idl = BW_IDL_INIT;
  bw_batch *batch = NULL;
  bw_rows *rows = NULL;
  bw_flow_store *store = NULL;
  bw_flow_log *log = NULL;
  const bw_schema *schema = NULL;
  size_t found;
  const char *place;
  names.names = &text, names.count = 1;
  where = option_of(&place, "where", text);
  EXPECT_SHORT(bw_capture_open(text, NULL, &other, &error));
  options.named = names;
  EXPECT_SHORT(bw_capture_open(WEB, &options, &other, &error));
  EXPECT_SHORT(bw_capture_open_live(text, NULL, NULL, &other, &error));
  EXPECT_SHORT(bw_capture_packets(&capture, 1, &names, 0, NULL, &rows, &error));
  EXPECT_SHORT(bw_capture_flows(&capture, 1, &names, NULL, &rows, &error));
  flows.named = where;
  EXPECT_SHORT(bw_capture_flows(&capture, 1, NULL, &flows, &rows, &error));
  EXPECT_SHORT(bw_capture_calls(&capture, 1, &names, NULL, NULL, &rows, &error));
  EXPECT_SHORT(bw_capture_calls(&capture, 1, NULL, NULL, &names, &rows, &error));
  EXPECT_SHORT(bw_capture_calls(&capture, 1, NULL, NULL, &where, &rows, &error));
  idl.path = text;
  EXPECT_SHORT(bw_capture_calls(&capture, 1, NULL, &idl, NULL, &rows, &error));
  idl.path = "samples/warehouse.thrift", idl.service = text;
  EXPECT_SHORT(bw_capture_calls(&capture, 1, NULL, &idl, NULL, &rows, &error));
  EXPECT_SHORT(bw_capture_count_by(capture, text, NULL, &batch, &error));
  EXPECT_SHORT(bw_capture_count_by(capture, "proto", &where, &batch, &error));
  sums.by = names;
  EXPECT_SHORT(bw_capture_sum(capture, &sums, &batch, &error));
  sums.by.count = 0, sums.where = text;
  EXPECT_SHORT(bw_capture_sum(capture, &sums, &batch, &error));
  EXPECT_SHORT(bw_schema_named(text, &schema, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_schema_named("packets", &schema, &error));
  EXPECT_SHORT(bw_schema_find(schema, text, &found, &error));
  EXPECT_SHORT(bw_flow_store_open(text, &store, &error));
  EXPECT_SHORT(bw_flow_store_open_read_only(text, &store, &error));
  EXPECT_SHORT(bw_flow_log_create(text, "zeek", NULL, &log, &error));
  EXPECT_SHORT(bw_flow_log_create(WEB, text, NULL, &log, &error));
  EXPECT_SHORT(bw_capture_cut(capture, text, NULL, NULL, NULL, &error));
  EXPECT_SHORT(bw_capture_cut(capture, "/nowhere/a.pcap", &where, NULL, NULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_close(capture, &error));
}

static int64_t refuse(void *context, const uint8_t *data, size_t len) {
  (void)context, (void)data, (void)len;
  return -EIO;
}

static void texts_of_writers(const char *text) {
  bw_error error = BW_ERROR_INIT;
  bw_writer *writer = NULL;
  EXPECT_SHORT(bw_writer_open(text, NULL, &writer, &error));
  if (bw_writer_open_output(text, refuse, NULL, &writer, &error) != BW_STATUS_OK) {
    EXPECT_SHORT(bw_writer_open_output(text, refuse, NULL, &writer, &error));
    return;
  }
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_unsigned(writer, 1, BW_ORDER_BIG, 1, &error));
  EXPECT_SHORT(bw_writer_close(writer, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_writer_discard(writer, &error));
}

static void texts_of_messages_and_readers(const char *text) {
  bw_error error = BW_ERROR_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_names names = BW_NAMES_INIT;
  bw_thrift *messages = NULL;
  bw_reader *reader = NULL;
  bw_batch *batch = NULL;
  names.names = &text, names.count = 1;
  idl.path = text;
  EXPECT_SHORT(bw_thrift_new(&idl, "Entry", &names, 0, &messages, &error));
  idl.path = "samples/log.thrift";
  EXPECT_SHORT(bw_thrift_new(&idl, text, &names, 0, &messages, &error));
  EXPECT_SHORT(bw_thrift_new(&idl, "Entry", &names, 0, &messages, &error));
  EXPECT_SHORT(bw_reader_open(text, &reader, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_reader_open(WEB, &reader, &error));
  EXPECT_SHORT(bw_reader_records(reader, text, NULL, 1, &batch, &error));
  bw_reader_close(reader);
}

int main(int argc, char **argv) {
  static char text[LONG - 31];
  const int fills[] = {'y', 0xff};
  size_t place;
  if (argc != 2 || argv == NULL) return 2;
  for (place = 0; place < sizeof fills / sizeof *fills; place++) {
    memset(text, fills[place], sizeof text - 1);
    texts_of_tables(text);
    texts_of_captures(text);
    texts_of_messages_and_readers(text);
    texts_of_writers(text);
  }
  return 0;
}
