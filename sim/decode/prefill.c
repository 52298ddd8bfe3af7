/* Building a prefill's schedule on the pipeline's machine. */
#include "decode/prefill.h"

#include "decode/hybrid.h"
#include "decode/index_build.h"
#include "decode/machine.h"
#include "decode/memory.h"
#include "decode/stream.h"
#include "decode/work.h"

#include <math.h>
#include <stdlib.h>

/* ---- costs of a pass, of so many sequences ---- */

/* At one attended token for each row, K and V of every token are read once. In bf16, whatever the
 * weights. */
static struct kernel attention(const struct setup *setup, uint32_t layer, uint32_t sequences)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    uint64_t rows = sequences * setup->prompt;
    size_t count = model_operators(&setup->model, layer, rows, 1, operators);
    double flops = model_prefill_attention_flops(&setup->model, layer, setup->prompt), bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += operators[i].stage == MODEL_ATTEND ? (double)operators[i].data_bytes : 0;
    }
    return cost_product_as(setup, flops * sequences, (double)rows, bytes, false);
}

/* What leaves of a layer's offloaded heads: of a sequence, what stands for its KV on the host; of
 * one whose window stays, what lies outside; nothing where the rest is dropped. */
static double leaving_bytes(const struct pipe *pipe, uint32_t layer)
{
    const struct setup *setup = pipe->setup;
    const struct plan *plan = pipe->plan;
    double heads = plan->offloaded[layer], prompt = (double)setup->prompt;
    if (mechanisms_drop(&setup->mechanisms)) {
        return 0;
    }
    if (hybrid_is(setup, layer)) {
        const struct mechanisms *m = &setup->mechanisms;
        double window = (double)(m->sinks + setup_recent(setup) + plan->cache_tokens);
        return heads * fmax(0, prompt - window) * (pipe->head_bytes + HYBRID_AVERAGE_BYTES);
    }
    return heads / plan->kv_heads * representation_host_bytes(setup, &plan->split) * prompt /
           (double)plan->context;
}

/* ---- the schedule ---- */

static bool put_operators(struct pipe *pipe, enum model_stage stage, engine_task_id after,
                          struct error *why)
{
    uint64_t kernels = cost_stage_kernels(pipe->mechanisms->operators, stage);
    uint64_t rows = pipe_sequences(pipe) * pipe->setup->prompt;
    struct kernel kernel = cost_stage(pipe->setup, pipe->layer, stage, rows, 0, kernels);
    return work_put_kernel(pipe, PART_COMPUTE, kernel, kernels, after, NULL, why);
}

static bool put_index(struct pipe *pipe, struct error *why)
{
    struct kernel kernel = index_build(pipe->setup, pipe->layer, pipe_sequences(pipe));
    return kernel.ns == 0 ||
           work_put_kernel(pipe, PART_RETRIEVAL, kernel, 1, ENGINE_NONE, NULL, why);
}

static bool put_attention(struct pipe *pipe, struct error *why)
{
    uint64_t kernels = cost_stage_kernels(pipe->mechanisms->operators, MODEL_ATTEND);
    struct kernel kernel = attention(pipe->setup, pipe->layer, pipe_sequences(pipe));
    return work_put_kernel(pipe, PART_COMPUTE, kernel, kernels, ENGINE_NONE, NULL, why);
}

/* The GPU's time for all of a pass. */
static double pass_ns(const struct pipe *pipe)
{
    const struct setup *setup = pipe->setup;
    uint64_t rows = pipe_sequences(pipe) * setup->prompt;
    double ns = attention(setup, pipe->layer, pipe_sequences(pipe)).ns;
    for (enum model_stage stage = MODEL_PRE; stage <= MODEL_POST; stage++) {
        uint64_t kernels = cost_stage_kernels(pipe->mechanisms->operators, stage);
        ns +=
            stage == MODEL_ATTEND ? 0 : cost_stage(setup, pipe->layer, stage, rows, 0, kernels).ns;
    }
    return ns;
}

