#include "calibrate/mini/gpu_activations.h"
#include "calibrate/mini/gpu_lru.h"
#include "calibrate/mini/gpu_qsac.h"

#include <assert.h>
#include <string.h>

/* ---- stages ---- */

static bool synchronize(const gpu_mini *gpu, struct error *why)
{
    return GPU_TRY(cudaStreamSynchronize(gpu->main.at), why);
}

static bool gpu_program_attend_to_wanted(const gpu_mini *gpu, const struct play *play,
                                         struct error *why)
{
    return gpu_attend(gpu, play->step, play->layer, gpu->layers[play->layer].cache.data,
                      &gpu->wanted, false, why);
}

static uint32_t all_ctas(const gpu_mini *gpu)
{
    return MINIATURE_CTAS * gpu->mini->shape.kv_heads;
}

/* The offset of the rows after their numbers: a multiple of 16 bytes. */
static size_t gpu_program_number_bytes(const struct play *play)
{
    return (play->row_count * sizeof(uint32_t) + 15) / 16 * 16;
}

/* The CPU waits for the layer's demand, and looks it up. */
static bool find_misses(const gpu_mini *gpu, struct play *play, struct error *why)
{
    if (!synchronize(gpu, why)) {
        return false;
    }
    mini_look_up(play);
    mini_list_misses(play);
    memcpy(gpu->staging.data, gpu->mini->rows, play->row_count * sizeof(uint32_t));
    return true;
}

static bool copy_staged(const gpu_mini *gpu, size_t bytes, struct error *why)
{
    return bytes == 0 || GPU_TRY(cudaMemcpyAsync(gpu->staged.data, gpu->staging.data, bytes,
                                                 cudaMemcpyHostToDevice, gpu->main.at),
                                 why);
}

/* Layer number `slot`, counted over all steps. */
static bool copy_ahead(gpu_mini *gpu, uint32_t slot, gpu_copy_of copy_of, struct error *why)
{
    uint32_t turn = slot % 2;
    const gpu_copy copy = copy_of(gpu, slot % gpu->mini->shape.layers, turn);
    return (slot < 2 ||
            GPU_TRY(cudaStreamWaitEvent(gpu->copies.at, gpu->attended[turn].at, 0), why)) &&
           GPU_TRY(cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyHostToDevice,
                                   gpu->copies.at),
                   why) &&
           GPU_TRY(cudaEventRecord(gpu->copied[turn].at, gpu->copies.at), why);
}

bool gpu_run_streamed(gpu_mini *gpu, struct play *play, gpu_copy_of copy_of, gpu_use use,
                      struct error *why)
{
    const struct miniature *shape = &gpu->mini->shape;
    uint32_t slot = play->step * shape->layers + play->layer, turn = slot % 2;
    bool last = slot + 1 == shape->steps * shape->layers;
    return (slot > 0 || copy_ahead(gpu, slot, copy_of, why)) &&
           (last || copy_ahead(gpu, slot + 1, copy_of, why)) &&
           GPU_TRY(cudaStreamWaitEvent(gpu->main.at, gpu->copied[turn].at, 0), why) &&
           use(gpu, play, turn, why) &&
           GPU_TRY(cudaEventRecord(gpu->attended[turn].at, gpu->main.at), why);
}

/* ---- programs: a layer of a step ---- */

static bool gpu_program_run_full(gpu_mini *gpu, struct play *play, struct error *why)
{
    return gpu_attend(gpu, play->step, play->layer, gpu->layers[play->layer].kv.data, nullptr,
                      false, why);
}

/* One graph launch for each step. */
static bool run_graph(gpu_mini *gpu, struct play *play, struct error *why)
{
    return play->layer > 0 || gpu->graphs.launch(gpu, play->step, why);
}

static bool gpu_program_run_lru_copy(gpu_mini *gpu, struct play *play, struct error *why)
{
    if (!find_misses(gpu, play, why)) {
        return false;
    }
    size_t rows_at = gpu_program_number_bytes(play);
    play->staging = gpu->staging.data + rows_at;
    mini_gather(play);
    bool ok =
        copy_staged(gpu, rows_at + play->row_count * gpu->mini->row_bytes, why) &&
        kernel_move_rows(gpu->staged.data + rows_at, nullptr, gpu->layers[play->layer].cache.data,
                         (const uint32_t *)gpu->staged.data, play->row_count,
                         (uint32_t)gpu->mini->row_bytes, all_ctas(gpu), gpu->main.at, why) &&
        gpu_program_attend_to_wanted(gpu, play, why);
    mini_update(play);
    return ok;
}

