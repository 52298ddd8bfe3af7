/* vLLM 0.19.0: v1/worker/gpu_worker.py (init_device, determine_available_memory), utils/
 * mem_utils.py (memory_profiling), v1/worker/gpu_model_runner.py (profile_run, _dummy_sampler_run,
 * profile_cudagraph_memory), config/compilation.py (benchmark_combo_kernel), v1/sample/ops/
 * topk_topp_sampler.py and topk_topp_triton.py. PyTorch 2.9: aten/src/ATen/native/cuda/Sort.cu.
 * SGLang 0.5.9: model_executor/model_runner_kv_cache_mixin.py (profile_max_num_token). */
#include "predict/scenario/engine_memory.h"

#include "decode/mechanism_values.h"
#include "decode/plan/memory.h"
#include "machine/compose.h"
#include "model/sharding.h"
#include "predict/scenario/sources.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

static const double MiB = 1 << 20;

enum { BF16 = 2, FP32 = 4 };

/* ---- tensors ---------------------------------------------------------------------------- */

/* Values of a token that live together in the FFN: the residual; the gate, up and activated rows;
 * of experts the input, and for each expert of a token its two buffers, the first of which is
 * used again for the output (fused_moe.py, intermediate_cache13 and intermediate_cache2). */
static double ffn_values(const struct model *model, const struct model_layer *layer)
{
    double width = (double)(layer->routed ? model_experts_of(model, layer, 1).columns
                                          : whole_share(layer->ffn, model->tensor_parallel));
    double in = (model->gated_ffn ? 2 : 1) * width;
    if (!layer->routed) {
        return model->hidden + in + width;
    }
    return 3.0 * model->hidden + layer->experts_per_token * (fmax(in, model->hidden) + width);
}

/* The same in attention: the residual, Q, K and V, rotated Q and K, and the output. */
static double attention_values(const struct model *model)
{
    double heads = model_query_heads(model), kv = model_kv_heads(model), dim = model->head_dim;
    if (model->kv_lora > 0) { /* Q, and K and V of every head */
        double query = dim + model->rope_dim;
        return model->hidden + heads * (2 * query + 2.0 * model->value_dim);
    }
    return model->hidden + dim * ((heads + 2 * kv) + (heads + kv) + heads);
}

/* The most of a layer's tensors for the tokens of a whole step. */
static double step_bytes(const struct point *point)
{
    const struct model *model = &point->setup.model;
    double most = attention_values(model);
    for (uint32_t l = 0; l < model->layer_count; l++) {
        most = fmax(most, ffn_values(model, &model->layers[l]));
    }
    return BF16 * most * (double)point->workload.batched_tokens;
}

/* While torch.compile fills its empty cache, it times kernels on random copies of what they read
 * and write. The largest is of the first kernel: the GPU's rows of the embedding table, and the
 * hidden states of a whole step. vLLM counts it as the peak of a step (its issues 54122 and 54383).
 * 54383: Qwen3-32B on two GPUs, 3584 tokens and 40 sequences: 0.47 GiB less KV on each at the first
 * start. The copy has 0.76 GiB, a step 0.29. */
static double compile_bytes(const struct point *point)
{
    const struct model *model = &point->setup.model;
    double rows = (double)whole_share(model->vocabulary, model->tensor_parallel);
    bool cold = point->workload.compile == COMPILE_COLD;
    return cold * BF16 * (double)model->hidden * (rows + (double)point->workload.batched_tokens);
}

static const struct server_engine_runner *runner_of(const struct point *point)
{
    const struct server_engine *engine = &point->engine;
    return model_is_routed(&point->setup.model) ? &engine->runner : &engine->dense;
}

