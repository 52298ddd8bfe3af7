/* Where a request's time goes, from its arrival to its last token.
 *
 * A request is in one place at a time, and each span of it is charged to what it waited for there,
 * once and without a gap: so the causes add up, in nanoseconds, to its end less its arrival. A step
 * that computes its next token is split further: what prompts of others added to it, what the GPU
 * waited for in it (the parts of decode/time/parts.def), and the rest, in which it decoded.
 */
#ifndef SERVE_WAITS_H
#define SERVE_WAITS_H

#include "decode/time/pipeline.h"

#include <stdint.h>

enum wait {
    WAIT_QUEUE,     /* before it was first scheduled */
    WAIT_LOAD,      /* for its prefix, on its way from the host */
    WAIT_PREFILL,   /* steps that computed its prompt */
    WAIT_PREEMPTED, /* from being put back to its next token */
    WAIT_OTHERS,    /* prompts of others, in steps that decoded it or had no token left for it */
    WAIT_DECODE,    /* steps that decoded it, less what the GPU waited for in them */
    WAIT_STALL,     /* and that, by part */
    WAITS = WAIT_STALL + PART_COUNT
};

struct waits {
    int64_t until_ns; /* charged up to then */
    int64_t ns[WAITS];
};

/* "queue", ... and the names of parts. */
const char *wait_name(int wait);

/* Charge what was not charged yet, up to `until_ns`. */
void waits_charge(struct waits *waits, enum wait wait, int64_t until_ns);

/* Charge a step that decoded the request and began where it was charged up to. Of its `ns`, prompts
 * took `others_ns`, and stalls their part of the rest. */
void waits_charge_decode(struct waits *waits, int64_t ns, int64_t others_ns,
                         const int64_t stall_ns[PART_COUNT]);

#endif
