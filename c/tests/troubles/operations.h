/* What survives each trouble: operations, and the functions that they are made of. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "answers.h"
#include "files.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Does an operation in a folder, from opening to closing, and answers the same each time. */
typedef uint64_t run_function(const char *folder);
/* Does it until the disk is full. */
typedef bw_status grow_function(const char *folder, bw_error *error);
/* Has it in a trouble. */
typedef void trouble_function(const char *folder);

typedef struct {
  const char *name;
  run_function *run;
  grow_function *grow;
  trouble_function *second; /* none: by two processes at once */
  trouble_function *itself;
  trouble_function *fail;
  const char *not_failed; /* why there is no `fail` */
} operation;

/* Returns the operation of a name, and null for one that the C interface does not offer. */
const operation *operation_named(const char *name);
/* Returns the number of all of them, with those that it does not offer. */
size_t count_of_operations(void);
/* Expects that each function of the header is of an operation, or plain. */
void expect_every_function_placed(void);

/* tables.c */
run_function run_open_again, run_read_entries, run_change_entries, run_change_many, run_walk, run_use_a_snapshot;
run_function run_run_a_transaction, run_sync_and_compact, run_back_up, run_dump, run_load, run_close_again;

/* tables_in_trouble.c */
grow_function grow_by_changes, grow_by_transactions, grow_by_backup, grow_by_dump;
trouble_function second_table, use_in_own_function, walk_what_is_closed, keep_a_snapshot_of_what_is_closed;
trouble_function close_in_a_transaction, back_up_over_itself, dump_over_itself;
trouble_function expect_entries_of_grown_tables;

/* caches.c */
run_function run_cache;
grow_function grow_by_sets;
trouble_function second_cache, change_a_cache_in_its_own_function;

/* captures.c */
run_function run_ask_info, run_ask_frames, run_ask_columns, run_sums, run_flows;
trouble_function fail_ask_info, fail_ask_frames, fail_ask_columns, fail_sums, fail_flows;
trouble_function itself_ask_info, itself_ask_frames, itself_ask_columns, itself_sums, itself_flows;

/* flow_stores.c */
run_function run_merge, run_walk_of_store;
grow_function grow_by_merges;
trouble_function second_store, merge_a_store_into_itself, walk_a_store_that_is_closed, fail_merge;

/* written_files.c */
run_function run_files;
grow_function grow_by_files;
trouble_function write_files_into_themselves, fail_files;

/* streams.c */
run_function run_reader, run_writer;
grow_function grow_by_writer;
trouble_function read_by_own_function, write_by_own_function, fail_reader, fail_writer;

/* thrift.c */
run_function run_thrift, run_idl;
trouble_function free_fields_below_rows, include_itself;

#endif
