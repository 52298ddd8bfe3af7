#include "calibrate/mini/gpu_qsac.h"

extern "C" {
#include "calibrate/host/gather.h"
#include "calibrate/host/store_rows.h"
}

/* ---- kernels ---- */

static uint32_t gpu_qsac_slot_of(const gpu_mini *gpu, uint32_t step, uint32_t layer)
{
    return step * gpu->mini->shape.layers + layer;
}

/* Compare a layer's queries with its labels, and ask for the sets that are not reused. */
static bool gpu_qsac_put_ask(gpu_mini *gpu, uint32_t step, uint32_t layer, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t slot = gpu_qsac_slot_of(gpu, step, layer), heads = gpu->mini->shape.kv_heads;
    uint32_t *asked = (uint32_t *)qsac->asked.seen + slot % 2 * qsac->asked_words();
    struct kernel_sets sets = {};
    sets.reuse = (const uint32_t *)qsac->reuse.data;
    sets.wanted = (const uint32_t *)gpu->wanted.tokens.data + (size_t)slot * heads * gpu->most;
    sets.wanted_counts = (const uint32_t *)gpu->wanted.counts.data + (size_t)slot * heads;
    sets.most = gpu->most;
    sets.counts = (uint32_t *)qsac->counts.data + (size_t)layer * heads;
    sets.asked_counts = asked;
    sets.asked = asked + heads;
    sets.asking = (uint32_t *)qsac->asking.data;
    sets.flag = qsac->seen_word(QSAC_ASKED);
    sets.value = slot + 1;
    return kernel_compare_labels((const uint16_t *)qsac->queries.data + slot * qsac->label_values(),
                                 (uint16_t *)qsac->labels.data + layer * qsac->label_values(),
                                 (const float *)qsac->weights.data,
                                 (const float *)qsac->thresholds.data, heads, qsac->group,
                                 qsac->dim, (float *)qsac->similarity.data,
                                 (uint32_t *)qsac->reuse.data, gpu->main.at, why) &&
           kernel_ask_sets(&sets, heads, gpu->main.at, why);
}

/* Attention over the filled slots. */
static bool gpu_qsac_put_attention(gpu_mini *gpu, bool stores, uint32_t step, uint32_t layer,
                                   struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    const struct miniature *shape = &gpu->mini->shape;
    struct kernel_attention attention = gpu_attention(gpu, step, layer);
    const char *keys = qsac->slots(stores) + layer * qsac->layer_bytes();
    attention.kv.keys = keys;
    attention.kv.values = keys + qsac->half_bytes;
    attention.kv.head_stride = 2 * (uint64_t)qsac->most * shape->head_dim;
    attention.kv.sequence_stride = attention.kv.head_stride * shape->kv_heads;
    attention.counts = (const uint32_t *)qsac->counts.data + (size_t)layer * shape->kv_heads;
    return kernel_attend(&attention, gpu->main.at, why);
}

/* The launches of a layer whose fetch a polling kernel awaits. */
static bool put_polled(gpu_mini *gpu, uint32_t step, uint32_t layer, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    return (layer > 0 || gpu_qsac_put_ask(gpu, step, 0, why)) &&
           (layer + 1 == gpu->mini->shape.layers || gpu_qsac_put_ask(gpu, step, layer + 1, why)) &&
           kernel_await_flag(qsac->seen_word(QSAC_ANSWERED), gpu_qsac_slot_of(gpu, step, layer) + 1,
                             GPU_DEADLINE_NS, qsac->seen_word(QSAC_GIVEN_UP), gpu->main.at, why) &&
           gpu_qsac_put_attention(gpu, true, step, layer, why);
}

bool qsac_put_step(gpu_mini *gpu, uint32_t step, struct error *why)
{
    bool ok = true;
    for (uint32_t layer = 0; ok && layer < gpu->mini->shape.layers; layer++) {
        ok = put_polled(gpu, step, layer, why);
    }
    return ok;
}

/* ---- the CPU's part ---- */

bool qsac_is_patient(const gpu_qsac *qsac, double since, struct error *why)
{
    if (__atomic_load_n(qsac->host_word(QSAC_GIVEN_UP), __ATOMIC_RELAXED) != 0) {
        return error_set(why, NULL, 0, "a polling kernel saw no answer for %.0f s",
                         (double)GPU_DEADLINE_NS / 1e9);
    }
    return clock_ns() - since < GPU_PATIENCE_NS ||
           error_set(why, NULL, 0, "no flag came from the GPU for %.0f s", GPU_PATIENCE_NS / 1e9);
}

