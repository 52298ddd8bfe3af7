/* Places: the tiers of a machine, and the ways that join them. Whoever has several GPUs or machines adds and
 * joins theirs, too. Each way is a channel; a way and its way back are one more if together they carry less
 * than both alone; and so is a tier whose bandwidth counts. What moves crosses the channels of its path and
 * shares each of them with all that crosses it: as a task of an engine, which gets these channels first and
 * in this order, or as a flow that lasts (below). */
#pragma once

#include "core/engine/engine.h"
#include "core/engine/flow.h"
#include "machine/profile.h"

/* Tiers: the places that hold KV and weights, nearest to the kernels first.
 *
 *     TIER_GPU    HBM of one GPU               `gpu` in a machine's file
 *     TIER_HOST   the memory of its server     `host`
 *     TIER_DISK   the drives of that server    `disk`
 *     TIER_POOL   memory that servers share    `pool`
 *
 * Those below the host are rows of core/tiers.def; the figures of a tier are curves of a machine
 * (machine/curves.def). What moves between two tiers takes a way (below). */

enum tier_id {
    TIER_GPU,
    TIER_HOST,
#define TIER(ID, ...) TIER_##ID,
#include "core/tiers.def"
    TIER_COUNT
};

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
 *                              └──────── WAY_POOL_OUT ───▶ pool, and WAY_POOL_IN back
 *
 * A way is a row of way_kinds[]. Each carrier has a rate and a fixed time before its first byte,
 * both curves of a machine. A way and its way back together carry no more than `both`. */

enum way_id {
    WAY_IN,
    WAY_OUT,
#define TIER(ID, ...) WAY_##ID##_IN, WAY_##ID##_OUT,
#include "core/tiers.def"
    WAY_COUNT
};

/* Who moves the bytes: an engine, called once by the CPU; kernels, whose SMs wait; or threads of the CPU. */
enum carrier { BY_ENGINE, BY_KERNEL, BY_CPU, CARRIERS };

struct way_kind {
    enum tier_id from, to;
    /* CURVE_COUNT: there is none. */
    struct way_figures {
        enum curve_id rate, start;
    } by[CARRIERS];
    enum way_id back;
    enum curve_id both; /* the rate of this way and its way back together; CURVE_COUNT: no limit */
};
extern const struct way_kind way_kinds[WAY_COUNT];

/* The way from one tier to another; WAY_COUNT: there is none. */
enum way_id way_between(enum tier_id from, enum tier_id to);

bool way_stated(const struct profile *profile, enum way_id id);

/* Bytes a second by a carrier, for `size` (what its curve goes by), alone; and its fixed time in ns. `trust`
 * is lowered to the curve's. The way has this carrier; a rate that the machine does not state is 0. */
double way_rate(const struct profile *profile, enum way_id id, enum carrier by, double size,
                struct trust *trust);
double way_start_ns(const struct profile *profile, enum way_id id, enum carrier by,
                    struct trust *trust);

/* A drive that reads several blocks at a time.
 *
 * A machine's file states two rates for each size of a block: of one read at a time (disk.read_one, the
 * tier's `read_one`), and of many (disk.read, DRIVE_DEPTH of them). The time of a block with `depth` reads in
 * flight lies between: a part that other reads hide, and a part that they do not.
 *
 *     t(depth) = hidden / depth + served,  t(1) from disk.read_one,  t(DRIVE_DEPTH) from disk.read
 */

/* So many reads are enough: more do not make a drive of today faster. */
enum { DRIVE_DEPTH = 32 };

/* Bytes a second from a tier to the host, in reads of `bytes` each, `depth` (1 ... DRIVE_DEPTH) at a time.
 * Without a rate of one read any depth is enough. The machine states the way to the host. */
double drive_read_rate(const struct profile *profile, enum tier_id tier, double bytes,
                       uint32_t depth, struct trust *trust);

enum { PLACES_MOST = 8, PLACES_NONE = -1 };

struct place {
    enum tier_id tier;
    int channel; /* of its bandwidth, or PLACES_NONE */
};

/* What joins two places: bytes a second there, back, and both together (0 or INFINITY: no limit).
 * A direction of 0 does not exist. */
struct place_link {
    double there, back, both;
};

struct places {
    struct place all[PLACES_MOST];
    int way[PLACES_MOST][PLACES_MOST], both[PLACES_MOST][PLACES_MOST]; /* channel + 1; 0: none */
    double rate[ENGINE_MOST_CHANNELS]; /* of the channels, bytes a second */
    int count, channel_count;
};

/* Add a place, to a zeroed struct at first. A `bandwidth` of 0 does not count. Returns its number. */
int places_add(struct places *places, enum tier_id tier, double bandwidth);

/* Add a channel that is no place's and no way's. Returns its number. */
uint32_t places_add_channel(struct places *places, double rate);

void places_join(struct places *places, int from, int to, const struct place_link *link);

/* A way and its way back (0: none) on a machine, for parts of `bytes`, shared equally by `sharers`. */
struct place_link place_link_of(const struct profile *profile, enum way_id there, double bytes,
                                double sharers, struct trust *trust);

/* Add one of the `sharers` GPUs of a server, place 0, and its host, place 1, with the link between them.
 * `bandwidths`: those of both tiers count. `trust` is lowered to that of the machine's figures. */
void places_add_server(struct places *places, const struct profile *profile, double sharers,
                       bool bandwidths, struct trust *trust);

/* The channels of the shortest path between two places (0: no path); `tiers`: with those at its ends. */
struct engine_route places_route(const struct places *places, int from, int to, bool tiers);

/* The shares of channels while a set of flows lasts: max-min fair, as on the engine's channels. */

struct way_shares {
    struct flow_set set;
    uint32_t count;
};

/* Flows over `routes` [count] of the places. On failure there is nothing to release. */
bool way_shares_init(struct way_shares *shares, const struct places *places,
                     const struct engine_route *routes, uint32_t count, struct error *why);
void way_shares_release(struct way_shares *shares); /* a zeroed struct is fine */

/* Set the `rate` of each flow [count], in bytes a second, up to `most` (INFINITY: no limit; 0: no flow). */
void way_shares_find(struct way_shares *shares, const double *most, double *rate);
