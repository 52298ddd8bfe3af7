/* Traces generated from a profile, for any model, context and length.
 *
 * A generated trace is opened like a file and read with the functions of trace/format/trace.h: trace_read()
 * makes the requested frame. Generation keeps no state: every draw is a hash of (seed, sequence, layer, head,
 * what, when), for processes in time too, so each frame is a pure function of its place. Rows are therefore
 * the same in any order, for any number of threads, in memory or from the file that trace_copy() writes.
 * Memory grows with the units of one head and the rows of one frame, never with steps.
 *
 * trace/generate/trace_profile.h says how the statistics carry over to another context. The share of the
 * context that a row keeps, and the window in tokens, also stay the same. Masses below 2^-25.5
 * share one code: past some 10^6 tokens the order within a row is lost, but not the row. */
#pragma once

#include "trace/format/trace.h"
#include "trace/generate/trace_profile.h"

struct trace_geometry {
    const char *model; /* name for the source; NULL: the profile's */
    uint32_t layers, kv_heads, query_heads, head_dim;
    uint32_t context; /* tokens; a unit is one token */
    double keep;      /* share of the context in a row besides the window */
    uint32_t sequences, steps;
    uint64_t seed;
};

/* The shape of a recording, one sequence of it. */
struct trace_geometry trace_geometry_of(const struct trace_header *header);

/* Open a trace whose frames are made when read, of a profile that is copied; trace_close() ends it. */
struct trace *trace_open_generated(const struct trace_profile *profile, const char *name,
                                   const struct trace_geometry *geometry, struct error *why);

/* Write all frames of `trace` to a new file; the bytes are the same for any number of threads. */
bool trace_copy(const struct trace *trace, const char *path, uint32_t threads, struct error *why);

/* The moving part of a head: the latent directions of its queries, over the steps of a tile. Direction i at a
 * step is a sum of parts. Part k keeps a value (a sign) for profile_lasts[k] steps and then draws another;
 * directions are renewed one after the other. The correlation of a part falls linearly, 1 - lag / lasts, to 0
 * when it is renewed. The part that lasts one step is normal, with an amplitude that differs from step to
 * step. Nothing is carried from step to step: every step costs the same. Heads of a layer may have some of
 * their directions in common. Internal to this folder. */

enum { LATENT_MOST_STEPS = 16, LATENT_PARTS = PROFILE_PARTS - 1 }; /* without the part that stays */

/* Values of the parts, before amplitudes. */
struct latent_parts {
    double value[LATENT_MOST_STEPS][LATENT_PARTS][PROFILE_LATENTS];
};

/* Where directions come from. `head` differs from head to head, `layer` from layer to layer. A
 * direction that all query heads of the group share is the layer's with probability `alike`. */
struct latent_keys {
    uint64_t head, layer;
    double alike;
};

struct latent {
    struct latent_keys keys;
    uint32_t first_step, steps;
    double score[PROFILE_PARTS]; /* amplitudes; for `score` without the part that never moves */
    double query[PROFILE_PARTS];
    double weight[PROFILE_LATENTS]; /* of the directions; squares add up to 1 */
    double shared, own;             /* amplitudes in a query */
    double novelty[LATENT_MOST_STEPS];
    struct latent_parts parts; /* shared by all query heads of the group */
};

void latent_init(struct latent *latent, const struct trace_profile_head *head,
                 const struct latent_keys *keys, uint32_t first_step, uint32_t steps);

/* The weighted directions at step `s` of the tile; the mean sum of their squares is 1. */
void latent_directions(const struct latent *latent, uint32_t s, double out[PROFILE_LATENTS]);
