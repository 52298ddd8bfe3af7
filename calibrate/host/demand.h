/* The demands of a shipped recording, for groups that measure caches of KV.
 *
 * The positions of the wanted units decide the cost of looking them up and of reading their KV.
 * Real demands are not random: neighbours are wanted together, with about the same weight, so that
 * they share lines and pages of memory. Units drawn at random take three times as long to look up,
 * and their KV takes a quarter longer to attend to.
 *
 * The recorded context is repeated several times, one copy after the other (head.h). A head wants a
 * tenth of each copy, and its cache has room for three times that: RetroInfer's sizes.
 */
#pragma once

#include "calibrate/host/head.h"

#define DEMAND_TRACE "smollm2-135m"
enum { DEMAND_LAYERS = 2, DEMAND_HEADS = 8 };

struct recording {
    struct miniature shape;
    struct policy_env env;
    struct mini_head *heads; /* [DEMAND_LAYERS][DEMAND_HEADS] owned */
    uint32_t wanted;         /* units that each head wants at each step */
};

/* Read the recording, at the least multiple of its context that has `units` units. The caller
 * releases it, on failure too. */
bool recording_init(struct recording *recording, uint32_t units, struct error *why);
void recording_release(struct recording *recording); /* accepts a zeroed struct */

/* Create new caches of `kind`, and warm them. */
bool recording_start(struct recording *recording, const struct policy_kind *kind,
                     struct error *why);

/* Write the tokens that head `head`, counted over all layers, wants in the first step to
 * tokens[wanted], in order. */
void recording_list(const struct recording *recording, uint32_t head, uint32_t *tokens);