/* The sampler's run for as many sequences as a step may have: the step's hidden states and their
 * last rows, twice; logits in bf16; and the sampler's own values. Triton's kernel keeps a row of
 * the vocabulary for each of its programs.
 *
 * Values of fp32 for each word of the vocabulary and sequence that live at once in the sampler:
 * logits, probabilities and random numbers (Triton), or logits, masked logits and probabilities
 * (FlashInfer). PyTorch's sort of 128 rows or more has nine: logits and sorted logits, their
 * indices of 64 bits before and after, and the radix sort's second copy of a value and an index;
 * with fewer rows the most live after it: both logits, indices and probabilities. */
static double sampler_bytes(const struct point *point, double sms)
{
    const struct model *model = &point->setup.model;
    const struct workload *workload = &point->workload;
    double rows = fmin((double)workload->sequences, (double)workload->batched_tokens);
    double hidden = (double)model->hidden * BF16, words = model->vocabulary;
    enum server_engine_sampler sampler = runner_of(point)->sampler;
    double scratch = sampler == SAMPLER_TRITON ? fmin(sms, rows) : 0;
    double values = sampler == SAMPLER_NONE ? 0 : sampler != SAMPLER_SORT ? 3 : rows >= 128 ? 9 : 5;
    return (double)workload->batched_tokens * hidden + 2 * rows * hidden + rows * words * BF16 +
           (values * rows + scratch) * words * FP32;
}

/* Bytes of stack of a thread of vLLM's kernel _topk_topp_kernel: what Triton 3.6.0 compiles it to
 * for a vocabulary of 128 256; larger ones need up to a tenth more. The default is that of other
 * architectures, between them. */
static double stack_bytes(const struct profile *profile)
{
    static const struct {
        double capability, bytes;
    } rows[] = {{7.5, 920}, {8.0, 1008}, {8.6, 840},  {8.9, 840},
                {9.0, 768}, {10.0, 760}, {12.0, 1080}};
    double own = profile_capability(profile), bytes = 920;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes = rows[i].capability == own ? rows[i].bytes : bytes;
    }
    return bytes;
}

/* "Estimated CUDA graph memory" of vLLM 0.19 to 0.24 for dense models of 4 to 8 billion weights
 * with 86 graphs: 0.52, 0.61, 0.62 and 0.63 GiB; of 31 billion with 102 graphs: 0.76 (0.26). An
 * A100 with a driver of CUDA 12.2 took 2.35. */
static const double graph_bytes = 0.615 * 1024 * (1 << 20) / 86;

/* A context with NCCL, before SGLang loads weights. */
static const double context_bytes = 0.5 * 1024 * (1 << 20);

/* ---- the split -------------------------------------------------------------------------- */

static void engine_memory_add(struct engine_memory *out, const char *name, double bytes,
                              enum basis basis, const char *what)
{
    out->lines[out->count++] = (struct engine_memory_line){name, what, bytes, basis};
}

/* The same, of bytes that nothing else may take. */
static void engine_memory_leave(struct engine_memory *out, const char *name, double bytes,
                                enum basis basis, const char *what)
{
    engine_memory_add(out, name, bytes, basis, what);
    out->alone += bytes;
}

static double rounded(uint64_t size, uint64_t multiple)
{
    return (double)(multiple > 1 ? whole_share(size, multiple) * multiple : size);
}

static double padding_bytes(const struct point *point)
{
    const struct server_engine *engine = &point->engine;
    const struct model *model = &point->setup.model;
    const struct server_engine_padding *padding = NULL;
    double capability = profile_capability(&point->setup.profile), values = 0;
    bool mxfp4 = model->experts == DTYPE_MXFP4 || model->experts == DTYPE_MXFP4_FP8;
    for (uint32_t i = 0; i < engine->padding_count && mxfp4; i++) {
        padding = capability >= engine->padding[i].from ? &engine->padding[i] : padding;
    }
    for (uint32_t l = 0; l < model->layer_count && padding != NULL; l++) {
        if (model->layers[l].routed) {
            struct model_experts experts = model_experts_of(model, &model->layers[l], 1);
            double padded =
                rounded(experts.columns, padding->width) * rounded(model->hidden, padding->hidden);
            values += (model->gated_ffn ? 3 : 2) * (double)experts.held *
                      (padded - (double)experts.columns * (double)model->hidden);
        }
    }
    return (double)dtype_bytes(model->experts, (uint64_t)values) / model->parallel.pipeline;
}

