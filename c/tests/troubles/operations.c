/* The list of operations, of what each is made of, and of the functions of the header that each of them does. */
#include "operations.h"

static const char NO_FUNCTION[] = "it runs no function of the program's that could fail";

static const operation OPERATIONS[] = {
  {"open a table", run_open_again, grow_by_changes, second_table, second_table, NULL, NO_FUNCTION},
  {"read an entry", run_read_entries, NULL, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"change an entry", run_change_entries, grow_by_changes, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"change many entries", run_change_many, grow_by_changes, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"walk a table", run_walk, NULL, second_table, walk_what_is_closed, NULL, NO_FUNCTION},
  {"use a snapshot", run_use_a_snapshot, NULL, second_table, keep_a_snapshot_of_what_is_closed, NULL, NO_FUNCTION},
  {"run a transaction", run_run_a_transaction, grow_by_transactions, second_table, close_in_a_transaction, NULL, NO_FUNCTION},
  {"sync or compact a table", run_sync_and_compact, grow_by_changes, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"back a table up", run_back_up, grow_by_backup, second_table, back_up_over_itself, NULL, NO_FUNCTION},
  {"dump a table", run_dump, grow_by_dump, second_table, dump_over_itself, NULL, NO_FUNCTION},
  {"load a dump", run_load, grow_by_changes, second_table, dump_over_itself, NULL, NO_FUNCTION},
  {"close a table", run_close_again, grow_by_transactions, second_table, use_in_own_function, NULL, NO_FUNCTION},
  {"use a cache", run_cache, grow_by_sets, second_cache, change_a_cache_in_its_own_function, NULL, NO_FUNCTION},
  {"open a capture", run_ask_info, NULL, NULL, itself_ask_info, fail_ask_info, NULL},
  {"walk the packets of a capture", run_ask_frames, NULL, NULL, itself_ask_frames, fail_ask_frames, NULL},
  {"read a capture as columns", run_ask_columns, NULL, NULL, itself_ask_columns, fail_ask_columns, NULL},
  {"sum up a capture", run_sums, NULL, NULL, itself_sums, fail_sums, NULL},
  {"walk the flows or calls of a capture", run_flows, NULL, NULL, itself_flows, fail_flows, NULL},
  {"merge flows into a store", run_merge, grow_by_merges, second_store, merge_a_store_into_itself, fail_merge, NULL},
  {"walk a store of flows", run_walk_of_store, NULL, second_store, walk_a_store_that_is_closed, NULL, NO_FUNCTION},
  {"write what was read to a file", run_files, grow_by_files, NULL, write_files_into_themselves, fail_files, NULL},
  {"read values from a stream", run_reader, NULL, NULL, read_by_own_function, fail_reader, NULL},
  {"write values to a stream", run_writer, grow_by_writer, NULL, write_by_own_function, fail_writer, NULL},
  {"read a Thrift message", run_thrift, NULL, NULL, free_fields_below_rows, NULL, NO_FUNCTION},
  {"read a Thrift IDL file", run_idl, NULL, NULL, include_itself, NULL, NO_FUNCTION},
};

/* Operations that the C interface does not offer: it makes neither packets nor messages, and stores hold objects of Ruby's. */
static const char *const NOT_OFFERED[] = {
  "run a transaction of a store", "write packets to a capture", "write a Thrift message",
};

const operation *operation_named(const char *name) {
  size_t place;
  for (place = 0; place < COUNT_OF(OPERATIONS); place++)
    if (strcmp(OPERATIONS[place].name, name) == 0) return &OPERATIONS[place];
  for (place = 0; place < COUNT_OF(NOT_OFFERED); place++)
    if (strcmp(NOT_OFFERED[place], name) == 0) return NULL;
  fprintf(stderr, "operations.c: expected the operation \"%s\" in OPERATIONS or NOT_OFFERED\n", name);
  exit(1);
}

size_t count_of_operations(void) { return COUNT_OF(OPERATIONS) + COUNT_OF(NOT_OFFERED); }

