/* Drivers of troubles: conformance/troubles.json says what each trouble is. */
#define _XOPEN_SOURCE 700
#include "drivers.h"

#include "timer.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 60 };

/* A child of a process with threads hangs under the address sanitizer, where a thread had the lock of the sanitizer's memory:
 * the other builds of this file have children. */
#ifdef __SANITIZE_ADDRESS__
static const bool HAS_CHILDREN = false;
#else
static const bool HAS_CHILDREN = true;
#endif

static void expect_nothing_left(const char *folder) {
  DIR *names = opendir(folder);
  const struct dirent *entry;
  EXPECT(names);
  while ((entry = readdir(names)) != NULL) {
    const char *name = entry->d_name;
    EXPECT(strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (name[0] != '.' && !strstr(name, ".new") && !strstr(name, ".part")));
  }
  closedir(names);
}

static void check(const operation *of, const char *folder, uint64_t expected) {
  expect_same(of->run(folder), expected, of->name);
  expect_nothing_left(folder);
}

static volatile sig_atomic_t taken;
static void take(int number) {
  (void)number;
  taken++;
}

void take_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = take;
  action.sa_flags = SA_RESTART;
  EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
}

static void in_signal(const operation *of, const char *folder, uint64_t expected) {
  taken = 0;
  set_timer(1000);
  do expect_same(of->run(folder), expected, of->name);
  while (taken < 20);
  set_timer(0);
  check(of, folder, expected);
}

static void in_raise(const operation *of, const char *folder, uint64_t expected) {
  if (of->fail) of->fail(folder);
  check(of, folder, expected);
}

/* Waits for a child, which the system ends where it hangs. */
static void expect_well(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) EXPECT(errno == EINTR);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static pid_t forked(void) {
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS_MAX);
  }
  return child;
}

/* Bounds the length of files, a bit above what is there. */
static void bound_files(const char *folder) {
  struct rlimit bound;
  rlim_t length = 2000;
  DIR *names = opendir(folder);
  const struct dirent *entry;
  EXPECT(names && getrlimit(RLIMIT_FSIZE, &bound) == 0);
  while ((entry = readdir(names)) != NULL) {
    char path[PATH_SIZE];
    struct stat found;
    path_in(folder, entry->d_name, path);
    if (stat(path, &found) == 0 && S_ISREG(found.st_mode) && (rlim_t)found.st_size > length) length = (rlim_t)found.st_size;
  }
  closedir(names);
  bound.rlim_cur = length + 60000;
  signal(SIGXFSZ, SIG_IGN);
  EXPECT(setrlimit(RLIMIT_FSIZE, &bound) == 0);
}

static void in_full(const operation *of, const char *folder, uint64_t expected) {
  pid_t child;
  if (!HAS_CHILDREN) return;
  (void)of->run(folder);
  child = forked();
  if (child == 0) {
    bw_error error = BW_ERROR_INIT;
    bound_files(folder);
    EXPECT(of->grow(folder, &error) == BW_STATUS_IO && error.os_error == EFBIG);
    _exit(0);
  }
  expect_well(child);
  if (of->second == second_store) {
    /* Flows that were merged before stay: the next run answers with more. */
    (void)of->run(folder);
    expect_nothing_left(folder);
    return;
  }
  if (of->second == second_table) expect_entries_of_grown_tables(folder);
  check(of, folder, expected);
}

static struct {
  const operation *of;
  uint64_t expected;
  volatile sig_atomic_t is_over;
} threads;

/* Runs it again and again, in a folder of its own. */
static void *run_in_thread(void *folder) {
  do expect_same(threads.of->run((const char *)folder), threads.expected, threads.of->name);
  while (!threads.is_over);
  return NULL;
}

static void start_thread(pthread_t *thread, const operation *of, uint64_t expected, char *own_folder) {
  threads.of = of, threads.expected = expected, threads.is_over = 0;
  EXPECT(mkdir(own_folder, 0777) == 0);
  EXPECT(pthread_create(thread, NULL, run_in_thread, own_folder) == 0);
}

/* Handles are of one thread at a time: each thread has its own. */
static void in_thread(const operation *of, const char *folder, uint64_t expected) {
  char other[PATH_SIZE];
  pthread_t thread;
  int round;
  path_in(folder, "other", other);
  start_thread(&thread, of, expected, other);
  for (round = 0; round < 5; round++) expect_same(of->run(folder), expected, of->name);
  threads.is_over = 1;
  EXPECT(pthread_join(thread, NULL) == 0);
  check(of, folder, expected);
}

/* While a thread is in it. The child has handles of its own. */
static void in_fork(const operation *of, const char *folder, uint64_t expected) {
  char other[PATH_SIZE];
  pthread_t thread;
  int round;
  if (!HAS_CHILDREN) return;
  path_in(folder, "other", other);
  start_thread(&thread, of, expected, other);
  for (round = 0; round < 5; round++) {
    const pid_t child = forked();
    if (child == 0) {
      expect_same(of->run(folder), expected, of->name);
      _exit(0);
    }
    expect_well(child);
  }
  threads.is_over = 1;
  EXPECT(pthread_join(thread, NULL) == 0);
  check(of, folder, expected);
}

static void in_second(const operation *of, const char *folder, uint64_t expected) {
  if (of->second) {
    of->second(folder);
  } else if (HAS_CHILDREN) {
    char other[PATH_SIZE];
    pid_t child;
    path_in(folder, "other", other);
    EXPECT(mkdir(other, 0777) == 0);
    child = forked();
    if (child == 0) {
      expect_same(of->run(other), expected, of->name);
      _exit(0);
    }
    expect_same(of->run(folder), expected, of->name);
    expect_well(child);
  }
  check(of, folder, expected);
}

static void in_itself(const operation *of, const char *folder, uint64_t expected) {
  of->itself(folder);
  check(of, folder, expected);
}

static const struct {
  const char *name;
  void (*run)(const operation *of, const char *folder, uint64_t expected);
} DRIVERS[] = {
  {"signal", in_signal}, {"raise", in_raise}, {"full", in_full}, {"thread", in_thread},
  {"fork", in_fork}, {"second", in_second}, {"itself", in_itself},
};

void run_trouble(const operation *of, const char *trouble, const char *folder, uint64_t expected) {
  size_t place = 0;
  while (place < COUNT_OF(DRIVERS) && strcmp(DRIVERS[place].name, trouble) != 0) place++;
  if (place == COUNT_OF(DRIVERS)) {
    fprintf(stderr, "drivers.c: expected a driver for the trouble %s\n", trouble);
    exit(1);
  }
  if (getenv("BYTEWRIGHT_TOLD")) fprintf(stderr, "%s: %s\n", of->name, trouble);
  EXPECT(strcmp(trouble, "full") != 0 || of->grow);
  EXPECT(strcmp(trouble, "raise") != 0 || of->fail || of->not_failed);
  DRIVERS[place].run(of, folder, expected);
}
