/* The demand: the units that one KV head wants at one layer of one step, best first.
 *
 * A recorded row keeps more units than a system asks for. The demand is its best `wanted` units
 * outside the window of sinks and recent tokens, by mass, ties by position; what the row
 * kept besides follows, so that the attention mass of any other set can be told. Where only what
 * is near the heaviest is asked for, as InfiniGen does (OSDI 2024), these are fewer: units whose
 * mass is at least a share of that of the heaviest outside the window.
 */
#ifndef TRACE_DEMAND_H
#define TRACE_DEMAND_H

#include "trace/format/trace.h"

#include <stdint.h>

struct demand {
    const uint32_t *units; /* best first: [0, wanted) is asked for, [wanted, recorded) is not */
    const uint8_t *mass;   /* code of each */
    uint32_t wanted, recorded;
    float wanted_mass;    /* sum over [0, wanted) */
    float window_mass;    /* mass of sinks, recent and born tokens: always attended to */
    const float *scale;   /* a query head of the group at a time: scale[q * steps] ... */
    const int8_t *query;  /* ... and query[q * steps * head_dim + i]; NULL without queries */
    uint32_t query_heads; /* of the group */
    uint32_t head_dim;
    uint32_t query_stride; /* in steps: distance between query heads of `scale` */
};

/* What to ask of a row. */
struct demand_shape {
    uint32_t wanted;     /* units; a row that has fewer outside the window gives what it has */
    uint32_t first_unit; /* units before this one are sinks */
    uint32_t end_unit;   /* units from this one on are recent */
    uint32_t codes;      /* of mass, from the heaviest unit's on, that are asked for; 0: all */
};

/* Scratch for one demand; owned by the caller. */
struct demand_buffer {
    uint32_t *units;
    uint8_t *mass;
    size_t units_capacity, mass_capacity;
};
void demand_buffer_init(struct demand_buffer *buffer);
void demand_buffer_release(struct demand_buffer *buffer);

/* The shape that asks for `wanted` units outside `sinks` and `recent` tokens (a unit that holds any
 * token of the window belongs to the window; clusters have no window in them). */
struct demand_shape demand_shape(const struct trace_header *header, uint32_t wanted, uint32_t sinks,
                                 uint32_t recent);

/* How many codes the masses of at least exp(-margin) times another's have, from its own on; of no
 * margin, 0, all: 0. Masses are known to a code, 7 %; the last code is a bound, near nothing
 * above. */
uint32_t demand_codes(double margin);

/* The demand of (head, step within the frame). Valid until frame or buffer change. One counting
 * sort over the 256 codes: linear in the row. */
bool demand_from_frame(const struct trace_header *header, const struct trace_frame *frame,
                       uint32_t head, uint32_t step, const struct demand_shape *shape,
                       struct demand_buffer *buffer, struct demand *out, struct error *why);

/* The same of what an approximate query asked for, in a trace with has_approximate: its best units
 * in its own order, with their true masses where the row has them, else code 255; then what the row
 * kept besides these. Its scores are not recorded: where only what is near the heaviest is asked
 * for, it asks for as many as the true query would. */
bool demand_from_approximate(const struct trace_header *header, const struct trace_frame *frame,
                             uint32_t head, uint32_t step, const struct demand_shape *shape,
                             struct demand_buffer *buffer, struct demand *out, struct error *why);

#endif
