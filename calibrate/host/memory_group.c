/* The group host-memory: bandwidth of memory. Streams are read and copied, by the number of
 * threads; and all CPUs of each NUMA node read the memory of each node.
 *
 * A read adds words up. A copy is the C library's for arrays far larger than the caches; bytes read
 * and bytes written both count. host.dram_bandwidth is the highest rate at which any number of
 * threads reads from the first node.
 */
#include "core/array.h"
#include "calibrate/host/bench.h"
#include "calibrate/host/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICES = 4, CACHES = 16, SHARES_PER_THREAD = 4 };

/* One stream over one memory by one pool. */
struct stream {
    struct pool *pool;
    const struct buffer *data;
    size_t *next; /* slice of the data; shared with all streams over it */
    bool copies;
    char figure[64];
};

struct copying {
    char *slice;
    size_t half; /* one half is copied to the other */
    uint32_t shares;
};

static void memory_group_copy_share(uint32_t share, uint32_t thread, void *context)
{
    (void)thread;
    const struct copying *copying = context;
    size_t first = copying->half * share / copying->shares;
    size_t end = copying->half * (share + 1) / copying->shares;
    memcpy(copying->slice + copying->half + first, copying->slice + first, end - first);
}

static bool sample_stream(void *state, double *value, struct error *why)
{
    (void)why;
    const struct stream *stream = state;
    size_t size = stream->data->size / SLICES;
    size_t first = size * ((*stream->next)++ % SLICES);
    struct copying copying = {stream->data->bytes + first, size / 2,
                              pool_threads(stream->pool) * SHARES_PER_THREAD};
    double start = clock_ns();
    if (stream->copies) {
        pool_run(stream->pool, copying.shares, memory_group_copy_share, &copying);
    } else {
        buffer_sum(stream->data, first, size, stream->pool);
    }
    *value = (double)size * 1e9 / (clock_ns() - start);
    return true;
}

static bool add_stream(struct bench *bench, struct stream *stream, double size,
                       struct findings *findings, struct error *why)
{
    return findings_add(findings, stream->figure, size > 0 ? "threads" : "", UNIT_BYTES_PER_S,
                        why) != NULL &&
           bench_add(bench, stream->figure, size, sample_stream, stream, why);
}

/* ---- threads ---- */

struct memory_ground {
    struct bench bench; /* first */
    struct stream streams[2 * TOPOLOGY_MOST_COUNTS];
    size_t next;
};

static void memory_group_destroy_curves(struct bench *bench)
{
    bench_release(bench);
    free(bench);
}

static bool note_streams(const struct bench *bench, bool copies, struct findings *findings,
                         struct error *why)
{
    double mib = (double)(bench->data.size >> 20);
    return bench_note(findings, "host.dram_read", why,
                      "64-bit words added up, a quarter of %.0f MiB at a time in turn", mib) &&
           (!copies ||
            bench_note(findings, "host.dram_copy", why,
                       "the C library's copy within a quarter of %.0f MiB at a time in turn; bytes "
                       "read and bytes written both count",
                       mib));
}

static struct bench *memory_group_create_curves(const struct host_scope *scope,
                                                struct findings *findings, struct error *why)
{
    struct memory_ground *ground = array_zeroed(1, sizeof *ground, why);
    if (ground == NULL) {
        return NULL;
    }
    struct bench *bench = &ground->bench;
    bool copies = !scope->curves_alone;
    bool ok = bench_init(bench, CACHES, scope->seed, why);
    for (uint32_t i = 0; ok && i < bench->sizes << copies; i++) {
        struct stream *stream = &ground->streams[i];
        uint32_t size = i >> copies;
        *stream = (struct stream){bench->pools[size], &bench->data, &ground->next,
                                  copies && i % 2 == 1, ""};
        snprintf(stream->figure, sizeof stream->figure, "host.dram_%s",
                 stream->copies ? "copy" : "read");
        ok = add_stream(bench, stream, bench->threads[size], findings, why);
    }
    ok = ok && note_streams(bench, copies, findings, why);
    if (!ok) {
        memory_group_destroy_curves(bench);
    }
    return ok ? bench : NULL;
}

