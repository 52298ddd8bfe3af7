#include "calibrate/mini/gpu_lru.h"

#include <new>
#include <numeric>
#include <vector>

/* ---- buffers ---- */

enum { TURNS = 2 };

static uint32_t caches_of(const gpu_mini *gpu)
{
    return TURNS * gpu->mini->shape.kv_heads;
}

/* Copy after all work on the stream; the caller may reuse `values` when it returns. */
static bool upload(gpu_memory *memory, const std::vector<uint32_t> &values,
                   const gpu_stream &stream, struct error *why)
{
    return GPU_TRY(cudaMemcpyAsync(memory->data, values.data(), values.size() * sizeof(uint32_t),
                                   cudaMemcpyHostToDevice, stream.at),
                   why) &&
           stream.wait(why);
}

/* The demand of every head in each step, best first, and the number of its cache. */
static bool upload_demands(gpu_mini *gpu, gpu_lru *lru, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    uint32_t heads = shape->layers * shape->kv_heads;
    std::vector<uint32_t> wanted((size_t)shape->steps * heads * gpu->most);
    std::vector<uint32_t> caches((size_t)shape->steps * heads);
    for (size_t i = 0; i < caches.size(); i++) {
        uint32_t step = (uint32_t)(i / heads);
        struct mini_head *head = &gpu->mini->heads[i % heads];
        const struct mini_demand *demand = mini_head_demand(head, step);
        uint32_t turn = mini_head_cache(head, step) == &head->caches[1];
        std::copy(demand->units, demand->units + demand->count, &wanted[i * gpu->most]);
        caches[i] = turn * shape->kv_heads + (uint32_t)(i % shape->kv_heads);
    }
    return lru->wanted.take(wanted.size() * sizeof(uint32_t) + 1, why) &&
           lru->caches.take(caches.size() * sizeof(uint32_t), why) &&
           upload(&lru->wanted, wanted, gpu->main, why) &&
           upload(&lru->caches, caches, gpu->main, why);
}

static bool gpu_lru_create_layer(const gpu_mini *gpu, gpu_lru *lru, uint32_t l, struct error *why)
{
    size_t caches = caches_of(gpu), slots = caches * lru->capacity;
    gpu_lru_layer *layer = &lru->layers[l];
    return layer->slot_of.take(caches * gpu->mini->shape.context * sizeof(uint32_t), why) &&
           layer->token_of.take(slots * sizeof(uint32_t), why) &&
           layer->order.take(slots * sizeof(uint32_t), why) &&
           layer->rows.take(2 * slots * gpu->mini->row_bytes, why);
}

/* ---- empty caches ---- */

static bool empty_layer(gpu_mini *gpu, gpu_lru_layer *layer, const std::vector<uint32_t> &order,
                        struct error *why)
{
    for (gpu_memory *memory : {&layer->slot_of, &layer->token_of, &layer->rows}) {
        if (!GPU_TRY(cudaMemsetAsync(memory->data, 0xff, memory->bytes, gpu->main.at), why)) {
            return false;
        }
    }
    return upload(&layer->order, order, gpu->main, why);
}

static bool empty_all(gpu_mini *gpu, struct error *why)
{
    std::vector<uint32_t> order((size_t)caches_of(gpu) * gpu->lru->capacity);
    for (size_t i = 0; i < order.size(); i++) {
        order[i] = (uint32_t)(i % gpu->lru->capacity);
    }
    bool ok = true;
    for (uint32_t l = 0; ok && l < gpu->mini->shape.layers; l++) {
        ok = empty_layer(gpu, &gpu->lru->layers[l], order, why);
    }
    return ok;
}

static bool gpu_lru_record_step(gpu_mini *gpu, uint32_t step, struct error *why);

