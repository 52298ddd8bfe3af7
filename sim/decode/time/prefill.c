/* Building a prefill's schedule on the pipeline's machine. */
#include "decode/time/prefill.h"

#include "core/stop_flag.h"
#include "decode/cost/attention.h"
#include "decode/time/fetch.h"
#include "decode/time/steady.h"
#include "decode/time/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of the prompts of the micro-batch that passes now. */
static uint64_t pass_rows(const struct pipe *pipe)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        rows += cohorts[i] * pipe->plan->cohorts[i].prompt;
    }
    return rows;
}

/* model_operators() is asked for one attended token a row, so its bytes read K and V of every token once. */
static double attention_bytes(const struct pipe *pipe)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    const struct model *model = &pipe->setup->model;
    uint64_t rows = pass_rows(pipe);
    size_t count = model_operators(model, pipe->layer, rows, rows, operators);
    double bytes = model_prefill_state_bytes(model, pipe->layer, rows);
    for (size_t i = 0; i < count; i++) {
        bool reads = operators[i].stage == MODEL_ATTEND && operators[i].matrix;
        bytes += reads ? (double)operators[i].data_bytes : 0;
    }
    return bytes;
}

/* Attention in bf16, whatever the type of the weights: one call for all prompts. */
static struct kernel prefill_attention_work(const struct pipe *pipe)
{
    struct prompt_attention work = {.waits = pipe->mechanisms->prompt_waits};
    const uint32_t *cohorts = pipe_cohorts(pipe);
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        for (uint32_t j = 0; j < cohorts[i]; j++) {
            prompt_attention_add(&work, &pipe->setup->model, pipe->layer, 0,
                                 pipe->plan->cohorts[i].prompt);
        }
    }
    work.bytes = attention_bytes(pipe);
    return kernel_prompt_attention(&pipe->setup->profile, &work);
}

static struct indexing pass_indexing(const struct pipe *pipe)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    struct indexing all = {0};
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        index_build_add(&pipe->setups[i], pipe->layer, pipe->plan->cohorts[i].prompt, cohorts[i],
                        &all);
    }
    return all;
}

double prefill_leaving_bytes(const struct setup *setup, const struct plan *plan, uint32_t layer,
                             uint32_t cohort, uint64_t prompt)
{
    const struct mechanisms *m = setup->mechanisms;
    const struct cohort *of = &plan->cohorts[cohort];
    double heads = plan->offloaded[layer], head_bytes = (double)model_kv_head_bytes(&setup->model);
    if (mechanisms_drop(m)) {
        return 0;
    }
    if (m->attention == ATTEND_HYBRID && cpu_attends(setup, layer)) {
        double window = (double)(m->sinks + setup_recent(setup) + of->sizes.cache_tokens);
        return heads * fmax(0, (double)prompt - window) * (head_bytes + CPU_AVERAGE_BYTES);
    }
    bool indexed = m->retrieval_on == RETRIEVAL_ON_CPU && cpu_attends(setup, layer);
    double entries = indexed ? (double)prompt / (double)m->retrieval_tokens : 0;
    return heads / plan->kv_heads * split_host_bytes(setup, &of->sizes.split) * (double)prompt /
               (double)of->context +
           heads * entries * retrieval_entry_bytes(setup);
}

static bool put_operators(struct pipe *pipe, enum model_stage stage, engine_task_id after,
                          struct error *why)
{
    uint64_t kernels = cost_stage_kernels(pipe->mechanisms, stage);
    struct kernel kernel = cost_stage(pipe->setup, pipe->layer, stage, pass_rows(pipe), 0, kernels);
    return work_put_kernel(pipe, PART_COMPUTE, kernel, kernels, after, NULL, why);
}

/* The GPU's time for a whole pass. */
static double pass_ns(const struct pipe *pipe)
{
    double ns = prefill_attention_work(pipe).ns;
    for (enum model_stage stage = MODEL_PRE; stage <= MODEL_POST; stage++) {
        uint64_t kernels = cost_stage_kernels(pipe->mechanisms, stage);
        ns += stage == MODEL_ATTEND
                  ? 0
                  : cost_stage(pipe->setup, pipe->layer, stage, pass_rows(pipe), 0, kernels).ns;
    }
    return ns;
}

