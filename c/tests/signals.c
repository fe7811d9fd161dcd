/* Goal: handlers of signals run in the program's threads, never in one of the library.
 *
 * Method: a timer sends a signal each millisecond beside each kind of work that has threads of its own; the handler notes a
 * thread that is not the program's. Answers must be those without signals. Compiled and run as tables.c is.
 */
#define _XOPEN_SOURCE 700
#include "files.h"
#include "samples.h"
#include "timer.h"

#include <pthread.h>

static pthread_t program;
static volatile sig_atomic_t taken, elsewhere;

static void note(int number) {
  (void)number;
  taken++;
  if (!pthread_equal(pthread_self(), program)) elsewhere++;
}

static size_t packets_of_a_capture(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = opened(WEB, NULL);
  bw_rows *rows = NULL;
  size_t count;
  (void)folder;
  EXPECT_STATUS(BW_STATUS_OK, bw_capture_packets(&capture, 1, NULL, 500, NULL, &rows, &error));
  count = count_of(rows);
  closed(capture);
  return count;
}

static size_t entries_of_a_table(const char *folder, const char *name) {
  bw_error error = BW_ERROR_INIT;
  bw_open_options options = BW_OPEN_OPTIONS_INIT;
  bw_table *table = NULL;
  char path[PATH_SIZE];
  uint64_t len = 0;
  uint32_t number;
  options.create = true;
  EXPECT_STATUS(BW_STATUS_OK, bw_table_open(path_in(folder, name, path), &options, &table, &error));
  for (number = 0; number < 3000; number++)
    EXPECT_STATUS(BW_STATUS_OK, bw_table_put(table, (const uint8_t *)&number, 4, (const uint8_t *)&number, 4, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_sync(table, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_len(table, &len, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_table_close(table, &error));
  return (size_t)len;
}

static size_t entries_of_a_hashed_table(const char *folder) { return entries_of_a_table(folder, "signals.bwh"); }
static size_t entries_of_an_ordered_table(const char *folder) { return entries_of_a_table(folder, "signals.bwt"); }

static const char *folder;

static void *work_beside_the_timer(void *nothing) {
  size_t (*const works[])(const char *) = {packets_of_a_capture, entries_of_a_hashed_table, entries_of_an_ordered_table};
  sigset_t alarm;
  size_t place;
  program = pthread_self();
  EXPECT(sigemptyset(&alarm) == 0 && sigaddset(&alarm, SIGALRM) == 0);
  EXPECT(pthread_sigmask(SIG_UNBLOCK, &alarm, NULL) == 0);
  for (place = 0; place < sizeof works / sizeof *works; place++) {
    size_t expected = works[place](folder);
    taken = 0;
    set_timer(1000);
    do EXPECT(works[place](folder) == expected);
    while (taken < 100);
    set_timer(0);
  }
  return nothing;
}

int main(int count, char **arguments) {
  struct sigaction action;
  sigset_t alarm;
  pthread_t thread;
  EXPECT(count == 2);
  folder = arguments[1];
  memset(&action, 0, sizeof action);
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
  /* The system gives a signal to the first thread wherever it may, so that others would hardly ever get one. */
  EXPECT(sigemptyset(&alarm) == 0 && sigaddset(&alarm, SIGALRM) == 0);
  EXPECT(pthread_sigmask(SIG_BLOCK, &alarm, NULL) == 0);
  EXPECT(pthread_create(&thread, NULL, work_beside_the_timer, NULL) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT(elsewhere == 0);
  return 0;
}
