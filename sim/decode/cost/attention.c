/* Decode attention: over heads of K and V, or over the latents of MLA. */

#include "decode/cost/attention.h"

#include <math.h>

#include "decode/mechanism_values.h"
#include "model/layer_kind.h"

/* `pair`: the time of each pair of a sequence and a KV head, with latents a query head. */
struct attention_cost_curves {
    enum curve_id fixed, share, pair, flops, peak;
};

static const struct attention_cost_curves heads_bf16 = {
    CURVE_GPU_ATTENTION_FIXED, CURVE_GPU_ATTENTION_SHARE, CURVE_GPU_ATTENTION_PAIR,
    CURVE_GPU_FLOPS_SHARE, CURVE_GPU_FLOPS_BF16};
static const struct attention_cost_curves heads_fp8 = {
    CURVE_GPU_ATTENTION_FIXED_FP8, CURVE_GPU_ATTENTION_SHARE_FP8, CURVE_GPU_ATTENTION_PAIR_FP8,
    CURVE_GPU_FLOPS_SHARE, CURVE_GPU_FLOPS_BF16};
static const struct attention_cost_curves latents_bf16 = {
    CURVE_GPU_MLA_FIXED, CURVE_GPU_MLA_SHARE, CURVE_GPU_MLA_PAIR, CURVE_GPU_MLA_FLOPS_SHARE,
    CURVE_GPU_FLOPS_BF16};
static const struct attention_cost_curves latents_fp8 = {
    CURVE_GPU_MLA_FIXED_FP8, CURVE_GPU_MLA_SHARE_FP8, CURVE_GPU_MLA_PAIR_FP8,
    CURVE_GPU_MLA_FLOPS_SHARE_FP8, CURVE_GPU_FLOPS_FP8};

static const struct attention_cost_curves *attention_cost_curves_of(const struct profile *profile,
                                                                    enum dtype kv, bool latent)
{
    bool fp8 = kv == DTYPE_FP8;
    if (latent && fp8 && profile_states(profile, latents_fp8.fixed)) {
        return &latents_fp8;
    }
    if (latent && profile_states(profile, latents_bf16.fixed)) {
        return &latents_bf16;
    }
    return fp8 && profile_states(profile, heads_fp8.fixed) ? &heads_fp8 : &heads_bf16;
}

/* Rows of a KV head up to which attention was measured: as long as its bytes take. */
enum { MEASURED_ROWS = 16 };

struct kernel kernel_attention(const struct profile *profile, const struct attention_work *work)
{
    const struct attention_cost_curves *curves =
        attention_cost_curves_of(profile, work->kv, work->latent);
    bool own = profile_states(profile, curves->fixed);
    bool packed = work->queries > 1 && work->rows > MEASURED_ROWS;
    bool of_latents = curves == &latents_bf16 || curves == &latents_fp8;
    struct kernel kernel = roofline_read(profile, work->bytes, curves->share);
    /* Else query heads share so few bytes that no measurement shows their FLOPs. */
    if (work->latent || packed || !own) {
        struct trust trust = {.basis = BASIS_MEASURED};
        bool fp8 = !own && work->multiplied == DTYPE_FP8;
        double ns =
            roofline_flops_ns(profile, work->flops, work->rows,
                              fp8 ? CURVE_GPU_FLOPS_FP8 : curves->peak, curves->flops, &trust);
        kernel = roofline_bounded(kernel, ns, trust, BOUND_FLOPS);
    }
    struct kernel whole = roofline_then(profile, kernel, curves->pair,
                                        of_latents ? work->pairs * work->rows : work->pairs);
    return roofline_after(roofline_then(profile, whole, curves->fixed, 1), kernel);
}

/* Queries and outputs have two bytes a value. */
static double bytes_of(const struct model *model, uint32_t layer, uint64_t end, uint64_t tokens)
{
    double rows = (double)tokens * model_query_heads(model);
    return (double)model_kv_entry_bytes(model, layer) *
               (double)model_layer_tokens(model, layer, end) +
           model_prefill_state_bytes(model, layer, tokens) + rows * 4 * model->head_dim;
}

