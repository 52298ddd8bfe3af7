#include "calibrate/mini_gpu_qsac.h"

extern "C" {
#include "calibrate/host_gather.h"
#include "calibrate/small_floats.h"
#include "calibrate/store_rows.h"
#include "policy/qsac.h"
}

#include <string.h>

#include <new>
#include <vector>

/* Words that both sides poll, a cache line apart: the number of the layer, counted over all steps
 * from 1, that was last asked for, and that was last answered. */
enum { ASKED = 0, ANSWERED = 32, GIVEN_UP = 64, WORDS = 96 };
#define ALL_ANSWERED UINT32_MAX

/* ---- places ---- */

static uint32_t *host_word(const gpu_qsac *qsac, int word)
{
    return (uint32_t *)qsac->words.data + word;
}

static uint32_t *seen_word(const gpu_qsac *qsac, int word)
{
    return (uint32_t *)qsac->words.seen + word;
}

static uint32_t slot_of(const gpu_mini *gpu, uint32_t step, uint32_t layer)
{
    return step * gpu->mini->shape.layers + layer;
}

static char *slots_of(const gpu_qsac *qsac, bool stores)
{
    return stores ? qsac->stored->seen : qsac->copied.data;
}

static size_t layer_bytes(const gpu_mini *gpu)
{
    return gpu->mini->shape.kv_heads * 2 * gpu->qsac->half_bytes;
}

/* What was asked for: counts, then tokens. */
static size_t asked_words(const gpu_mini *gpu)
{
    return (size_t)gpu->mini->shape.kv_heads * (1 + gpu->most);
}

static size_t label_values(const gpu_mini *gpu)
{
    return (size_t)gpu->mini->shape.kv_heads * gpu->qsac->group * gpu->qsac->dim;
}

/* ---- kernels ---- */

/* Compare a layer's queries with its labels, and ask for what is not reused. */
static bool put_ask(gpu_mini *gpu, uint32_t step, uint32_t layer, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t slot = slot_of(gpu, step, layer), heads = gpu->mini->shape.kv_heads;
    uint32_t *asked = (uint32_t *)qsac->asked.seen + slot % 2 * asked_words(gpu);
    struct kernel_sets sets = {};
    sets.reuse = (const uint32_t *)qsac->reuse.data;
    sets.wanted = (const uint32_t *)gpu->wanted.tokens.data + (size_t)slot * heads * gpu->most;
    sets.wanted_counts = (const uint32_t *)gpu->wanted.counts.data + (size_t)slot * heads;
    sets.most = gpu->most;
    sets.counts = (uint32_t *)qsac->counts.data + (size_t)layer * heads;
    sets.asked_counts = asked;
    sets.asked = asked + heads;
    sets.asking = (uint32_t *)qsac->asking.data;
    sets.flag = seen_word(qsac, ASKED);
    sets.value = slot + 1;
    return kernel_compare_labels((const uint16_t *)qsac->queries.data + slot * label_values(gpu),
                                 (uint16_t *)qsac->labels.data + layer * label_values(gpu),
                                 (const float *)qsac->weights.data,
                                 (const float *)qsac->thresholds.data, heads, qsac->group,
                                 qsac->dim, (float *)qsac->similarity.data,
                                 (uint32_t *)qsac->reuse.data, gpu->main.at, why) &&
           kernel_ask_sets(&sets, heads, gpu->main.at, why);
}

/* Over the slots that are filled. */
static bool put_attention(gpu_mini *gpu, bool stores, uint32_t step, uint32_t layer,
                          struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    const struct miniature *shape = &gpu->mini->shape;
    struct kernel_attention attention = gpu_attention(gpu, step, layer);
    const char *keys = slots_of(qsac, stores) + layer * layer_bytes(gpu);
    attention.kv.keys = keys;
    attention.kv.values = keys + qsac->half_bytes;
    attention.kv.head_stride = 2 * (uint64_t)qsac->most * shape->head_dim;
    attention.kv.sequence_stride = attention.kv.head_stride * shape->kv_heads;
    attention.counts = (const uint32_t *)qsac->counts.data + (size_t)layer * shape->kv_heads;
    attention.most = qsac->most;
    return kernel_attend(&attention, gpu->main.at, why);
}