static bool put_most(struct findings *findings, struct error *why)
{
    const struct finding *read = findings_get(findings, "host.dram_read");
    struct found_point most = read->points[0];
    for (uint32_t i = 1; i < read->count; i++) {
        most = read->points[i].median > most.median ? read->points[i] : most;
    }
    double threads = most.size;
    most.size = 0;
    return bench_put(findings, "host.dram_bandwidth", &most, why) &&
           bench_note(findings, "host.dram_bandwidth", why,
                      "the most that threads read from the first NUMA node: %.0f of them", threads);
}

const struct host_curves host_memory_curves = {memory_group_create_curves, put_most,
                                               memory_group_destroy_curves};

/* ---- nodes ---- */

struct numa_node {
    uint32_t id;
    struct pool *pool; /* all its CPUs */
    struct buffer data;
    size_t next;
};

static void nodes_destroy(struct numa_node *nodes, uint32_t count)
{
    for (uint32_t i = 0; nodes != NULL && i < count; i++) {
        pool_destroy(nodes[i].pool);
        buffer_release(&nodes[i].data);
    }
    free(nodes);
}

static struct numa_node *nodes_create(const struct bench *bench, uint32_t count, uint64_t seed,
                                      struct error *why)
{
    const struct topology *topology = &bench->topology;
    size_t size = bench->data.size / count / BENCH_STEP * BENCH_STEP;
    size = size > 0 ? size : BENCH_STEP;
    struct numa_node *nodes = array_zeroed(count, sizeof *nodes, why);
    uint32_t first = 0;
    for (uint32_t i = 0; nodes != NULL && i < count; i++) {
        uint32_t end = topology_node_end(topology, first);
        nodes[i].id = topology->nodes[first];
        nodes[i].pool = pool_create(end - first, topology->cpus + first, why);
        if (nodes[i].pool == NULL || !buffer_init(&nodes[i].data, size, seed, nodes[i].pool, why)) {
            nodes_destroy(nodes, count);
            return NULL;
        }
        first = end;
    }
    return nodes;
}

static uint32_t count_nodes(const struct topology *topology)
{
    uint32_t count = 0;
    for (uint32_t first = 0; first < topology->count; first = topology_node_end(topology, first)) {
        count++;
    }
    return count;
}

/* Each node reads the memory of each node. */
static bool by_nodes(struct bench *bench, const struct effort *effort, uint64_t seed,
                     struct findings *findings, struct error *why)
{
    uint32_t count = count_nodes(&bench->topology);
    struct numa_node *nodes = nodes_create(bench, count, seed, why);
    struct stream *streams =
        nodes ? array_zeroed((size_t)count * count, sizeof *streams, why) : NULL;
    bool ok = streams != NULL;
    bench->count = 0;
    for (uint32_t i = 0; ok && i < count * count; i++) {
        struct numa_node *reader = &nodes[i / count], *memory = &nodes[i % count];
        streams[i] = (struct stream){reader->pool, &memory->data, &memory->next, false, ""};
        snprintf(streams[i].figure, sizeof streams[i].figure, "host.dram_read.node%u_from_node%u",
                 reader->id, memory->id);
        ok = add_stream(bench, &streams[i], 0, findings, why) &&
             findings_note(findings, streams[i].figure,
                           "all CPUs of a NUMA node read memory of another, or their own", why);
    }
    ok = ok && bench_measure(bench, effort, seed, findings, why);
    free(streams);
    nodes_destroy(nodes, count);
    return ok;
}

/* ---- the group ---- */

bool host_memory_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    struct effort part = *effort;
    part.seconds = effort->seconds / 2;
    struct bench bench = {.sizes = 0};
    bool ok = host_curves_measure(&host_memory_curves, &part, seed, findings, why) &&
              bench_init(&bench, CACHES, seed, why) && by_nodes(&bench, &part, seed, findings, why);
    bench_release(&bench);
    return ok;
}
