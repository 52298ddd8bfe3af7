/* The group host-machine: facts that the system states. Nothing is timed. */
#include "calibrate/host/bench.h"
#include "calibrate/host/groups.h"

bool host_machine_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why)
{
    (void)effort;
    (void)seed;
    struct topology topology;
    if (!topology_init(&topology, "", why)) {
        return false;
    }
    bool ok =
        findings_state(findings, "host.cores", topology.cores,
                       "that this process may use, as Linux states them", why) &&
        findings_state(findings, "host.node_threads", topology_node_end(&topology, 0),
                       "logical CPUs of the first NUMA node that this process may use", why) &&
        findings_state(findings, "host.dram_capacity", (double)topology.memory,
                       "of the machine, or as much as a cgroup leaves this process", why);
    topology_release(&topology);
    return ok;
}
