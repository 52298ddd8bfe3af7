/* Building an index on the GPU, and on the host. */
#include "decode/cost/index_build.h"

#include "decode/cost/retrieval.h"

#include <math.h>

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
