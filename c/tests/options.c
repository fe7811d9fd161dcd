/* Goal: a program that was compiled for another version of the library is served as long as it can be, and told where not.
 *
 * Method: the structs of options as their first version was, as they are, and longer, each for every call that reads one. They end
 * with a page, and behind it is none: a call that reads more than the size of a struct says crashes. It is compiled and run as tables.c
 * is, from the folder of the repository.
 */
#define _DEFAULT_SOURCE

#include "files.h"
#include "samples.h"
#include "text.h"

#include <sys/mman.h>
#include <unistd.h>

/* More than any of them takes, and what a newer version has in addition. */
enum { STRUCT_MAX = 256, ADDED = 24 };

/* The structs of version 0.1.0, which never change. */
typedef struct {
  size_t size;
  uint32_t kind, sync;
  bool create, read_only, verify;
  double timeout;
  const char *values;
  bw_names named;
  bw_interrupted interrupted;
  void *interrupted_context;
} first_open_options;

typedef struct {
  size_t size;
  uint64_t size_limit, count_limit;
  bool clears_damage;
  bw_names named;
  bw_interrupted interrupted;
  void *interrupted_context;
} first_cache_options;

typedef struct {
  size_t size;
  uint32_t kind;
  uint64_t expires_at;
  bw_slice tag;
} first_cache_entry;

typedef struct {
  size_t size;
  bw_slice first, last, prefix;
  bool has_first, has_last, excludes_last, reverse;
  uint64_t limit;
} first_range;

typedef struct {
  size_t size;
  const char *filter;
  bool inner;
  uint32_t jobs;
  bw_interrupted interrupted;
  void *interrupted_context;
  uint32_t damage;
  bw_names named;
} first_capture_options;

typedef struct {
  size_t size;
  uint32_t snaplen, buffer;
  bool promiscuous;
  bw_names named;
} first_live_options;

typedef struct {
  size_t size;
  double idle_timeout, active_timeout;
  uint64_t max_flows;
  bw_names named;
} first_flow_options;

typedef struct {
  size_t size;
  bw_names by, fields;
  double every;
  uint64_t top;
  const char *where;
  bw_names named;
} first_sum_options;

typedef struct {
  size_t size;
  const char *path, *service;
  bw_names include;
} first_idl;

typedef struct {
  size_t size;
  bool sync;
  uint32_t mode;
} first_writer_options;

typedef struct {
  size_t size;
  uint64_t packets, bytes, late, duplicates, opaque, files;
} first_cut_counts;

static const char *folder;

static const char *path_of(const char *name) {
  static char path[PATH_SIZE];
  return path_in(folder, name, path);
}

/* Calls that read a struct or write one, each done when it has returned. */

static bw_status cut_capture(void *counts, bw_error *error) {
  const char *force = "force=true";
  bw_names named = BW_NAMES_INIT;
  bw_capture *capture = NULL;
  bw_status status;
  named.names = &force, named.count = 1;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_open(TUNNELS, NULL, &capture, error));
  status = bw_capture_cut(capture, path_of("options.pcap"), &named, (bw_cut_counts *)counts, NULL, error);
  bw_capture_close(capture, NULL);
  return status;
}

static bw_status open_writer(void *options, bw_error *error) {
  bw_writer *writer = NULL;
  bw_status status = bw_writer_open(path_of("options.bin"), (const bw_writer_options *)options, &writer, error);
  bw_writer_close(writer, NULL);
  return status;
}

static bw_status open_table(void *options, bw_error *error) {
  bw_table *table = NULL;
  bw_status status = bw_table_open(path_of("options.bwt"), (const bw_open_options *)options, &table, error);
  bw_table_close(table, NULL);
  return status;
}

static bw_status open_cache(void *options, bw_error *error) {
  bw_cache *cache = NULL;
  bw_status status = bw_cache_open(NULL, (const bw_cache_options *)options, &cache, error);
  bw_cache_close(cache, NULL);
  return status;
}