static void add_loaded(const struct point *point, struct engine_memory *out)
{
    const struct model *model = &point->setup.model;
    double padding = padding_bytes(point);
    double rotated = model->rope_dim > 0 ? model->rope_dim : model->head_dim;
    double tables = model->learned_positions ? 0 : model->trained_context * rotated * BF16;
    engine_memory_add(out, "weights", (double)memory_hbm_weights(&point->setup), BASIS_PUBLISHED,
                      "as loaded");
    if (padding > 0) {
        engine_memory_add(out, "padding", padding, BASIS_PUBLISHED,
                          "of experts in MXFP4, to the sizes that the kernel takes");
    }
    engine_memory_add(out, "position tables", tables, BASIS_PUBLISHED,
                      "cosines and sines of all trained positions");
}

double engine_loaded_bytes(const struct point *point)
{
    struct engine_memory loaded = {.count = 0};
    double bytes = 0;
    add_loaded(point, &loaded);
    for (uint32_t i = 0; i < loaded.count; i++) {
        bytes += loaded.lines[i].bytes;
    }
    return bytes;
}

/* The most that the dummy run holds in tensors at once. */
static void add_peak(const struct point *point, double sms, struct engine_memory *out)
{
    double compile = compile_bytes(point), step = step_bytes(point);
    double sampler = sampler_bytes(point, sms);
    if (compile > fmax(step, sampler)) {
        engine_memory_add(out, "peak of compiling", compile, BASIS_PUBLISHED,
                          "a copy of the embedding table, on which torch.compile times kernels");
    } else if (step > sampler) {
        engine_memory_add(out, "peak of a step", step, BASIS_PUBLISHED,
                          "tensors of a layer for all batched tokens");
    } else {
        engine_memory_add(out, "peak of the sampler", sampler, BASIS_PUBLISHED,
                          "logits, probabilities and copies for all sequences");
    }
}

/* FlashInfer's fused all-reduce holds on each GPU a buffer of the largest message for each GPU of the
 * group, flags, and three such buffers more (trtllm_create_ipc_workspace_for_all_reduce_fusion). Memory
 * that a switch can multicast comes in whole pieces, even for the flags. */
static double reduce_bytes(const struct point *point)
{
    const struct server_engine *engine = &point->engine;
    const struct model *model = &point->setup.model;
    double capability = profile_capability(&point->setup.profile), most = 0, piece = 0;
    bool alone = model->parallel.data == 1 && model->parallel.pipeline == 1;
    for (uint32_t i = 0; i < engine->reduce_count && alone; i++) {
        const struct server_engine_reduce *row = &engine->reduces[i];
        bool holds = row->gpus == model->tensor_parallel && capability >= row->from &&
                     capability < row->below;
        most = holds ? row->most : most;
        piece = holds ? row->piece : piece;
    }
    double step = (double)point->workload.batched_tokens * model->hidden * BF16;
    double group = model->tensor_parallel * fmin(most, step);
    return piece > 0 ? piece * (ceil(group / piece) + 1 + ceil(3 * group / piece)) : 4 * group;
}

