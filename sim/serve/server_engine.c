/* vLLM: engine/arg_utils.py (get_batch_defaults, an API server), config/cache.py
 * (gpu_memory_utilization), envs.py (VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS,
 * VLLM_USE_FLASHINFER_SAMPLER), config/vllm.py (_set_cudagraph_sizes) and
 * v1/sample/ops/topk_topp_sampler.py of 0.14.0, 0.16.0, 0.17.0, 0.19.0, 0.20.0 and 0.22.0; 0.16.0
 * agrees with 0.14.0, and 0.24.0, 0.26.0 and 0.28.0 with 0.22.0, in all of them. The second model
 * runner: config/vllm.py (DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES) and v1/worker/gpu/model_runner.py
 * of 0.23.0, 0.24.0, 0.26.0, 0.27.1, 0.28.0 and 0.29.0. SGLang: server_args.py
 * (_handle_gpu_memory_settings) of 0.5.9.
 */
#include "serve/server_engine.h"

#include <math.h>
#include <stddef.h>

static const double MiB = 1 << 20, GiB = 1 << 30;

const char *const server_engine_names[SERVER_ENGINE_COUNT + 1] = {
    [SERVER_ENGINE_NONE] = "none",
    [SERVER_ENGINE_VLLM_008] = "vllm-0.8",
    [SERVER_ENGINE_VLLM_014] = "vllm-0.14",
    [SERVER_ENGINE_VLLM_017] = "vllm-0.17",
    [SERVER_ENGINE_VLLM_019] = "vllm-0.19",
    [SERVER_ENGINE_VLLM_020] = "vllm-0.20",
    [SERVER_ENGINE_VLLM_022] = "vllm-0.22",
    [SERVER_ENGINE_VLLM_023] = "vllm-0.23",
    [SERVER_ENGINE_VLLM_027] = "vllm-0.27",
    [SERVER_ENGINE_VLLM_029] = "vllm-0.29",
    [SERVER_ENGINE_SGLANG_05] = "sglang-0.5",
    [SERVER_ENGINE_TENSORRT_LLM_10] = "tensorrt-llm-1.0",
};

const char *const server_compile_names[] = {
    [COMPILE_COLD] = "cold",
    [COMPILE_WARM] = "warm",
    [COMPILE_EAGER] = "eager",
    NULL,
};

/* Growth outside PyTorch's allocator from before the weights to after the dummy run, as start-up
 * logs print it. Without Triton's sampler, vLLM of 0.8 to 0.11 on A6000, L40S, RTX 3090 and B200:
 * 0.02, 0.02, 0.03, 0.04, 0.04 and 0.07 GiB. With FlashInfer's, 0.26: 0.23, 0.25 and 0.26 GiB. */
#define KERNELS_OF_PYTORCH (0.035 * 1024 * 1024 * 1024)
#define KERNELS_OF_FLASHINFER (0.25 * 1024 * 1024 * 1024)

