/* What caches of KV are asked for: the demands of a recording that ships.
 *
 * Where the units lie that a head wants decides what it costs to look them up and to read their KV.
 * Real demands are no random draws: neighbours are wanted together, and of about the same weight,
 * so that they share lines and pages of memory. Units drawn at random take three times as long to
 * look up, and their KV a quarter longer to attend to.
 *
 * The recorded context stands there several times, one copy behind the other (head.h), of each
 * of which a head wants a tenth, in a cache of three times that: RetroInfer's sizes.
 */
#ifndef CALIBRATE_HOST_DEMAND_H
#define CALIBRATE_HOST_DEMAND_H

#include "calibrate/host/head.h"

#define DEMAND_TRACE "smollm2-135m"
enum { DEMAND_LAYERS = 2, DEMAND_HEADS = 8 };

struct recording {
    struct miniature shape;
    struct policy_env env;
    struct mini_head *heads; /* [DEMAND_LAYERS][DEMAND_HEADS] owned */
    uint32_t wanted;         /* units, by each head at each step */
};

/* At the least multiple of the recorded context that has `units` units. The caller releases it, on
 * failure too. */
bool recording_init(struct recording *recording, uint32_t units, struct error *why);
void recording_release(struct recording *recording); /* of a zeroed struct is fine */

/* New caches of `kind`, warmed. */
bool recording_start(struct recording *recording, const struct policy_kind *kind,
                     struct error *why);

/* The tokens that head `head`, counted over all layers, wants in the first step, in order, into
 * tokens[wanted]. */
void recording_list(const struct recording *recording, uint32_t head, uint32_t *tokens);

#endif
