#include "calibrate/host/topology.h"

#include "core/array.h"
#include "calibrate/host/memory.h"
#include "calibrate/host/system_file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 4096, MOST_NODES = 256, MOST_CACHES = 8 };

/* Larger than the last-level cache of most servers; used if a virtual machine states none. */
#define ASSUMED_CACHE (UINT64_C(256) << 20)

/* Set the flags of a list such as "0-3,8"; numbers from `most` on are ignored. */
static void topology_read_list(const char *at, bool *flags, uint32_t most)
{
    char *end;
    for (;; at = end + 1) {
        uint64_t first = strtoull(at, &end, 10), last = first;
        if (end == at) {
            return;
        }
        if (*end == '-') {
            last = strtoull(end + 1, &end, 10);
        }
        for (uint64_t i = first; i <= last && i < most; i++) {
            flags[i] = true;
        }
        if (*end != ',') {
            return;
        }
    }
}

/* ---- processors ---- */

struct topology_processor {
    uint32_t cpu, node;
    uint64_t package_and_core;
    uint32_t rank; /* among the logical CPUs of its core */
};

static uint32_t find_processors(const char *root, const bool *allowed,
                                struct topology_processor *found)
{
    uint32_t count = 0;
    struct system_text package, core;
    for (uint32_t cpu = 0; cpu < MOST_CPUS; cpu++) {
        if (!allowed[cpu] ||
            !system_read(&core, root, "/sys/devices/system/cpu/cpu%u/topology/core_id", cpu)) {
            continue;
        }
        system_read(&package, root, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
                    cpu);
        struct topology_processor *processor = &found[count++];
        *processor = (struct topology_processor){.cpu = cpu};
        processor->package_and_core =
            system_number(&package, "") << 32 | (system_number(&core, "") & UINT32_MAX);
        for (uint32_t i = 0; i + 1 < count; i++) {
            processor->rank += found[i].package_and_core == processor->package_and_core;
        }
    }
    return count;
}

static void find_nodes(const char *root, struct topology_processor *processors, uint32_t count)
{
    struct system_text text;
    bool on_node[MOST_CPUS];
    for (uint32_t node = 0; node < MOST_NODES; node++) {
        if (system_read(&text, root, "/sys/devices/system/node/node%u/cpulist", node)) {
            memset(on_node, 0, sizeof on_node);
            topology_read_list(text.bytes, on_node, MOST_CPUS);
            for (uint32_t i = 0; i < count; i++) {
                processors[i].node = on_node[processors[i].cpu] ? node : processors[i].node;
            }
        }
    }
}

static int topology_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_processors(const void *left, const void *right)
{
    const struct topology_processor *a = left, *b = right;
    int by_node = topology_compare(a->node, b->node), by_rank = topology_compare(a->rank, b->rank);
    return by_node != 0 ? by_node : by_rank != 0 ? by_rank : topology_compare(a->cpu, b->cpu);
}

/* The number of CPUs that a quota of CPU time allows: "200000 100000" is two, "max 100000" means no
 * quota. */
static uint32_t quota(const char *root, uint32_t count)
{
    struct system_text text;
    if (!system_read(&text, root, "/sys/fs/cgroup/cpu.max")) {
        return count;
    }
    char *period;
    double time = strtod(text.bytes, &period), each = strtod(period, NULL);
    double cpus = time > 0 && each > 0 ? time / each : count;
    return cpus >= count ? count : cpus < 1 ? 1 : (uint32_t)cpus;
}

/* ---- caches ---- */

static uint64_t topology_bytes_of(const char *text)
{
    char *unit;
    uint64_t number = strtoull(text, &unit, 10);
    return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

/* A CPU's part of its last-level cache if all CPUs that share it have equal parts. */
static uint64_t cache_share(const char *root, uint32_t cpu)
{
    struct system_text text;
    uint64_t last = 0, share = 0;
    for (uint32_t index = 0; index < MOST_CACHES; index++) {
        if (!system_read(&text, root, "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu,
                         index) ||
            system_number(&text, "") < last) {
            continue;
        }
        last = system_number(&text, "");
        system_read(&text, root, "/sys/devices/system/cpu/cpu%u/cache/index%u/size", cpu, index);
        uint64_t size = topology_bytes_of(text.bytes), sharers = 0;
        bool shares[MOST_CPUS] = {false};
        system_read(&text, root, "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu,
                    index);
        topology_read_list(text.bytes, shares, MOST_CPUS);
        for (uint32_t i = 0; i < MOST_CPUS; i++) {
            sharers += shares[i];
        }
        share = size / (sharers > 0 ? sharers : 1);
    }
    return share;
}

/* ---- the whole ---- */

static bool put_processors(struct topology *topology, const char *root,
                           const struct topology_processor *processors, uint32_t count,
                           struct error *why)
{
    topology->cpus = array_zeroed(count, sizeof *topology->cpus, why);
    topology->nodes = topology->cpus ? array_zeroed(count, sizeof *topology->nodes, why) : NULL;
    if (topology->nodes == NULL) {
        return false;
    }
    topology->count = quota(root, count);
    for (uint32_t i = 0; i < topology->count; i++) {
        topology->cpus[i] = processors[i].cpu;
        topology->nodes[i] = processors[i].node;
        topology->cores += processors[i].rank == 0;
        topology->cache += cache_share(root, processors[i].cpu);
    }
    topology->cache_stated = topology->cache > 0;
    topology->cache = topology->cache_stated ? topology->cache : ASSUMED_CACHE;
    return true;
}

bool topology_init(struct topology *topology, const char *root, struct error *why)
{
    *topology = (struct topology){.count = 0};
    struct system_text text;
    bool allowed[MOST_CPUS] = {false};
    system_read(&text, root, "/proc/self/status");
    const char *list = strstr(text.bytes, "Cpus_allowed_list:");
    topology_read_list(list == NULL ? "" : list + strlen("Cpus_allowed_list:"), allowed, MOST_CPUS);
    struct topology_processor *processors = array_zeroed(MOST_CPUS, sizeof *processors, why);
    if (processors == NULL) {
        return false;
    }
    uint32_t count = find_processors(root, allowed, processors);
    find_nodes(root, processors, count);
    qsort(processors, count, sizeof *processors, compare_processors);
    struct host_memory memory = {0, 0};
    bool ok = count > 0
                  ? put_processors(topology, root, processors, count, why) &&
                        host_memory_read(root, &memory, why)
                  : error_set(why, NULL, 0, "%s/sys states no processor that may be used", root);
    free(processors);
    topology->memory = memory.all;
    topology->free = memory.free;
    if (!ok) {
        topology_release(topology);
    }
    return ok;
}

void topology_release(struct topology *topology)
{
    free(topology->cpus);
    free(topology->nodes);
    *topology = (struct topology){.count = 0};
}

uint32_t topology_node_end(const struct topology *topology, uint32_t first)
{
    uint32_t end = first;
    while (end < topology->count && topology->nodes[end] == topology->nodes[first]) {
        end++;
    }
    return end;
}

uint32_t topology_thread_counts(uint32_t most, uint32_t *counts)
{
    uint32_t count = 0;
    for (uint32_t threads = 1; threads < most && count < TOPOLOGY_MOST_COUNTS - 1; threads *= 2) {
        counts[count++] = threads;
    }
    counts[count++] = most;
    return count;
}
