/* Tables of both kinds, in memory and in files, with entries that are looked for after each trouble. */
#ifndef TABLES_H
#define TABLES_H

#include "operations.h"
#include "text.h"

enum { ENTRIES = 200 };

/* Bytes that files are filled with. */
extern uint8_t much[10000];

size_t key_of(unsigned number, char *key);
bw_status open_file(const char *path, bool is_written, bw_table **table, bw_error *error);
void path_of_table(const char *folder, uint32_t kind, char *path);
bw_table *filled(const char *folder, uint32_t kind, bool is_in_file);
void expect_entries(const bw_table *table);
void closed(bw_table *table);
size_t walked(bw_scan *scan, uint64_t *answer);

#endif