/* The functions of an operation, each with a space behind it. */
static const struct {
  const char *operation, *functions;
} FUNCTIONS[] = {
  {"open a table", "bw_table_open bw_table_new bw_adb_open "},
  {"read an entry", "bw_table_get bw_table_get_into bw_table_get_with bw_table_contains bw_table_get_many bw_table_len "},
  {"change an entry", "bw_table_put bw_table_create bw_table_append bw_table_delete bw_table_take bw_table_shift bw_table_increment "},
  {"change many entries", "bw_table_put_many bw_table_delete_range bw_table_clear bw_adb_call "},
  {"walk a table", "bw_table_scan bw_scan_next bw_scan_free bw_table_cursor bw_cursor_first bw_cursor_last bw_cursor_next "
                   "bw_cursor_prev bw_cursor_seek bw_cursor_entry bw_cursor_free bw_table_changes_since bw_changes_next "
                   "bw_changes_free "},
  {"use a snapshot", "bw_table_snapshot bw_snapshot_len bw_snapshot_get bw_snapshot_scan bw_snapshot_free "},
  {"run a transaction", "bw_table_begin bw_table_commit bw_table_abort "},
  {"sync or compact a table", "bw_table_sync bw_table_compact bw_table_stat "},
  {"back a table up", "bw_table_backup bw_table_check "},
  {"dump a table", "bw_table_dump "},
  {"load a dump", "bw_table_load "},
  {"close a table", "bw_table_close "},
  {"use a cache", "bw_cache_open bw_cache_close bw_cache_get bw_cache_set bw_cache_add bw_cache_touch bw_cache_increment "
                  "bw_cache_take bw_cache_evict bw_cache_expire bw_cache_clear bw_cache_len bw_cache_keys "},
  /* A live capture needs rights of its own; what ends its rows is that of any other. */
  {"open a capture", "bw_capture_open bw_capture_open_input bw_capture_open_live bw_capture_stop bw_capture_close bw_capture_info "},
  {"walk the packets of a capture", "bw_capture_frames bw_capture_frame bw_frames_next bw_frames_free "},
  {"read a capture as columns", "bw_capture_packets bw_ask bw_rows_next bw_rows_stream bw_rows_free "},
  {"sum up a capture", "bw_capture_count_by bw_capture_sum "},
  {"walk the flows or calls of a capture", "bw_capture_flows bw_capture_calls "},
  {"merge flows into a store", "bw_flow_store_open bw_capture_merge_flows bw_flow_store_len bw_flow_store_close "},
  {"walk a store of flows", "bw_flow_store_open_read_only bw_flow_store_flows "},
  {"write what was read to a file", "bw_flow_log_create bw_capture_log_flows bw_flow_log_finish bw_flow_log_free bw_capture_cut "},
  {"read values from a stream", "bw_reader_open bw_reader_open_with bw_reader_open_input bw_reader_open_input_with bw_reader_unsigned "
                                "bw_reader_signed bw_reader_float bw_reader_varint bw_reader_zigzag "
                                "bw_reader_read bw_reader_at_end bw_reader_skip bw_reader_seek bw_reader_records bw_reader_rows "
                                "bw_reader_close "},
  {"write values to a stream", "bw_writer_open bw_writer_open_output bw_writer_unsigned bw_writer_signed bw_writer_float bw_writer_varint "
                               "bw_writer_zigzag bw_writer_write bw_writer_seek bw_writer_position bw_writer_flush bw_writer_sync "
                               "bw_writer_close bw_writer_discard "},
  {"read a Thrift message", "bw_thrift_add bw_thrift_add_many bw_thrift_take bw_thrift_rows bw_thrift_free "},
  {"read a Thrift IDL file", "bw_thrift_new "},
};

/* Those that do no input or output, call nobody and wait for nothing. */
static const char PLAIN[] =
  "bw_version bw_abi_version bw_check_abi bw_error_clear bw_buffer_free bw_table_depth bw_table_values bw_table_set_values "
  "bw_changes_position bw_schema_named bw_schema_len bw_schema_field bw_schema_find bw_value_text bw_batch_rows bw_batch_schema bw_batch_column "
  "bw_batch_value bw_batch_arrow bw_batch_free bw_capture_live_counts bw_capture_damage bw_capture_index_fault bw_rows_schema bw_frames_captured "
  "bw_cache_now bw_cache_clearings bw_frames_payload bw_frames_value bw_thrift_schema bw_thrift_set_interrupted bw_reader_set_interrupted bw_reader_position ";

/* Returns true if a list of names, each with a space behind it, has the one of this length. */
static bool has_name(const char *names, const char *name, size_t len) {
  const char *found = names;
  while ((found = strstr(found, "bw_")) != NULL) {
    const size_t found_len = strcspn(found, " ");
    if (found_len == len && strncmp(found, name, len) == 0) return true;
    found += found_len;
  }
  return false;
}

static bool is_placed(const char *name, size_t len) {
  size_t place;
  for (place = 0; place < COUNT_OF(FUNCTIONS); place++)
    if (has_name(FUNCTIONS[place].functions, name, len)) return true;
  return has_name(PLAIN, name, len);
}

static size_t count_of_names(const char *names) {
  size_t count = 0;
  for (; *names; names++) count += *names == ' ';
  return count;
}

/* Every function of the header is in FUNCTIONS or in PLAIN, and there are no others in these. */
void expect_every_function_placed(void) {
  char *text = text_of("c/include/bytewright.h"), *at = text;
  size_t found = 0, placed = count_of_names(PLAIN), place;
  for (place = 0; place < COUNT_OF(FUNCTIONS); place++) {
    placed += count_of_names(FUNCTIONS[place].functions);
    EXPECT(operation_named(FUNCTIONS[place].operation) == &OPERATIONS[place]);
  }
  EXPECT(COUNT_OF(FUNCTIONS) == COUNT_OF(OPERATIONS));
  while ((at = strstr(at, "\n")) != NULL) {
    const char *name = strstr(++at, "bw_");
    const size_t line = strcspn(at, "\n");
    /* A declaration begins its line, and no comment does with these. */
    if (!strchr("abcdefghijklmnopqrstuvwxyz", *at) || strncmp(at, "typedef", 7) == 0) continue;
    while (name && name < at + line) {
      const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
      if (name[len] == '(') {
        found++;
        if (is_placed(name, len)) break;
        fprintf(stderr, "operations.c: expected %.*s in FUNCTIONS, with the operation that it does, or in PLAIN\n", (int)len, name);
        exit(1);
      }
      name = strstr(name + len, "bw_");
    }
  }
  EXPECT(found > 100 && found == placed);
  free(text);
}
