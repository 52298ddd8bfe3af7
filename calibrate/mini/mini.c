#include "calibrate/mini/mini.h"

#include "core/array.h"
#include "core/random.h"
#include "calibrate/host/topology.h"
#include "decode/replay/replay.h"

#include <gsl/gsl_randist.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ---- */

static size_t layer_bytes(const struct mini *mini)
{
    return 2 * mini->row_bytes * mini->row_count;
}

static bool layers_init(struct mini *mini, struct error *why)
{
    size_t bytes = layer_bytes(mini);
    struct pool *pool = mini->pools[0];
    mini->layers = array_zeroed(mini->shape.layers, sizeof *mini->layers, why);
    bool good = mini->layers != NULL;
    for (uint32_t l = 0; good && l < mini->shape.layers; l++) {
        good = buffer_init(&mini->layers[l].kv, bytes, l + 1, pool, why) &&
               buffer_init(&mini->layers[l].cache, bytes, l + 1, pool, why);
    }
    return good && buffer_init(&mini->staging, bytes, 1, pool, why) &&
           buffer_init(&mini->streamed[0], bytes, 1, pool, why) &&
           buffer_init(&mini->streamed[1], bytes, 1, pool, why);
}

static bool heads_init(struct mini *mini, const struct trace *trace, struct error *why)
{
    uint32_t layers = mini->shape.layers;
    mini->heads = array_zeroed((size_t)layers * mini->shape.kv_heads, sizeof *mini->heads, why);
    bool good = mini->heads != NULL;
    for (uint32_t l = 0; good && l < layers; l++) {
        good = mini_heads_read(&mini->shape, trace, l, mini_heads(mini, l), why);
    }
    return good;
}

/* Keys are between 2^-7 and 2^-3. With queries of this standard deviation, that of scores is about
 * 1, as in trained models, and no token outweighs all others. */
#define QUERY_DEVIATION 16.0

static bool outputs_init(struct mini *mini, struct error *why)
{
    const struct miniature *shape = &mini->shape;
    size_t heads = mini_place(mini, shape->steps, 0);
    size_t numbers = heads * shape->head_dim;
    gsl_rng *random = random_stream(1, "miniature.queries", 0, why);
    bool good =
        random != NULL &&
        (mini->queries = array_zeroed(numbers, sizeof *mini->queries, why)) != NULL &&
        (mini->out = array_zeroed(numbers, sizeof *mini->out, why)) != NULL &&
        (mini->lse = array_zeroed(heads, sizeof *mini->lse, why)) != NULL &&
        (mini->part = array_zeroed((size_t)shape->query_heads * shape->head_dim, sizeof *mini->part,
                                   why)) != NULL &&
        (mini->part_lse = array_zeroed(shape->query_heads, sizeof *mini->part_lse, why)) != NULL &&
        (mini->attended = array_zeroed((size_t)shape->kv_heads * 2, sizeof *mini->attended, why)) !=
            NULL &&
        (mini->rows = array_zeroed((size_t)mini->row_count * 2, sizeof *mini->rows, why)) != NULL;
    for (size_t i = 0; good && i < numbers; i++) {
        mini->queries[i] = (float)gsl_ran_gaussian_ziggurat(random, QUERY_DEVIATION);
    }
    gsl_rng_free(random);
    return good;
}

/* The thread that stands for the GPU runs on the last CPU, which a pool beside it leaves free. The
 * thread that stands for the copy engine runs on the first CPU: no mechanism copies while the pool
 * works. */
static bool pools_init(struct mini *mini, const struct topology *topology, struct error *why)
{
    uint32_t threads = mini->shape.threads;
    const uint32_t *cpus = topology->cpus, *last = cpus + threads - 1;
    return (mini->pools[0] = pool_create(threads, cpus, why)) != NULL &&
           (mini->pools[1] = pool_create(threads > 1 ? threads - 1 : 1, cpus, why)) != NULL &&
           (mini->others = pool_create(threads, cpus, why)) != NULL &&
           (mini->link = pool_create(1, cpus, why)) != NULL &&
           (mini->gpu = pool_create(1, last, why)) != NULL;
}

