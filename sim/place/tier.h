/* Tiers: the places that hold KV and weights, nearest to the kernels first.
 *
 *     TIER_GPU    HBM of one GPU               `gpu` in a machine's file
 *     TIER_HOST   the memory of its server     `host`
 *     TIER_DISK   the drives of that server    `disk`
 *     TIER_POOL   memory that servers share    `pool`
 *
 * A tier is a row of tier_kinds[]; its figures are curves of a machine (hardware/curves.def). What
 * moves between two tiers takes a way (way.h).
 */
#ifndef PLACE_TIER_H
#define PLACE_TIER_H

#include "hardware/profile.h"

enum tier_id { TIER_GPU, TIER_HOST, TIER_DISK, TIER_POOL, TIER_COUNT };

enum tier_sharers { SHARED_BY_NOBODY, SHARED_BY_GPUS, SHARED_BY_SERVERS };

struct tier_kind {
    const char *name;         /* in results: "hbm" */
    const char *title;        /* in sentences: "host memory" */
    enum tier_sharers shared; /* by the GPUs of a server, or by servers */
    enum curve_id capacity;
    enum curve_id
        bandwidth; /* of all that reads or writes it; CURVE_COUNT: its ways set the pace */
};
extern const struct tier_kind tier_kinds[TIER_COUNT];

#endif