/* What a layer launches whose fetch is waited for by a kernel. */
static bool put_polled(gpu_mini *gpu, bool stores, uint32_t step, uint32_t layer, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    return (layer > 0 || put_ask(gpu, step, 0, why)) &&
           (layer + 1 == gpu->mini->shape.layers || put_ask(gpu, step, layer + 1, why)) &&
           kernel_await_flag(seen_word(qsac, ANSWERED), slot_of(gpu, step, layer) + 1,
                             GPU_DEADLINE_NS, seen_word(qsac, GIVEN_UP), gpu->main.at, why) &&
           put_attention(gpu, stores, step, layer, why);
}

static bool put_step(gpu_mini *gpu, bool stores, uint32_t step, struct error *why)
{
    bool ok = true;
    for (uint32_t layer = 0; ok && layer < gpu->mini->shape.layers; layer++) {
        ok = put_polled(gpu, stores, step, layer, why);
    }
    return ok;
}

static bool put_copied_step(gpu_mini *gpu, uint32_t step, struct error *why)
{
    return put_step(gpu, false, step, why);
}

static bool put_stored_step(gpu_mini *gpu, uint32_t step, struct error *why)
{
    return put_step(gpu, true, step, why);
}

/* ---- the CPU's part ---- */

static void say(const gpu_qsac *qsac, int word, uint32_t value)
{
    __atomic_store_n(host_word(qsac, word), value, __ATOMIC_RELEASE);
}

static bool check_patience(const gpu_qsac *qsac, double since, struct error *why)
{
    if (__atomic_load_n(host_word(qsac, GIVEN_UP), __ATOMIC_RELAXED) != 0) {
        return error_set(why, NULL, 0, "a polling kernel saw no answer for %.0f s",
                         (double)GPU_DEADLINE_NS / 1e9);
    }
    return clock_ns() - since < GPU_PATIENCE_NS ||
           error_set(why, NULL, 0, "no flag came from the GPU for %.0f s", GPU_PATIENCE_NS / 1e9);
}

/* A look at the stream now and then finds out about a kernel that failed, and will say nothing. */
enum { SPINS_A_LOOK = 1024 };

static bool hear_flag(const gpu_mini *gpu, uint32_t value, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    double since = clock_ns();
    for (uint32_t spins = 1; __atomic_load_n(host_word(qsac, ASKED), __ATOMIC_ACQUIRE) < value;
         spins++) {
        if (spins % SPINS_A_LOOK != 0) {
            continue;
        }
        cudaError_t status = cudaStreamQuery(gpu->main.at);
        if ((status != cudaErrorNotReady && !GPU_TRY(status, why)) ||
            !check_patience(qsac, since, why)) {
            return false;
        }
    }
    return true;
}

/* Until rows that were copied are there. */
static bool await_copies(const gpu_qsac *qsac, const gpu_event *copied, struct error *why)
{
    double since = clock_ns();
    cudaError_t status;
    while ((status = cudaEventQuery(copied->at)) == cudaErrorNotReady) {
        if (!check_patience(qsac, since, why)) {
            return false;
        }
    }
    return GPU_TRY(status, why);
}

/* Rows that are asked for, head by head, keys before values, and the places of their slots. */
static bool list_rows(gpu_mini *gpu, struct play *play, const uint32_t *counts, struct error *why)
{
    const struct mini *mini = gpu->mini;
    gpu_qsac *qsac = gpu->qsac.get();
    play->row_count = 0;
    for (uint32_t h = 0; h < mini->shape.kv_heads; h++) {
        struct mini_head *head = &play_heads(play)[h];
        const uint32_t *tokens = counts + mini->shape.kv_heads + (size_t)h * gpu->most;
        uint32_t count = counts[h], *rows = &qsac->rows[play->row_count],
                 *places = &qsac->places[play->row_count];
        if (count > gpu->most) {
            return error_set(why, NULL, 0, "KV head %u asks for %u tokens of %u", h, count,
                             gpu->most);
        }
        for (uint32_t i = 0; i < count; i++) {
            rows[i] = head->first + tokens[i];
            rows[count + i] = rows[i] + mini->row_count;
            places[i] = 2 * h * qsac->most + i;
            places[count + i] = places[i] + qsac->most;
        }
        play->row_count += 2 * count;
        head->agrees = head->agrees && count == head->miss_count;
    }
    return true;
}

