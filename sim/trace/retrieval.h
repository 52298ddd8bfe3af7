/* What a retrieval asks for, given what a head truly wants.
 *
 * A system does not know the attention masses before it has the keys. It ranks units by a summary
 * of them, so it asks for some units in vain and misses others. The model of this error, which
 * fits what was measured at selections of 5, 10 and 20 % (decode/plan/mass.h):
 *
 *     score = ln(mass of the unit) + noise * spread * e,      e normal with deviation 1
 *
 * A retrieval asks for the units with the highest scores. `spread` is the head's own at that step:
 * the logarithms of the masses at ranks of 1.25 % and 10 % of the units, one less the other (about
 * a standard deviation of all of them). So heavy units are rarely missed, in any head and at any
 * selection. A share `lasting` of the variance of e belongs to the unit for good: what a summary
 * says about a key is wrong in the same way at each step. The rest is drawn at each step.
 *
 * A page is taken whole, in place of single units. Its mass is that of all its units outside the window.
 *
 * Units that a row does not record have a mass between that of the lightest recorded one and 0,
 * with the mean that the row's tail says. Each is given one: its logarithm is uniform below the
 * lightest, and it keeps its place there from step to step.
 *
 * Draws are hashes of (sequence, layer, head, unit) and of the step: the same inputs ask for the
 * same units, on any number of threads. */
#pragma once

#include "trace/demand.h"

struct retrieval_error {
    uint32_t page;  /* adjacent units that are taken together; 0 or 1: single units */
    double noise;   /* deviation of a score, in spreads; 0: none */
    double lasting; /* share of its variance that a unit keeps, 0 ... 1 */
};

/* Does it ask for other units than the head wants? */
bool retrieval_errs(const struct retrieval_error *error);

/* A unit, and a uniform draw of its mass where it is in no row. */
struct retrieval_unit {
    uint32_t unit, tail;
};

/* Scratch for the demands of one trace; owned by the caller, and zeroed at first. An item is a unit or a page. */
struct retrieval_buffer {
    struct demand_buffer truth, asked;
    uint16_t *code;               /* [units] mass code of a recorded unit, else more than 255 */
    uint16_t *lasting;            /* [KV heads][units] the draws that last, once `drawn` ... */
    struct retrieval_unit *order; /* likewise: a head's units by them, least first ... */
    uint32_t sequence, layer;     /* ... of this sequence and layer */
    bool drawn;
    uint16_t *level; /* [items] of a page at first, then of those that may be asked for */
    uint32_t *item;  /* [items] these */
    uint32_t *place; /* [levels] */
    size_t code_capacity, lasting_capacity, order_capacity, level_capacity, item_capacity,
        place_capacity;
};
void retrieval_buffer_release(struct retrieval_buffer *buffer);

/* The shape of demands in pages of so many units, at least one, from one in single units. */
struct demand_shape retrieval_shape(const struct demand_shape *shape, uint32_t page);

/* The demand of (head, step within the frame) as the retrieval asks for it: its best units in its own order
 * with their true masses, 255 for those that the row does not record; then the row's other units. `shape` is
 * retrieval_shape()'s. Valid until frame or buffer change. Linear in the units. */
bool demand_from_retrieval(const struct trace_header *header, const struct trace_frame *frame,
                           uint32_t head, uint32_t step, const struct demand_shape *shape,
                           const struct retrieval_error *error, struct retrieval_buffer *buffer,
                           struct demand *out, struct error *why);