static bw_status with_entry(int call, void *entry, bw_error *error) {
  bw_cache *cache = NULL;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_cache_open(NULL, NULL, &cache, error));
  if (call > 1) EXPECT_STATUS(BW_STATUS_OK, bw_cache_set(cache, TEXT("key"), TEXT("value"), NULL, error));
  switch (call) {
  case 0: status = bw_cache_set(cache, TEXT("key"), TEXT("value"), (const bw_cache_entry *)entry, error); break;
  case 1: status = bw_cache_add(cache, TEXT("key"), TEXT("value"), (const bw_cache_entry *)entry, error); break;
  case 2: status = bw_cache_get(cache, TEXT("key"), NULL, (bw_cache_entry *)entry, error); break;
  default: status = bw_cache_take(cache, TEXT("key"), NULL, (bw_cache_entry *)entry, error);
  }
  /* A call that is refused changes nothing. */
  if (status) EXPECT_STATUS(call > 1 ? BW_STATUS_OK : BW_STATUS_NONE, bw_cache_get(cache, TEXT("key"), NULL, NULL, NULL));
  bw_cache_close(cache, NULL);
  return status;
}

static bw_status set_entry(void *entry, bw_error *error) { return with_entry(0, entry, error); }
static bw_status add_entry(void *entry, bw_error *error) { return with_entry(1, entry, error); }
static bw_status get_entry(void *entry, bw_error *error) { return with_entry(2, entry, error); }
static bw_status take_entry(void *entry, bw_error *error) { return with_entry(3, entry, error); }

static bw_table *ordered(void) {
  bw_table *table = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_new(BW_TABLE_KIND_TREE, &table, NULL));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, TEXT("key"), TEXT("value"), NULL));
  return table;
}

static bw_status scan_table(void *range, bw_error *error) {
  bw_table *table = ordered();
  bw_scan *scan = NULL;
  bw_status status = bw_table_scan(table, (const bw_range *)range, &scan, error);
  bw_scan_free(scan);
  bw_table_close(table, NULL);
  return status;
}

static bw_status scan_snapshot(void *range, bw_error *error) {
  bw_table *table = ordered();
  bw_snapshot *snapshot = NULL;
  bw_scan *scan = NULL;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_snapshot(table, &snapshot, NULL));
  status = bw_snapshot_scan(snapshot, (const bw_range *)range, &scan, error);
  bw_scan_free(scan);
  bw_snapshot_free(snapshot);
  bw_table_close(table, NULL);
  return status;
}

static bw_status delete_range(void *range, bw_error *error) {
  bw_table *table = ordered();
  uint64_t deleted = 0, len = 0;
  bw_status status = bw_table_delete_range(table, (const bw_range *)range, &deleted, error);
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &len, NULL));
  EXPECT(deleted == (status ? 0 : 1) && len == 1 - deleted);
  bw_table_close(table, NULL);
  return status;
}

static bw_status open_capture(void *options, bw_error *error) {
  bw_capture *capture = NULL;
  bw_status status = bw_capture_open(WEB, (const bw_capture_options *)options, &capture, error);
  bw_capture_close(capture, NULL);
  return status;
}

static int64_t read_nothing(void *context, uint8_t *data, size_t capacity) {
  (void)context, (void)data, (void)capacity;
  return 0;
}

static bw_status open_input(void *options, bw_error *error) {
  bw_capture *capture = NULL;
  bw_status status = bw_capture_open_input("none", read_nothing, NULL, (const bw_capture_options *)options, &capture, error);
  bw_capture_close(capture, NULL);
  return status;
}

/* There is no such interface, which is found out after the options were read, or there is no libpcap. */
static bw_status open_live(const bw_live_options *live, const bw_capture_options *options, bw_error *error) {
  bw_capture *capture = NULL;
  bw_status status = bw_capture_open_live("no such interface", live, options, &capture, error);
  EXPECT(status && capture == NULL);
  if (strstr(error->message, "_options")) return status;
  bw_error_clear(error);
  return BW_STATUS_OK;
}

static bw_status open_live_with(void *live, bw_error *error) { return open_live((const bw_live_options *)live, NULL, error); }
static bw_status open_live_as(void *options, bw_error *error) { return open_live(NULL, (const bw_capture_options *)options, error); }