static void split_vllm(const struct point *point, double sms, struct engine_memory *out)
{
    const struct workload *workload = &point->workload;
    const struct server_engine_runner *runner = runner_of(point);
    const struct profile *profile = &point->setup.profile;
    add_loaded(point, out);
    if (runner->kept_buffers) {
        /* v1/worker/gpu/sample/penalties.py: how often a sequence has each word, in 32 bits, and whether
         * its prompt has it, in one. */
        double words = (double)workload->sequences * point->setup.model.vocabulary;
        engine_memory_add(out, "penalties", words * (4 + 1. / 8), BASIS_PUBLISHED,
                          "counts of each word for all sequences");
    }
    add_peak(point, sms, out);
    /* What PyTorch gives cuBLAS: its documentation of CUBLAS_WORKSPACE_CONFIG. */
    engine_memory_add(out, "workspace", (profile_capability(profile) >= 9 ? 32 : 8.125) * MiB,
                      BASIS_PUBLISHED, "of matrix products");
    double reduce = reduce_bytes(point);
    if (reduce > 0 && workload->compile != COMPILE_EAGER) {
        engine_memory_add(out, "all-reduce", reduce, BASIS_PUBLISHED,
                          "workspace of the fused kernel, by the largest message");
    }
    if (runner->sampler == SAMPLER_TRITON) {
        /* CUDA keeps the local memory of the kernel that needs most, for every thread that the GPU can hold
         * (CUDA driver API, CU_CTX_LMEM_RESIZE_TO_MAX, which is always on). That the context has none of it
         * from its start is assumed; the log of an A100 (tests/unit/predict) shows such a growth. */
        double threads = sms * profile_value(profile, CURVE_GPU_SM_THREADS, 0, TRUST_UNSEEN);
        engine_memory_add(out, "local memory", threads * stack_bytes(profile), BASIS_ASSUMED,
                          "stack of the sampler's kernel, for all threads of the GPU");
    }
    engine_memory_add(out, "kernels", point->engine.kernel_bytes, BASIS_PUBLISHED,
                      "code that CUDA loads");
    /* Where copies of prefixes pass on their way to the host and back. */
    const struct setup *setup = &point->setup;
    const struct server_connector *connector =
        server_engine_connector(&point->engine, setup->system.connector);
    if (connector != NULL && connector->gpu_units > 0) {
        uint64_t tokens = connector->gpu_units * setup->mechanisms->prefix_unit;
        engine_memory_add(out, "copies", (double)(tokens * model_kv_tokens_bytes(&setup->model)),
                          BASIS_PUBLISHED, "KV on its way to host memory");
    }
    if (runner->takes_graphs && workload->compile != COMPILE_EAGER) {
        engine_memory_add(out, "CUDA graphs",
                          graph_bytes * server_engine_graphs(&point->engine, workload->sequences,
                                                             workload->batched_tokens),
                          BASIS_PUBLISHED, "the engine's estimate, by the number of graphs");
    }
}

/* TensorRT-LLM runs a step and takes a share of what is free then (pyexecutor/_util.py, KvCacheCreator). */
static void split_rest(const struct point *point, double all, struct engine_memory *out)
{
    double taken = 0;
    engine_memory_leave(out, "context", context_bytes, BASIS_ASSUMED, "of CUDA and NCCL");
    add_loaded(point, out);
    engine_memory_add(out, "peak of a step", step_bytes(point), BASIS_ASSUMED,
                      "tensors of a layer for all batched tokens");
    for (uint32_t i = 0; i < out->count; i++) {
        taken += out->lines[i].bytes;
    }
    engine_memory_leave(out, "left alone",
                        fmax(0, all - taken) * (1 - point->setup.hbm_usable) +
                            (double)point->setup.hbm_reserve,
                        BASIS_PUBLISHED, "a share of the rest");
}

static void split_all(const struct point *point, double all, double sms, struct engine_memory *out)
{
    bool measures = point->engine.memory == ENGINE_MEASURED;
    double base = all - (measures ? 0 : context_bytes);
    if (!measures) {
        engine_memory_leave(out, "context", context_bytes, BASIS_ASSUMED, "of CUDA and NCCL");
    }
    engine_memory_leave(
        out, "left alone", base * (1 - point->setup.hbm_usable) + (double)point->setup.hbm_reserve,
        BASIS_PUBLISHED,
        !measures                        ? "for activations and CUDA graphs"
        : runner_of(point)->takes_graphs ? "holds the CUDA context and NCCL"
                                         : "holds the CUDA context, NCCL and CUDA graphs");
    if (measures) {
        split_vllm(point, sms, out);
    } else {
        add_loaded(point, out);
    }
}

