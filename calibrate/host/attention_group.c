/* The group host-attention: decode attention over KV in host memory. host.attention is the rate at
 * which groups of 4 query heads attend to the KV of 128-dimensional heads. The tokens are lists of
 * a tenth of a context, in order, from a recording (demand.h).
 *
 * A sample has sixteen heads for each thread, with lists of equal length. The simulator computes
 * the cost of unequal lists itself, from a rate by threads, and the longest list at the rate of one
 * thread. Samples go through the memory head after head. Observations are lists of unequal length,
 * whole contexts, other groups and dimensions, and the rate of one thread on each path.
 */
#include "core/array.h"
#include "core/random.h"
#include "calibrate/host/attention.h"
#include "calibrate/host/bench.h"
#include "calibrate/host/demand.h"
#include "calibrate/host/groups.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CACHES = 16,     /* a quarter of the memory is read: four times the caches */
    CONTEXT = 38400, /* a head attends to half of it, or to more or less in the unequal case */
    LISTS = DEMAND_LAYERS * DEMAND_HEADS, /* heads take them by turns */
    HEADS_PER_THREAD = 16, /* makes the last thread's lag and the hand-off a small part */
    MOST_DIM = 128,
    MOST_QUERIES = 8 * MOST_DIM,
};

struct variant {
    const char *figure, *note;
    struct attention_shape shape;
    bool whole, unequal;
};

static const struct variant variants[] = {
    {"host.attention",
     "groups of 4 over 128-dimensional bf16 heads, a tenth of a recorded context of 19 K tokens",
     .shape = {4, 128}},
    {"host.attention.unequal", "as host.attention, contexts of 0 to 38 K tokens", .shape = {4, 128},
     .unequal = true},
    {"host.attention.whole", "as host.attention, as many tokens in a row", .shape = {4, 128},
     .whole = true},
    {"host.attention.dim_64", "as host.attention, 64-dimensional heads", .shape = {4, 64}},
    {"host.attention.group_1", "as host.attention, one query head a KV head", .shape = {1, 128}},
    {"host.attention.group_8", "as host.attention, groups of 8", .shape = {8, 128}},
};

static const char *const path_figures[ATTENTION_PATHS] = {
    [ATTENTION_PORTABLE] = "host.attention.portable",
    [ATTENTION_AVX2] = "host.attention.avx2",
    [ATTENTION_AVX512] = "host.attention.avx512",
};

enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* The data of all samples. */
struct attention_ground {
    struct bench bench;      /* first */
    uint32_t *lists[LISTS];  /* [2 * tokens] each, owned */
    uint32_t tokens;         /* attended to by a head */
    uint32_t unequal[LISTS]; /* tokens of each head in the unequal case */
    float queries[MOST_QUERIES];
    struct attention_head *heads; /* [HEADS_PER_THREAD * threads] */
    float *out, *lse;             /* [MOST_QUERIES] and [group] of each head */
    size_t next;                  /* token at which the next head begins */
    uint32_t heads_so_far;
    struct attending {
        struct attention_ground *ground;
        const struct variant *variant;
        struct pool *pool; /* NULL: the caller attends, on the path */
        enum attention_path path;
    } samples[VARIANTS * TOPOLOGY_MOST_COUNTS + ATTENTION_PATHS];
};

/* Values begin half of the memory and APART numbers after keys. Half of the memory is a power of
 * two; at that distance a token's key and value would be in one bank of the memory, which takes a
 * fifth longer. Two separate allocations are off a power of two by a page and a little. */
enum { APART = (4096 + 64) / sizeof(uint16_t) };

/* The next head: keys are in the first half of the memory, values in the second. */
static size_t take_head(struct attention_ground *ground, const struct variant *variant,
                        struct attention_head *head, uint32_t index)
{
    const struct buffer *data = &ground->bench.data;
    uint32_t dim = variant->shape.dim, turn = ground->heads_so_far++ % LISTS;
    size_t half = data->size / 2 / sizeof(uint16_t), tokens = (half - APART) / dim;
    uint32_t count = variant->unequal ? ground->unequal[turn] : ground->tokens;
    const uint32_t *list = ground->lists[turn];
    size_t span = variant->whole ? count : count > 0 ? list[count - 1] + 1 : 0;
    if (ground->next + span > tokens) {
        ground->next = 0;
    }
    const uint16_t *keys = (const uint16_t *)data->bytes + ground->next * dim;
    *head = (struct attention_head){
        .keys = keys,
        .values = keys + half + APART,
        .stride = dim,
        .list = variant->whole ? NULL : list,
        .count = count,
        .queries = ground->queries,
        .out = ground->out + (size_t)index * MOST_QUERIES,
        .lse = ground->lse + (size_t)index * ATTENTION_MOST_GROUP,
    };
    ground->next += span;
    return (size_t)count * dim * 2 * sizeof(uint16_t);
}

