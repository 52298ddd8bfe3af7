#include "decode/cost/retrieval.h"

#include <math.h>

/* An indexer's key in fp8, with the scale of its 128 values (DeepSeek-V3.2's public code). */
#define INDEX_VALUE_BYTES 1
#define INDEX_SCALE_BYTES 4

double retrieval_entry_bytes(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    double key = (double)model_kv_head_bytes(&setup->model) / 2;
    return setup_indexes(setup)
               ? (double)setup->model.index_dim * INDEX_VALUE_BYTES + INDEX_SCALE_BYTES
               : m->retrieval_keys * key + (double)m->retrieval_bytes;
}

static double retrieval_cost_group(const struct setup *setup)
{
    return (double)model_query_heads(&setup->model) / model_kv_heads(&setup->model);
}

uint32_t retrieval_copies(const struct setup *setup)
{
    bool repeats = setup->mechanisms.repeat_kv && setup->model.kv_lora == 0;
    return repeats && retrieval_cost_group(setup) > 1 ? (uint32_t)retrieval_cost_group(setup) : 0;
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
    *rows = retrieval_cost_group(setup);
    return setup->mechanisms.retrieval_keys * values;
}

static enum dtype compared_type(const struct setup *setup)
{
    return setup_indexes(setup) ? DTYPE_FP8 : DTYPE_BF16;
}

/* The number of scores that top-k sorts. */
static double sorted_scores(const struct setup *setup, double entries)
{
    return entries * (setup->mechanisms.retrieval_per_query_head ? retrieval_cost_group(setup) : 1);
}

/* An indexer's kernels come with the model: top-k is one of them. */
static bool selects_in_one_kernel(const struct setup *setup)
{
    return setup_indexes(setup) || setup->mechanisms.retrieval_fused;
}

double retrieval_score_bytes(const struct setup *setup, double entries)
{
    return KERNEL_SCORE_BYTES * sorted_scores(setup, entries) * setup_queries(setup);
}

struct kernel retrieval_cost(const struct setup *setup, double entries, double pairs)
{
    const struct mechanisms *m = &setup->mechanisms;
    double rows, values = compared_values(setup, &rows), queries = setup_queries(setup);
    double times = 1 + 2.0 * retrieval_copies(setup); /* each copy is written and read */
    double moved = times * retrieval_entry_bytes(setup) + queries * (double)m->retrieval_scores;
    double flops = 2 * entries * values * rows * queries;
    rows *= queries;
    struct kernel score = flops > 0 ? kernel_product(&setup->profile, flops, rows, entries * moved,
                                                     compared_type(setup))
                                    : kernel_read(&setup->profile, entries * moved);
    if (entries <= 0) {
        return score;
    }
    double sorted = sorted_scores(setup, entries);
    return kernel_then(score, kernel_select(&setup->profile, pairs * queries, sorted / pairs,
                                            selects_in_one_kernel(setup)));
}

struct kernel retrieval_query_cost(const struct setup *setup)
{
    const struct model *model = &setup->model;
    uint64_t weights = (uint64_t)model->hidden * model_query_heads(model) * model->head_dim;
    double bytes = setup->mechanisms.retrieval_query * (double)dtype_bytes(model->weights, weights);
    return kernel_read(&setup->profile, bytes);
}

/* Building an index on the GPU, and on the host. */

static bool makes_index(const struct setup *setup, uint32_t layer)
{
    const struct mechanisms *m = &setup->mechanisms;
    return setup_retrieves(setup) && m->retrieval != RETRIEVAL_NATIVE && !m->retrieval_in_place &&
           !setup_attends_all(setup, layer);
}

bool index_build_by_cpu(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    return setup->prompt > 0 && m->retrieval_stream && m->cluster_centroids > 0;
}

void index_build_add(const struct setup *setup, uint32_t layer, uint64_t prompt, uint32_t sequences,
                     struct indexing *indexing)
{
    if (makes_index(setup, layer)) {
        double rows = (double)sequences * (double)prompt;
        double keys = rows * model_kv_heads(&setup->model);
        double segment = fmin((double)prompt, (double)setup->mechanisms.cluster_segment);
        indexing->rows += rows;
        indexing->keys += keys;
        indexing->compared += keys * ceil(segment / (double)setup->mechanisms.retrieval_tokens);
    }
}

/* K-means runs in bf16, whatever the type of the weights. */
struct kernel index_build(const struct setup *setup, const struct indexing *indexing)
{
    const struct mechanisms *m = &setup->mechanisms;
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
    const struct mechanisms *m = &setup->mechanisms;
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