/* The CPU builds the index from the keys that have left, while later passes run. */
static bool put_host_index(struct pipe *pipe, engine_task_id left, struct error *why)
{
    struct work work = work_of(PART_RETRIEVAL, PIPE_POOL);
    struct indexing indexing = pass_indexing(pipe);
    work.fixed_ns = index_build_host_ns(pipe->setup, &indexing, pass_ns(pipe), &work.fixed_trust);
    work_wait_for(&work, left);
    return work.fixed_ns == 0 || work_put(pipe, &work, NULL, why);
}

/* Each whole chunk of a pass, and then the rest, has its own exchanges. */
static bool prefill_put_exchanges(struct pipe *pipe, struct error *why)
{
    uint64_t rows = pass_rows(pipe), kernels_whole = 0, kernels_rest = 0;
    uint64_t chunk = pipe->mechanisms->prefill_chunk > 0 ? pipe->mechanisms->prefill_chunk : rows;
    uint64_t whole = rows / chunk, rest = rows % chunk;
    const struct model *model = &pipe->setup->model;
    struct kernel sum =
        cost_exchanges(pipe->setup, pipe->layer, model_rows(model, chunk), &kernels_whole);
    sum.ns *= (double)whole;
    struct kernel last =
        cost_exchanges(pipe->setup, pipe->layer, model_rows(model, rest), &kernels_rest);
    if (kernels_whole == 0) {
        return true;
    }
    uint64_t kernels = whole * kernels_whole + (rest > 0 ? kernels_rest : 0);
    sum = rest > 0 ? kernel_then(sum, last) : sum;
    return work_put_kernel(pipe, PART_COLLECTIVE, sum, kernels, ENGINE_NONE, NULL, why);
}

/* K and V exist, and start to leave, before attention's operators. A synchronous copy holds up launches. */
static bool put_pass(struct pipe *pipe, struct error *why)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    engine_task_id left = ENGINE_NONE;
    double bytes = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        bytes += cohorts[i] * prefill_leaving_bytes(&pipe->setups[i], pipe->plan, pipe->layer, i,
                                                    pipe->plan->cohorts[i].prompt);
    }
    struct indexing indexing = pass_indexing(pipe);
    struct kernel kernel = index_build(pipe->setup, &indexing);
    return stream_put_weights(pipe, pipe->layer, why) &&
           put_operators(pipe, MODEL_PRE, stream_weights(pipe), why) &&
           stage_overhead(pipe, pipe->layer, why) &&
           (bytes == 0 || disk_put_leaving(pipe, bytes, &left, why)) &&
           (bytes == 0 || pipe->mechanisms->copy == COPY_ASYNCHRONOUS ||
            work_put_thread(pipe, PART_LINK, 0, left, work_trust, NULL, why)) &&
           put_host_index(pipe, left, why) &&
           (kernel.ns == 0 ||
            work_put_kernel(pipe, PART_RETRIEVAL, kernel, 1, ENGINE_NONE, NULL, why)) &&
           work_put_kernel(pipe, PART_COMPUTE, prefill_attention_work(pipe),
                           cost_stage_kernels(pipe->mechanisms, MODEL_ATTEND), ENGINE_NONE, NULL,
                           why) &&
           put_operators(pipe, MODEL_POST, ENGINE_NONE, why) && prefill_put_exchanges(pipe, why);
}

/* The first layer's weights are loaded like those of any other, as if a layer came before it. */
static bool put_first_weights(struct pipe *pipe, struct error *why)
{
    pipe->layer = pipe->plan->layers - 1;
    for (pipe->micro_batch = 0; pipe->micro_batch < pipe->plan->micro_batches.count;
         pipe->micro_batch++) {
        if (!stream_put_weights(pipe, pipe->layer, why)) {
            return false;
        }
    }
    return true;
}