bool engine_memory_of(const struct point *point, struct engine_memory *out, struct error *why)
{
    static const enum curve_id sms_id = CURVE_GPU_SMS;
    const struct profile *profile = &point->setup.profile;
    bool triton = runner_of(point)->sampler == SAMPLER_TRITON;
    if (triton && !profile_require(profile, &sms_id, 1, "the engine's sampler", why)) {
        return false;
    }
    double sms = triton ? profile_value(profile, sms_id, 0, TRUST_UNSEEN) : 0;
    double all = profile_value(profile, CURVE_GPU_HBM_CAPACITY, 0, TRUST_UNSEEN), left = all;
    *out = (struct engine_memory){.count = 0};
    if (point->engine.memory == ENGINE_REST) {
        split_rest(point, all, out);
    } else {
        split_all(point, all, sms, out);
    }
    for (uint32_t i = 0; i < out->count; i++) {
        left -= out->lines[i].bytes;
    }
    out->pool = fmax(0, left);
    engine_memory_add(out, "KV", out->pool, BASIS_PUBLISHED, "the rest");
    return true;
}

/* Is a GPU's slice of an expert no multiple of the blocks of weights that share a scale? */
static bool splits_blocks(const struct model *model)
{
    uint32_t block = model->experts == DTYPE_FP8 ? model->fp8_block : 0;
    for (uint32_t l = 0; block > 0 && l < model->layer_count; l++) {
        const struct model_layer *layer = &model->layers[l];
        if (layer->routed && (uint64_t)model_experts_of(model, layer, 1).columns % block != 0) {
            return true;
        }
    }
    return false;
}

/* Is one of the list, of patterns, the text? No list has all. */
static bool names_it(const struct node *list, const char *text)
{
    bool named = list == NULL;
    for (size_t i = 0; !named && i < list->count; i++) {
        named = fnmatch(list->children[i]->text, text, 0) == 0;
    }
    return named;
}

bool engine_rule_names(const struct engine_rule *rule, const struct model *model)
{
    return names_it(rule->models, model->architecture);
}

bool engine_rule_holds(const struct engine_rule *rule, const struct setup *setup)
{
    double capability = profile_capability(&setup->profile);
    const struct model *model = &setup->model;
    bool outside = (rule->below > 0 && capability < rule->below) ||
                   (rule->from > 0 && capability >= rule->from);
    bool on_gpu = (rule->below == 0 && rule->from == 0) || (capability > 0 && outside);
    return on_gpu && names_it(rule->kv, dtype_name(model->kv)) && engine_rule_names(rule, model) &&
           (!rule->indexer || setup_indexes(setup)) && (!rule->blocks || splits_blocks(model)) &&
           (!rule->prefixes || mechanisms_keep_prefixes(setup->mechanisms)) &&
           (rule->weights == NULL || strcmp(rule->weights, dtype_name(model->weights)) == 0) &&
           (rule->experts == NULL ||
            (model_is_routed(model) && strcmp(rule->experts, dtype_name(model->experts)) == 0));
}

void engine_refusal_set(struct point *point)
{
    struct setup_engine *engine = &point->setup.engine;
    engine->name = point->engine.row;
    engine->refuses = NULL;
    for (size_t i = point->engine.refusal_count; i-- > 0;) {
        const struct engine_rule *row = &point->engine.refusals[i];
        engine->refuses = engine_rule_holds(row, &point->setup) ? row->name : engine->refuses;
    }
}

