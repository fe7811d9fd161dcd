/* Goal: packets of an interface are read through the C interface until the program stops it, and what was read of them is kept.
 *
 * Method: packets that the program sends to itself. Where nothing may be captured, that is told as a gap. Compiled and run as
 * tables.c is.
 */
#define _POSIX_C_SOURCE 200809L
#include "files.h"
#include "questions.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* A socket at a port of this machine to which nobody else sends. */
static int bound_socket(struct sockaddr_in *to) {
  socklen_t length = sizeof *to;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  memset(to, 0, sizeof *to);
  to->sin_family = AF_INET, to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT(bind(fd, (const struct sockaddr *)to, sizeof *to) == 0);
  EXPECT(getsockname(fd, (struct sockaddr *)to, &length) == 0);
  return fd;
}

static void packets_of_an_interface_come_until_it_is_stopped(void) {
  const char *names[] = {"caplen"};
  bw_error error = BW_ERROR_INIT;
  bw_live_options live = BW_LIVE_OPTIONS_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  bw_live_counts counts;
  bw_capture *capture = NULL;
  bw_batch *batch = NULL;
  bw_rows *rows;
  bw_status status;
  struct sockaddr_in to;
  const int fd = bound_socket(&to);
  char filter[40];
  snprintf(filter, sizeof filter, "udp dst port %d", ntohs(to.sin_port));
  EXPECT(bw_capture_open_live(NULL, NULL, NULL, &capture, &error) == BW_STATUS_ARGUMENT);
  live.snaplen = 44, options.filter = filter;
  status = bw_capture_open_live("lo", &live, &options, &capture, &error);
  if (status == BW_STATUS_MISSING_LIBRARY || status == BW_STATUS_IO) {
    fprintf(stderr, "c: gap: nothing was captured: %s\n", error.message);
    bw_error_clear(&error);
    close(fd);
    return;
  }
  EXPECT_STATUS(BW_STATUS_OK, status);
  EXPECT(bw_capture_open_live("no such", NULL, NULL, &capture, &error) == BW_STATUS_ARGUMENT);
  EXPECT(strstr(error.message, "there are ") != NULL);
  bw_error_clear(&error);
  rows = packets_of(capture, names, 1, 100);
  EXPECT(sendto(fd, "data", 4, 0, (const struct sockaddr *)&to, sizeof to) == 4);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  EXPECT(value_of(batch, "caplen").data.unsigned_number == 44);
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(capture, &error));
  EXPECT_STATUS(BW_STATUS_NONE, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_live_counts(capture, &counts, &error));
  EXPECT(counts.captured == 1 && counts.dropped == 0);
  closed(capture);
  close(fd);
  capture = opened(WEB, NULL);
  EXPECT_STATUS(BW_STATUS_NONE, bw_capture_live_counts(capture, &counts, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(capture, &error));
  closed(capture);
}

/* Has a call end once a packet was read, and remembers how many were. */
struct ending {
  bw_capture *capture;
  int fd;
  struct sockaddr_in to;
  bool stops;
};

static bool end_after_a_packet(void *context) {
  struct ending *ending = (struct ending *)context;
  bw_live_counts counts;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_live_counts(ending->capture, &counts, NULL));
  if (counts.captured == 0) {
    EXPECT(sendto(ending->fd, "data", 4, 0, (const struct sockaddr *)&ending->to, sizeof ending->to) == 4);
    return false;
  }
  if (!ending->stops) return true;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(ending->capture, NULL));
  return false;
}

static void flows_of_an_interface_are_kept_however_reading_it_ends(const char *folder) {
  enum { STOPPED, FINISHED, FREED, CLOSED, ENDS };
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  struct ending ending;
  char filter[40], path[PATH_SIZE];
  int end;
  ending.fd = bound_socket(&ending.to);
  snprintf(filter, sizeof filter, "udp dst port %d", ntohs(ending.to.sin_port));
  options.filter = filter;
  options.interrupted = end_after_a_packet, options.interrupted_context = &ending;
  for (end = STOPPED; end < ENDS; end++) {
    bw_flow_log *log;
    uint64_t flows = 0;
    if (bw_capture_open_live("lo", NULL, &options, &ending.capture, &error) != BW_STATUS_OK) {
      fprintf(stderr, "c: gap: nothing was captured: %s\n", error.message);
      break;
    }
    ending.stops = end == STOPPED;
    snprintf(path, sizeof path, "%s/live%d.log", folder, end);
    EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_create(path, "ecs", NULL, &log, &error));
    EXPECT_STATUS(ending.stops ? BW_STATUS_OK : BW_STATUS_IO, bw_capture_log_flows(ending.capture, log, &error));
    EXPECT(length_of(path) == -1);
    if (end == CLOSED) {
      closed(ending.capture);
      ending.capture = NULL;
      EXPECT(length_of(path) > 100);
    }
    if (end != FREED) {
      EXPECT_STATUS(BW_STATUS_OK, bw_flow_log_finish(log, &flows, &error));
      EXPECT(flows == 1);
    }
    bw_flow_log_free(log);
    EXPECT(length_of(path) > 100);
    if (ending.capture) closed(ending.capture);
  }
  close(ending.fd);
  bw_error_clear(&error);
}

static void a_count_of_an_interface_goes_on_until_it_is_stopped(void) {
  bw_error error = BW_ERROR_INIT;
  bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
  struct ending ending;
  char filter[40];
  int rounds;
  ending.fd = bound_socket(&ending.to), ending.stops = false;
  snprintf(filter, sizeof filter, "udp dst port %d", ntohs(ending.to.sin_port));
  options.filter = filter;
  options.interrupted = end_after_a_packet, options.interrupted_context = &ending;
  if (bw_capture_open_live("lo", NULL, &options, &ending.capture, &error) == BW_STATUS_OK) {
    interrupted(COUNTS, ending.capture, NULL);
    EXPECT_STATUS(BW_STATUS_OK, bw_capture_stop(ending.capture, &error));
    EXPECT(packets_asked(COUNTS, ending.capture, NULL, &rounds) > 0);
    closed(ending.capture);
  } else {
    fprintf(stderr, "c: gap: nothing was captured: %s\n", error.message);
  }
  close(ending.fd);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  packets_of_an_interface_come_until_it_is_stopped();
  flows_of_an_interface_are_kept_however_reading_it_ends(argv[1]);
  a_count_of_an_interface_goes_on_until_it_is_stopped();
  return 0;
}