/* The way of a request (server_path.h).
 *
 * Published: a client of vLLM 0.19.0 had the first byte of a lone answer 7.0, 15.2, 46.5 and
 * 131.4 ms after it had sent 1990, 5990, 19 704 and 58 560 tokens, which is 2.6 ms and 2.2 us a
 * token within 4 %; for 16 and 32 at once, after 16 and 32 times as long (andyluo7/
 * cpu-gpu-codesign-agentic-inference 5fac1f0, results/phase2-deepdive; an AMD EPYC). Its tokenizer
 * alone took 1.7 to 2.2 us a token. Hashes of prefix blocks are 0.12 us a token on top, 6 ms for
 * 50k tokens (vLLM's docs/design/prefix_caching.md).
 *
 * Assumed: 60 us for each token that is sent. One API process of an earlier vLLM, in front of two
 * engines, held up 10 000 ShareGPT requests of some 200 tokens to 130.7 s (vllm-project/vllm
 * #17546). Assumed: 13.7 us for each sequence of a step: 1.1 in update_from_output(), at 256
 * sequences (vllm-project/vllm #46112), and 12.6 in schedule() of vLLM 0.27.1 on a host whose
 * authors found it too noisy (openfabric-systems/simllm #205).
 *
 * vLLM's backend of FlashAttention attends to all sequences of a step in one call
 * (v1/attention/backends/flash_attn.py of 0.19.0); vllm-project/vllm #58013 would split it. SGLang
 * computes prompts alone.
 *
 * SGLang launches the kernels of prompts one by one: its graphs are of decodes
 * (model_executor/cuda_graph_runner.py of 0.5.9). Graphs of pieces of a prompt came later
 * (sgl-project/sglang #11812, #12996), and are not in the row.
 *
 * vLLM overlaps steps since 0.14 (config/vllm.py, async_scheduling). The memory of older versions,
 * from 0.8 on, the first with this scheduler, was not looked up: it is assumed to be that of 0.14.
 * Assumed: 0.25 ms between two steps, as those who proposed it expected (vllm-project/vllm #10634:
 * 0.2 to 0.3). SGLang overlaps them since 0.4, and shows a profile without idle time (its release
 * notes). No other figure of SGLang's processes is published: they are assumed to be like those of
 * vLLM.
 *
 * TensorRT-LLM with its PyTorch backend, trtllm-serve: llmapi/llm_args.py of 1.0
 * (KvCacheConfig.free_gpu_memory_fraction, of what a step leaves; CapacitySchedulerPolicy
 * GUARANTEED_NO_EVICT; enable_chunked_prefill is off; CudaGraphConfig, of decodes alone, whose
 * enable_padding is taken to be on, as its documentation advises; disable_overlap_scheduler is off)
 * and builder.py (2048 sequences, 8192 tokens). On Blackwell it multiplies MXFP4 by MXFP8, and so
 * does SGLang (server_args.py, flashinfer_mxfp4_moe_precision). Its processes are assumed to be like
 * those of vLLM. */
#define PATH_OF_VLLM                                                                               \
    {                                                                                              \
        .prompt_token_ns = 2320, .request_ns = 2600000, .output_token_ns = 60000,                  \
        .sequence_ns = 13700, .gap_ns = 250000, .overlaps = true, .one_call = true                 \
    }
#define PATH_OF_SYNCHRONOUS_VLLM                                                                   \
    {                                                                                              \
        .prompt_token_ns = 2320, .request_ns = 2600000, .output_token_ns = 60000,                  \
        .sequence_ns = 13700, .one_call = true                                                     \
    }
#define PATH_OF_SGLANG                                                                             \
    {                                                                                              \
        .prompt_token_ns = 2200, .request_ns = 2600000, .output_token_ns = 60000,                  \
        .sequence_ns = 13700, .overlaps = true, .prompts_alone = true, .prompts_launched = true,   \
        .reserves = true                                                                           \
    }

#define PATH_OF_TENSORRT_LLM                                                                       \
    {                                                                                              \
        .prompt_token_ns = 2200, .request_ns = 2600000, .output_token_ns = 60000,                  \
        .sequence_ns = 13700, .overlaps = true, .prompts_launched = true, .reserves = true,        \
        .reserves_all = true, .whole_prompts = true                                                \
    }