static bw_status read_flows(void *options, bw_error *error) {
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = NULL;
  bw_status status = bw_capture_flows(&capture, 1, NULL, (const bw_flow_options *)options, &rows, error);
  bw_rows_free(rows);
  bw_capture_close(capture, NULL);
  return status;
}

static bw_status merge_flows(void *options, bw_error *error) {
  bw_capture *capture = opened(WEB, NULL);
  bw_flow_store *store = NULL;
  bw_batch *batch = NULL;
  bw_status status;
  EXPECT_STATUS(BW_STATUS_OK, bw_flow_store_open(path_of("flows.bwt"), &store, NULL));
  status = bw_capture_merge_flows(capture, store, (const bw_flow_options *)options, &batch, error);
  bw_batch_free(batch);
  bw_flow_store_close(store, NULL);
  bw_capture_close(capture, NULL);
  return status;
}

static bw_status log_flows(void *options, bw_error *error) {
  bw_flow_log *log = NULL;
  bw_status status = bw_flow_log_create(path_of("conn.log"), "zeek", (const bw_flow_options *)options, &log, error);
  bw_flow_log_free(log);
  return status;
}

static bw_status add_up(void *options, bw_error *error) {
  bw_capture *capture = opened(WEB, NULL);
  bw_batch *batch = NULL;
  bw_status status = bw_capture_sum(capture, (const bw_sum_options *)options, &batch, error);
  bw_batch_free(batch);
  bw_capture_close(capture, NULL);
  return status;
}

static bw_status read_calls(void *idl, bw_error *error) {
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = NULL;
  bw_status status = bw_capture_calls(&capture, 1, NULL, (const bw_idl *)idl, NULL, &rows, error);
  bw_rows_free(rows);
  bw_capture_close(capture, NULL);
  return status;
}

static bw_status choose_fields(void *idl, bw_error *error) {
  bw_thrift *fields = NULL;
  bw_status status = bw_thrift_new((const bw_idl *)idl, "Item", NULL, BW_PROTOCOL_BINARY, &fields, error);
  bw_thrift_free(fields);
  return status;
}

/* A struct as a program has it that fills it, and the calls that are given it. */
typedef struct {
  const char *name, *init;
  const void *filled;
  /* Of it, and of its first version. */
  size_t size, first_size;
  bw_status (*calls[4])(void *options, bw_error *error);
  /* The calls write to it, and do not read it. */
  bool is_result;
} option_struct;

/* The last page that there is. */
static uint8_t *page, *page_end;

static void make_page(void) {
  const size_t size = (size_t)sysconf(_SC_PAGESIZE);
  page = (uint8_t *)mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT((void *)page != MAP_FAILED);
  page_end = page + size;
  EXPECT(mprotect(page_end, size, PROT_NONE) == 0);
}

/* Puts `there` bytes of a struct at the end of the page, with `size` as what it says. Bytes behind those that it has are zero. */
static uint8_t *placed(const option_struct *given, size_t there, size_t size) {
  uint8_t *place = page_end - there;
  memset(page, 0xff, (size_t)(page_end - page));
  memset(place, 0, there);
  memcpy(place, given->filled, there < given->size ? there : given->size);
  memcpy(place, &size, sizeof size);
  return place;
}

#define EACH_CALL(given, call) \
  for (call = 0; call < sizeof (given)->calls / sizeof *(given)->calls && (given)->calls[call]; call++)

static void succeeds(const option_struct *given, size_t call, uint8_t *options) {
  bw_error error = BW_ERROR_INIT;
  const bw_status status = given->calls[call](options, &error);
  if (!status) return;
  fprintf(stderr, "call %d with a %s: %s\n", (int)call, given->name, error.message);
  exit(1);
}

static void is_refused(const option_struct *given, size_t call, uint8_t *options, const char *message) {
  bw_error error = BW_ERROR_INIT;
  const bw_status status = given->calls[call](options, &error);
  if (status != BW_STATUS_ARGUMENT || !strstr(error.message, message)) {
    fprintf(stderr, "call %d with a %s: expected %s, found status %d, %s\n", (int)call, given->name, message, (int)status,
            error.message ? error.message : "");
    exit(1);
  }
  bw_error_clear(&error);
}

