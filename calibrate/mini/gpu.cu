#include "calibrate/mini/gpu.h"

#include "calibrate/device/facts.h"
#include "calibrate/mini/gpu_activations.h"
#include "calibrate/mini/gpu_lru.h"
#include "calibrate/mini/gpu_qsac.h"

#include <math.h>
#include <string.h>

#include <new>
#include <vector>

gpu_event::~gpu_event()
{
    if (at != nullptr) {
        cudaEventDestroy(at);
    }
}

bool gpu_event::create(struct error *why)
{
    return GPU_TRY(cudaEventCreateWithFlags(&at, cudaEventDisableTiming), why);
}

gpu_mini::gpu_mini() = default;

gpu_mini::~gpu_mini()
{
    cudaDeviceSynchronize();
    for (uint32_t i = 0; layers != nullptr && i < mini->shape.layers; i++) {
        if (layers[i].pinned) {
            cudaHostUnregister(mini->layers[i].kv.bytes);
        }
        buffer_release(&layers[i].pageable);
    }
}

/* ---- buffers ---- */

bool gpu_copy_in(char *to, const void *from, size_t bytes, struct error *why)
{
    return GPU_TRY(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), why);
}

bool gpu_take_copy(gpu_memory *memory, const void *from, size_t bytes, struct error *why)
{
    return memory->take(bytes > 0 ? bytes : 1, why) && gpu_copy_in(memory->data, from, bytes, why);
}

static bool mini_gpu_create_layer(gpu_mini *gpu, uint32_t l, struct error *why)
{
    struct buffer *kv = &gpu->mini->layers[l].kv;
    gpu_layer *layer = &gpu->layers[l];
    void *seen = nullptr;
    if (!GPU_TRY(cudaHostRegister(kv->bytes, kv->size, cudaHostRegisterMapped), why)) {
        return false;
    }
    layer->pinned = true;
    if (!GPU_TRY(cudaHostGetDevicePointer(&seen, kv->bytes, 0), why) ||
        !buffer_init(&layer->pageable, kv->size, 1, gpu->mini->pools[0], why)) {
        return false;
    }
    layer->seen = (const char *)seen;
    memcpy(layer->pageable.bytes, kv->bytes, kv->size);
    return gpu_take_copy(&layer->kv, kv->bytes, kv->size, why) && layer->cache.take(kv->size, why);
}

/* Queries in bf16, for the kernels and for the reference. */
static bool mini_gpu_create_queries(gpu_mini *gpu, struct error *why)
{
    struct mini *mini = gpu->mini;
    size_t rows = mini_place(mini, mini->shape.steps, 0), numbers = rows * mini->shape.head_dim;
    std::vector<uint16_t> queries(numbers);
    for (size_t i = 0; i < numbers; i++) {
        queries[i] = bf16_of(mini->queries[i]);
        mini->queries[i] = bf16_value(queries[i]);
    }
    return gpu_take_copy(&gpu->queries, queries.data(), numbers * sizeof queries[0], why) &&
           gpu->out.take(numbers * sizeof(float), why) && gpu->lse.take(rows * sizeof(float), why);
}

/* Fill lists with the wanted tokens of all heads, or with those that `take` selects, as token
 * numbers within a head. */
template <typename Take>
static bool fill_lists(gpu_mini *gpu, gpu_lists *lists, struct error *why, Take take)
{
    const struct mini *mini = gpu->mini;
    const struct miniature *shape = &mini->shape;
    size_t heads = (size_t)shape->steps * shape->layers * shape->kv_heads, at = 0;
    std::vector<uint32_t> tokens(heads * gpu->most), counts(heads);
    for (uint32_t step = 0; step < shape->steps; step++) {
        for (uint32_t head = 0; head < shape->layers * shape->kv_heads; head++, at++) {
            const uint32_t *rows;
            counts[at] = take(&mini->heads[head], step, &rows);
            for (uint32_t i = 0; i < counts[at]; i++) {
                tokens[at * gpu->most + i] = rows[i] - mini->heads[head].first;
            }
        }
    }
    return gpu_copy_in(lists->tokens.data, tokens.data(), tokens.size() * sizeof(uint32_t), why) &&
           gpu_copy_in(lists->counts.data, counts.data(), counts.size() * sizeof(uint32_t), why);
}

static uint32_t take_wanted(struct mini_head *head, uint32_t step, const uint32_t **rows)
{
    const struct mini_demand *demand = mini_head_demand(head, step);
    *rows = demand->ordered;
    return demand->count;
}

static uint32_t take_hits(struct mini_head *head, uint32_t step, const uint32_t **rows)
{
    mini_head_tell_apart(head, step);
    *rows = head->hits;
    return head->hit_count;
}

bool gpu_list_hits(gpu_mini *gpu, struct error *why)
{
    return fill_lists(gpu, &gpu->hits, why, take_hits);
}