/* The longest sequence that the server takes: what it is told, else what the model was trained to. */
static uint64_t engine_longest(const struct point *point)
{
    uint64_t asked = point->workload.request_tokens, trained = point->setup.model.trained_context;
    return asked > 0 ? asked : trained > 0 ? trained : point->setup.context;
}

/* Bytes of a pool whose tokens are those that a log says, on one GPU. */
static double logged_pool(const struct point *point)
{
    const struct setup *setup = &point->setup;
    const struct setup_engine *engine = &setup->engine;
    uint64_t tokens = setup->kv_pool_tokens, length = engine_longest(point);
    struct kv_groups groups;
    struct kv_pools pools;
    if (engine->pools.slots > 0 && kv_pools_divide(&setup->model, &engine->pools, 1, &pools)) {
        return kv_pools_logged_bytes(&setup->model, &engine->pools, tokens);
    }
    if (kv_groups_divide(&setup->model, &engine->limits, &groups)) {
        return kv_groups_logged_bytes(&groups, &engine->limits, tokens, length);
    }
    /* A GPU of a pipeline has them in the layers of its stage. */
    double token = (double)model_kv_tokens_bytes(&setup->model);
    return ceil((double)tokens * token / setup->model.parallel.pipeline);
}

double engine_logged_kv(const struct point *point)
{
    const struct setup *setup = &point->setup;
    struct kv_pools pools;
    double bytes = logged_pool(point);
    bool several = setup->engine.pools.slots > 0 &&
                   kv_pools_divide(&setup->model, &setup->engine.pools, bytes, &pools);
    return several ? fmax(kv_pools_full(&setup->model, pools.tokens),
                          kv_pools_window(&setup->model, pools.windowed))
                   : bytes;
}

/* Tokens that the engine would log for the pool that the scenario states. */
static uint64_t stated_tokens(const struct point *point)
{
    const struct setup *setup = &point->setup;
    const struct setup_engine *engine = &setup->engine;
    uint64_t blocks = setup->kv_pool_blocks, bytes = setup->kv_pool;
    struct kv_groups groups;
    struct kv_pools pools;
    if (blocks == 0 && bytes == 0) {
        return setup->kv_pool_tokens;
    }
    if (kv_groups_divide(&setup->model, &engine->limits, &groups)) {
        uint64_t pool = blocks > 0 ? blocks * groups.block_bytes : bytes;
        return kv_groups_tokens(&groups, &engine->limits, pool, engine_longest(point));
    }
    if (blocks > 0) {
        return blocks * setup->mechanisms->prefix_block;
    }
    if (engine->pools.slots > 0 &&
        kv_pools_divide(&setup->model, &engine->pools, (double)bytes, &pools)) {
        return (uint64_t)pools.tokens;
    }
    return bytes * setup->model.parallel.pipeline / model_kv_tokens_bytes(&setup->model);
}

/* What an engine makes of a GPU's memory; KV is what a log says, as far as weights and buffers leave room. */
static bool set_memory(struct point *point, double all, struct error *why)
{
    struct setup_engine *engine = &point->setup.engine;
    struct engine_memory memory;
    uint64_t weights = memory_hbm_weights(&point->setup);
    if (!engine_memory_of(point, &memory, why)) {
        return false;
    }
    double taken = -(double)weights;
    for (uint32_t i = 0; i < memory.count - 1; i++) {
        taken += memory.lines[i].bytes;
    }
    engine->taken = (uint64_t)(taken - memory.alone);
    engine->pool = (uint64_t)memory.pool;
    if (point->setup.kv_pool_tokens > 0) {
        double asked = logged_pool(point), most = all - (double)weights - (double)engine->taken;
        engine->pool = (uint64_t)fmin(asked, fmax(0, most));
        engine->pool_share = asked > 0 ? (double)engine->pool / asked : 0;
        struct sources_pool *file = point->sources != NULL ? sources_pool(point->sources) : NULL;
        const struct setup *setup = &point->setup;
        uint64_t size = setup->kv_pool_blocks > 0 ? setup->kv_pool_blocks
                        : setup->kv_pool > 0      ? setup->kv_pool
                                                  : setup->kv_pool_tokens;
        if (file != NULL && file->size == (double)size && memory.pool > SOURCES_LARGER * asked) {
            atomic_store(&file->larger, true);
        }
        memory.alone = 0;
    }
    engine->room =
        engine->pool > 0 ? weights + engine->taken + engine->pool : (uint64_t)(all - memory.alone);
    return true;
}