bool gpu_lru::create(gpu_mini *gpu, uint32_t slots_each, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    size_t list = shape->kv_heads * sizeof(uint32_t), lists = list * gpu->most + 1;
    std::vector<uint32_t> numbers(caches_of(gpu));
    std::iota(numbers.begin(), numbers.end(), 0);
    capacity = slots_each;
    layers.reset(new (std::nothrow) gpu_lru_layer[shape->layers]);
    bool ok = layers != nullptr;
    for (uint32_t l = 0; ok && l < shape->layers; l++) {
        ok = gpu_lru_create_layer(gpu, this, l, why);
    }
    return ok && upload_demands(gpu, this, why) && warm_wanted.take(lists, why) &&
           warm_counts.take(list, why) && all_caches.take(TURNS * list, why) &&
           slots.take(lists, why) && missed.take(shape->layers * lists, why) &&
           miss_counts.take(shape->layers * list, why) &&
           upload(&all_caches, numbers, gpu->main, why) && empty_all(gpu, why) &&
           graphs.create(gpu, gpu_lru_record_step, why);
}

/* ---- a layer ---- */

struct layer_lists {
    const uint32_t *caches, *wanted, *counts;
};

static bool touch_and_fetch(gpu_mini *gpu, uint32_t l, const layer_lists &lists, struct error *why)
{
    const struct mini *mini = gpu->mini;
    gpu_lru *lru = gpu->lru.get();
    gpu_lru_layer *layer = &lru->layers[l];
    size_t heads = mini->shape.kv_heads;
    char *rows = layer->rows.data, *values = rows + layer->rows.bytes / 2;
    struct kernel_lru kernel = {};
    kernel.pairs = mini->shape.kv_heads;
    kernel.capacity = lru->capacity;
    kernel.tokens = (uint32_t)mini->shape.context;
    kernel.most = gpu->most;
    kernel.caches = lists.caches;
    kernel.wanted = lists.wanted;
    kernel.counts = lists.counts;
    kernel.slot_of = (uint32_t *)layer->slot_of.data;
    kernel.token_of = (uint32_t *)layer->token_of.data;
    kernel.order = (uint32_t *)layer->order.data;
    kernel.slots = (uint32_t *)lru->slots.data;
    kernel.missed = (uint32_t *)lru->missed.data + l * heads * gpu->most;
    kernel.miss_counts = (uint32_t *)lru->miss_counts.data + l * heads;
    return kernel_lru_touch(&kernel, gpu->main.at, why) &&
           kernel_lru_fetch(&kernel, gpu->layers[l].seen,
                            gpu->layers[l].seen + (size_t)mini->row_count * mini->row_bytes, rows,
                            values, (uint32_t)mini->row_bytes, MINIATURE_CTAS, gpu->main.at, why);
}

/* Slots are numbered across all caches of the layer. */
static bool attend_to_slots(gpu_mini *gpu, uint32_t step, uint32_t l, const uint32_t *counts,
                            struct error *why)
{
    const gpu_memory *rows = &gpu->lru->layers[l].rows;
    struct kernel_attention attention = gpu_attention(gpu, step, l);
    attention.kv.keys = rows->data;
    attention.kv.values = rows->data + rows->bytes / 2;
    attention.kv.head_stride = 0;
    attention.lists = (const uint32_t *)gpu->lru->slots.data;
    attention.counts = counts;
    return kernel_attend(&attention, gpu->main.at, why);
}

static bool gpu_lru_run_layer(gpu_mini *gpu, uint32_t step, uint32_t l, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    size_t at = ((size_t)step * shape->layers + l) * shape->kv_heads;
    const layer_lists lists = {(const uint32_t *)gpu->lru->caches.data + at,
                               (const uint32_t *)gpu->lru->wanted.data + at * gpu->most,
                               (const uint32_t *)gpu->wanted.counts.data + at};
    return touch_and_fetch(gpu, l, lists, why) && attend_to_slots(gpu, step, l, lists.counts, why);
}