static void store_rows(const gpu_mini *gpu, const struct play *play)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    struct store_rows rows = {};
    rows.from = play_layer(play)->kv.bytes;
    rows.rows = qsac->rows.get();
    rows.count = play->row_count;
    rows.row_bytes = (uint32_t)gpu->mini->row_bytes;
    rows.to = qsac->stored->at() + play->layer * layer_bytes(gpu);
    rows.places = qsac->places.get();
    store_rows_run(play->pool, &rows);
}

/* A call a head: its keys and values lie one behind the other, and come apart. */
static bool copy_rows(const gpu_mini *gpu, const struct play *play, const uint32_t *counts,
                      struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t turn = slot_of(gpu, play->step, play->layer) % 2;
    char *staging = qsac->staging.data + turn * layer_bytes(gpu);
    char *to = qsac->copied.data + play->layer * layer_bytes(gpu);
    struct gather gather = {};
    gather.from = play_layer(play)->kv.bytes;
    gather.rows = qsac->rows.get();
    gather.count = play->row_count;
    gather.row_bytes = (uint32_t)gpu->mini->row_bytes;
    gather.stride = gpu->mini->row_bytes;
    gather.to = staging;
    gather_run(play->pool, &gather);
    bool ok = true;
    for (uint32_t h = 0; ok && h < gpu->mini->shape.kv_heads; h++) {
        size_t bytes = counts[h] * gpu->mini->row_bytes;
        ok = bytes == 0 ||
             GPU_TRY(cudaMemcpy2DAsync(to + 2 * h * qsac->half_bytes, qsac->half_bytes, staging,
                                       bytes, bytes, 2, cudaMemcpyHostToDevice, gpu->copies.at),
                     why);
        staging += 2 * bytes;
    }
    return ok && GPU_TRY(cudaEventRecord(qsac->copied_at[turn].at, gpu->copies.at), why);
}

/* From what a layer asks for to its rows under way, or there where they are stored. */
static bool fetch(gpu_mini *gpu, struct play *play, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    const struct miniature_qsac *way = miniature_qsac(play->id);
    uint32_t slot = slot_of(gpu, play->step, play->layer);
    const uint32_t *counts =
        (const uint32_t *)(const void *)qsac->asked.data + slot % 2 * asked_words(gpu);
    bool heard = way->polls ? hear_flag(gpu, slot + 1, why)
                            : GPU_TRY(cudaEventSynchronize(qsac->asked_at[slot % 2].at), why);
    if (!heard || !list_rows(gpu, play, counts, why)) {
        return false;
    }
    if (way->stores && play->row_count > 0) {
        store_rows(gpu, play);
    }
    return way->stores || play->row_count == 0 || copy_rows(gpu, play, counts, why);
}

/* ---- a layer ---- */

/* Launched by whoever waited: behind the fetch. */
static bool run_told(gpu_mini *gpu, struct play *play, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    bool stores = miniature_qsac(play->id)->stores;
    uint32_t layer = play->layer, turn = slot_of(gpu, play->step, layer) % 2;
    auto ask = [&](uint32_t of, uint32_t its_turn) {
        return put_ask(gpu, play->step, of, why) &&
               GPU_TRY(cudaEventRecord(qsac->asked_at[its_turn].at, gpu->main.at), why);
    };
    return (layer > 0 || ask(0, turn)) && fetch(gpu, play, why) &&
           (layer + 1 == gpu->mini->shape.layers || ask(layer + 1, 1 - turn)) &&
           (stores || play->row_count == 0 ||
            GPU_TRY(cudaStreamWaitEvent(gpu->main.at, qsac->copied_at[turn].at, 0), why)) &&
           put_attention(gpu, stores, play->step, layer, why);
}