/* The most tokens of any demand, warm-up included. */
static uint32_t mini_gpu_most_tokens(const struct mini *mini)
{
    const struct miniature *shape = &mini->shape;
    uint32_t most = 0;
    for (uint32_t h = 0; h < shape->layers * shape->kv_heads; h++) {
        const struct mini_demand *demands = mini->heads[h].demands;
        for (uint32_t step = 0; step < shape->warmup + shape->steps; step++) {
            most = demands[step].count > most ? demands[step].count : most;
        }
    }
    return most;
}

static bool create_lists(gpu_mini *gpu, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    size_t heads = (size_t)shape->steps * shape->layers * shape->kv_heads;
    gpu->most = mini_gpu_most_tokens(gpu->mini);
    for (gpu_lists *lists : {&gpu->wanted, &gpu->hits}) {
        if (!lists->tokens.take((heads * gpu->most + 1) * sizeof(uint32_t), why) ||
            !lists->counts.take(heads * sizeof(uint32_t), why)) {
            return false;
        }
    }
    return fill_lists(gpu, &gpu->wanted, why, take_wanted);
}

/* ---- attention ---- */

static struct kernel_attention attention_of(const gpu_mini *gpu, bool whole)
{
    const struct miniature *shape = &gpu->mini->shape;
    struct kernel_attention attention = {};
    attention.kv.type = KV_BF16;
    attention.kv.dim = shape->head_dim;
    attention.kv.token_stride = shape->head_dim;
    attention.kv.head_stride = shape->context * shape->head_dim;
    attention.kv.sequence_stride = attention.kv.head_stride * shape->kv_heads;
    attention.batch = 1;
    attention.kv_heads = shape->kv_heads;
    attention.group = shape->query_heads / shape->kv_heads;
    attention.most = whole ? (uint32_t)shape->context : gpu->most;
    attention.scale = 1 / sqrtf((float)shape->head_dim);
    attention.splits = whole ? gpu->splits_whole : gpu->splits_wanted;
    return attention;
}

static bool create_attention(gpu_mini *gpu, struct error *why)
{
    uint32_t *splits[] = {&gpu->splits_wanted, &gpu->splits_whole};
    size_t bytes = 1;
    for (int whole = 0; whole < 2; whole++) {
        struct kernel_attention attention = attention_of(gpu, whole == 1);
        if (!kernel_attention_splits(&attention, splits[whole], why)) {
            return false;
        }
        attention.splits = *splits[whole];
        size_t needed = kernel_attention_scratch(&attention);
        bytes = needed > bytes ? needed : bytes;
    }
    return gpu->scratch.take(bytes, why);
}

static struct kernel_attention attention_at(const gpu_mini *gpu, uint32_t step, uint32_t layer,
                                            bool whole)
{
    uint32_t dim = gpu->mini->shape.head_dim;
    size_t place = mini_place(gpu->mini, step, layer);
    struct kernel_attention attention = attention_of(gpu, whole);
    attention.queries = (const uint16_t *)gpu->queries.data + place * dim;
    attention.parts = (float *)gpu->scratch.data;
    attention.out = (float *)gpu->out.data + place * dim;
    attention.lse = (float *)gpu->lse.data + place;
    return attention;
}

struct kernel_attention gpu_attention(const gpu_mini *gpu, uint32_t step, uint32_t layer)
{
    return attention_at(gpu, step, layer, false);
}

struct kernel_attention gpu_attention_whole(const gpu_mini *gpu, uint32_t step, uint32_t layer)
{
    return attention_at(gpu, step, layer, true);
}

bool gpu_attend(const gpu_mini *gpu, uint32_t step, uint32_t layer, const char *rows,
                const gpu_lists *lists, bool part, struct error *why)
{
    const struct mini *mini = gpu->mini;
    size_t head = ((size_t)step * mini->shape.layers + layer) * mini->shape.kv_heads;
    struct kernel_attention attention = attention_at(gpu, step, layer, lists == nullptr);
    attention.kv.keys = rows;
    attention.kv.values = rows + (size_t)mini->row_count * mini->row_bytes;
    if (lists != nullptr) {
        attention.lists = (const uint32_t *)lists->tokens.data + head * gpu->most;
        attention.counts = (const uint32_t *)lists->counts.data + head;
    }
    if (part) {
        attention.out = (float *)gpu->part_out.data;
        attention.lse = (float *)gpu->part_lse.data;
    }
    return kernel_attend(&attention, gpu->main.at, why);
}

/* ---- graphs ---- */

bool gpu_graphs::create(gpu_mini *gpu, bool (*record)(gpu_mini *, uint32_t, struct error *),
                        struct error *why)
{
    uint32_t count = gpu->mini->shape.steps;
    steps.reset(new gpu_graph[count]);
    bool ok = record(gpu, 0, why) && gpu->main.wait(why);
    for (uint32_t step = 0; ok && step < count; step++) {
        ok = steps[step].record(
            &gpu->main, [&] { return record(gpu, step, why); }, why);
    }
    return ok;
}

bool gpu_graphs::launch(const gpu_mini *gpu, uint32_t step, struct error *why) const
{
    return steps[step].launch(&gpu->main, why);
}

