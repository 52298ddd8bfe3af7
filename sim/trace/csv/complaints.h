/* Collects all faults of a file, not only the first: the first few are kept, the rest are counted,
 * and memory does not grow with their number. */
#ifndef TRACE_CSV_COMPLAINTS_H
#define TRACE_CSV_COMPLAINTS_H

#include "base/error.h"

#include <stdint.h>

enum { COMPLAINTS_SHOWN = 10 };

struct complaints {
    struct error shown[COMPLAINTS_SHOWN]; /* the first ones */
    uint64_t count;                       /* all of them */
};

/* Add a fault. */
void complaints_add(struct complaints *complaints, const struct error *fault);

/* Turn them into the one error that ends a command. A single fault is that error; several become
 * their number, and complaints_shown() of them are then worth printing. Returns false. */
bool complaints_fail(const struct complaints *complaints, const char *path, struct error *why);
uint32_t complaints_shown(const struct complaints *complaints);

#endif