const struct server_engine server_engines[SERVER_ENGINE_COUNT] = {
    [SERVER_ENGINE_NONE] = {.summary = "KV takes what weights and a step's tensors leave"},
    [SERVER_ENGINE_VLLM_008] = {.summary = "as 0.14; steps do not overlap",
                                .usable = 0.9,
                                .measures = true,
                                .sampler = SAMPLER_SORT,
                                .kernel_bytes = KERNELS_OF_PYTORCH,
                                .path = PATH_OF_SYNCHRONOUS_VLLM},
    [SERVER_ENGINE_VLLM_014] = {.summary = "90 % of HBM, CUDA graphs beside it, sorting sampler",
                                .usable = 0.9,
                                .measures = true,
                                .sampler = SAMPLER_SORT,
                                .kernel_bytes = KERNELS_OF_PYTORCH,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_017] = {.summary = "90 % of HBM, CUDA graphs beside it, Triton sampler",
                                .usable = 0.9,
                                .measures = true,
                                .sampler = SAMPLER_TRITON,
                                .kernel_bytes = KERNELS_OF_PYTORCH,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_019] = {.summary = "as 0.17; captures some graphs before it measures",
                                .usable = 0.9,
                                .measures = true,
                                .sampler = SAMPLER_TRITON,
                                .kernel_bytes = KERNELS_OF_PYTORCH,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_020] = {.summary = "92 % of HBM with CUDA graphs, Triton sampler",
                                .usable = 0.92,
                                .measures = true,
                                .takes_graphs = true,
                                .sampler = SAMPLER_TRITON,
                                .kernel_bytes = KERNELS_OF_PYTORCH,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_022] = {.summary = "92 % of HBM with CUDA graphs, FlashInfer's sampler",
                                .usable = 0.92,
                                .measures = true,
                                .takes_graphs = true,
                                .sampler = SAMPLER_FLASHINFER,
                                .kernel_bytes = KERNELS_OF_FLASHINFER,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_023] = {.summary = "as 0.22; dense models: no sampler, no CUDA graphs",
                                .usable = 0.92,
                                .measures = true,
                                .takes_graphs = true,
                                .sampler = SAMPLER_FLASHINFER,
                                .runner = RUNNER_SECOND,
                                .kernel_bytes = KERNELS_OF_FLASHINFER,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_027] = {.summary = "as 0.23; dense models: buffers of penalties as well",
                                .usable = 0.92,
                                .measures = true,
                                .takes_graphs = true,
                                .sampler = SAMPLER_FLASHINFER,
                                .runner = RUNNER_SECOND_BUFFERS,
                                .kernel_bytes = KERNELS_OF_FLASHINFER,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_VLLM_029] = {.summary = "as 0.27; dense models: CUDA graphs as well",
                                .usable = 0.92,
                                .measures = true,
                                .takes_graphs = true,
                                .sampler = SAMPLER_FLASHINFER,
                                .runner = RUNNER_SECOND_GRAPHS,
                                .kernel_bytes = KERNELS_OF_FLASHINFER,
                                .path = PATH_OF_VLLM},
    [SERVER_ENGINE_SGLANG_05] = {.summary =
                                     "a share of HBM for weights and KV, by the chunk of prompts",
                                 .mxfp4_fp8 = true,
                                 .path = PATH_OF_SGLANG},
    [SERVER_ENGINE_TENSORRT_LLM_10] = {.summary =
                                           "90 % of what weights and a step leave, no preemption",
                                       .usable = 0.9,
                                       .of_rest = true,
                                       .mxfp4_fp8 = true,
                                       .path = PATH_OF_TENSORRT_LLM},
};

struct server_engine server_engine_for(enum server_engine_id id, bool dense)
{
    struct server_engine engine = server_engines[id];
    if (dense && engine.runner != RUNNER_FIRST) {
        engine.sampler = SAMPLER_NONE;
        engine.kept_buffers = engine.runner >= RUNNER_SECOND_BUFFERS;
        engine.takes_graphs = engine.runner == RUNNER_SECOND_GRAPHS;
    }
    return engine;
}

/* ---- vLLM ------------------------------------------------------------------------------- */

static struct server_engine_limits vllm_limits(const struct server_engine_gpu *gpu)
{
    bool large = gpu->bytes >= 70 * GiB && !gpu->a100;
    return large ? (struct server_engine_limits){.sequences = 1024, .batched_tokens = 8192}
                 : (struct server_engine_limits){.sequences = 256, .batched_tokens = 2048};
}

/* Sizes 1, 2, 4, then every 8th below 256, then every 16th. */
static uint32_t captured_sizes(uint64_t most)
{
    uint32_t sizes = most >= 4 ? 3 : most >= 2 ? 2 : 1;
    sizes += most >= 8 ? (uint32_t)((most < 255 ? most : 255) / 8) : 0;
    return sizes + (most >= 256 ? (uint32_t)((most - 256) / 16) + 1 : 0);
}

/* Piecewise graphs of all sizes, and full graphs of those that a step of decodes can have. */
uint32_t server_engine_graphs(uint64_t sequences, uint64_t batched_tokens)
{
    uint64_t most = 2 * sequences < 512 ? 2 * sequences : 512;
    most = most < batched_tokens ? most : batched_tokens;
    return captured_sizes(most) + captured_sizes(most < sequences ? most : sequences);
}

/* ---- SGLang ----------------------------------------------------------------------------- */

/* Tokens of a prompt's chunk, and the largest batch that is captured, up to a size of memory. */
struct sglang_row {
    double below;                        /* MiB */
    uint64_t chunk, graphs, graphs_of_4; /* graphs_of_4: if 4 or more GPUs share the model */
};

