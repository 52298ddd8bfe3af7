/* Speed of answering again: a replay of a generated trace, and the same one read back from the disk
 * cache. Both on one core. */
#include "bench.h"
#include "decode/replay/replay_kept.h"
#include "unit/fixture/make_profile.h"

#include <math.h>

enum { ROUNDS = 3, LAYERS = 4, HEADS = 8, STEPS = 64, BATCH = 4 };

static struct trace_profile_head source[LAYERS * HEADS];
static struct replay_head heads[LAYERS * HEADS];

static struct replay_plan make_plan(uint32_t context, const struct policy_kind *policy)
{
    return (struct replay_plan){
        .layers = LAYERS,
        .kv_heads = HEADS,
        .batch = BATCH,
        .context = context,
        .heads = heads,
        .policy = policy,
        .selection = 0.1,
        .capacity = 0.3,
        .sinks = 4,
        .recent = 64,
        .manager_unit = 16,
        .warmup = STEPS / 2,
        .steps = STEPS / 2,
    };
}

static double replay(const struct trace *trace, const struct replay_plan *plan,
                     struct disk_cache *cache)
{
    const struct replay_means means = {.threads = 1, .cache = cache};
    struct ledger ledger;
    struct error why;
    ledger_init(&ledger);
    double start = seconds();
    if (!replay_run_kept(trace, plan, 1, &means, &ledger, &why)) {
        die(&why);
    }
    double took = seconds() - start;
    ledger_release(&ledger);
    return took;
}

static void run(uint32_t context, struct disk_cache *cache)
{
    struct error why;
    struct trace_profile profile = make_profile(source, LAYERS, HEADS);
    struct trace_geometry geometry = make_geometry(LAYERS, HEADS, context, STEPS);
    struct trace *trace = make_generated(&profile, &geometry);
    const struct policy_kind *policy = policy_find("lru", NULL, 0, &why);
    struct replay_plan plan = make_plan(context, policy);
    double fresh = INFINITY, kept = INFINITY;
    char name[40];
    replay(trace, &plan, cache); /* keeps it */
    for (int round = 0; round < ROUNDS; round++) {
        fresh = fmin(fresh, replay(trace, &plan, NULL));
        kept = fmin(kept, replay(trace, &plan, cache));
    }
    double accesses = (double)LAYERS * HEADS * STEPS * (context / 10);
    snprintf(name, sizeof name, "replay at %u", context);
    print_row(name, accesses, "accesses", fresh, NULL, 0);
    snprintf(name, sizeof name, "kept replay at %u", context);
    print_row(name, accesses, "accesses", kept, "a fresh one", fresh);
    trace_close(trace);
}

int main(void)
{
    static const uint32_t contexts[] = {4096, 32768, 131072};
    char folder[] = "/tmp/bench_kept.XXXXXX", command[64];
    for (int i = 0; i < LAYERS * HEADS; i++) {
        source[i] = make_plain_head();
        heads[i] = (struct replay_head){.offloaded = true};
    }
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    struct disk_cache *cache = disk_cache_open(folder, 1 << 28);
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        run(contexts[i], cache);
    }
    disk_cache_close(cache);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