void prompt_attention_add(struct prompt_attention *work, const struct model *model, uint32_t layer,
                          uint64_t start, uint64_t tokens)
{
    const struct model_layer *at = &model->layers[layer];
    double flops = model_prefill_attention_flops(model, layer, start + tokens) -
                   model_prefill_attention_flops(model, layer, start);
    double blocks = ceil((double)tokens / PROMPT_BLOCK);
    work->heads = model_query_heads(model);
    work->kv_heads = model_kv_heads(model);
    const struct layer_kind *kind = &layer_kinds[at->attention];
    work->token_flops = kind->token_flops != NULL ? kind->token_flops(model, at) : 0;
    work->token_bytes = (double)model_kv_entry_bytes(model, layer) / work->kv_heads;
    work->flops += flops;
    work->bytes += bytes_of(model, layer, start + tokens, tokens);
    work->prompts++;
    work->rows += (double)tokens;
    work->most_rows = fmax(work->most_rows, (double)tokens);
    work->blocks += blocks;
    if (work->token_flops > 0) {
        double mean = flops / (work->heads * work->token_flops * (double)tokens);
        work->block_tokens += blocks * mean;
    }
    work->longest = fmax(work->longest, (double)model_layer_tokens(model, layer, start + tokens));
}

/* Figures of a profile, and what follows from them. */
struct prompt_figures {
    double rate;  /* FLOPs a ns */
    double extra; /* tokens of each row */
    double token; /* ns of a block for each token */
    double empty; /* ns of an empty block; 0 if the kernel has none */
    double l2;    /* bytes; 0: not stated */
};

static double prompt_stated(const struct profile *profile, enum curve_id id, struct trust *trust)
{
    return profile_states(profile, id) ? profile_value(profile, id, 0, trust) : 0;
}

/* A GPU whose SMs wait for each tile of K and V. */
static void wait_for_tiles(const struct profile *profile, double token_flops,
                           struct prompt_figures *figures, struct trust *trust)
{
    double wait = prompt_stated(profile, CURVE_GPU_PROMPT_WAIT, trust);
    double flops =
        profile_value(profile, CURVE_GPU_SMS, 0, trust) * PROMPT_TILE * PROMPT_TILE * token_flops;
    figures->rate = flops / (flops / figures->rate + wait);
    figures->token += wait / PROMPT_TILE;
}

static struct prompt_figures prompt_figures_read(const struct profile *profile,
                                                 const struct prompt_attention *work,
                                                 struct trust *trust)
{
    double peak = roofline_peak(profile, CURVE_GPU_FLOPS_BF16);
    struct prompt_figures figures = {
        .rate = peak * profile_value(profile, CURVE_GPU_PROMPT_SHARE, 0, trust) / 1e9,
        .extra = prompt_stated(profile, CURVE_GPU_PROMPT_EXTRA, trust),
        .token = prompt_stated(profile, CURVE_GPU_PROMPT_TOKEN, trust),
        .empty = prompt_stated(profile, CURVE_GPU_PROMPT_BLOCK, trust),
        .l2 = prompt_stated(profile, CURVE_GPU_L2, TRUST_UNSEEN),
    };
    if (work->waits) {
        wait_for_tiles(profile, work->token_flops, &figures, trust);
    }
    return figures;
}

/* A decode's one row takes a whole block. Empty blocks are those beyond the ones that have a row. */
static double blocks_ns(const struct prompt_attention *work, const struct prompt_figures *figures)
{
    double blocks = work->blocks + work->decodes;
    double mean = (work->block_tokens + work->decode_tokens) / blocks;
    double decode = work->decodes > 0 ? work->decode_tokens / work->decodes : 0;
    double longest = fmax(fmax(work->longest, decode), mean);
    double rows = work->rows + PROMPT_BLOCK * work->decodes;
    double tokens = PROMPT_BLOCK * work->decode_tokens + figures->extra * rows;
    double flops = work->flops + work->heads * work->token_flops * tokens;
    double all = (work->prompts + work->decodes) * ceil(work->most_rows / PROMPT_BLOCK);
    double busy = fmax(flops / figures->rate, figures->token * mean);
    return busy + figures->token * (longest - mean) +
           figures->empty * (work->heads * (all - blocks));
}

/* How often HBM reads the KV of a call with decodes. The query heads of a KV head run one round after the
 * other if the sequences fill the GPU, which holds so many blocks at a time as reach the rate together. The
 * share that the L2 no longer holds grows from three quarters of its size to five quarters: read off the
 * times of LLMServingSim's RTX 4090 and RTX PRO 6000, 128 sequences of 1024 to 4096 tokens. */
