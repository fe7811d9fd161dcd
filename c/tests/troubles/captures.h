/* Captures from files, and from functions of the program's that fail or close what they bring. */
#ifndef CAPTURES_H
#define CAPTURES_H

#include "operations.h"

#define CAPTURE "samples/tunnels.pcap"

struct source {
  FILE *file;
  int reads; /* until it fails */
  bw_capture *closes;
  bool fails;
};

int64_t bring(void *context, uint8_t *data, size_t capacity);
bw_capture *of_source(struct source *source);
bw_status ask_frames(bw_capture *capture, uint64_t *answer, bw_error *error);
void write_flows(const char *path, uint32_t round);

#endif