enum { CACHES = 2 }; /* reads this multiple of the caches' size to flush them */

static bool mini_check_machine(const struct mini *mini, const struct topology *topology,
                               struct error *why)
{
    uint64_t layers = 2 * mini->shape.layers + 3;
    uint64_t needed = layers * layer_bytes(mini) + CACHES * topology->cache;
    if (topology->cores != mini->shape.threads) {
        error_set(why, NULL, 0, "the profile is of a machine with %u cores; this machine has %u",
                  mini->shape.threads, topology->cores);
        return error_expect(why, "a profile of this machine: spillway calibrate --host -o FILE");
    }
    if (needed > topology->free) {
        error_set(why, NULL, 0, "miniatures take %llu MiB of memory, and %llu are free",
                  (unsigned long long)(needed >> 20), (unsigned long long)(topology->free >> 20));
        return error_expect(why, "a smaller --context, or --model");
    }
    return true;
}

static bool mini_machine_init(struct mini *mini, struct error *why)
{
    struct topology topology;
    if (!topology_init(&topology, "", why)) {
        return false;
    }
    bool good = pools_init(mini, &topology, why) &&
                buffer_init(&mini->elsewhere, CACHES * topology.cache, 1, mini->pools[0], why);
    topology_release(&topology);
    return good;
}

enum { MOST_LAYERS = 1024 };

static bool is_share(double share)
{
    return share > 0 && share <= 1;
}

/* Does attention on the CPU support the shape? */
static bool check_heads(const struct miniature *shape, struct error *why)
{
    uint32_t heads = shape->kv_heads, group = heads > 0 ? shape->query_heads / heads : 0;
    bool good = group > 0 && group <= ATTENTION_MOST_GROUP && group * heads == shape->query_heads &&
                shape->head_dim > 0 && shape->head_dim <= ATTENTION_MOST_DIM &&
                shape->head_dim % ATTENTION_DIM_STEP == 0;
    if (!good) {
        error_set(why, NULL, 0, "a miniature with %u heads of %u numbers on %u KV heads",
                  shape->query_heads, shape->head_dim, heads);
        return error_expect(why,
                            "a multiple of %d numbers, at most %d; as many heads, at most %d, on "
                            "each KV head",
                            ATTENTION_DIM_STEP, ATTENTION_MOST_DIM, ATTENTION_MOST_GROUP);
    }
    return true;
}

/* Rows of keys and of values are numbered in 32 bits. */
static bool mini_check_shape(const struct miniature *shape, const struct trace *trace,
                             struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint64_t rows = 2 * (uint64_t)header->units * shape->repeat;
    bool good = shape->layers > 0 && shape->layers <= MOST_LAYERS && shape->repeat > 0 &&
                rows <= UINT32_MAX / shape->kv_heads && is_share(shape->selection) &&
                is_share(shape->capacity) && shape->capacity >= shape->selection &&
                shape->steps > 0 && (uint64_t)shape->warmup + shape->steps <= header->steps &&
                header->unit_kind == TRACE_POSITIONS && header->has_queries;
    uint32_t wanted;
    return (good || error_set(why, trace_path(trace), 0,
                              "no trace for a miniature of %u layers, "
                              "%u + %u steps, %u times its context",
                              shape->layers, shape->warmup, shape->steps, shape->repeat)) &&
           replay_wanted(trace, shape->selection, &wanted, why);
}

static struct mini mini_of(const struct miniature *shape)
{
    return (struct mini){
        .shape = *shape,
        .attention = {shape->query_heads / shape->kv_heads, shape->head_dim},
        .row_bytes = shape->head_dim * sizeof(uint16_t),
        .row_count = (uint32_t)(shape->kv_heads * shape->context),
    };
}