static bool mini_gpu_record_step(gpu_mini *gpu, uint32_t step, struct error *why)
{
    bool ok = true;
    for (uint32_t layer = 0; ok && layer < gpu->mini->shape.layers; layer++) {
        ok = gpu_attend(gpu, step, layer, gpu->layers[layer].kv.data, nullptr, false, why);
    }
    return ok;
}

bool gpu_mini::create(struct mini *of, struct error *why)
{
    const struct miniature *shape = &of->shape;
    size_t row_numbers = 2 * (size_t)of->row_count * sizeof(uint32_t);
    size_t heads = shape->query_heads, numbers = heads * shape->head_dim;
    mini = of;
    layer_bytes = of->layers[0].kv.size;
    layers.reset(new (std::nothrow) gpu_layer[shape->layers]);
    bool ok = layers != nullptr && main.create(why) && copies.create(why) && cold.create(why);
    for (uint32_t l = 0; ok && l < shape->layers; l++) {
        ok = mini_gpu_create_layer(this, l, why);
    }
    for (int i = 0; ok && i < 2; i++) {
        ok = streamed[i].take(layer_bytes, why) && copied[i].create(why) && attended[i].create(why);
    }
    return ok && staging.take(row_numbers + layer_bytes, 1, why) &&
           staged.take(row_numbers + layer_bytes, why) &&
           answers.take((numbers + heads) * sizeof(float), 1, why) &&
           part_out.take(2 * numbers * sizeof(float), why) &&
           part_lse.take(2 * heads * sizeof(float), why) && mini_gpu_create_queries(this, why) &&
           create_lists(this, why) && create_attention(this, why) &&
           GPU_TRY(cudaDeviceSynchronize(), why) &&
           graphs.create(this, mini_gpu_record_step, why) && qsac_create(this, why);
}

/* ---- the runtime ---- */

static void *mini_gpu_create(struct mini *mini, struct error *why)
{
    gpu_mini *gpu = new (std::nothrow) gpu_mini;
    if (gpu == nullptr) {
        error_set(why, NULL, 0, "no memory for a miniature on a GPU");
        return nullptr;
    }
    if (!gpu->create(mini, why)) {
        delete gpu;
        return nullptr;
    }
    return gpu;
}

static void mini_gpu_destroy(void *runtime)
{
    delete (gpu_mini *)runtime;
}

static bool can(const void *runtime, enum miniature_id id, struct error *why)
{
    const struct gpu_program *program = gpu_program_of(id);
    return program->can == nullptr || program->can((const gpu_mini *)runtime, id, why);
}

/* Start the host's caches, and copy their state to the GPU. */
static bool mini_gpu_start(void *runtime, enum miniature_id id, const struct policy_env *env,
                           struct error *why)
{
    gpu_mini *gpu = (gpu_mini *)runtime;
    const struct gpu_program *program = gpu_program_of(id);
    bool ok = mini_start(gpu->mini, id, env, why);
    for (uint32_t l = 0; ok && l < gpu->mini->shape.layers; l++) {
        ok = gpu_copy_in(gpu->layers[l].cache.data, gpu->mini->layers[l].cache.bytes,
                         gpu->layer_bytes, why);
    }
    return ok && (program->start == nullptr || program->start(gpu, id, env, why)) &&
           GPU_TRY(cudaDeviceSynchronize(), why);
}

/* Outputs become NaN first, so that none of an earlier sample remains. */
static bool mini_gpu_play(void *runtime, enum miniature_id id, double *ns,
                          struct mini_counts *counts, struct error *why)
{
    gpu_mini *gpu = (gpu_mini *)runtime;
    struct mini *mini = gpu->mini;
    return GPU_TRY(cudaMemsetAsync(gpu->out.data, 0xff, gpu->out.bytes, gpu->main.at), why) &&
           gpu->main.wait(why) && gpu_play(gpu, id, ns, counts, why) &&
           GPU_TRY(cudaMemcpy(mini->out, gpu->out.data, gpu->out.bytes, cudaMemcpyDeviceToHost),
                   why);
}

/* CPU time of a launch, from a step of full attention. */
static bool mini_gpu_sample_launch(void *runtime, double *value, struct error *why)
{
    gpu_mini *gpu = (gpu_mini *)runtime;
    uint32_t kernels = gpu->mini->shape.layers * (gpu->splits_whole > 1 ? 2 : 1);
    double begin = clock_ns();
    bool ok = mini_gpu_record_step(gpu, 0, why);
    *value = (clock_ns() - begin) / kernels;
    return ok && gpu->main.wait(why);
}

static const struct mini_stand_in stand_ins[] = {{"launch", UNIT_NS, mini_gpu_sample_launch}};

static const struct mini_runtime runtime = {mini_gpu_create,
                                            mini_gpu_destroy,
                                            can,
                                            mini_gpu_start,
                                            mini_gpu_play,
                                            stand_ins,
                                            sizeof stand_ins / sizeof *stand_ins};

extern "C" const struct mini_runtime *mini_gpu_runtime(struct error *why)
{
    if (!gpu_find(why)) {
        error_expect(why, "an NVIDIA GPU, its driver, and permission to use both; or --host, which "
                          "runs what needs no GPU");
        return nullptr;
    }
    return &runtime;
}