/* No GPU holds a pool that is larger than its memory. The KV of a log may be of a narrower type, and its
 * tokens those of all ranks; its pool is then what there is room for, and a note says so. */
static bool check_pool_size(const struct point *point, double has, struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct model *model = &setup->model;
    const char *key = setup->kv_pool > 0          ? "kv_pool"
                      : setup->kv_pool_blocks > 0 ? "kv_pool_blocks"
                                                  : "kv_pool_tokens";
    double asked = setup->kv_pool > 0 ? (double)setup->kv_pool : logged_pool(point), least = asked;
    double stated = setup->kv_pool > 0          ? asked
                    : setup->kv_pool_blocks > 0 ? (double)setup->kv_pool_blocks
                                                : (double)setup->kv_pool_tokens;
    double share = setup->engine.pool_share > 0 ? setup->engine.pool_share : has / asked;
    char needs[32], room[32], most[32];
    if (setup->kv_pool == 0) {
        double narrow = (double)dtype_bytes(DTYPE_INT4, 128) / (double)dtype_bytes(model->kv, 128);
        least *= fmin(narrow, 1) / model->parallel.data / model->parallel.context;
    }
    if (setup->kv_pool_tokens == 0 || least <= has) {
        return true;
    }
    error_usage(why, NULL, 0, "'%s' is a pool of %s on each GPU, which has %s", key,
                units_format(asked, UNIT_BYTES, needs, sizeof needs),
                units_format(has, UNIT_BYTES, room, sizeof room));
    error_expect(why, "at most %s, or the GPU and the dtype.kv of the log that says so",
                 units_format(floor(stated * share), setup->kv_pool > 0 ? UNIT_BYTES : UNIT_COUNT,
                              most, sizeof most));
    return error_key(why, key);
}

struct kv_limits engine_kv_limits(const struct point *point)
{
    struct kv_limits limits = kv_limits_of(&point->engine.groups, point->workload.batched_tokens,
                                           mechanisms_keep_prefixes(point->setup.mechanisms));
    const struct server_connector *connector =
        server_engine_connector(&point->engine, point->setup.system.connector);
    limits.hybrid = point->setup.hybrid_kv && (connector == NULL || !connector->keeps_windows);
    return limits;
}

bool engine_memory_set(struct point *point, struct error *why)
{
    struct setup *setup = &point->setup;
    struct setup_engine *engine = &setup->engine;
    bool divides = point->engine.row != NULL && !mechanisms_offload(setup->mechanisms);
    engine->room = 0;
    if (divides) {
        engine->most =
            (uint32_t)whole_share(point->workload.sequences, setup->model.parallel.pipeline);
        engine->limits = engine_kv_limits(point);
        engine->limits.context = setup->model.parallel.context;
        engine->pools = point->engine.pools;
        if (setup->window_ratio > 0) {
            engine->pools.windows = setup->window_ratio;
        }
        if (setup->state_ratio > 0) {
            engine->pools.states = setup->state_ratio;
        }
    }
    setup->kv_pool_tokens = stated_tokens(point);
    if (setup->kv_pool_tokens == 0 && setup->kv_pool > 0) { /* 0: nobody states it */
        setup->kv_pool_tokens = 1;
    }
    double has = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, TRUST_UNSEEN);
    return (!divides || set_memory(point, has, why)) && check_pool_size(point, has, why);
}
