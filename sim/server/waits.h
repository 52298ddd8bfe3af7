/* A request's time by cause, from its arrival to its last token.
 *
 * A request is in one place at a time. Each span of its time is charged to what it waited for
 * there, once and without gaps, so that the causes add up to its end less its arrival, in
 * nanoseconds. A step that computes its next token is split further: the time that prompts of
 * others added, the time that the GPU waited, by part (decode/time/parts.def), and the rest, which
 * is decoding.
 */
#pragma once

#include "decode/time/pipeline.h"

#include <stdint.h>

enum wait {
    WAIT_API,       /* for its prompt to become tokens, and for its last token to be sent */
    WAIT_QUEUE,     /* from then on until it was first scheduled */
    WAIT_LOAD,      /* for its prefix to arrive from the host, or for blocks being copied out */
    WAIT_PREFILL,   /* steps that computed its prompt */
    WAIT_PREEMPTED, /* from its preemption to its next token */
    WAIT_OTHERS,    /* prompts of others, in steps that decoded it or had no token left for it */
    WAIT_DECODE,    /* steps that decoded it, less the stalls of the GPU */
    WAIT_STALL,     /* these stalls, by part */
    WAITS = WAIT_STALL + PART_COUNT
};

struct waits {
    int64_t until_ns; /* charged up to then */
    int64_t ns[WAITS];
};

/* "queue", ... and the names of parts. */
const char *wait_name(int wait);

/* Charge the time not yet charged, up to `until_ns`, to `wait`. */
void waits_charge(struct waits *waits, enum wait wait, int64_t until_ns);

/* Charge a step of `ns` that decoded the request and began at waits->until_ns. Prompts of others
 * took `others_ns` of it, and stalls `stall_ns`. */
void waits_charge_decode(struct waits *waits, int64_t ns, int64_t others_ns,
                         const int64_t stall_ns[PART_COUNT]);
