/* The table of the groups that measure the host. */
#include "calibrate/host/groups.h"

#include <stddef.h>

/* By what the answers hang on, in case that time runs out. */
const struct group host_groups[] = {
    {"host-machine", "cores, NUMA nodes and memory, as the system states them", 0,
     host_machine_run},
    {"host-gather", "scattered rows into one buffer, by threads, size and passes", 0.22,
     host_gather_run},
    {"host-policy", "lookups and updates of each cache policy, by threads", 0.30, host_policy_run},
    {"host-handoff", "waking the threads of a pool for jobs", 0.15, host_handoff_run},
    {"host-memory", "bandwidth of memory by threads and NUMA node", 0.12, host_memory_run},
    {"host-attention", "decode attention over KV in host memory, by threads", 0.18,
     host_attention_run},
    {"host-kmeans", "training of codes over keys, by threads", 0.03, host_kmeans_run},
    {.name = NULL},
};

bool host_curves_measure(const struct host_curves *curves, const struct effort *effort,
                         uint64_t seed, struct findings *findings, struct error *why)
{
    const struct host_scope scope = {.seed = seed};
    struct bench *bench = curves->create(&scope, findings, why);
    bool ok = bench != NULL && bench_measure(bench, effort, seed, findings, why) &&
              (curves->finish == NULL || curves->finish(findings, why));
    if (bench != NULL) {
        curves->destroy(bench);
    }
    return ok;
}