static bool sample_attention(void *state, double *value, struct error *why)
{
    (void)why;
    const struct attending *attending = state;
    struct attention_ground *ground = attending->ground;
    uint32_t threads = attending->pool != NULL ? pool_threads(attending->pool) : 1;
    uint32_t count = HEADS_PER_THREAD * threads;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += take_head(ground, attending->variant, &ground->heads[i], i);
    }
    double start = clock_ns();
    if (attending->pool != NULL) {
        attention_run(attending->pool, &attending->variant->shape, ground->heads, count);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            attention_attend(attending->path, &attending->variant->shape, &ground->heads[i]);
        }
    }
    *value = (double)bytes * 1e9 / (clock_ns() - start);
    return true;
}

static bool read_lists(struct attention_ground *ground, struct error *why)
{
    struct recording recording;
    bool ok = recording_init(&recording, CONTEXT, why);
    ground->tokens = recording.wanted / 2;
    for (uint32_t i = 0; ok && i < LISTS; i++) {
        ground->lists[i] = array_zeroed(recording.wanted, sizeof *ground->lists[i], why);
        ok = ground->lists[i] != NULL;
        if (ok) {
            recording_list(&recording, i, ground->lists[i]);
        }
    }
    size_t most = ground->bench.data.size / 2 / sizeof(uint16_t) / MOST_DIM;
    ok = ok && (recording.shape.context < most ||
                error_set(why, NULL, 0, "too little memory is free to attend to %llu tokens",
                          (unsigned long long)recording.shape.context));
    recording_release(&recording);
    return ok;
}

static bool attention_group_ground_init(struct attention_ground *ground, uint64_t seed,
                                        struct error *why)
{
    gsl_rng *random = random_stream(seed, "calibrate.attention", 0, why);
    bool ok =
        random != NULL && bench_init(&ground->bench, CACHES, seed, why) && read_lists(ground, why);
    for (uint32_t i = 0; ok && i < LISTS; i++) {
        ground->unequal[i] = (uint32_t)gsl_rng_uniform_int(random, 2 * ground->tokens + 1);
    }
    for (uint32_t i = 0; ok && i < MOST_QUERIES; i++) {
        ground->queries[i] = (float)gsl_rng_uniform(random) * 2 - 1;
    }
    gsl_rng_free(random);
    size_t heads = (size_t)HEADS_PER_THREAD * ground->bench.topology.count;
    return ok && (ground->heads = array_zeroed(heads, sizeof *ground->heads, why)) != NULL &&
           (ground->out = array_zeroed(heads, MOST_QUERIES * sizeof(float), why)) != NULL &&
           (ground->lse = array_zeroed(heads, ATTENTION_MOST_GROUP * sizeof(float), why)) != NULL;
}

static void attention_group_destroy(struct bench *bench)
{
    struct attention_ground *ground = (struct attention_ground *)bench;
    for (uint32_t i = 0; i < LISTS; i++) {
        free(ground->lists[i]);
    }
    free(ground->heads);
    free(ground->out);
    free(ground->lse);
    bench_release(bench);
    free(ground);
}

static bool add_variant(struct attention_ground *ground, const struct variant *variant,
                        struct findings *findings, struct error *why)
{
    struct bench *bench = &ground->bench;
    bool ok = findings_add(findings, variant->figure, "threads", UNIT_BYTES_PER_S, why) != NULL &&
              bench_note(findings, variant->figure, why, "%s; %s", variant->note,
                         attention_path_name(attention_best()));
    for (uint32_t i = 0; ok && i < bench->sizes; i++) {
        struct attending *attending = &ground->samples[bench->count];
        *attending = (struct attending){ground, variant, bench->pools[i], ATTENTION_PORTABLE};
        ok = bench_add(bench, variant->figure, bench->threads[i], sample_attention, attending, why);
    }
    return ok;
}

static bool add_path(struct attention_ground *ground, enum attention_path path,
                     struct findings *findings, struct error *why)
{
    const char *figure = path_figures[path];
    if (findings_add(findings, figure, "", UNIT_BYTES_PER_S, why) == NULL) {
        return false;
    }
    if (!attention_has(path)) {
        return findings_note(findings, figure, "this processor has no such instructions", why);
    }
    struct attending *attending = &ground->samples[ground->bench.count];
    *attending = (struct attending){ground, &variants[0], NULL, path};
    return bench_note(findings, figure, why, "as host.attention, one thread; %s",
                      attention_path_name(path)) &&
           bench_add(&ground->bench, figure, 0, sample_attention, attending, why);
}

static struct bench *attention_group_create(const struct host_scope *scope,
                                            struct findings *findings, struct error *why)
{
    struct attention_ground *ground = array_zeroed(1, sizeof *ground, why);
    bool ok = ground != NULL && attention_group_ground_init(ground, scope->seed, why);
    for (uint32_t i = 0; ok && i < (scope->curves_alone ? 1 : VARIANTS); i++) {
        ok = add_variant(ground, &variants[i], findings, why);
    }
    for (uint32_t i = 0; ok && i < (scope->curves_alone ? 0 : ATTENTION_PATHS); i++) {
        ok = add_path(ground, (enum attention_path)i, findings, why);
    }
    if (!ok && ground != NULL) {
        attention_group_destroy(&ground->bench);
    }
    return ok ? &ground->bench : NULL;
}

const struct host_curves host_attention_curves = {attention_group_create, NULL,
                                                  attention_group_destroy};

bool host_attention_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                        struct error *why)
{
    return host_curves_measure(&host_attention_curves, effort, seed, findings, why);
}