static const struct sglang_row *sglang_row(const struct server_engine_gpu *gpu)
{
    static const struct sglang_row rows[] = {
        {20 * 1024, 2048, 8, 8},      {35 * 1024, 2048, 24, 80},   {60 * 1024, 4096, 32, 160},
        {160 * 1024, 8192, 256, 512}, {INFINITY, 16384, 512, 512},
    };
    const struct sglang_row *row = rows;
    while (gpu->bytes / MiB >= row->below) {
        row++;
    }
    return row;
}

static double sglang_usable(const struct server_engine_gpu *gpu, uint64_t chunk)
{
    const struct sglang_row *row = sglang_row(gpu);
    double all = gpu->bytes / MiB,
           graphs = (double)(gpu->gpus < 4 ? row->graphs : row->graphs_of_4);
    double reserved = 512 + fmax((double)chunk, 2048) * 1.5 + graphs * 2 + gpu->gpus / 8.0 * 1024;
    reserved = all > 60 * 1024 ? fmax(reserved, 10 * 1024) : reserved;
    return fmax(0.001, round((all - reserved) / all * 1000) / 1000);
}

/* ---- rows of a graph -------------------------------------------------------------------- */

/* Up to `until`, sizes are `step` apart. */
struct graph_sizes {
    uint32_t until, step;
};

/* vLLM: config/vllm.py, _set_cudagraph_sizes. SGLang: server_args.py,
 * _generate_cuda_graph_batch_sizes; 12 is captured beside 8 and 16. TensorRT-LLM: llm_args.py,
 * CudaGraphConfig, up to 128 sequences. */
static const struct graph_sizes vllm_sizes[] = {{2, 1}, {4, 2}, {8, 4}, {256, 8}, {512, 16}, {0}};
static const struct graph_sizes sglang_sizes[] = {{2, 1},    {4, 2},         {16, 4}, {256, 8},
                                                  {512, 16}, {1u << 20, 32}, {0}};

static const struct graph_sizes tensorrt_llm_sizes[] = {{2, 1}, {4, 2}, {8, 4}, {128, 8}, {0}};

static uint32_t next_size(const struct graph_sizes *sizes, uint32_t most, uint32_t sequences)
{
    while (sizes->until != 0 && sequences > sizes->until) {
        sizes++;
    }
    if (sizes->until == 0) {
        return sequences;
    }
    uint32_t rows = (sequences + sizes->step - 1) / sizes->step * sizes->step;
    rows = rows < most ? rows : most;
    return rows > sequences ? rows : sequences;
}

uint32_t server_engine_graph_rows(enum server_engine_id id, const struct server_engine_gpu *gpu,
                                  uint32_t sequences)
{
    if (id == SERVER_ENGINE_NONE) {
        return sequences;
    }
    if (id == SERVER_ENGINE_TENSORRT_LLM_10) {
        return next_size(tensorrt_llm_sizes, 128, sequences);
    }
    if (id != SERVER_ENGINE_SGLANG_05) {
        return next_size(vllm_sizes, 512, sequences);
    }
    const struct sglang_row *row = sglang_row(gpu);
    uint64_t most = gpu->gpus < 4 ? row->graphs : row->graphs_of_4;
    return next_size(sglang_sizes, (uint32_t)most, sequences);
}

/* ---- both ------------------------------------------------------------------------------- */

double server_engine_usable(enum server_engine_id id, const struct server_engine_gpu *gpu,
                            uint64_t batched_tokens)
{
    return server_engines[id].usable > 0 ? server_engines[id].usable
                                         : sglang_usable(gpu, batched_tokens);
}

/* SGLang runs 2048 sequences, or more where its KV holds 4 sequences of the model's whole context
 * (model_runner_kv_cache_mixin.py): no step of a server here has as many. */
struct server_engine_limits server_engine_limits(enum server_engine_id id,
                                                 const struct server_engine_gpu *gpu)
{
    if (id == SERVER_ENGINE_TENSORRT_LLM_10) {
        return (struct server_engine_limits){.sequences = 2048, .batched_tokens = 8192};
    }
    return id == SERVER_ENGINE_SGLANG_05
               ? (struct server_engine_limits){.sequences = 2048,
                                               .batched_tokens = sglang_row(gpu)->chunk}
               : vllm_limits(gpu);
}
