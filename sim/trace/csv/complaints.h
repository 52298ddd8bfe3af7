/* Everything that is wrong with a file, not only the first thing: the first few faults are kept,
 * the rest is counted, and memory does not grow with their number. */
#ifndef TRACE_CSV_COMPLAINTS_H
#define TRACE_CSV_COMPLAINTS_H

#include "base/error.h"

#include <stdint.h>

enum { COMPLAINTS_SHOWN = 10 };

struct complaints {
    struct error shown[COMPLAINTS_SHOWN]; /* the first ones */
    uint64_t count;                       /* all of them */
};

/* Take note of a fault. */
void complaints_add(struct complaints *complaints, const struct error *fault);

/* Turn them into the one error that ends a command: the fault itself when it is the only one, else
 * their number; then complaints_shown() of them are worth printing. Returns false. */
bool complaints_fail(const struct complaints *complaints, const char *path, struct error *why);
uint32_t complaints_shown(const struct complaints *complaints);

#endif