/* Launched before its fetch, which lets it go. */
static bool run_polled(gpu_mini *gpu, struct play *play, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    const struct miniature_qsac *way = miniature_qsac(play->id);
    uint32_t slot = slot_of(gpu, play->step, play->layer);
    const gpu_graphs *steps = way->stores ? &qsac->stored_steps : &qsac->copied_steps;
    bool ok = !way->graph ? put_polled(gpu, way->stores, play->step, play->layer, why)
                          : play->layer > 0 || steps->launch(gpu, play->step, why);
    ok = ok && fetch(gpu, play, why) &&
         (way->stores || play->row_count == 0 ||
          await_copies(qsac, &qsac->copied_at[slot % 2], why));
    say(qsac, ANSWERED, ok ? slot + 1 : ALL_ANSWERED);
    return ok;
}

bool qsac_run(gpu_mini *gpu, struct play *play, struct error *why)
{
    return miniature_qsac(play->id)->polls ? run_polled(gpu, play, why) : run_told(gpu, play, why);
}

/* ---- before and behind ---- */

static bool to_gpu(char *to, const void *from, size_t bytes, struct error *why)
{
    return GPU_TRY(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), why);
}

/* Queries of a recorded demand: small integers, which bf16 has, and their sums fp32. */
static void append_queries(const gpu_qsac *qsac, const struct mini_demand *demand,
                           std::vector<uint16_t> &values)
{
    for (size_t i = 0; i < (size_t)qsac->group * qsac->dim; i++) {
        values.push_back(demand != nullptr ? bf16_of((float)demand->query[i]) : (uint16_t)0);
    }
}

/* A head's label, its set, and its rows in their slots; the other slots are NaNs. */
static bool put_head(gpu_mini *gpu, bool stores, uint32_t layer, uint32_t h,
                     const struct mini_cache *cache, struct error *why)
{
    const struct mini *mini = gpu->mini;
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t at = layer * mini->shape.kv_heads + h;
    std::vector<uint16_t> label;
    std::vector<char> slots(2 * qsac->half_bytes, (char)0xff);
    append_queries(qsac, cache->fetched, label);
    for (uint32_t i = 0; i < 2 * cache->set_count; i++) {
        uint32_t half = i / cache->set_count, slot = i % cache->set_count;
        size_t row = cache->set[slot] + (size_t)half * mini->row_count;
        memcpy(&slots[half * qsac->half_bytes + slot * mini->row_bytes],
               mini->layers[layer].kv.bytes + row * mini->row_bytes, mini->row_bytes);
    }
    size_t label_bytes = label.size() * sizeof label[0];
    return to_gpu(slots_of(qsac, stores) + at * slots.size(), slots.data(), slots.size(), why) &&
           to_gpu(qsac->labels.data + at * label_bytes, label.data(), label_bytes, why) &&
           to_gpu(qsac->counts.data + at * sizeof(uint32_t), &cache->set_count, sizeof(uint32_t),
                  why);
}

/* Heads that begin with a cache at this step. */
static bool put_heads(gpu_mini *gpu, enum miniature_id id, uint32_t step, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    bool ok = true;
    for (uint32_t i = 0; ok && i < shape->layers * shape->kv_heads; i++) {
        struct mini_head *head = &gpu->mini->heads[i];
        ok = (step > 0 && step + head->shift != shape->steps) ||
             put_head(gpu, miniature_qsac(id)->stores, i / shape->kv_heads, i % shape->kv_heads,
                      mini_head_cache(head, step), why);
    }
    return ok && GPU_TRY(cudaDeviceSynchronize(), why);
}

bool qsac_start(gpu_mini *gpu, enum miniature_id id, struct error *why)
{
    for (int word : {ASKED, ANSWERED, GIVEN_UP}) {
        say(gpu->qsac.get(), word, 0);
    }
    return put_heads(gpu, id, 0, why);
}