bool mini_can(const struct miniature *shape, const struct trace *trace, struct error *why)
{
    struct topology topology;
    if (!check_heads(shape, why) || !mini_check_shape(shape, trace, why) ||
        !topology_init(&topology, "", why)) {
        return false;
    }
    const struct mini mini = mini_of(shape);
    bool good = mini_check_machine(&mini, &topology, why);
    topology_release(&topology);
    return good;
}

bool mini_init(struct mini *mini, const struct miniature *shape, const struct trace *trace,
               struct error *why)
{
    *mini = (struct mini){.shape = *shape};
    if (!mini_can(shape, trace, why)) {
        return false;
    }
    *mini = mini_of(shape);
    return mini_machine_init(mini, why) && layers_init(mini, why) && heads_init(mini, trace, why) &&
           outputs_init(mini, why) &&
           (shape->site != MINIATURE_GPU || made_init(&mini->made, shape, why));
}

void mini_release(struct mini *mini)
{
    pool_destroy(mini->pools[0]);
    pool_destroy(mini->pools[1]);
    pool_destroy(mini->others);
    pool_destroy(mini->link);
    pool_destroy(mini->gpu);
    for (uint32_t l = 0; mini->layers != NULL && l < mini->shape.layers; l++) {
        buffer_release(&mini->layers[l].kv);
        buffer_release(&mini->layers[l].cache);
    }
    buffer_release(&mini->elsewhere);
    buffer_release(&mini->staging);
    buffer_release(&mini->streamed[0]);
    buffer_release(&mini->streamed[1]);
    for (uint32_t h = 0; mini->heads != NULL && h < mini->shape.layers * mini->shape.kv_heads;
         h++) {
        mini_head_release(&mini->heads[h]);
    }
    made_release(&mini->made);
    free(mini->layers);
    free(mini->heads);
    free(mini->rows);
    free(mini->queries);
    free(mini->out);
    free(mini->lse);
    free(mini->part);
    free(mini->part_lse);
    free(mini->attended);
}

/* ---- before a sample ---- */

struct restore {
    const struct mini *mini;
    const struct mini_layer *layer;
};

static void restore_row(uint32_t row, void *context)
{
    const struct restore *restore = context;
    const struct mini *mini = restore->mini;
    for (int i = 0; i < 2; i++) {
        size_t at = (row + (size_t)i * mini->row_count) * mini->row_bytes;
        memcpy(restore->layer->cache.bytes + at, restore->layer->kv.bytes + at, mini->row_bytes);
    }
}

static void spoil_wanted(const struct mini *mini, const struct mini_layer *layer,
                         const struct mini_head *head)
{
    static const uint16_t nan_bits = 0x7fc0; /* bf16 */
    for (uint32_t step = 0; step < mini->shape.steps; step++) {
        const struct mini_demand *demand = mini_head_demand(head, step);
        for (uint32_t i = 0; i < demand->count; i++) {
            size_t key = demand->ordered[i], value = key + mini->row_count;
            memcpy(layer->cache.bytes + key * mini->row_bytes, &nan_bits, sizeof nan_bits);
            memcpy(layer->cache.bytes + value * mini->row_bytes, &nan_bits, sizeof nan_bits);
        }
    }
}

bool mini_start(struct mini *mini, enum miniature_id id, const struct policy_env *env,
                struct error *why)
{
    const struct policy_kind *kind = policy_find(miniature_kinds[id].policy, NULL, 0, why);
    bool good = kind != NULL;
    for (uint32_t l = 0; good && l < mini->shape.layers; l++) {
        struct restore restore = {mini, &mini->layers[l]};
        for (uint32_t h = 0; good && h < mini->shape.kv_heads; h++) {
            struct mini_head *head = &mini_heads(mini, l)[h];
            good = mini_head_start(head, kind, env, why);
            if (good) {
                spoil_wanted(mini, &mini->layers[l], head);
                mini_head_held(head, restore_row, &restore);
            }
        }
    }
    return good;
}
