/* Writes the flows of a capture as Zeek's conn.log, which has its name once it is complete, and prints how many there are.
 *
 *   cc flow_log.c $(pkg-config --cflags --libs bytewright) -o flow_log && ./flow_log web.pcap.gz
 */
#include <bytewright.h>
#include <stdio.h>

int main(int argc, char **argv) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  bw_flow_log *log = NULL;
  uint64_t flows = 0;
  if (argc < 2) return 2;
  if (bw_flow_log_create("conn.log", "zeek", NULL, &log, &error)) goto failed;
  if (bw_capture_open(argv[1], NULL, &capture, &error)) goto failed;
  if (bw_capture_log_flows(capture, log, &error)) goto failed;
  if (bw_flow_log_finish(log, &flows, &error)) goto failed;
  printf("%llu flows\n", (unsigned long long)flows);
  bw_flow_log_free(log);
  return bw_capture_close(capture, &error);
failed:
  fprintf(stderr, "%s\n", error.message);
  bw_error_clear(&error);
  bw_flow_log_free(log); /* nothing of the file is left */
  bw_capture_close(capture, NULL);
  return 1;
}