static bool build(struct pipe *pipe, struct error *why)
{
    if (!pipe_setups(pipe, why) || !machine_add(pipe, why) || !put_first_weights(pipe, why)) {
        return false;
    }
    for (pipe->layer = 0; pipe->layer < pipe->plan->layers; pipe->layer++) {
        if (!stop_flag_check(pipe->stop, why)) {
            return false;
        }
        for (pipe->micro_batch = 0; pipe->micro_batch < pipe->plan->micro_batches.count;
             pipe->micro_batch++) {
            if (!put_pass(pipe, why)) {
                return false;
            }
        }
    }
    pipe->micro_batch = 0;
    pipe->edge = cost_stage(pipe->setup, pipe->plan->layers, MODEL_EDGE, pipe->plan->batch, 0, 1);
    return stage_end_step(pipe, why) && engine_run(pipe->engine, pipe->stop, why);
}

/* The copy engine to the GPU and reads are left out: their last load, the first weights, is for decode. */
engine_task_id prefill_last(const struct pipe *pipe)
{
    static const enum pipe_resource ends[] = {PIPE_LAUNCH, PIPE_OUT, PIPE_POOL, PIPE_WRITE};
    engine_task_id last = pipe->last[PIPE_LAUNCH];
    for (size_t i = 1; i < sizeof ends / sizeof *ends; i++) {
        engine_task_id task = pipe->last[ends[i]];
        if (task != ENGINE_NONE && engine_task_record(pipe->engine, task)->end_ns >
                                       engine_task_record(pipe->engine, last)->end_ns) {
            last = task;
        }
    }
    return last;
}

bool prefill_build(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                   const struct ledger *ledger, const struct stop_flag *stop, struct error *why)
{
    pipe_begin(pipe, setup, plan, ledger, stop);
    pipe->halves = HALF_BOTH;
    pipe->stage = "prefill";
    pipe->moved = arrays_add(&pipe->arrays, 1, sizeof *pipe->moved, why);
    return pipe->moved != NULL && build(pipe, why);
}

/* Its figures are its time, and those of its loops. */
struct prefill {
    const struct setup *setup;
    const struct ledger *ledger; /* may be NULL */
    const struct stop_flag *stop;
    size_t loops;
    struct trust trust; /* of all schedules */
};

static size_t figure_count(const struct prefill *prefill)
{
    return 1 + prefill->loops * (LOOP_IDLES + LOOP_LAGS);
}

static bool prefill_time_plan(void *context, const struct plan *plan, int64_t *figures,
                              struct error *why)
{
    struct prefill *prefill = context;
    struct pipe pipe;
    bool good = prefill_build(&pipe, prefill->setup, plan, prefill->ledger, prefill->stop, why);
    if (good) {
        memset(figures, 0, figure_count(prefill) * sizeof *figures);
        figures[0] = engine_task_record(pipe.engine, prefill_last(&pipe))->end_ns;
        loops_read(&pipe, 0, 1, figures + 1, figures + 1 + prefill->loops * LOOP_IDLES);
        trust_add(&prefill->trust, pipe_trust(&pipe));
    }
    pipe_release(&pipe);
    return good;
}

/* Time the plan whole, or from its first micro-batches. */
static bool find_figures(struct prefill *prefill, const struct plan *plan, int64_t *figures,
                         bool *exact, struct error *why)
{
    const struct steady_question question = {
        .plan = plan,
        .count = figure_count(prefill),
        .idle_count = prefill->loops * LOOP_IDLES,
        .lag_count = prefill->loops * LOOP_LAGS,
        .time = prefill_time_plan,
        .context = prefill,
    };
    *exact = true;
    return steady_shortens(plan) ? steady_figures(&question, figures, exact, why)
                                 : prefill_time_plan(prefill, plan, figures, why);
}

bool prefill_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 const struct stop_flag *stop, struct prefill_time *out, struct error *why)
{
    struct prefill prefill = {setup, ledger, stop, loops_count(setup, plan), work_trust};
    int64_t *figures = array_zeroed(figure_count(&prefill), sizeof *figures, why);
    bool good = figures != NULL && find_figures(&prefill, plan, figures, &out->exact, why);
    if (good) {
        uint64_t trained = setup->model.trained_context;
        uint64_t longest = plan->cohorts[plan->cohort_count - 1].prompt;
        out->ns = figures[0];
        out->trust = prefill.trust;
        out->trust.extrapolated =
            out->trust.extrapolated || (trained > 0 && longest + setup->output > trained);
    }
    free(figures);
    return good;
}
