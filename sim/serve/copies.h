/* Copies over one way of a link, as one copy engine makes them: first come, first served, each with
 * a fixed time before its bytes. They are numbered from 1 on in that order, so that "all up to that
 * one are done" is a comparison.
 */
#ifndef SERVE_COPIES_H
#define SERVE_COPIES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The caller's: what a copy comes to. */
struct copy_blocks {
    uint64_t moved; /* from one cache to the other */
    uint64_t freed; /* where it comes from, by its end */
};

struct copy {
    double bytes;
    double left_ns, left_bytes; /* before its bytes, and of them */
    struct copy_blocks blocks;
};

struct copies {
    struct copy *items; /* those under way are [first, count), owned */
    size_t first, count, capacity;
    uint64_t done; /* the number of the last one that is done */
    struct copy_blocks added, ended; /* of all so far, and of those that are done */
    double crossed_bytes, done_bytes; /* the same */
};

void copies_release(struct copies *copies);

/* The number of the copy; 0 when memory is out. */
uint64_t copies_add(struct copies *copies, double start_ns, double bytes,
                    struct copy_blocks blocks, struct error *why);

/* The number of the last one, done or not. */
uint64_t copies_last(const struct copies *copies);

/* Time until copy `number` is done where copies have `rate` bytes a second; 0 of one that is. */
double copies_time(const struct copies *copies, uint64_t number, double rate);

/* `ns` pass at that rate. Returns the bytes that crossed. `on_done` (or NULL) is told of each copy
 * that ends, in order. */
double copies_pass(struct copies *copies, double ns, double rate,
                   void (*on_done)(struct copy_blocks blocks, void *context), void *context);

#endif
