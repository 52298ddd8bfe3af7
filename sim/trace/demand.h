/* The demand: the units that one KV head wants at one layer of one step, best first.
 *
 * A recorded row keeps more units than a system asks for. The demand is its best `wanted` units
 * outside the window of sinks and recent tokens, by mass, ties by position. The row's other units
 * follow, so that the attention mass of any other set can be computed. A system may ask only for
 * units near the heaviest, as InfiniGen does (OSDI 2024): the demand then has fewer units, those
 * whose mass is at least a given share of the heaviest outside the window.
 *
 * Mass adds up. A row says how much attention its units have, and how much (`tail`) all units have together
 * that it does not record; the rest of 1 belongs to the window and to tokens born while decoding. None of the
 * unrecorded units has more mass than any unit that the row chose. So the mass of a set with unrecorded units
 * lies between two bounds, which meet when the set has all of these units or none (demand_attended()). */
#pragma once

#include <stdint.h>

#include "machine/profile.h"
#include "trace/format/trace.h"

/* Bounds of the attention mass of a set of units together with the window. */
struct mass_bounds {
    double least, most;
};

struct demand {
    const uint32_t *units; /* best first: [0, wanted) is asked for, [wanted, recorded) is not */
    const uint8_t *mass;   /* the mass code of each */
    uint32_t wanted, recorded;
    float wanted_mass;   /* sum over [0, wanted) */
    float recorded_mass; /* of the units outside the window that the row records */
    float window_mass;   /* mass of sinks, recent and born tokens: always attended to. It is what
                            the tail and the other units leave of 1, less what the window has of
                            the tail. */
    float born_mass;     /* of that, mass of the tokens born while decoding */
    float tail;          /* mass of all units that the row does not record */
    float tail_each;     /* most mass that one of these can have */
    uint32_t tail_units, tail_window; /* of these, outside the window and in it */
    uint32_t wanted_tail;             /* units of [0, wanted) that the row does not record */
    const float *scale;   /* a query head of the group at a time: scale[q * steps] ... */
    const int8_t *query;  /* ... and query[q * steps * head_dim + i]; NULL without queries */
    uint32_t query_heads; /* of the group */
    uint32_t head_dim;
    uint32_t query_stride; /* in steps: distance between query heads of `scale` */
    /* Of a union of several tokens' demands: these, [0, staying) of tokens that stay. Only units, mass,
     * wanted and recorded are the union's own. */
    const struct demand *members;
    uint32_t member_count, staying; /* 0: one token's demand */
};

/* What to ask for in a row. */
struct demand_shape {
    uint32_t wanted;     /* units; a row with fewer outside the window gives all it has */
    uint32_t first_unit; /* units before this one are sinks */
    uint32_t end_unit;   /* units from this one on are recent */
    uint32_t codes;      /* mass codes to ask for, from the heaviest unit's on; 0: all */
};

/* Scratch for one demand; owned by the caller, and zeroed at first. */
struct demand_buffer {
    uint32_t *units;
    uint8_t *mass;
    size_t units_capacity, mass_capacity;
};
void demand_buffer_release(struct demand_buffer *buffer);

/* The shape that asks for `wanted` units outside `sinks` and `recent` tokens (a unit that holds any
 * token of the window belongs to the window; clusters have no window in them). */
struct demand_shape demand_shape(const struct trace_header *header, uint32_t wanted, uint32_t sinks,
                                 uint32_t recent);

/* The number of mass codes that cover masses of at least exp(-margin) times another, from its own code on; 0
 * (all) if `margin` is 0. A mass is known to one code, 7 %; the last is an upper bound. */
uint32_t demand_codes(double margin);

/* The demand of (head, step within the frame), valid until frame or buffer change. Linear in the row. */
bool demand_from_frame(const struct trace_header *header, const struct trace_frame *frame,
                       uint32_t head, uint32_t step, const struct demand_shape *shape,
                       struct demand_buffer *buffer, struct demand *out, struct error *why);

/* The same for an approximate query, in a trace with has_approximate: its best units in its own
 * order, with their true masses if the row has them, otherwise code 255; then the row's other
 * units. The scores of the approximate query are not recorded: if a system asks only for units near
 * the heaviest, this asks for as many units as the true query would. */
bool demand_from_approximate(const struct trace_header *header, const struct trace_frame *frame,
                             uint32_t head, uint32_t step, const struct demand_shape *shape,
                             struct demand_buffer *buffer, struct demand *out, struct error *why);

/* A set of units outside the window: `recorded` ones, which have `mass`, and others. */
struct unit_set {
    float mass;
    uint32_t recorded, unrecorded;
};

/* The units that the demand asks for; and a set of `size` units, `is_in` [units of the trace]. */
struct unit_set demand_wanted(const struct demand *demand);
struct unit_set demand_set(const struct demand *demand, const bool *is_in, uint32_t size);

/* The attention mass of a set together with the window. Exactly 1 if the set leaves nothing out. */
struct mass_bounds demand_attended(const struct demand *demand, const struct unit_set *set);

/* Of a union: the mean of what the tokens that stay attend to of sets of `size` units; NULL: of their own. */
struct mass_bounds demand_members_attended(const struct demand *demand, const bool *is_in,
                                           uint32_t size);

/* Layers with sliding windows. Their heads attend only to the last tokens, so their KV stays in HBM
 * and no policy has anything to decide. Counted with the others, they would raise every hit ratio. */

/* Does `layer` have a sliding window: each row of the first tile has fewer units than rows keep, and behind
 * the sinks all tokens from one to the end? A window of more tokens than rows keep is not seen. */
bool trace_layer_slides(const struct trace *trace, uint32_t layer, bool *slides, struct error *why);

/* Where a trace came from: the usual keys of the source in its header (FORMAT.md). */

/* A text is "" if the source does not state it; a longer text is cut. */
struct trace_source {
    char model[256], text[256];
    bool twin;               /* generated from a profile that was fitted to a recording */
    uint64_t fitted_context; /* of a twin: the tokens of that recording */
    enum basis basis;        /* measured for a recording; the profile's basis for a twin */
    bool masses;             /* the masses of rows were recorded, not assumed on import */
    char retrieval[16];      /* whose approximate rows are there: page, cluster, code; "": of none,
                                as where only the query is that of a layer ahead */
    uint32_t model_layers;   /* of the model; more than the trace has if only some were recorded */
};

void trace_source_read(const struct trace_header *header, struct trace_source *out);
