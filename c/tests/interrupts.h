/* Functions that a waiting call asks whether it is to end; each counts its questions in an int. */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdbool.h>

static inline bool on_the_third_question(void *questions) { return ++*(int *)questions == 3; }

/* As a flag that a signal sets: the answer stays the same until the call has ended. */
static inline bool from_the_third_question_on(void *questions) { return ++*(int *)questions >= 3; }

#endif
