/* Tiers: the places that hold KV and weights, nearest to the kernels first.
 *
 *     TIER_GPU    HBM of one GPU               `gpu` in a machine's file
 *     TIER_HOST   the memory of its server     `host`
 *     TIER_DISK   the drives of that server    `disk`
 *     TIER_POOL   memory that servers share    `pool`
 *
 * A tier is a row of tier_kinds[]; its figures are curves of a machine (hardware/curves.def). What
 * moves between two tiers takes a way (way.h). Tiers that servers share come last.
 */
#ifndef PLACE_TIER_H
#define PLACE_TIER_H

#include "hardware/profile.h"

enum tier_id { TIER_GPU, TIER_HOST, TIER_DISK, TIER_POOL, TIER_COUNT };

enum tier_sharers { SHARED_BY_NOBODY, SHARED_BY_GPUS, SHARED_BY_SERVERS };

struct tier_kind {
    const char *name;         /* in results: "hbm" */
    const char *title;        /* in sentences: "host memory" */
    const char *room;         /* key of a scenario that says how much there is; NULL: none */
    enum tier_sharers shared; /* by the GPUs of a server, or by servers */
    enum curve_id capacity;
    enum curve_id bandwidth; /* of all that reads or writes it, which a machine need not state below
                                the host; CURVE_COUNT: its ways set the pace */
    enum curve_id read_one;  /* of a single read in flight (drive.h); CURVE_COUNT: as of many */
};
extern const struct tier_kind tier_kinds[TIER_COUNT];

/* The tier whose room a key of a scenario says; TIER_COUNT: none. */
enum tier_id tier_of_room(const char *key);

#endif
