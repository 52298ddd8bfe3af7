/* Tiers: the places that hold KV and weights, nearest to the kernels first.
 *
 *     TIER_GPU    HBM of one GPU               `gpu` in a machine's file
 *     TIER_HOST   the memory of its server     `host`
 *     TIER_DISK   the drives of that server    `disk`
 *     TIER_POOL   memory that servers share    `pool`
 *
 * A tier is a row of tier_kinds[]; its figures are curves of a machine (machine/curves.def). What
 * moves between two tiers takes a way (below). Tiers that servers share come last.
 */
#pragma once

#include "machine/profile.h"

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
    enum curve_id read_one;  /* of a single read in flight (below); CURVE_COUNT: as of many */
};
extern const struct tier_kind tier_kinds[TIER_COUNT];

/* The tier whose room a key of a scenario says; TIER_COUNT: none. */
enum tier_id tier_of_room(const char *key);

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

/* A drive that reads several blocks at a time.
 *
 * A machine's file states two rates for each size of a block: of one read at a time
 * (disk.read_one, the tier's `read_one`), and of many (disk.read, DRIVE_DEPTH of them). The time of
 * a block with `depth` reads in flight lies between: a part that other reads hide, and a part that
 * they do not.
 *
 *     t(depth) = hidden / depth + served,  t(1) from disk.read_one,  t(DRIVE_DEPTH) from disk.read
 */

/* So many reads are enough: more do not make a drive of today faster. */
enum { DRIVE_DEPTH = 32 };

/* Bytes a second from a tier to the host, in reads of `bytes` each, `depth` at a time, at least 1.
 * More than DRIVE_DEPTH count as so many. Without a rate of one read any depth is enough. `trust`
 * is lowered to that of the figures. The machine states the way to the host. */
double drive_read_rate(const struct profile *profile, enum tier_id tier, double bytes,
                       uint32_t depth, struct trust *trust);
