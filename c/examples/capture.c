/* Prints the ports that the packets of a capture go to, with their packets and bytes, the most bytes first.
 *
 *   cc capture.c $(pkg-config --cflags --libs bytewright) -o ports && ./ports web.pcap.gz 'tcp or udp'
 */
#include <bytewright.h>
#include <stdio.h>
#include <stdlib.h>

struct port {
  unsigned number;
  uint64_t packets, bytes;
};

static struct port ports[65536];

/* Adds the packets of a batch up, whose columns are dst_port and length. */
static bw_status add(const bw_batch *batch, bw_error *error) {
  bw_column port, length;
  size_t row;
  bw_status status = bw_batch_column(batch, 0, &port, error);
  if (status == BW_STATUS_OK) status = bw_batch_column(batch, 1, &length, error);
  for (row = 0; status == BW_STATUS_OK && row < port.rows; row++) {
    struct port *found = &ports[((const uint16_t *)port.values)[row]];
    if ((port.validity[row / 8] >> row % 8 & 1) == 0) continue; /* no port */
    found->packets++;
    found->bytes += ((const uint32_t *)length.values)[row];
  }
  return status;
}

static bw_status add_all(bw_capture *capture, bw_error *error) {
  static const char *const names[] = {"dst_port", "length"};
  static const bw_names fields = {names, 2};
  bw_rows *rows = NULL;
  bw_batch *batch = NULL;
  bw_status status = bw_capture_packets(&capture, 1, &fields, 0, NULL, &rows, error);
  while (status == BW_STATUS_OK && (status = bw_rows_next(rows, &batch, error)) == BW_STATUS_OK) {
    status = add(batch, error);
    bw_batch_free(batch);
  }
  bw_rows_free(rows);
  return status == BW_STATUS_NONE ? BW_STATUS_OK : status;
}

static int by_bytes(const void *one, const void *other) {
  uint64_t left = ((const struct port *)one)->bytes, right = ((const struct port *)other)->bytes;
  return (left < right) - (left > right);
}

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_capture *capture = NULL;
  bw_status status;
  unsigned number;
  if (argc < 2) {
    fprintf(stderr, "usage: ports CAPTURE [FILTER]\n");
    return 2;
  }
  options.filter = argc > 2 ? argv[2] : NULL;
  status = bw_check_abi(BW_ABI_VERSION, &error);
  if (status == BW_STATUS_OK) status = bw_capture_open(argv[1], &options, &capture, &error);
  if (status == BW_STATUS_OK) status = add_all(capture, &error);
  bw_capture_close(capture, NULL);
  /* What came before damage counts. */
  for (number = 0; number < 65536; number++) ports[number].number = number;
  qsort(ports, 65536, sizeof ports[0], by_bytes);
  for (number = 0; number < 65536 && ports[number].packets > 0; number++)
    printf("%5u %8llu packets %10llu bytes\n", ports[number].number, (unsigned long long)ports[number].packets,
           (unsigned long long)ports[number].bytes);
  if (status == BW_STATUS_OK) return 0;
  fprintf(stderr, "ports: %s\n", error.message);
  bw_error_clear(&error);
  return 1;
}