bool qsac_begin_step(gpu_mini *gpu, struct play *play, struct error *why)
{
    bool ok = play->step == 0 || put_heads(gpu, play->id, play->step, why);
    for (play->layer = 0; ok && play->layer < gpu->mini->shape.layers; play->layer++) {
        mini_look_up(play);
        mini_update(play);
    }
    return ok;
}

static bool check_slots(const gpu_mini *gpu, const char *found, uint32_t layer, uint32_t h,
                        struct error *why)
{
    const struct mini *mini = gpu->mini;
    const struct mini_cache *cache =
        mini_head_cache(&mini_heads(mini, layer)[h], mini->shape.steps - 1);
    for (uint32_t i = 0; i < 2 * cache->set_count; i++) {
        uint32_t half = i / cache->set_count, slot = i % cache->set_count;
        size_t row = cache->set[slot] + (size_t)half * mini->row_count;
        if (memcmp(found + half * gpu->qsac->half_bytes + slot * mini->row_bytes,
                   mini->layers[layer].kv.bytes + row * mini->row_bytes, mini->row_bytes) != 0) {
            return error_set(why, NULL, 0, "slot %u of KV head %u of layer %u holds another row",
                             slot, h, layer);
        }
    }
    return true;
}

bool qsac_check(gpu_mini *gpu, enum miniature_id id, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    size_t bytes = 2 * gpu->qsac->half_bytes;
    const char *slots = slots_of(gpu->qsac.get(), miniature_qsac(id)->stores);
    std::vector<char> found(layer_bytes(gpu));
    bool ok = check_patience(gpu->qsac.get(), clock_ns(), why);
    for (uint32_t layer = 0; ok && layer < shape->layers; layer++) {
        ok = GPU_TRY(
            cudaMemcpy(found.data(), slots + layer * found.size(), found.size(), cudaMemcpyDefault),
            why);
        for (uint32_t h = 0; ok && h < shape->kv_heads; h++) {
            ok = check_slots(gpu, &found[h * bytes], layer, h, why);
        }
    }
    return ok;
}

/* ---- buffers ---- */

static uint32_t most_tokens(const gpu_mini *gpu)
{
    const struct miniature *shape = &gpu->mini->shape;
    uint32_t most = 0;
    for (uint32_t h = 0; h < shape->layers * shape->kv_heads; h++) {
        const struct mini_head *head = &gpu->mini->heads[h];
        for (uint32_t step = 0; step < shape->warmup + shape->steps; step++) {
            most = head->demands[step].count > most ? head->demands[step].count : most;
        }
    }
    return most;
}

static bool create_queries(gpu_mini *gpu, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    gpu_qsac *qsac = gpu->qsac.get();
    std::vector<uint16_t> values;
    for (uint32_t step = 0; step < shape->steps; step++) {
        for (uint32_t h = 0; h < shape->layers * shape->kv_heads; h++) {
            append_queries(qsac, mini_head_demand(&gpu->mini->heads[h], step), values);
        }
    }
    size_t bytes = values.size() * sizeof values[0];
    return qsac->queries.take(bytes, why) && to_gpu(qsac->queries.data, values.data(), bytes, why);
}

/* All heads weigh the same, as where a policy is told no importances. */
static bool create_rule(gpu_mini *gpu, struct error *why)
{
    gpu_qsac *qsac = gpu->qsac.get();
    const struct policy_kind *kind = policy_find("qsac", NULL, 0, why);
    double values[POLICY_MOST_PARAMS] = {};
    for (int i = 0; kind != nullptr && kind->params[i].name != nullptr; i++) {
        values[i] = kind->params[i].value;
    }
    uint32_t heads = gpu->mini->shape.kv_heads;
    std::vector<float> weights(heads * qsac->group, 1.0f),
        thresholds(heads, (float)qsac_threshold(values, 1));
    return kind != nullptr && qsac->weights.take(weights.size() * sizeof(float), why) &&
           qsac->thresholds.take(thresholds.size() * sizeof(float), why) &&
           to_gpu(qsac->weights.data, weights.data(), qsac->weights.bytes, why) &&
           to_gpu(qsac->thresholds.data, thresholds.data(), qsac->thresholds.bytes, why) &&
           qsac->similarity.take(heads * sizeof(float), why) &&
           qsac->reuse.take(heads * sizeof(uint32_t), why);
}