/* The stream is queried now and then, because a kernel that failed will never set its flag. */
enum { SPINS_A_LOOK = 1024 };

static bool hear_flag(const gpu_mini *gpu, uint32_t value, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    double since = clock_ns();
    for (uint32_t spins = 1; __atomic_load_n(qsac->host_word(QSAC_ASKED), __ATOMIC_ACQUIRE) < value;
         spins++) {
        if (spins % SPINS_A_LOOK != 0) {
            continue;
        }
        cudaError_t status = cudaStreamQuery(gpu->main.at);
        if ((status != cudaErrorNotReady && !GPU_TRY(status, why)) ||
            !qsac_is_patient(qsac, since, why)) {
            return false;
        }
    }
    return true;
}

/* List the rows that are asked for, head by head, keys before values, and the places of their
 * slots.
 */
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
    rows.to = qsac->stored->at() + play->layer * qsac->layer_bytes();
    rows.places = qsac->places.get();
    store_rows_run(play->pool, &rows);
}

/* One call for each head: its keys and values are consecutive in staging and separate in the slots.
 */
static bool gpu_qsac_copy_rows(const gpu_mini *gpu, const struct play *play, const uint32_t *counts,
                               struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t turn = gpu_qsac_slot_of(gpu, play->step, play->layer) % 2;
    char *staging = qsac->staging.data + turn * qsac->layer_bytes();
    char *to = qsac->copied.data + play->layer * qsac->layer_bytes();
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

/* The request of a layer, which the CPU has heard: counts, then tokens. */
static const uint32_t *asked_for(const gpu_qsac *qsac, uint32_t slot)
{
    return (const uint32_t *)(const void *)qsac->asked.data + slot % 2 * qsac->asked_words();
}

/* Serve a layer's request: gather its rows and start to copy them. */
static bool fetch(gpu_mini *gpu, struct play *play, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t slot = gpu_qsac_slot_of(gpu, play->step, play->layer);
    const uint32_t *counts = asked_for(qsac, slot);
    return GPU_TRY(cudaEventSynchronize(qsac->asked_at[slot % 2].at), why) &&
           list_rows(gpu, play, counts, why) &&
           (play->row_count == 0 || gpu_qsac_copy_rows(gpu, play, counts, why));
}

/* ---- a layer ---- */

/* Attention is launched after the fetch, by the CPU that waited for it. */
bool qsac_run_copied(gpu_mini *gpu, struct play *play, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t layer = play->layer, turn = gpu_qsac_slot_of(gpu, play->step, layer) % 2;
    auto ask = [&](uint32_t of, uint32_t its_turn) {
        return gpu_qsac_put_ask(gpu, play->step, of, why) &&
               GPU_TRY(cudaEventRecord(qsac->asked_at[its_turn].at, gpu->main.at), why);
    };
    return (layer > 0 || ask(0, turn)) && fetch(gpu, play, why) &&
           (layer + 1 == gpu->mini->shape.layers || ask(layer + 1, 1 - turn)) &&
           (play->row_count == 0 ||
            GPU_TRY(cudaStreamWaitEvent(gpu->main.at, qsac->copied_at[turn].at, 0), why)) &&
           gpu_qsac_put_attention(gpu, false, play->step, layer, why);
}

/* The step's graph is launched before the first fetch; each fetch releases a layer's attention. */
bool qsac_run_stored(gpu_mini *gpu, struct play *play, struct error *why)
{
    const gpu_qsac *qsac = gpu->qsac.get();
    uint32_t slot = gpu_qsac_slot_of(gpu, play->step, play->layer);
    bool ok = (play->layer > 0 || qsac->stored_steps.launch(gpu, play->step, why)) &&
              hear_flag(gpu, slot + 1, why) && list_rows(gpu, play, asked_for(qsac, slot), why);
    if (ok && play->row_count > 0) {
        store_rows(gpu, play);
    }
    qsac->say(QSAC_ANSWERED, ok ? slot + 1 : QSAC_ALL_ANSWERED);
    return ok;
}
