/* Runs the mechanisms of decode/miniature/miniature.def. A stage hands a pool one job for each
 * head, or for each share of the rows. Overlapping work is started before the stage and awaited
 * after it.
 */
#include "calibrate/host/gather.h"
#include "calibrate/measure/measure.h"
#include "calibrate/mini/play.h"

#include <string.h>

/* ---- jobs ---- */

static void mini_program_look_up_job(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct play *play = context;
    mini_head_look_up(&play_heads(play)[job], play->step);
}

static void mini_program_update_job(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct play *play = context;
    mini_head_update(&play_heads(play)[job], play->step);
}

/* Copy staged rows to their places. */
static void copy_rows_job(uint32_t job, uint32_t thread, void *context)
{
    (void)job, (void)thread;
    struct play *play = context;
    const struct mini *mini = play->mini;
    char *cache = play_layer(play)->cache.bytes;
    double start = clock_ns();
    for (uint32_t i = 0; i < play->row_count; i++) {
        memcpy(cache + mini->rows[i] * mini->row_bytes, mini->staging.bytes + i * mini->row_bytes,
               mini->row_bytes);
    }
    play->copy_ns = clock_ns() - start;
}

static void copy_whole_job(uint32_t job, uint32_t thread, void *context)
{
    (void)job, (void)thread;
    struct play *play = context;
    double start = clock_ns();
    memcpy(play->to, play->from, play_layer(play)->kv.size);
    play->copy_ns = clock_ns() - start;
}

static void attend_all_job(uint32_t job, uint32_t thread, void *context)
{
    (void)job, (void)thread;
    const struct play *play = context;
    for (uint32_t h = 0; h < play->mini->shape.kv_heads; h++) {
        attention_attend(attention_best(), &play->mini->attention, &play->heads[h]);
    }
}

/* ---- stages ---- */

void mini_look_up(struct play *play)
{
    pool_run(play->pool, play->mini->shape.kv_heads, mini_program_look_up_job, play);
}

void mini_update(struct play *play)
{
    pool_delegate(play->pool, play->mini->shape.kv_heads, mini_program_update_job, play);
    pool_wait(play->pool);
}

void mini_run_ahead(struct play *play)
{
    for (play->layer = 0; play->layer < play->mini->shape.layers; play->layer++) {
        mini_look_up(play);
        mini_update(play);
    }
}

void mini_list_misses(struct play *play)
{
    struct mini *mini = play->mini;
    play->row_count = 0;
    for (uint32_t h = 0; h < mini->shape.kv_heads; h++) {
        const struct mini_head *head = &play_heads(play)[h];
        memcpy(mini->rows + play->row_count, head->misses, head->miss_count * sizeof *mini->rows);
        play->row_count += head->miss_count;
    }
    for (uint32_t i = 0; i < play->row_count; i++) {
        mini->rows[play->row_count + i] = mini->rows[i] + mini->row_count;
    }
    play->row_count *= 2;
}

void mini_gather(struct play *play)
{
    const struct mini *mini = play->mini;
    const struct gather rows = {
        .from = play_layer(play)->kv.bytes,
        .rows = mini->rows,
        .count = play->row_count,
        .row_bytes = (uint32_t)mini->row_bytes,
        .stride = mini->row_bytes,
        .to = play->staging,
    };
    gather_run(play->pool, &rows);
}

static void gather_misses(struct play *play)
{
    mini_list_misses(play);
    mini_gather(play);
}

static void copy(struct play *play)
{
    pool_run(play->mini->link, 1, copy_rows_job, play);
}

void mini_prepare(struct play *play, const char *base, enum play_tokens tokens, bool part)
{
    const struct mini *mini = play->mini;
    uint32_t group = mini->attention.group, dim = mini->attention.dim;
    size_t place = mini_place(mini, play->step, play->layer);
    for (uint32_t h = 0; h < mini->shape.kv_heads; h++) {
        const struct mini_head *head = &play_heads(play)[h];
        const uint32_t *lists[] = {head->attended, head->hits, head->misses, NULL};
        const uint32_t counts[] = {head->attended_count, head->hit_count, head->miss_count,
                                   (uint32_t)mini->shape.context};
        size_t first = tokens == TOKENS_ALL ? h * mini->shape.context * dim : 0;
        const uint16_t *keys = (const uint16_t *)(const void *)base + first;
        size_t at = (part ? 0 : place) + (size_t)h * group;
        play->heads[h] = (struct attention_head){
            .keys = keys,
            .values = keys + (size_t)mini->row_count * dim,
            .stride = dim,
            .list = lists[tokens],
            .count = counts[tokens],
            .queries = mini->queries + (place + (size_t)h * group) * dim,
            .out = (part ? mini->part : mini->out) + at * dim,
            .lse = (part ? mini->part_lse : mini->lse) + at,
        };
    }
}