static bool create_buffers(gpu_mini *gpu, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    gpu_qsac *qsac = gpu->qsac.get();
    const uint32_t none = 0;
    size_t rows = 2 * (size_t)shape->kv_heads * gpu->most + 1;
    qsac->rows.reset(new (std::nothrow) uint32_t[rows]);
    qsac->places.reset(new (std::nothrow) uint32_t[rows]);
    bool ok = qsac->rows != nullptr && qsac->places != nullptr;
    for (int i = 0; ok && i < 2; i++) {
        ok = qsac->asked_at[i].create(why) && qsac->copied_at[i].create(why);
    }
    return ok && qsac->copied.take(shape->layers * layer_bytes(gpu), why) &&
           qsac->labels.take(shape->layers * label_values(gpu) * sizeof(uint16_t), why) &&
           qsac->counts.take((size_t)shape->layers * shape->kv_heads * sizeof(uint32_t), why) &&
           qsac->asking.take(sizeof none, why) &&
           to_gpu(qsac->asking.data, &none, sizeof none, why) &&
           qsac->asked.take(2 * asked_words(gpu) * sizeof(uint32_t), 1, why) &&
           qsac->words.take(WORDS * sizeof(uint32_t), 1, why) &&
           qsac->staging.take(2 * layer_bytes(gpu), 1, why);
}

/* With nothing to wait for: all kernels run once, and a copy. What a first one asks for cannot be
 * recorded, and may wait for the kernels that run. */
static bool create_graphs(gpu_mini *gpu, struct error *why)
{
    gpu_qsac *qsac = gpu->qsac.get();
    say(qsac, ANSWERED, ALL_ANSWERED);
    say(qsac, GIVEN_UP, 0);
    return GPU_TRY(cudaMemcpy2DAsync(qsac->copied.data, qsac->half_bytes, qsac->staging.data,
                                     qsac->half_bytes, gpu->mini->row_bytes, 2,
                                     cudaMemcpyHostToDevice, gpu->copies.at),
                   why) &&
           gpu->copies.wait(why) && qsac->copied_steps.create(gpu, put_copied_step, why) &&
           (qsac->stored == nullptr || qsac->stored_steps.create(gpu, put_stored_step, why));
}

bool qsac_create(gpu_mini *gpu, struct error *why)
{
    const struct mini_head *head = &gpu->mini->heads[0];
    gpu->qsac.reset(new (std::nothrow) gpu_qsac);
    gpu_qsac *qsac = gpu->qsac.get();
    if (qsac == nullptr) {
        return error_set(why, NULL, 0, "no memory for a miniature on a GPU");
    }
    qsac->most = most_tokens(gpu);
    qsac->group = head->query_heads;
    qsac->dim = head->query_dim;
    qsac->half_bytes = qsac->most * gpu->mini->row_bytes;
    qsac->stored.reset(new (std::nothrow) stored_memory);
    if (qsac->stored != nullptr &&
        !qsac->stored->take(gpu->mini->shape.layers * layer_bytes(gpu), &qsac->cannot_store)) {
        qsac->stored.reset();
    }
    return create_buffers(gpu, why) && create_queries(gpu, why) && create_rule(gpu, why) &&
           put_heads(gpu, MINIATURE_GPU_QSAC_COPY, 0, why) && create_graphs(gpu, why);
}

bool qsac_can(const gpu_mini *gpu, enum miniature_id id, struct error *why)
{
    if (!miniature_qsac(id)->stores || gpu->qsac->stored != nullptr) {
        return true;
    }
    *why = gpu->qsac->cannot_store;
    return false;
}
