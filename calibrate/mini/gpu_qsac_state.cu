/* QSAC in a miniature: its buffers, its state before the first step, and the check after the last.
 */
#include "calibrate/mini/gpu_qsac.h"

extern "C" {
#include "calibrate/kernels/small_floats.h"
#include "policy/policy.h"
}

#include <string.h>

#include <new>
#include <vector>

/* ---- before the first and after the last step ---- */

/* Queries of a recorded demand: small integers, which are exact in bf16; their sums are in fp32. */
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
    return gpu_copy_in(qsac->slots(stores) + at * slots.size(), slots.data(), slots.size(), why) &&
           gpu_copy_in(qsac->labels.data + at * label_bytes, label.data(), label_bytes, why) &&
           gpu_copy_in(qsac->counts.data + at * sizeof(uint32_t), &cache->set_count,
                       sizeof(uint32_t), why);
}

/* Set up the heads that start with a new cache at this step. */
static bool put_heads(gpu_mini *gpu, enum miniature_id id, uint32_t step, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    bool ok = true;
    for (uint32_t i = 0; ok && i < shape->layers * shape->kv_heads; i++) {
        struct mini_head *head = &gpu->mini->heads[i];
        ok = (step > 0 && step + head->shift != shape->steps) ||
             put_head(gpu, id == MINIATURE_GPU_QSAC_STORE, i / shape->kv_heads, i % shape->kv_heads,
                      mini_head_cache(head, step), why);
    }
    return ok && GPU_TRY(cudaDeviceSynchronize(), why);
}

bool qsac_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *, struct error *why)
{
    for (int word : {QSAC_ASKED, QSAC_ANSWERED, QSAC_GIVEN_UP}) {
        gpu->qsac->say(word, 0);
    }
    return put_heads(gpu, id, 0, why);
}

bool qsac_begin_step(gpu_mini *gpu, struct play *play, struct error *why)
{
    if (play->step > 0 && !put_heads(gpu, play->id, play->step, why)) {
        return false;
    }
    mini_run_ahead(play);
    return true;
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
    const char *slots = gpu->qsac->slots(id == MINIATURE_GPU_QSAC_STORE);
    std::vector<char> found(gpu->qsac->layer_bytes());
    bool ok = qsac_is_patient(gpu->qsac.get(), clock_ns(), why);
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

static bool gpu_qsac_state_create_queries(gpu_mini *gpu, struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    gpu_qsac *qsac = gpu->qsac.get();
    std::vector<uint16_t> values;
    for (uint32_t step = 0; step < shape->steps; step++) {
        for (uint32_t h = 0; h < shape->layers * shape->kv_heads; h++) {
            append_queries(qsac, mini_head_demand(&gpu->mini->heads[h], step), values);
        }
    }
    return gpu_take_copy(&qsac->queries, values.data(), values.size() * sizeof values[0], why);
}

/* All heads have the same weight, as in a policy without importances. */
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
    return kind != nullptr &&
           gpu_take_copy(&qsac->weights, weights.data(), weights.size() * sizeof(float), why) &&
           gpu_take_copy(&qsac->thresholds, thresholds.data(), thresholds.size() * sizeof(float),
                         why) &&
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
    return ok && qsac->copied.take(shape->layers * gpu->qsac->layer_bytes(), why) &&
           qsac->labels.take(shape->layers * gpu->qsac->label_values() * sizeof(uint16_t), why) &&
           qsac->counts.take((size_t)shape->layers * shape->kv_heads * sizeof(uint32_t), why) &&
           gpu_take_copy(&qsac->asking, &none, sizeof none, why) &&
           qsac->asked.take(2 * gpu->qsac->asked_words() * sizeof(uint32_t), 1, why) &&
           qsac->words.take(QSAC_WORDS * sizeof(uint32_t), 1, why) &&
           qsac->staging.take(2 * gpu->qsac->layer_bytes(), 1, why);
}

/* All kernels and a copy run once, with nothing to wait for. What a first launch does cannot be
 * recorded, and may wait for running kernels. */
static bool create_graphs(gpu_mini *gpu, struct error *why)
{
    gpu_qsac *qsac = gpu->qsac.get();
    qsac->say(QSAC_ANSWERED, QSAC_ALL_ANSWERED);
    qsac->say(QSAC_GIVEN_UP, 0);
    return GPU_TRY(cudaMemcpy2DAsync(qsac->copied.data, qsac->half_bytes, qsac->staging.data,
                                     qsac->half_bytes, gpu->mini->row_bytes, 2,
                                     cudaMemcpyHostToDevice, gpu->copies.at),
                   why) &&
           gpu->copies.wait(why) &&
           (qsac->stored == nullptr || qsac->stored_steps.create(gpu, qsac_put_step, why));
}

bool qsac_create(gpu_mini *gpu, struct error *why)
{
    const struct mini_head *head = &gpu->mini->heads[0];
    gpu->qsac.reset(new (std::nothrow) gpu_qsac);
    gpu_qsac *qsac = gpu->qsac.get();
    if (qsac == nullptr) {
        return error_set(why, NULL, 0, "no memory for a miniature on a GPU");
    }
    qsac->heads = gpu->mini->shape.kv_heads;
    qsac->most = gpu->most;
    qsac->group = head->query_heads;
    qsac->dim = head->query_dim;
    qsac->half_bytes = qsac->most * gpu->mini->row_bytes;
    qsac->stored.reset(new (std::nothrow) stored_memory);
    if (qsac->stored == nullptr) {
        error_set(&qsac->cannot_store, NULL, 0, "no memory for a miniature on a GPU");
    } else if (!qsac->stored->take(gpu->mini->shape.layers * gpu->qsac->layer_bytes(),
                                   &qsac->cannot_store)) {
        qsac->stored.reset();
    }
    return create_buffers(gpu, why) && gpu_qsac_state_create_queries(gpu, why) &&
           create_rule(gpu, why) && put_heads(gpu, MINIATURE_GPU_QSAC_COPY, 0, why) &&
           create_graphs(gpu, why);
}

bool qsac_can(const gpu_mini *gpu, enum miniature_id id, struct error *why)
{
    if (id != MINIATURE_GPU_QSAC_STORE || gpu->qsac->stored != nullptr) {
        return true;
    }
    *why = gpu->qsac->cannot_store;
    return false;
}
