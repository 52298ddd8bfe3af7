/* What the machine states of itself: nothing is timed. */
#include "calibrate/host_bench.h"
#include "calibrate/host_groups.h"

static bool put(struct findings *findings, const char *name, uint64_t value, struct error *why)
{
    double figure = (double)value;
    const struct found_point point = {
        .median = figure, .p10 = figure, .p90 = figure, .samples = 1, .precise = true, .drift = 1};
    return bench_put(findings, name, &point, why);
}

bool host_machine_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why)
{
    (void)effort;
    (void)seed;
    struct topology topology;
    if (!topology_init(&topology, "", why)) {
        return false;
    }
    bool ok = put(findings, "host.cores", topology.cores, why) &&
              put(findings, "host.node_threads", topology_node_end(&topology, 0), why) &&
              put(findings, "host.dram_capacity", topology.memory, why) &&
              findings_note(findings, "host.cores",
                            "that this process may use, as Linux states them", why) &&
              findings_note(findings, "host.node_threads",
                            "logical CPUs of the first NUMA node that this process may use", why) &&
              findings_note(findings, "host.dram_capacity",
                            "of the machine, or as much as a cgroup leaves this process", why);
    topology_release(&topology);
    return ok;
}