static bool gpu_program_run_lru_loads(gpu_mini *gpu, struct play *play, struct error *why)
{
    if (!find_misses(gpu, play, why)) {
        return false;
    }
    const uint32_t *rows = (const uint32_t *)gpu->staged.data;
    const gpu_layer *layer = &gpu->layers[play->layer];
    bool ok = copy_staged(gpu, gpu_program_number_bytes(play), why) &&
              kernel_move_rows(layer->seen, rows, layer->cache.data, rows, play->row_count,
                               (uint32_t)gpu->mini->row_bytes, all_ctas(gpu), gpu->main.at, why) &&
              gpu_program_attend_to_wanted(gpu, play, why);
    mini_update(play);
    return ok;
}

static gpu_copy copy_pinned(gpu_mini *gpu, uint32_t layer, uint32_t turn)
{
    return {gpu->streamed[turn].data, gpu->mini->layers[layer].kv.bytes, gpu->layer_bytes};
}

static gpu_copy copy_pageable(gpu_mini *gpu, uint32_t layer, uint32_t turn)
{
    return {gpu->streamed[turn].data, gpu->layers[layer].pageable.bytes, gpu->layer_bytes};
}

static bool attend_to_streamed(gpu_mini *gpu, struct play *play, uint32_t turn, struct error *why)
{
    return gpu_attend(gpu, play->step, play->layer, gpu->streamed[turn].data, nullptr, false, why);
}

static bool gpu_program_run_stream(gpu_mini *gpu, struct play *play, struct error *why)
{
    return gpu_run_streamed(gpu, play, copy_pinned, attend_to_streamed, why);
}

static bool run_stream_pageable(gpu_mini *gpu, struct play *play, struct error *why)
{
    return gpu_run_streamed(gpu, play, copy_pageable, attend_to_streamed, why);
}

/* Copy the CPU's part of the output to the GPU, and merge both parts. */
static bool merge_answers(gpu_mini *gpu, const struct play *play, struct error *why)
{
    const struct mini *mini = gpu->mini;
    uint32_t heads = mini->shape.query_heads, dim = mini->shape.head_dim;
    size_t numbers = (size_t)heads * dim, place = mini_place(mini, play->step, play->layer);
    float *answers = (float *)gpu->answers.data;
    memcpy(answers, mini->part, numbers * sizeof *answers);
    memcpy(answers + numbers, mini->part_lse, heads * sizeof *answers);
    return GPU_TRY(cudaMemcpyAsync((float *)gpu->part_out.data + numbers, answers,
                                   numbers * sizeof *answers, cudaMemcpyHostToDevice, gpu->main.at),
                   why) &&
           GPU_TRY(cudaMemcpyAsync((float *)gpu->part_lse.data + heads, answers + numbers,
                                   heads * sizeof *answers, cudaMemcpyHostToDevice, gpu->main.at),
                   why) &&
           kernel_merge((const float *)gpu->part_out.data, (const float *)gpu->part_lse.data, 2,
                        heads, dim, (float *)gpu->out.data + place * dim,
                        (float *)gpu->lse.data + place, nullptr, gpu->main.at, why);
}

/* The layer's queries are copied to the CPU, although it knows them already. The GPU starts its own
 * part before the CPU begins. */
static bool gpu_program_run_hybrid(gpu_mini *gpu, struct play *play, struct error *why)
{
    const struct mini *mini = gpu->mini;
    uint32_t dim = mini->shape.head_dim;
    size_t numbers = (size_t)mini->shape.query_heads * dim;
    const uint16_t *queries =
        (const uint16_t *)gpu->queries.data + mini_place(mini, play->step, play->layer) * dim;
    bool ok = GPU_TRY(cudaMemcpyAsync(gpu->staging.data, queries, numbers * sizeof *queries,
                                      cudaMemcpyDeviceToHost, gpu->main.at),
                      why) &&
              GPU_TRY(cudaEventRecord(gpu->copied[0].at, gpu->main.at), why) &&
              gpu_attend(gpu, play->step, play->layer, gpu->layers[play->layer].cache.data,
                         &gpu->hits, true, why) &&
              GPU_TRY(cudaEventSynchronize(gpu->copied[0].at), why);
    if (ok) {
        mini_prepare(play, play_layer(play)->kv.bytes, TOKENS_MISSED, true);
        attention_run(play->pool, &mini->attention, play->heads, mini->shape.kv_heads);
    }
    return ok && merge_answers(gpu, play, why);
}

/* ---- before a step, and before a sample ---- */

/* Without a manager, the misses of all layers are found before the step. The hybrid's lists, too,
 * are the hits at that time. */
static bool tell_step(gpu_mini *, struct play *play, struct error *)
{
    for (play->layer = 0; play->layer < play->mini->shape.layers; play->layer++) {
        mini_tell_apart(play);
    }
    return true;
}