static void attend_start(struct play *play, const char *base, enum play_tokens tokens, bool part)
{
    mini_prepare(play, base, tokens, part);
    pool_start(play->mini->gpu, 1, attend_all_job, play);
}

static void attend_wait(struct play *play)
{
    pool_wait(play->mini->gpu);
}

static void mini_program_attend(struct play *play)
{
    attend_start(play, play_layer(play)->cache.bytes, TOKENS_ATTENDED, false);
    attend_wait(play);
}

static void mini_program_merge(struct play *play)
{
    struct mini *mini = play->mini;
    struct attention_shape shape = {mini->shape.query_heads, mini->attention.dim};
    size_t place = mini_place(mini, play->step, play->layer);
    attention_merge(&shape, mini->part, mini->part_lse, mini->out + place * shape.dim,
                    mini->lse + place);
}

/* ---- programs ---- */

static void mini_program_run_manager(struct play *play)
{
    mini_look_up(play);
    mini_update(play);
}

static void mini_program_run_cpu_attention(struct play *play)
{
    mini_prepare(play, play_layer(play)->kv.bytes, TOKENS_ATTENDED, false);
    attention_run(play->pool, &play->mini->attention, play->heads, play->mini->shape.kv_heads);
}

static void mini_program_run_fetch(struct play *play)
{
    mini_gather(play);
    copy(play);
    mini_program_attend(play);
}

static void mini_program_run_lru(struct play *play)
{
    mini_look_up(play);
    gather_misses(play);
    copy(play);
    mini_program_attend(play);
    mini_update(play);
}

static void mini_program_run_lru_overlapped(struct play *play)
{
    mini_look_up(play);
    gather_misses(play);
    copy(play);
    attend_start(play, play_layer(play)->cache.bytes, TOKENS_ATTENDED, false);
    mini_update(play);
    attend_wait(play);
}

static void mini_program_run_lru_split(struct play *play)
{
    mini_look_up(play);
    attend_start(play, play_layer(play)->cache.bytes, TOKENS_HIT, false);
    gather_misses(play);
    copy(play);
    attend_wait(play);
    attend_start(play, play_layer(play)->cache.bytes, TOKENS_MISSED, true);
    attend_wait(play);
    mini_program_merge(play);
    mini_update(play);
}

static void mini_program_run_hybrid(struct play *play)
{
    struct play outside = *play;
    outside.heads += play->mini->shape.kv_heads;
    attend_start(play, play_layer(play)->cache.bytes, TOKENS_HIT, false);
    mini_prepare(&outside, play_layer(play)->kv.bytes, TOKENS_MISSED, true);
    attention_run(play->pool, &play->mini->attention, outside.heads, play->mini->shape.kv_heads);
    attend_wait(play);
    mini_program_merge(play);
}

/* Copy layer number `slot`, counted over all steps, into the two buffers by turns. */
static void stream_start(struct play *play, uint32_t slot)
{
    struct mini *mini = play->mini;
    play->from = mini->layers[slot % mini->shape.layers].kv.bytes;
    play->to = mini->streamed[slot % 2].bytes;
    pool_start(mini->link, 1, copy_whole_job, play);
}

static void mini_program_run_stream(struct play *play)
{
    struct mini *mini = play->mini;
    uint32_t slot = play->step * mini->shape.layers + play->layer;
    bool last = slot + 1 == mini->shape.steps * mini->shape.layers;
    if (slot == 0) {
        stream_start(play, slot);
        pool_wait(mini->link);
    }
    if (!last) {
        stream_start(play, slot + 1);
    }
    attend_start(play, mini->streamed[slot % 2].bytes, TOKENS_ALL, false);
    if (!last) {
        pool_wait(mini->link);
    }
    attend_wait(play);
}