static void a_program_of_this_version_is_served(const option_struct *given) {
  size_t call, size;
  memcpy(&size, given->filled, sizeof size);
  EXPECT(size == given->size);
  EACH_CALL(given, call) succeeds(given, call, placed(given, given->size, given->size));
}

static void a_program_of_the_first_version_is_served(const option_struct *given) {
  size_t call;
  EXPECT(given->first_size <= given->size);
  EACH_CALL(given, call) succeeds(given, call, placed(given, given->first_size, given->first_size));
}

static void a_newer_program_that_leaves_its_fields_zero_is_served(const option_struct *given) {
  size_t call;
  EACH_CALL(given, call) succeeds(given, call, placed(given, given->size + ADDED, given->size + ADDED));
}

static void a_newer_program_that_sets_its_fields_is_refused(const option_struct *given) {
  static const size_t set[] = {0, 1, 8, ADDED - 1};
  size_t call, place;
  EACH_CALL(given, call)
  for (place = 0; place < sizeof set / sizeof *set; place++) {
    uint8_t *options = placed(given, given->size + ADDED, given->size + ADDED);
    options[given->size + set[place]] = 1;
    if (given->is_result)
      succeeds(given, call, options);
    else
      is_refused(given, call, options, "is older than the program");
  }
}

static void a_size_of_no_struct_is_refused(const option_struct *given) {
  const size_t first = given->first_size;
  const size_t sizes[] = {0, 1, sizeof(size_t), first - sizeof(void *), first - 1, first + 1, 4096 + sizeof(void *), SIZE_MAX};
  size_t call, place;
  EACH_CALL(given, call)
  for (place = 0; place < sizeof sizes / sizeof *sizes; place++) {
    char message[256];
    snprintf(message, sizeof message, "expected a %s initialized with %s, found the size %llu", given->name, given->init,
             (unsigned long long)sizes[place]);
    /* Nothing but the size is there. */
    is_refused(given, call, placed(given, sizeof(size_t), sizes[place]), message);
  }
}

/* What calls write to an entry is what the program knows of it. */
static void an_entry_is_written_as_far_as_it_reaches(const option_struct *given) {
  size_t call, longer;
  EACH_CALL(given, call)
  for (longer = 0; longer <= ADDED; longer += ADDED) {
    const size_t size = given->first_size + longer;
    first_cache_entry found;
    uint8_t *entry = placed(given, size, size);
    memset(entry + sizeof size, 0xaa, size - sizeof size);
    succeeds(given, call, entry);
    memcpy(&found, entry, sizeof found);
    EXPECT(found.size == size && found.kind == BW_CACHE_KIND_BYTES && found.expires_at == 0 && found.tag.len == 0);
    for (; entry < page_end && longer; entry++) EXPECT(entry < page_end - longer || *entry == 0);
  }
}

static void counts_are_written_as_far_as_they_reach(const option_struct *given) {
  size_t longer;
  for (longer = 0; longer <= ADDED; longer += ADDED) {
    const size_t size = given->first_size + longer;
    first_cut_counts found;
    uint8_t *counts = placed(given, size, size);
    memset(counts + sizeof size, 0xaa, size - sizeof size);
    succeeds(given, 0, counts);
    memcpy(&found, counts, sizeof found);
    EXPECT(found.size == size && found.packets > 0 && found.bytes > found.packets && found.late == 0 && found.files == 1);
    for (; counts < page_end && longer; counts++) EXPECT(counts < page_end - longer || *counts == 0);
  }
}

/* A field in the place where it was in version 0.1.0. */
#define EXPECT_PLACE(type, field) EXPECT(offsetof(first_##type, field) == offsetof(bw_##type, field))

