#include "decode/time/cpu_whole.h"

#include "decode/cost/cpu_attention.h"
#include "decode/replay/cpu_heads.h"
#include "decode/time/hybrid.h"
#include "decode/time/stream.h"
#include "decode/time/work.h"

#include <math.h>

/* Pairs of the pass, and the tokens of all and of the longest task. */
static struct ledger_row pass_row(const struct pipe *pipe, uint32_t layer, uint32_t threads)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    struct ledger_row row = {0};
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        uint64_t pairs = (uint64_t)cohorts[i] * pipe->plan->offloaded[layer];
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        uint64_t tokens = pairs > 0 ? part->missed / part->offloaded_heads : 0;
        row.offloaded_heads += (uint32_t)pairs;
        row.for_cpu_padded += pairs * tokens;
        row.for_cpu_worst = tokens > row.for_cpu_worst ? tokens : row.for_cpu_worst;
    }
    row.for_cpu_worst *= cpu_heads_each(row.offloaded_heads, threads);
    return row;
}

static bool put_copy(struct pipe *pipe, enum way_id way, double bytes, engine_task_id after,
                     engine_task_id *out, struct error *why)
{
    struct trust trust = work_trust;
    struct work work = work_over(pipe, PART_SYNC, way, bytes);
    engine_task_id started;
    double call = pipe_figure(pipe, CURVE_HOST_COPY_CALL, 0, &trust);
    if (!work_put_thread(pipe, PART_LAUNCH, call, after, trust, &started, why)) {
        return false;
    }
    work.resource = way == WAY_IN ? PIPE_NO_QUEUE : work.resource; /* between parts of weights */
    work.rate /= cost_uplink_sharers(pipe->setup, &work.rate_trust);
    work_wait_for(&work, started);
    work_wait_for(&work, way == WAY_OUT ? pipe->last[PIPE_MAIN] : ENGINE_NONE);
    return work_put(pipe, &work, out, why);
}

/* The thread waits for the query, and for the KV to be in host memory. */
static bool put_waits(struct pipe *pipe, engine_task_id query, engine_task_id *out,
                      struct error *why)
{
    struct trust trust = work_trust;
    double sync = pipe_figure(pipe, CURVE_HOST_SYNC, 0, &trust);
    return work_put_thread(pipe, PART_SYNC, sync, query, trust, out, why) &&
           work_put_thread(pipe, PART_DISK, 0, stream_kv(pipe), work_trust, out, why);
}

bool cpu_whole_attend(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct model *model = &pipe->setup->model;
    struct pipe_layer *at = &pipe->at[layer];
    struct trust trust = work_trust;
    uint32_t threads = cpu_whole_threads(pipe->setup, &trust);
    struct ledger_row row = pass_row(pipe, layer, threads);
    engine_task_id query, answer;
    if (!put_copy(pipe, WAY_OUT, hybrid_query_bytes(model, row.offloaded_heads), ENGINE_NONE,
                  &query, why) ||
        !put_waits(pipe, query, &at->selected, why) ||
        !hybrid_put_attention(pipe, layer, &row, threads, why) ||
        !put_copy(pipe, WAY_IN, hybrid_answer_bytes(model, row.offloaded_heads), at->answered,
                  &answer, why) ||
        !work_put_event(pipe, PART_CPU_ATTENTION, answer, why)) {
        return false;
    }
    at->attended = pipe->last[PIPE_MAIN];
    stream_attended(pipe, at->answered);
    return true;
}