static bool run_policy_ahead(gpu_mini *, struct play *play, struct error *)
{
    mini_run_ahead(play);
    return true;
}

static bool start_hybrid(gpu_mini *gpu, enum miniature_id, const struct policy_env *,
                         struct error *why)
{
    return gpu_list_hits(gpu, why);
}

/* ---- samples ---- */

#define QSAC(run) run, qsac_begin_step, qsac_start, nullptr, qsac_check, qsac_can
#define STREAMS(run, start, can) run, tell_step, start, nullptr, nullptr, can, true

static const struct gpu_program programs[] = {
    {MINIATURE_GPU_FULL, gpu_program_run_full, tell_step},
    {MINIATURE_GPU_FULL_GRAPH, run_graph, tell_step},
    {MINIATURE_GPU_LRU_COPY, gpu_program_run_lru_copy},
    {MINIATURE_GPU_LRU_LOADS, gpu_program_run_lru_loads},
    {MINIATURE_GPU_LRU_KERNELS, gpu_lru_run, run_policy_ahead, gpu_lru_start, gpu_lru_compare},
    {MINIATURE_GPU_LRU_GRAPH, gpu_lru_run_graph, run_policy_ahead, gpu_lru_start, gpu_lru_compare},
    {MINIATURE_GPU_STREAM, STREAMS(gpu_program_run_stream, nullptr, nullptr)},
    {MINIATURE_GPU_STREAM_PAGEABLE, STREAMS(run_stream_pageable, nullptr, nullptr)},
    {MINIATURE_GPU_ACTIVATIONS, STREAMS(activations_run, activations_start, activations_can)},
    {MINIATURE_GPU_HYBRID, gpu_program_run_hybrid, tell_step, start_hybrid},
    {MINIATURE_GPU_QSAC_COPY, QSAC(qsac_run_copied)},
    {MINIATURE_GPU_QSAC_STORE, QSAC(qsac_run_stored)},
};

const struct gpu_program *gpu_program_of(enum miniature_id id)
{
    for (const struct gpu_program &program : programs) {
        if (program.id == id) {
            return &program;
        }
    }
    assert(!"a mechanism of a GPU without a program");
    return nullptr;
}

static void count_step(struct play *play, struct mini_counts *counts)
{
    for (play->layer = 0; play->layer < play->mini->shape.layers; play->layer++) {
        mini_count(play, counts);
    }
}

/* The launches of the L2's kernel come last, so that the driver's code is warm again. */
static bool make_cold(const gpu_mini *gpu, struct error *why)
{
    mini_fill_caches(gpu->mini);
    return gpu->cold.fill(gpu->main, why);
}

static bool begin_step(gpu_mini *gpu, const struct gpu_program *program, struct play *play,
                       struct error *why)
{
    return program->begin_step == nullptr || program->begin_step(gpu, play, why);
}

/* Prepare and count all steps of a program that streams. */
static bool begin_stream(gpu_mini *gpu, const struct gpu_program *program, struct play *play,
                         struct mini_counts *counts, struct error *why)
{
    bool ok = true;
    for (play->step = 0; ok && play->step < gpu->mini->shape.steps; play->step++) {
        ok = begin_step(gpu, program, play, why);
        count_step(play, counts);
    }
    return ok && make_cold(gpu, why);
}

static bool gpu_program_run_step(gpu_mini *gpu, const struct gpu_program *program,
                                 struct play *play, struct error *why)
{
    bool ok = true;
    for (play->layer = 0; ok && play->layer < gpu->mini->shape.layers; play->layer++) {
        ok = program->run(gpu, play, why);
    }
    return ok && synchronize(gpu, why);
}

bool gpu_play(gpu_mini *gpu, enum miniature_id id, double *ns, struct mini_counts *counts,
              struct error *why)
{
    const struct gpu_program *program = gpu_program_of(id);
    uint32_t layers = gpu->mini->shape.layers;
    struct play play = mini_play_init(gpu->mini, id);
    *counts = {0, 0, true};
    bool ok = !program->streams || begin_stream(gpu, program, &play, counts, why);
    for (play.step = 0; ok && play.step < gpu->mini->shape.steps; play.step++) {
        ok = program->streams || (begin_step(gpu, program, &play, why) && make_cold(gpu, why));
        double begin = clock_ns();
        ok = ok && gpu_program_run_step(gpu, program, &play, why);
        double each = (clock_ns() - begin) / layers;
        for (uint32_t layer = 0; layer < layers; layer++) {
            *ns++ = each;
        }
        if (!program->streams) {
            count_step(&play, counts);
        }
        ok = ok &&
             (program->end_step == nullptr || program->end_step(gpu, &play, &counts->agrees, why));
    }
    return ok && gpu->copies.wait(why) &&
           (program->check == nullptr || program->check(gpu, id, why));
}