static void the_last_fields_of_the_first_version_are_where_they_were(void) {
  EXPECT_PLACE(open_options, interrupted_context);
  EXPECT_PLACE(cache_options, interrupted_context);
  EXPECT_PLACE(cache_entry, tag);
  EXPECT_PLACE(range, limit);
  EXPECT_PLACE(capture_options, named);
  EXPECT_PLACE(live_options, named);
  EXPECT_PLACE(flow_options, named);
  EXPECT_PLACE(sum_options, named);
  EXPECT_PLACE(idl, include);
  EXPECT_PLACE(writer_options, mode);
  EXPECT_PLACE(cut_counts, files);
}

static void a_flag_is_true_or_false(void) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  memset(&options.create, 2, 1);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, open_table(&options, &error));
  EXPECT(strcmp(error.message, "expected true or false as bw_open_options.create, found 2") == 0);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  bw_open_options open_options = BW_OPEN_OPTIONS_INIT;
  bw_cache_options cache_options = BW_CACHE_OPTIONS_INIT;
  bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
  bw_range range = BW_RANGE_INIT;
  bw_capture_options capture_options = BW_CAPTURE_OPTIONS_INIT;
  bw_live_options live_options = BW_LIVE_OPTIONS_INIT;
  bw_flow_options flow_options = BW_FLOW_OPTIONS_INIT;
  bw_sum_options sum_options = BW_SUM_OPTIONS_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_writer_options writer_options = BW_WRITER_OPTIONS_INIT;
  bw_cut_counts counts = BW_CUT_COUNTS_INIT;
#define SIZES(type) sizeof(bw_##type), sizeof(first_##type)
  const option_struct structs[] = {
      {"bw_open_options", "BW_OPEN_OPTIONS_INIT", &open_options, SIZES(open_options), {open_table}, false},
      {"bw_cache_options", "BW_CACHE_OPTIONS_INIT", &cache_options, SIZES(cache_options), {open_cache}, false},
      {"bw_cache_entry", "BW_CACHE_ENTRY_INIT", &entry, SIZES(cache_entry), {set_entry, add_entry}, false},
      {"bw_cache_entry", "BW_CACHE_ENTRY_INIT", &entry, SIZES(cache_entry), {get_entry, take_entry}, true},
      {"bw_range", "BW_RANGE_INIT", &range, SIZES(range), {scan_table, scan_snapshot, delete_range}, false},
      {"bw_capture_options", "BW_CAPTURE_OPTIONS_INIT", &capture_options, SIZES(capture_options),
       {open_capture, open_input, open_live_as}, false},
      {"bw_live_options", "BW_LIVE_OPTIONS_INIT", &live_options, SIZES(live_options), {open_live_with}, false},
      {"bw_flow_options", "BW_FLOW_OPTIONS_INIT", &flow_options, SIZES(flow_options), {read_flows, merge_flows, log_flows}, false},
      {"bw_sum_options", "BW_SUM_OPTIONS_INIT", &sum_options, SIZES(sum_options), {add_up}, false},
      {"bw_idl", "BW_IDL_INIT", &idl, SIZES(idl), {read_calls, choose_fields}, false},
      {"bw_writer_options", "BW_WRITER_OPTIONS_INIT", &writer_options, SIZES(writer_options), {open_writer}, false},
      {"bw_cut_counts", "BW_CUT_COUNTS_INIT", &counts, SIZES(cut_counts), {cut_capture}, true},
  };
  size_t place;
  if (argc != 2) return 2;
  folder = argv[1];
  open_options.create = true;
  idl.path = "samples/warehouse.thrift", idl.service = "Catalog";
  make_page();
  the_last_fields_of_the_first_version_are_where_they_were();
  for (place = 0; place < sizeof structs / sizeof *structs; place++) {
    const option_struct *given = &structs[place];
    a_program_of_this_version_is_served(given);
    a_program_of_the_first_version_is_served(given);
    a_newer_program_that_leaves_its_fields_zero_is_served(given);
    a_newer_program_that_sets_its_fields_is_refused(given);
    a_size_of_no_struct_is_refused(given);
    if (given->calls[0] == get_entry) an_entry_is_written_as_far_as_it_reaches(given);
    if (given->calls[0] == cut_capture) counts_are_written_as_far_as_they_reach(given);
  }
  a_flag_is_true_or_false();
  return 0;
}
