/* Copies over one direction of a link, made by one copy engine: first come, first served, each with
 * a fixed time before its bytes. Copies are numbered from 1 in that order, so that "all copies up
 * to this one are done" is a comparison of two numbers.
 */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* Blocks of a copy; only the caller uses them. */
struct copy_blocks {
    uint64_t moved; /* from one cache to the other */
    uint64_t freed; /* at its source, when it ends */
};

struct copy {
    double bytes;
    double left_ns, left_bytes; /* still to go: of the fixed time, and of the bytes */
    struct copy_blocks blocks;
};

struct copies {
    struct copy *items; /* pending copies are [first, count), owned */
    size_t first, count, capacity;
    uint64_t done;                    /* the number of the last copy that is done */
    struct copy_blocks added, ended;  /* of all copies so far, and of those that are done */
    double crossed_bytes, done_bytes; /* likewise; the first with the bytes of the pending copy */
};

void copies_release(struct copies *copies);

/* Queue a copy. Returns its number; 0 when memory is out. */
uint64_t copies_add(struct copies *copies, double start_ns, double bytes, struct copy_blocks blocks,
                    struct error *why);

/* The number of the last copy queued, done or not. */
uint64_t copies_last(const struct copies *copies);

/* Time in ns until copy `number` is done, at `rate` bytes a second; 0 if it is done. */
double copies_time(const struct copies *copies, uint64_t number, double rate);

/* Let `ns` pass at `rate` bytes a second. Returns the bytes that crossed. `on_done` (or NULL) is
 * called for each copy that ends, in order. */
double copies_pass(struct copies *copies, double ns, double rate,
                   void (*on_done)(struct copy_blocks blocks, void *context), void *context);