static double readings(const struct prompt_attention *work, const struct prompt_figures *figures)
{
    double group = work->heads / work->kv_heads;
    double held = figures->rate * figures->token / (PROMPT_BLOCK * work->token_flops);
    double rounds = fmax(1, fmin(group, group * work->decodes / held));
    double tokens = work->decode_tokens + work->longest;
    double over = tokens * work->token_bytes / figures->l2 - 0.75;
    return 1 + (rounds - 1) * fmax(0, fmin(1, 2 * over));
}

struct kernel kernel_prompt_attention(const struct profile *profile,
                                      const struct prompt_attention *work)
{
    if (work->token_flops == 0 || !profile_states(profile, CURVE_GPU_PROMPT_SHARE)) {
        return kernel_product(profile, work->flops, work->rows, work->bytes, DTYPE_BF16);
    }
    struct trust trust = {.basis = BASIS_MEASURED};
    const struct prompt_figures figures = prompt_figures_read(profile, work, &trust);
    double bytes = work->bytes + work->decode_tokens * work->kv_heads * work->token_bytes;
    bool again = work->decodes > 0 && figures.l2 > 0 && figures.token > 0;
    bytes *= again ? readings(work, &figures) : 1;
    struct kernel kernel = roofline_read(profile, bytes, CURVE_GPU_ATTENTION_SHARE);
    kernel = roofline_bounded(kernel, blocks_ns(work, &figures), trust, BOUND_FLOPS);
    return roofline_after(roofline_then(profile, kernel, CURVE_GPU_PROMPT_FIXED, 1), kernel);
}

bool cpu_attends(const struct setup *setup, uint32_t layer)
{
    return (setup->mechanisms->attention == ATTEND_HYBRID && !setup_attends_all(setup, layer)) ||
           cpu_attends_selected(setup, layer);
}

bool cpu_attends_selected(const struct setup *setup, uint32_t layer)
{
    return mechanisms_cpu_selects(setup->mechanisms) && !setup_loads_whole(setup, layer) &&
           !model_layer_local(&setup->model, layer);
}

double cpu_selections(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    return mechanisms_cpu_selects(m) && m->retrieval_per_query_head
               ? model_query_group(&setup->model)
               : 1;
}

bool cpu_attends_whole(const struct setup *setup, uint32_t layer)
{
    return setup->mechanisms->attention == ATTEND_CPU && setup_loads_whole(setup, layer);
}

uint32_t cpu_whole_threads(const struct setup *setup, struct trust *trust)
{
    double threads = cost_pool_threads(setup, trust);
    return (uint32_t)fmax(1, threads / cost_uplink_sharers(setup, trust));
}

/* An indexer's key in fp8, with the scale of its 128 values (DeepSeek-V3.2's public code). */
#define INDEX_VALUE_BYTES 1
#define INDEX_SCALE_BYTES 4

double retrieval_entry_bytes(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    double key = (double)model_kv_head_bytes(&setup->model) / 2;
    return setup_indexes(setup)
               ? (double)setup->model.index_dim * INDEX_VALUE_BYTES + INDEX_SCALE_BYTES
               : m->retrieval_keys * key + (double)m->retrieval_bytes;
}

uint32_t retrieval_copies(const struct setup *setup)
{
    bool repeats = setup->mechanisms->repeat_kv && setup->model.kv_lora == 0;
    double group = model_query_group(&setup->model);
    return repeats && group > 1 ? (uint32_t)group : 0;
}

/* Values of a key that are compared with each query, and `rows`: the queries of a KV head. */
static double compared_values(const struct setup *setup, double *rows)
{
    if (setup_indexes(setup)) {
        *rows = setup->model.index_heads;
        return setup->model.index_dim;
    }
    const struct model *model = &setup->model;
    double values = model->kv_lora > 0 ? model->kv_lora + model->rope_dim : model->head_dim;
    *rows = model_query_group(&setup->model);
    return setup->mechanisms->retrieval_keys * values;
}

/* The number of scores that top-k sorts. */
static double sorted_scores(const struct setup *setup, double entries)
{
    return entries *
           (setup->mechanisms->retrieval_per_query_head ? model_query_group(&setup->model) : 1);
}