static bool gpu_lru_record_step(gpu_mini *gpu, uint32_t step, struct error *why)
{
    bool ok = true;
    for (uint32_t l = 0; ok && l < gpu->mini->shape.layers; l++) {
        ok = gpu_lru_run_layer(gpu, step, l, why);
    }
    return ok;
}

bool gpu_lru_run(gpu_mini *gpu, struct play *play, struct error *why)
{
    return gpu_lru_run_layer(gpu, play->step, play->layer, why);
}

bool gpu_lru_run_graph(gpu_mini *gpu, struct play *play, struct error *why)
{
    return play->layer > 0 || gpu->lru->graphs.launch(gpu, play->step, why);
}

/* ---- before a sample ---- */

static bool warm_layer(gpu_mini *gpu, uint32_t l, uint32_t turn, uint32_t step, struct error *why)
{
    gpu_lru *lru = gpu->lru.get();
    uint32_t heads = gpu->mini->shape.kv_heads;
    std::vector<uint32_t> wanted((size_t)heads * gpu->most), counts(heads);
    for (uint32_t h = 0; h < heads; h++) {
        const struct mini_head *head = &mini_heads(gpu->mini, l)[h];
        if (step < mini_head_seen(head, turn)) {
            const struct mini_demand *demand = &head->demands[step];
            std::copy(demand->units, demand->units + demand->count, &wanted[h * gpu->most]);
            counts[h] = demand->count;
        }
    }
    const layer_lists lists = {(const uint32_t *)lru->all_caches.data + turn * heads,
                               (const uint32_t *)lru->warm_wanted.data,
                               (const uint32_t *)lru->warm_counts.data};
    return upload(&lru->warm_wanted, wanted, gpu->main, why) &&
           upload(&lru->warm_counts, counts, gpu->main, why) && touch_and_fetch(gpu, l, lists, why);
}

static bool warm(gpu_mini *gpu, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    bool ok = empty_all(gpu, why);
    for (uint32_t l = 0; ok && l < shape->layers; l++) {
        for (uint32_t step = 0; ok && step < shape->warmup + shape->steps; step++) {
            ok = warm_layer(gpu, l, 0, step, why) && warm_layer(gpu, l, 1, step, why);
        }
    }
    return ok && gpu->main.wait(why);
}

bool gpu_lru_start(gpu_mini *gpu, enum miniature_id, const struct policy_env *env,
                   struct error *why)
{
    if (gpu->lru == nullptr) {
        gpu->lru.reset(new (std::nothrow) gpu_lru);
        if (gpu->lru == nullptr || !gpu->lru->create(gpu, env->capacity, why)) {
            gpu->lru.reset();
            return false;
        }
    }
    return warm(gpu, why);
}

/* ---- comparing with the policy ---- */

static bool missed_alike(const struct mini_head *head, uint32_t step, const uint32_t *missed,
                         uint32_t count)
{
    const struct mini_demand *demand = mini_head_demand(head, step);
    bool alike = count == head->miss_count;
    for (uint32_t i = 0; alike && i < count; i++) {
        alike =
            missed[i] < demand->count && head->first + demand->units[missed[i]] == head->misses[i];
    }
    return alike;
}

bool gpu_lru_compare(gpu_mini *gpu, struct play *play, bool *agrees, struct error *why)
{
    uint32_t heads = gpu->mini->shape.layers * gpu->mini->shape.kv_heads;
    std::vector<uint32_t> missed((size_t)heads * gpu->most), counts(heads);
    bool ok = GPU_TRY(cudaMemcpy(missed.data(), gpu->lru->missed.data,
                                 missed.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost),
                      why) &&
              GPU_TRY(cudaMemcpy(counts.data(), gpu->lru->miss_counts.data,
                                 counts.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost),
                      why);
    for (uint32_t h = 0; ok && h < heads; h++) {
        *agrees = *agrees && missed_alike(&gpu->mini->heads[h], play->step,
                                          &missed[(size_t)h * gpu->most], counts[h]);
    }
    return ok;
}
