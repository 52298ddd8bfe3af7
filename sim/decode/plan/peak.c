/* The peak of a step and that of its prefill, and the larger of the two. */
#include "decode/mechanism_values.h"
#include "decode/plan/memory.h"

#include "decode/cost/attention.h"

#include <math.h>

/* The most of any micro-batch, each of its own. */
struct pass_most {
    double sequences, contexts, prompts, scores; /* number; tokens of all; scores of a query head */
};

static struct pass_most most_of_pass(const struct plan *plan)
{
    const struct packing *packing = &plan->micro_batches;
    struct pass_most most = {0};
    for (uint32_t r = 0; r < packing->runs; r++) {
        struct pass_most sum = {0};
        for (uint32_t i = 0; i < packing->cohorts; i++) {
            double sequences = packing->sequences[r * packing->cohorts + i];
            sum.sequences += sequences;
            sum.contexts += (double)plan->cohorts[i].context * sequences;
            sum.prompts += (double)plan->cohorts[i].prompt * sequences;
            sum.scores += pow((double)plan->cohorts[i].prompt, 2) * sequences;
        }
        most.sequences = fmax(most.sequences, sum.sequences);
        most.contexts = fmax(most.contexts, sum.contexts);
        most.prompts = fmax(most.prompts, sum.prompts);
        most.scores = fmax(most.scores, sum.scores);
    }
    return most;
}

double peak_layer_bytes(const struct setup *setup, const struct plan *plan)
{
    double kv = (double)model_kept_token_bytes(&setup->model);
    double act = (double)model_activation_bytes(&setup->model);
    bool only_kv = setup->mechanisms->representation == REPRESENTATION_KV;
    return most_of_pass(plan).contexts * (only_kv ? kv : fmax(kv, act));
}

/* Two buffers for a micro-batch's layer, or a head of it: its KV, or activations and all KV to attend to. */
static double peak_whole_bytes(const struct setup *setup, const struct plan *plan)
{
    const struct mechanisms *m = setup->mechanisms;
    double kv_token = (double)model_kept_token_bytes(&setup->model) * keys_buffer_share(setup);
    double token = m->representation == REPRESENTATION_KV
                       ? kv_token
                       : 2 * kv_token + (double)model_activation_bytes(&setup->model);
    double parts = m->prefetch == PREFETCH_WHOLE_HEAD ? model_kv_heads(&setup->model) : 1;
    return 2 * most_of_pass(plan).contexts * token / parts;
}

/* Buffers for one layer's selection: none if it is fetched straight into the cache, one if it is
 * fetched in its own layer, two if it is prefetched while another layer is used. Whole layers have
 * buffers of their own (peak_whole_bytes()). What the queries of a verification want together may
 * exceed the cache, so it is fetched into a buffer there, too: the scratch of SGLang's swap kernel
 * for several steps (sgl-project/sglang #32162). */
static double selection_bytes(const struct setup *setup, const struct head_sizes *sizes,
                              uint32_t batch)
{
    const struct mechanisms *m = setup->mechanisms;
    double token = (double)model_kept_token_bytes(&setup->model) * keys_buffer_share(setup);
    double selected = (double)sizes->selected_tokens * setup_queries(setup);
    double held = fmin(selected, (double)setup->context); /* no union is larger */
    double some = (m->prefetch == PREFETCH_NONE ? 1 : 2) * held * token;
    bool into_cache = sizes->cache_tokens > 0 && !m->merge && setup_queries(setup) == 1;
    bool straight = into_cache || mechanisms_cpu_selects(m) || mechanisms_load_whole(m) ||
                    mechanisms_attend_in_place(m);
    return mechanisms_offload(m) && !straight ? some * batch : 0;
}

/* A layer's K, V and entries, once for each query head. */
static double repeat_bytes(const struct setup *setup, const struct head_sizes *sizes,
                           uint32_t batch)
{
    const struct mechanisms *m = setup->mechanisms;
    double some = (double)(sizes->selected_tokens + m->sinks + setup_recent(setup));
    double tokens =
        setup_selects(setup) ? fmin(some, (double)setup->context) : (double)setup->context;
    double kv = tokens * (double)model_kv_head_bytes(&setup->model);
    double entries = (double)sizes->entries * retrieval_entry_bytes(setup);
    double all = retrieval_copies(setup) * (kv + entries) + m->append_by_copy * kv;
    return all * model_kv_heads(&setup->model) * batch;
}

/* For the largest layer or half of one. */
double peak_weight_buffers(const struct setup *setup)
{
    bool halves = setup->mechanisms->halves;
    double most = 0;
    bool streams = setup->mechanisms->weights_at == WEIGHTS_AT_GPU || setup->prompt > 0;
    for (uint32_t l = 0; streams && l < setup->model.layer_count; l++) {
        if (model_layer_repeats(&setup->model, l)) {
            continue;
        }
        most = fmax(most, streamed_weight_bytes(setup, l, halves ? HALF_FFN : HALF_BOTH));
        most = fmax(most, halves ? streamed_weight_bytes(setup, l, HALF_ATTENTION) : 0);
    }
    return 2 * most;
}