double retrieval_score_bytes(const struct setup *setup, double entries)
{
    bool kernels = setup->mechanisms->retrieval_on == RETRIEVAL_ON_GPU;
    return kernels ? KERNEL_SCORE_BYTES * sorted_scores(setup, entries) * setup_queries(setup) : 0;
}

struct kernel retrieval_cost(const struct setup *setup, double entries, double pairs)
{
    const struct mechanisms *m = setup->mechanisms;
    double rows, values = compared_values(setup, &rows), queries = setup_queries(setup);
    entries *= m->retrieval_read;
    double times = 1 + 2.0 * retrieval_copies(setup); /* each copy is written and read */
    double moved = times * retrieval_entry_bytes(setup) + queries * (double)m->retrieval_scores;
    double flops = 2 * entries * values * rows * queries;
    rows *= queries;
    struct kernel score = flops > 0 ? kernel_product(&setup->profile, flops, rows, entries * moved,
                                                     setup_indexes(setup) ? DTYPE_FP8 : DTYPE_BF16)
                                    : kernel_read(&setup->profile, entries * moved);
    if (entries <= 0) {
        return score;
    }
    double sorted = sorted_scores(setup, entries);
    /* An indexer's kernels come with the model: top-k is one of them. */
    return kernel_then(score,
                       kernel_select(&setup->profile, pairs * queries, sorted / pairs,
                                     setup_indexes(setup) || setup->mechanisms->retrieval_fused));
}

struct kernel retrieval_query_cost(const struct setup *setup)
{
    const struct model *model = &setup->model;
    uint64_t out = (uint64_t)model_query_heads(model) * model->head_dim;
    uint64_t weights = model_matrix_bytes(model, model->weights, model->hidden, out);
    return kernel_read(&setup->profile, setup->mechanisms->retrieval_query * (double)weights);
}

/* Building an index on the GPU, and on the host. */

bool index_build_by_cpu(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    return setup->prompt > 0 && m->retrieval_stream && m->cluster_centroids > 0;
}

void index_build_add(const struct setup *setup, uint32_t layer, uint64_t prompt, uint32_t sequences,
                     struct indexing *indexing)
{
    const struct mechanisms *m = setup->mechanisms;
    if (setup_retrieves(setup) && m->retrieval != RETRIEVAL_NATIVE && !m->retrieval_in_place &&
        !setup_attends_all(setup, layer)) {
        double rows = (double)sequences * (double)prompt;
        double keys = rows * model_kv_heads(&setup->model);
        double segment = fmin((double)prompt, (double)m->cluster_segment);
        indexing->rows += rows;
        indexing->keys += keys;
        indexing->compared += keys * ceil(segment / (double)m->retrieval_tokens);
    }
}

/* K-means runs in bf16, whatever the type of the weights. */
struct kernel index_build(const struct setup *setup, const struct indexing *indexing)
{
    const struct mechanisms *m = setup->mechanisms;
    const struct model *model = &setup->model;
    if (indexing->keys == 0 || m->retrieval_stream) {
        return kernel_none;
    }
    double bytes = indexing->keys * (double)model_kv_head_bytes(model) / 2;
    if (m->retrieval != RETRIEVAL_CLUSTERS || m->cluster_iterations == 0) {
        return kernel_read(&setup->profile, bytes);
    }
    double iterations = (double)m->cluster_iterations;
    double flops = iterations * indexing->compared * 2 * model->head_dim;
    return kernel_product(&setup->profile, flops, indexing->rows, iterations * bytes, DTYPE_BF16);
}

/* The subspaces divide a key's values among them, so all together compare whole keys. */
double index_build_host_ns(const struct setup *setup, const struct indexing *indexing,
                           double hidden_ns, struct trust *trust)
{
    const struct mechanisms *m = setup->mechanisms;
    if (!index_build_by_cpu(setup) || indexing->keys == 0) {
        return 0;
    }
    double flops = indexing->keys * (double)m->cluster_centroids * 2 * setup->model.head_dim;
    double threads = cost_threads(setup, m->cluster_threads, trust);
    double pass = flops * 1e9 / profile_value(&setup->profile, CURVE_HOST_KMEANS, threads, trust);
    double beside = (double)m->cluster_passes;
    double hidden = fmin(floor(hidden_ns / pass) - beside, (double)m->cluster_iterations_most);
    return pass * (beside + fmax(hidden, (double)m->cluster_iterations));
}