/* Keys that have left are trained on by the CPU, beside the passes behind. */
static bool put_host_index(struct pipe *pipe, engine_task_id left, struct error *why)
{
    struct work work = {
        .part = PART_RETRIEVAL,
        .resource = PIPE_POOL,
        .fixed_trust = work_trust,
        .rate_trust = work_trust,
    };
    work.fixed_ns = index_build_host_ns(pipe->setup, pipe->layer, pipe_sequences(pipe),
                                        pass_ns(pipe), &work.fixed_trust);
    work_wait_for(&work, left);
    return work.fixed_ns == 0 || work_put(pipe, &work, NULL, why);
}

/* K and V are there, and leave, once the first operators have run. */
static bool put_pass(struct pipe *pipe, struct error *why)
{
    double bytes = leaving_bytes(pipe, pipe->layer) * pipe_sequences(pipe);
    uint64_t rows = pipe_sequences(pipe) * pipe->setup->prompt;
    engine_task_id left = ENGINE_NONE;
    return stream_put_weights(pipe, pipe->layer, why) &&
           put_operators(pipe, MODEL_PRE, stream_weights(pipe), why) &&
           stage_overhead(pipe, pipe->layer, why) &&
           (bytes == 0 || work_put_copy_out(pipe, bytes, &left, why)) &&
           put_host_index(pipe, left, why) && put_index(pipe, why) && put_attention(pipe, why) &&
           put_operators(pipe, MODEL_POST, ENGINE_NONE, why) && stage_collective(pipe, rows, why);
}

/* The first layer's weights come like those of any other: as if a layer had gone before. */
static bool put_first_weights(struct pipe *pipe, struct error *why)
{
    pipe->layer = pipe->plan->layers - 1;
    for (pipe->micro_batch = 0; pipe->micro_batch < pipe->plan->micro_batch_count;
         pipe->micro_batch++) {
        if (!stream_put_weights(pipe, pipe->layer, why)) {
            return false;
        }
    }
    return true;
}

static bool build(struct pipe *pipe, struct error *why)
{
    if (!machine_add(pipe, why) || !put_first_weights(pipe, why)) {
        return false;
    }
    for (pipe->layer = 0; pipe->layer < pipe->plan->layers; pipe->layer++) {
        for (pipe->micro_batch = 0; pipe->micro_batch < pipe->plan->micro_batch_count;
             pipe->micro_batch++) {
            if (!put_pass(pipe, why)) {
                return false;
            }
        }
    }
    pipe->micro_batch = 0;
    pipe->edge = cost_stage(pipe->setup, pipe->plan->layers, MODEL_EDGE, pipe->plan->batch, 0, 1);
    return stage_end_step(pipe, why) && engine_run(pipe->engine, INT64_MAX, why);
}

/* The weights of the first layer that come again are decode's. */
static int64_t end_of(const struct pipe *pipe)
{
    static const enum pipe_resource ends[] = {PIPE_LAUNCH, PIPE_D2H, PIPE_POOL};
    int64_t end = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (pipe->last[ends[i]] != ENGINE_NONE) {
            int64_t ns = engine_task_record(pipe->engine, pipe->last[ends[i]])->end_ns;
            end = ns > end ? ns : end;
        }
    }
    return end;
}

bool prefill_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 int64_t *ns, struct trust *trust, struct error *why)
{
    struct pipeline_step moved = {0};
    struct pipe pipe = {
        .setup = setup,
        .mechanisms = &setup->mechanisms,
        .plan = plan,
        .ledger = ledger,
        .head_bytes = (double)model_kv_head_bytes(&setup->model),
        .halves = HALF_BOTH,
        .stage = "prefill",
        .graph = ENGINE_NONE,
        .moved = &moved,
    };
    stream_init(&pipe);
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        pipe.last[i] = ENGINE_NONE;
    }
    bool good = build(&pipe, why);
    if (good) {
        uint64_t trained = setup->model.trained_context;
        bool past = trained > 0 && setup->prompt + setup->output > trained;
        *ns = end_of(&pipe);
        trust_add(trust, pipe_trust(&pipe));
        trust_add(trust, (struct trust){BASIS_MEASURED, past});
    }
    engine_destroy(pipe.engine);
    free(pipe.marks);
    return good;
}