/* Operands of the operator with the largest operands in any layer, on `tokens` tokens. */
static double operand_bytes(const struct setup *setup, double tokens)
{
    double most = 0;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_layer_repeats(&setup->model, l)
                           ? 0
                           : model_operators(&setup->model, l, (uint64_t)tokens, 0, operators);
        for (size_t i = 0; i < count; i++) {
            most = fmax(most, (double)operators[i].data_bytes);
        }
    }
    return most;
}

#define LOGIT_BYTES 4.0 /* fp32, for the sampler */

static double logit_bytes(const struct setup *setup, double rows)
{
    return rows * LOGIT_BYTES * setup->model.vocabulary / setup->model.tensor_parallel;
}

static double step_workspace(const struct setup *setup, const struct plan *plan)
{
    double entries = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        double pairs = (double)model_kv_heads(&setup->model) * cohort->sequences;
        entries += (double)cohort->sizes.entries * pairs;
    }
    double queries = setup_queries(setup), rows = queries * plan->batch;
    double layer = operand_bytes(setup, queries * most_of_pass(plan).sequences) +
                   retrieval_score_bytes(setup, entries);
    double hidden = rows * (double)model_activation_bytes(&setup->model);
    return hidden + fmax(layer, logit_bytes(setup, rows));
}

#define ASSIGNMENT_BYTES 4.0 /* of a key to its centroid: int32 */
#define SUM_BYTES 4.0        /* of a value of a centroid, while it is averaged: fp32 */

/* Memory of the k-means for one sequence's clusters in a layer. Its kernels store no distances. */
static double cluster_bytes(const struct setup *setup, uint64_t prompt)
{
    const struct mechanisms *m = setup->mechanisms;
    if (m->retrieval != RETRIEVAL_CLUSTERS) {
        return 0;
    }
    double keys = (double)prompt * model_kv_heads(&setup->model);
    double centroid = setup->model.head_dim * SUM_BYTES;
    return keys * (ASSIGNMENT_BYTES + centroid / (double)m->retrieval_tokens);
}

/* Bytes for each token of a layer: K and V, and what is kept of the layer before, on its way to the host. */
static double peak_leaving_bytes(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    double kv = (double)model_kept_token_bytes(&setup->model);
    double act = (double)model_activation_bytes(&setup->model);
    return !mechanisms_offload(m)
               ? 0
               : kv + (m->representation == REPRESENTATION_KV ? kv * keys_host_share(setup)
                                                              : fmax(kv, act));
}

static struct peak prefill_peak(const struct setup *setup, const struct plan *plan)
{
    const struct mechanisms *m = setup->mechanisms;
    uint64_t longest = plan->cohorts[plan->cohort_count - 1].prompt;
    const struct pass_most most = most_of_pass(plan);
    double all = 0, pass = most.prompts;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        all += (double)plan->cohorts[i].sequences * (double)plan->cohorts[i].prompt;
    }
    double chunk = m->prefill_chunk > 0 ? fmin((double)m->prefill_chunk, all) : pass;
    bool wait = m->prefill_chunk == 0 && m->representation == REPRESENTATION_KV;
    double whole = m->prefill_chunk > 0 ? fmax(chunk, (double)longest) : pass;
    double scores = m->prefill_chunk > 0 ? chunk * (double)longest : most.scores;
    /* Logits of all tokens are in the model's own numbers, half as long as those for the sampler. */
    double logits = logit_bytes(setup, m->prompt_scores > 0 ? chunk / 2 : plan->batch);
    double held = scores * (double)m->prompt_scores * model_query_heads(&setup->model);
    double layer = fmax(operand_bytes(setup, chunk), held) + cluster_bytes(setup, longest);
    return (struct peak){
        .buffers = peak_weight_buffers(setup) + whole * peak_leaving_bytes(setup),
        .workspace = (wait ? all : chunk) * (double)model_activation_bytes(&setup->model) +
                     fmax(layer, logits),
        .in_prefill = true,
    };
}

static double step_buffers(const struct setup *setup, const struct plan *plan)
{
    bool loads = memory_loads_whole(setup) && setup->mechanisms->attention != ATTEND_CPU;
    double loaded = loads ? peak_whole_bytes(setup, plan) : 0;
    double selected = 0, repeated = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        selected += selection_bytes(&own, &cohort->sizes, cohort->sequences);
        repeated += repeat_bytes(&own, &cohort->sizes, cohort->sequences);
    }
    return fmax(loaded, selected) + peak_weight_buffers(setup) + repeated;
}

struct peak peak_of(const struct setup *setup, const struct plan *plan)
{
    struct peak step = {
        .buffers = step_buffers(setup, plan),
        .workspace = step_workspace(setup, plan),
    };
    if (setup->prompt == 0) {
        return step;
    }
    struct peak prefill = prefill_peak(setup, plan);
    return prefill.buffers + prefill.workspace > step.buffers + step.workspace ? prefill : step;
}
