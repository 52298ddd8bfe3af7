/* Ways: what bytes take from one tier to another, in one direction.
 *
 *     gpu ◀──── WAY_IN ────── host ◀──── WAY_DISK_IN ───── disk
 *     gpu ───── WAY_OUT ────▶ host ───── WAY_DISK_OUT ───▶ disk
 *      ▲                       ▲ └────── WAY_POOL_OUT ───▶ pool, and WAY_POOL_IN back
 *   WAY_PEER (fabric)      WAY_NETWORK
 *      ▼                       ▼
 *     gpu                     host of another server
 *
 * A way is a row of way_kinds[]. Each carrier has a rate and a fixed time before its first byte,
 * both curves of a machine. A way and its way back together carry no more than `both`.
 */
#ifndef PLACE_WAY_H
#define PLACE_WAY_H

#include "place/tier.h"

enum way_id {
    WAY_IN,
    WAY_OUT,
    WAY_DISK_IN,
    WAY_DISK_OUT,
    STEP_WAYS, /* those that a decode step takes come first */
    WAY_PEER = STEP_WAYS,
    WAY_POOL_IN,
    WAY_POOL_OUT,
    WAY_NETWORK,
    WAY_COUNT
};

/* Who moves the bytes: an engine, while the CPU calls it once (host.copy_call); kernels, whose SMs
 * wait meanwhile; or threads of the CPU. */
enum carrier { BY_ENGINE, BY_KERNEL, BY_CPU, CARRIERS };

struct way_kind {
    const char *name; /* of its channel */
    enum tier_id from, to;
    /* CURVE_COUNT: there is none. A rate whose curve holds times is that of so many bytes. */
    struct way_figures {
        enum curve_id rate, start;
    } by[CARRIERS];
    enum way_id back;
    enum curve_id both; /* the rate of this way and its way back together; CURVE_COUNT: no limit */
};
extern const struct way_kind way_kinds[WAY_COUNT];

/* The way from one tier to another; WAY_COUNT: there is none. */
enum way_id way_between(enum tier_id from, enum tier_id to);

/* Does the machine state the way? */
bool way_stated(const struct profile *profile, enum way_id id);

/* Bytes a second by a carrier, for `size` (what its curve goes by: bytes, or threads), alone; and
 * its fixed time in ns. `trust` is lowered to the curve's. The way has this carrier; a rate that
 * the machine does not state is 0. */
double way_rate(const struct profile *profile, enum way_id id, enum carrier by, double size,
                struct trust *trust);
double way_start_ns(const struct profile *profile, enum way_id id, enum carrier by,
                    struct trust *trust);

#endif