static void (*const programs[MINIATURE_COUNT])(struct play *) = {
    [MINIATURE_MANAGER] = mini_program_run_manager,
    [MINIATURE_GATHER] = mini_gather,
    [MINIATURE_CPU_ATTENTION] = mini_program_run_cpu_attention,
    [MINIATURE_FETCH] = mini_program_run_fetch,
    [MINIATURE_LRU] = mini_program_run_lru,
    [MINIATURE_LRU_OVERLAPPED] = mini_program_run_lru_overlapped,
    [MINIATURE_LRU_SPLIT] = mini_program_run_lru_split,
    [MINIATURE_HYBRID] = mini_program_run_hybrid,
    [MINIATURE_QSAC] = mini_program_run_lru, /* its lookup compares queries */
    [MINIATURE_STREAM] = mini_program_run_stream,
};

/* ---- samples ---- */

/* Does a policy manage the cache, so that misses are known only after its lookup? */
static bool manages(enum miniature_id id)
{
    const char *policy = miniature_kinds[id].policy;
    return strcmp(policy, "none") != 0 && strcmp(policy, "prefix") != 0;
}

void mini_tell_apart(struct play *play)
{
    for (uint32_t h = 0; h < play->mini->shape.kv_heads; h++) {
        mini_head_tell_apart(&play_heads(play)[h], play->step);
    }
    mini_list_misses(play);
}

struct play mini_play_init(struct mini *mini, enum miniature_id id)
{
    return (struct play){
        .mini = mini,
        .id = id,
        .pool = mini->pools[miniature_kinds[id].beside > 0],
        .heads = mini->attended,
        .staging = mini->staging.bytes,
    };
}

void mini_count(const struct play *play, struct mini_counts *counts)
{
    for (uint32_t h = 0; h < play->mini->shape.kv_heads; h++) {
        const struct mini_head *head = &play_heads(play)[h];
        counts->wanted += mini_head_demand(head, play->step)->count;
        counts->missed += head->miss_count;
        counts->agrees = counts->agrees && head->agrees;
    }
}

static void fill_caches_job(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct mini *mini = context;
    enum { LINE = 64 };
    size_t share = mini->elsewhere.size / pool_threads(mini->others);
    const volatile char *bytes = mini->elsewhere.bytes + job * share;
    for (size_t i = 0; i < share; i += LINE) {
        (void)bytes[i];
    }
}

void mini_fill_caches(struct mini *mini)
{
    pool_run(mini->others, pool_threads(mini->others), fill_caches_job, mini);
}

void mini_play(struct mini *mini, enum miniature_id id, double *ns, struct mini_counts *counts)
{
    const struct miniature *shape = &mini->shape;
    struct play play = mini_play_init(mini, id);
    *counts = (struct mini_counts){.agrees = true};
    for (play.step = 0; play.step < shape->steps; play.step++) {
        for (play.layer = 0; play.layer < shape->layers; play.layer++) {
            if (!manages(id)) {
                mini_tell_apart(&play);
            }
            mini_fill_caches(mini);
            double start = clock_ns();
            programs[id](&play);
            *ns++ = clock_ns() - start;
            mini_count(&play, counts);
        }
    }
}

double mini_copy_whole(struct mini *mini, uint32_t layer)
{
    struct play play = mini_play_init(mini, MINIATURE_STREAM);
    play.layer = layer;
    mini_fill_caches(mini);
    stream_start(&play, layer);
    pool_wait(mini->link);
    return (double)mini->layers[layer].kv.size * 1e9 / play.copy_ns;
}

double mini_copy_rows(struct mini *mini, uint32_t layer)
{
    struct play play = mini_play_init(mini, MINIATURE_FETCH);
    play.layer = layer;
    mini_tell_apart(&play);
    mini_fill_caches(mini);
    mini_gather(&play);
    copy(&play);
    return (double)play.row_count * (double)mini->row_bytes * 1e9 / play.copy_ns;
}

double mini_attend_whole(struct mini *mini, uint32_t layer)
{
    struct play play = mini_play_init(mini, MINIATURE_STREAM);
    play.layer = layer;
    mini_prepare(&play, mini->layers[layer].kv.bytes, TOKENS_ALL, false);
    mini_fill_caches(mini);
    double start = clock_ns();
    attend_all_job(0, 0, &play);
    return (double)mini->layers[layer].kv.size * 1e9 / (clock_ns() - start);
}
