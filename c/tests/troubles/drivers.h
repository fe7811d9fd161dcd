/* Troubles, each with a driver that works for all operations. */
#ifndef DRIVERS_H
#define DRIVERS_H

#include "operations.h"

/* Notes signals from now on, which otherwise end the program. */
void take_signals(void);
void run_trouble(const operation *of, const char *trouble, const char *folder, uint64_t expected);

#endif
