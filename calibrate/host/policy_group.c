/* The group host-policy: CPU time of managing a cache.
 *
 * host.lru_lookup and host.lru_update are the times of LRU in the threads of a pool, on the demands
 * of a recording, by the units that a head wants at a time (manager.c). `validate` runs this LRU.
 *
 * Observations compare the policies and show how they scale: each policy over 8192 units, the
 * clusters of 16 tokens in a context of 128K, with random demands, by threads and by the share of
 * hits (policy_herd.h). Policies are left out if their units do not come and go one by one, or if
 * they need queries or the future.
 */
#include "core/array.h"
#include "calibrate/host/groups.h"
#include "calibrate/host/policy_herd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNITS = 8192,
    CHILL_CACHES = 2, /* reads this multiple of the caches' size to flush them */
};

#define HITS 0.9 /* about the published hit ratio of systems whose caches the CPU manages */

static const double hit_shares[] = {0, 0.5, HITS, 1};
enum { HIT_SHARES = sizeof hit_shares / sizeof hit_shares[0] };

/* ---- the figures of a policy ---- */

struct figures {
    char lookup[64], update[64], by_hits[64];
    struct herd herd;
    struct herd_turn turns[2 * TOPOLOGY_MOST_COUNTS + HIT_SHARES];
};

static bool name_figures(struct figures *figures, const struct policy_kind *kind,
                         struct findings *findings, struct error *why)
{
    char *const names[] = {figures->lookup, figures->update, figures->by_hits};
    static const char *const ends[] = {"lookup", "update", "update_by_hits"};
    static const char *const axes[] = {"threads", "threads", "hits"};
    static const char *const notes[] = {"a unit looked up",
                                        "a unit touched or admitted, 90 % of them hits",
                                        "a unit touched or admitted, one thread, by share of hits"};
    const struct herd *herd = &figures->herd;
    bool ok = true;
    for (uint32_t i = 0; ok && i < 3; i++) {
        snprintf(names[i], sizeof figures->lookup, "policy.%s.%s", kind->name, ends[i]);
        ok = findings_add(findings, names[i], axes[i], UNIT_NS, why) != NULL &&
             bench_note(findings, names[i], why, "%s; cold caches of %u of %u units, %u wanted",
                        notes[i], herd->capacity, herd->units, herd->wanted);
    }
    return ok;
}

static bool add_turn(struct figures *figures, const char *figure, double size, uint32_t pool,
                     bool looks_up, double hits, struct error *why)
{
    struct bench *bench = figures->herd.bench;
    struct herd_turn *turn = &figures->turns[bench->count];
    *turn = (struct herd_turn){&figures->herd, bench->pools[pool], looks_up, hits};
    return bench_add(bench, figure, size, herd_sample, turn, why);
}

static bool add_turns(struct figures *figures, struct error *why)
{
    const struct bench *bench = figures->herd.bench;
    bool ok = true;
    for (uint32_t i = 0; ok && i < bench->sizes; i++) {
        ok = add_turn(figures, figures->lookup, bench->threads[i], i, true, HITS, why) &&
             add_turn(figures, figures->update, bench->threads[i], i, false, HITS, why);
    }
    for (uint32_t i = 0; ok && i < HIT_SHARES; i++) {
        ok = add_turn(figures, figures->by_hits, hit_shares[i], 0, false, hit_shares[i], why);
    }
    return ok;
}

static bool measure_policy(const struct policy_kind *kind, struct bench *bench,
                           const struct effort *effort, uint64_t seed, struct findings *findings,
                           struct error *why)
{
    struct figures *figures = array_zeroed(1, sizeof *figures, why);
    bench->count = 0;
    bool ok = figures != NULL &&
              herd_init(&figures->herd, kind, UNITS, bench->topology.count, bench, seed, why) &&
              name_figures(figures, kind, findings, why) && add_turns(figures, why) &&
              bench_measure(bench, effort, seed, findings, why);
    if (figures != NULL) {
        herd_release(&figures->herd);
        free(figures);
    }
    return ok;
}

/* ---- the group ---- */

static bool has_units(const struct policy_kind *kind)
{
    return kind->holds != NULL && !kind->by_position && !kind->needs_queries;
}

bool host_policy_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    uint32_t shares = 1; /* of the time: one for the curves */
    for (uint32_t i = 0; policies[i] != NULL; i++) {
        shares += has_units(policies[i]);
    }
    struct effort each = *effort;
    each.seconds = effort->seconds / shares;
    struct bench bench;
    if (!host_curves_measure(&host_manager_curves, &each, seed, findings, why) ||
        !bench_init(&bench, CHILL_CACHES, seed, why)) {
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && policies[i] != NULL; i++) {
        ok = !has_units(policies[i]) ||
             measure_policy(policies[i], &bench, &each, seed, findings, why);
    }
    bench_release(&bench);
    return ok;
}
