/* Texts that runs have in common: each is kept once, with the systems whose runs have it.
 *
 * Only the first few texts are kept; of the others, how many runs have one.
 */
#ifndef CLI_RUNS_REMARKS_H
#define CLI_RUNS_REMARKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { REMARKS_MOST = 8 };

struct remark {
    char *text, *systems; /* owned; systems: "clo, litecache", each once */
    uint32_t runs;
};

struct remarks {
    struct remark items[REMARKS_MOST];
    uint32_t count;
    uint32_t other_runs;
};

/* Zeroed memory is an empty one. */
void remarks_release(struct remarks *remarks);

/* A run of `system` has this text. */
bool remarks_add(struct remarks *remarks, const char *text, const char *system, struct error *why);

#endif
