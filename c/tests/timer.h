/* A timer that sends SIGALRM again and again; the program defines _XOPEN_SOURCE. */
#ifndef TIMER_H
#define TIMER_H

#include "expect.h"

#include <signal.h>
#include <sys/time.h>

/* With 0 it sends none any more. */
static inline void set_timer(long microseconds) {
  struct itimerval timer = {{0, 0}, {0, 0}};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = microseconds;
  EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

#endif
