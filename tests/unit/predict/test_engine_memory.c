/* The memory of one GPU by engine, worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "predict/scenario/engine_memory.h"

static struct error why;

#define SERVER                                                                                     \
    "model=llama-3.1-8b", "hardware=rtx-4090", "system=vllm", "workload=conversations",            \
        "context=", "trace="

#define WARM "compile=warm"

static double line_of(const struct engine_memory *memory, const char *name)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        if (strcmp(memory->lines[i].name, name) == 0) {
            return memory->lines[i].bytes;
        }
    }
    return 0;
}

static void check(const char *const *overrides, const char *name, double bytes)
{
    struct point point = make_point(overrides);
    struct engine_memory memory;
    if (!engine_memory_of(&point, &memory, &why)) {
        fail_msg("%s", message_of(&why));
    }
    assert_near(line_of(&memory, name), bytes, 1);
    double sum = 0;
    for (uint32_t i = 0; i < memory.count; i++) {
        sum += memory.lines[i].bytes;
    }
    struct trust trust = {.basis = BASIS_MEASURED};
    double all = profile_value(&point.setup.profile, CURVE_GPU_HBM_CAPACITY, 0, &trust);
    if (memory.pool > 0) {
        assert_near(sum, all, 1);
    }
    point_release(&point);
}

/* Llama-3.1-8B: 8 030 261 248 weights, 131 072 positions of 128 values, a vocabulary of 128 256,
 * hidden states of 4096 values. RTX 4090: 25 250 627 584 bytes, 128 SMs of 1536 threads. */
static void lines_are_those_worked_by_hand(void **state)
{
    (void)state;
    check(OVERRIDES(SERVER), "left alone", 2525062758.4);
    check(OVERRIDES(SERVER), "weights", 8030261248. * 2);
    check(OVERRIDES(SERVER), "position tables", 131072. * 128 * 2);
    /* a copy of the embedding table, and hidden states of 2048 tokens */
    check(OVERRIDES(SERVER), "peak of compiling", (128256 + 2048) * 4096. * 2);
    /* hidden states of 2048 tokens and twice those of 256 rows; logits in bf16; three times 256
     * rows in fp32, and one for each SM */
    check(OVERRIDES(SERVER, WARM), "peak of the sampler",
          (2048 + 512) * 4096. * 2 + 256 * 128256. * 2 + (768 + 128) * 128256. * 4);
    /* nine copies of 256 rows if they are sorted, and five of 64 */
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.14"), "peak of the sampler",
          (2048 + 512) * 4096. * 2 + 256 * 128256. * 2 + 9 * 256 * 128256. * 4);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.14", "max_sequences=64"), "peak of the sampler",
          (2048 + 128) * 4096. * 2 + 64 * 128256. * 2 + 5 * 64 * 128256. * 4);
    check(OVERRIDES(SERVER, "engine=vllm-0.14"), "local memory", 0);
    check(OVERRIDES(SERVER), "local memory", 840. * 128 * 1536);
    check(OVERRIDES(SERVER, "engine=vllm-0.20"), "CUDA graphs", 0.615 * 1024 * 1048576);
    check(OVERRIDES(SERVER, "engine=vllm-0.20", "compile=eager"), "CUDA graphs", 0);
    /* FlashInfer's kernels keep no row for each SM */
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.22"), "peak of the sampler",
          (2048 + 512) * 4096. * 2 + 256 * 128256. * 2 + 768 * 128256. * 4);
    check(OVERRIDES(SERVER, "engine=vllm-0.22"), "local memory", 0);
    /* the residual, gate and up (28 672 values) and the activated row (14 336) of 8192 tokens */
    check(OVERRIDES(SERVER, WARM, "batched_tokens=8192", "max_sequences=64"), "peak of a step",
          8192. * 2 * (4096 + 28672 + 14336));
    /* half the columns on each of two GPUs; the sampler sees the whole vocabulary */
    check(OVERRIDES(SERVER, WARM, "batched_tokens=8192", "max_sequences=64", "tensor_parallel=2"),
          "peak of a step", 8192. * 2 * (4096 + 14336 + 7168));
    /* and half the embedding; the 65 norms of 4096 weights on both */
    check(OVERRIDES(SERVER, "tensor_parallel=2"), "weights", 8030261248. - 266240 + 2 * 266240);
    check(OVERRIDES(SERVER, "tensor_parallel=2", "engine=vllm-0.23"), "peak of compiling",
          (64128 + 2048) * 4096. * 2);
    check(OVERRIDES(SERVER, "hbm_reserve=1GiB"), "left alone", 2525062758.4 + 1073741824);
}

/* Without the sampler, a step of 2048 tokens has more than the logits of 256 sequences. */
static void the_second_runner_skips_the_sampler(void **state)
{
    (void)state;
    double step = 2048. * 2 * (4096 + 28672 + 14336);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.23"), "peak of a step", step);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.23"), "CUDA graphs", 0);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.23"), "penalties", 0);
    /* 32 bits and one of each word, for 256 sequences */
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.27"), "penalties", 256 * 128256. * 33 / 8);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.27"), "CUDA graphs", 0);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.29"), "penalties", 256 * 128256. * 33 / 8);
    check(OVERRIDES(SERVER, WARM, "engine=vllm-0.29"), "CUDA graphs", 0.615 * 1024 * 1048576);
}

/* gpt-oss-120b: 36 layers of 128 experts, three matrices of 2880 x 2880 values each, 17 bytes for 32. Marlin
 * takes them as 2944 x 3072, FlashInfer as 3072 x 3072, Triton as they are. vLLM 0.10.1 logged 65.97 GiB of
 * weights with Marlin, of which the checkpoint has 60.77 (openai/gpt-oss-120b). */
static void experts_are_padded_to_what_their_kernel_takes(void **state)
{
    (void)state;
    double each = 36. * 128 * 3 * 17 / 32;
#define GPT_OSS "model=gpt-oss-120b", "system=vllm", "workload=conversations", "context=", "trace="
    check(OVERRIDES(GPT_OSS, "hardware=a100-sxm-80gb"), "padding",
          each * (2944. * 3072 - 2880 * 2880));
    check(OVERRIDES(GPT_OSS, "hardware=b200"), "padding", each * (3072. * 3072 - 2880 * 2880));
    check(OVERRIDES(GPT_OSS, "hardware=h100-sxm"), "padding", 0);
    check(OVERRIDES(GPT_OSS, "hardware=a100-sxm-80gb", "tensor_parallel=2"), "padding",
          each * (1536. * 3072 - 1440 * 2880));
}

/* Two H100 exchange messages of up to 64 MiB, eight of 1 MiB; a step of 2048 tokens has 16 MiB. Buffers,
 * flags and the other three buffers take a piece of 512 MiB each. vLLM 0.22 allocates as it needs. */
static void a_fused_all_reduce_has_a_workspace(void **state)
{
    (void)state;
    const double pieces = 3 * 512. * 1048576;
#define REDUCES(GPUS, TOKENS, ENGINE)                                                              \
    OVERRIDES(SERVER, "hardware=h100-sxm", "tensor_parallel=" GPUS, "batched_tokens=" TOKENS,      \
              ENGINE)
    check(REDUCES("2", "8192", "engine=vllm-0.19"), "all-reduce", pieces);
    check(REDUCES("8", "8192", "engine=vllm-0.21"), "all-reduce", pieces);
    check(REDUCES("2", "8192", "engine=vllm-0.22"), "all-reduce", 4. * 2 * 64 * 1048576);
    check(REDUCES("2", "2048", "engine=vllm-0.22"), "all-reduce", 4. * 2 * 2048 * 4096 * 2);
    check(REDUCES("8", "8192", "engine=vllm-0.22"), "all-reduce", 4. * 8 * 1048576);
    check(OVERRIDES(SERVER, "hardware=h100-sxm"), "all-reduce", 0);
    check(OVERRIDES(SERVER, "hardware=a100-sxm-80gb", "tensor_parallel=2"), "all-reduce", 0);
    check(OVERRIDES(SERVER, "hardware=h100-sxm", "tensor_parallel=2", "engine=vllm-0.14"),
          "all-reduce", 0);
    check(OVERRIDES(SERVER, "hardware=h100-sxm", "tensor_parallel=2", "compile=eager"),
          "all-reduce", 0);
}

/* LMCache's copies pass a chunk of 256 tokens on the GPU, of 128 KiB each; on two GPUs of half of that. */
static void what_passes_the_gpu_takes_its_memory(void **state)
{
    (void)state;
    check(OVERRIDES(SERVER, WARM, "system=lmcache"), "copies", 256 * 131072.);
    check(OVERRIDES(SERVER, WARM, "system=lmcache", "tensor_parallel=2"), "copies", 256 * 65536.);
    check(OVERRIDES(SERVER, WARM, "system=vllm-offload"), "copies", 0);
}

/* 48 layers of 128 experts, of which a token has 8: as in 0.22. */
static void mixtures_of_experts_keep_the_first_runner(void **state)
{
    (void)state;
#define EXPERTS                                                                                    \
    "model=qwen3-30b-a3b", "hardware=h100-sxm", "system=vllm", "workload=conversations",           \
        "context=", "trace=", WARM
    /* 8192 and twice 1024 hidden states of 2048 values; logits of 1024 rows */
    double sampler = (8192 + 2048) * 2048. * 2 + 1024 * 151936. * 2 + 3072 * 151936. * 4;
    check(OVERRIDES(EXPERTS, "engine=vllm-0.29"), "peak of the sampler", sampler);
    check(OVERRIDES(EXPERTS, "engine=vllm-0.29"), "penalties", 0);
}

/* 84.4 % of what the context leaves, without weights and tables. */
static void sglang_shares_what_its_context_leaves(void **state)
{
    (void)state;
    double left = 25250627584. - 536870912;
    check(OVERRIDES(SERVER, "engine=sglang-0.5", "system=sglang"), "left alone",
          left * (1 - 0.844));
    check(OVERRIDES(SERVER, "engine=sglang-0.5", "system=sglang"), "KV",
          left * 0.844 - 8030261248. * 2 - 131072. * 128 * 2);
}

#define SHORT "workload=synthetic:prompt=1000,output=10" /* no prompt is longer than a step */

/* 90 % of what the context, weights, tables and a step leave. A step of 8192 tokens has in its FFN
 * 4096 + 3 * 14 336 values each. */
static void tensorrt_llm_takes_a_share_of_the_rest(void **state)
{
    (void)state;
    double rest = 25250627584. - 536870912 - 8030261248. * 2 - 131072. * 128 * 2 -
                  8192. * 2 * (4096 + 3 * 14336);
    check(OVERRIDES(SERVER, SHORT, "engine=tensorrt-llm-1.0", "system=tensorrt-llm"), "left alone",
          rest * 0.1);
    check(OVERRIDES(SERVER, SHORT, "engine=tensorrt-llm-1.0", "system=tensorrt-llm"), "KV",
          rest * 0.9);
}

static void a_model_that_fills_the_gpu_leaves_nothing(void **state)
{
    (void)state;
    check(OVERRIDES(SERVER, "hbm_usable=60%"), "KV", 0);
}

/* Servers that logged their pool; nothing here was fitted to them. scenarios/papers/pools.yaml has
 * more. */
static const struct {
    const char *what, *model, *hardware, *compile;
    double logged, least, most; /* tokens; predicted, as shares of `logged` */
} logged[] = {
    {"vLLM 0.19.0, 256 sequences", "model=llama-3.1-8b", "hardware=rtx-4090", "compile=cold", 41408,
     0.98, 0.99},
    {"vLLM 0.19.1, its defaults", "model=qwen3-8b", "hardware=a100-pcie-40gb", WARM, 140960, 0.99,
     1.01},
};

static void pools_lie_near_those_of_logs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(logged); i++) {
        struct point point =
            make_point(OVERRIDES(SERVER, logged[i].model, logged[i].hardware, logged[i].compile));
        struct engine_memory memory;
        double token = 0;
        assert_true(engine_memory_of(&point, &memory, &why));
        for (uint32_t l = 0; l < point.setup.model.layer_count; l++) {
            token += (double)model_kv_token_bytes(&point.setup.model, l);
        }
        double share = memory.pool / token / logged[i].logged;
        if (share < logged[i].least || share > logged[i].most) {
            fail_msg("%s: %.0f tokens, %.3f of those logged", logged[i].what, memory.pool / token,
                     share);
        }
        point_release(&point);
    }
}

/* What an engine does not start, by a word of its reason; NULL: it does. A GPU's slice of an expert has the
 * expert's columns over the GPUs: of 768, four have 192 and eight 96, no multiple of the checkpoint's blocks of
 * 128; of 1536, eight have 192; of 2048, sixteen still have 128. Ranks that share experts keep each whole.
 * (vLLM #25292.) */
static const struct {
    const char *engine, *system, *model, *hardware, *shared;
    const char *reason;
} starts[] = {
    {"vllm-0.19", "vllm", "qwen3-30b-a3b-fp8", "h100-sxm", "tensor_parallel=2", NULL},
    {"vllm-0.19", "vllm", "qwen3-30b-a3b-fp8", "h100-sxm", "tensor_parallel=4", "blocks of scales"},
    {"vllm-0.19", "vllm", "qwen3-30b-a3b-fp8", "h100-sxm", "tensor_parallel=8", "blocks of scales"},
    {"vllm-0.19", "vllm", "qwen3-30b-a3b-fp8", "h100-sxm", "expert_parallel=4", NULL},
    {"vllm-0.19", "vllm", "qwen3-30b-a3b", "h100-sxm", "tensor_parallel=4", NULL},
    {"vllm-0.19", "vllm", "qwen3-235b-a22b-fp8", "h100-sxm", "tensor_parallel=4", NULL},
    {"vllm-0.19", "vllm", "qwen3-235b-a22b-fp8", "h100-sxm", "tensor_parallel=8", "blocks of"},
    {"vllm-0.19", "vllm", "deepseek-v3", "h100-sxm", "tensor_parallel=16", NULL},
    {"sglang-0.5", "sglang", "qwen3-30b-a3b-fp8", "h100-sxm", "tensor_parallel=4", "blocks of"},
    {"sglang-0.5", "sglang", "qwen3-30b-a3b-fp8", "h100-sxm", "tensor_parallel=2", NULL},
    {"vllm-0.19", "vllm", "gpt-oss-20b", "t4", "tensor_parallel=1", "MXFP4"},
    {"vllm-0.19", "vllm", "gpt-oss-20b", "a100-sxm-80gb", "tensor_parallel=1", NULL},
    {"vllm-0.19", "vllm", "deepseek-v3.2", "a100-sxm-80gb", "tensor_parallel=8",
     "sparse attention"},
    {"vllm-0.19", "vllm", "deepseek-v3.2", "h200", "tensor_parallel=8", NULL},
    {"sglang-0.5", "sglang", "deepseek-v3.2", "a100-sxm-80gb", "tensor_parallel=8", "sparse"},
};

static void engines_refuse_what_they_have_no_kernel_for(void **state)
{
    char keys[5][64];
    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++) {
        snprintf(keys[0], sizeof keys[0], "engine=%s", starts[i].engine);
        snprintf(keys[1], sizeof keys[1], "system=%s", starts[i].system);
        snprintf(keys[2], sizeof keys[2], "model=%s", starts[i].model);
        snprintf(keys[3], sizeof keys[3], "hardware=%s", starts[i].hardware);
        bool ranks = strstr(starts[i].shared, "expert") != NULL;
        struct point point = make_point(OVERRIDES(keys[0], keys[1], keys[2], keys[3], "context=4K",
                                                  "trace=", "batch=4", starts[i].shared,
                                                  ranks ? "data_parallel=4" : "data_parallel=1"));
        const char *said = point.setup.engine.refuses, *reason = starts[i].reason;
        if ((said == NULL) != (reason == NULL) || (said != NULL && strstr(said, reason) == NULL)) {
            fail_msg("%s, %s, %s, %s: %s", keys[0], keys[2], keys[3], starts[i].shared,
                     said != NULL ? said : "starts");
        }
        point_release(&point);
    }
}

static void steps_in_an_engine_need_no_cpu(void **state)
{
    (void)state;
    struct point point = POINT("model=deepseek-v3.2", "hardware=h200", "system=vllm-hisparse",
                               "context=64K", "tensor_parallel=8", "batch=2");
    assert_true(point.setup.engine.overlaps);
    assert_int_equal(point.setup.engine.room, 0); /* the preset says what HBM keeps */
    point_release(&point);
    assert_false(
        try_point(OVERRIDES(SERVER, "system=retroinfer-10pct", "engine=vllm-0.19"), &point, &why));
    assert_non_null(strstr(message_of(&why), "those of system 'retroinfer-10pct' do"));
    assert_false(try_point(OVERRIDES(SERVER, "engine=vllm-0"), &point, &why));
    assert_non_null(strstr(message_of(&why), "'vllm-0' is no version of vllm"));
}

static void compiling_needs_an_engine_that_measures(void **state)
{
    (void)state;
    struct point point;
    assert_false(
        try_point(OVERRIDES(SERVER, "engine=sglang-0.5", "system=sglang", WARM), &point, &why));
    assert_non_null(strstr(message_of(&why), "'compile' needs an engine that measures"));
    assert_true(try_point(/* --disable-cuda-graph */
                          OVERRIDES(SERVER, "engine=sglang-0.5", "system=sglang", "compile=eager"),
                          &point, &why));
    point_release(&point);
    assert_false(try_point(OVERRIDES(SERVER, "compile=hot"), &point, &why));
    assert_non_null(strstr(message_of(&why), "unknown value 'hot' of 'compile'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_worked_by_hand),
        cmocka_unit_test(the_second_runner_skips_the_sampler),
        cmocka_unit_test(experts_are_padded_to_what_their_kernel_takes),
        cmocka_unit_test(a_fused_all_reduce_has_a_workspace),
        cmocka_unit_test(what_passes_the_gpu_takes_its_memory),
        cmocka_unit_test(mixtures_of_experts_keep_the_first_runner),
        cmocka_unit_test(sglang_shares_what_its_context_leaves),
        cmocka_unit_test(tensorrt_llm_takes_a_share_of_the_rest),
        cmocka_unit_test(a_model_that_fills_the_gpu_leaves_nothing),
        cmocka_unit_test(pools_lie_near_those_of_logs),
        cmocka_unit_test(engines_refuse_what_they_have_no_kernel_for),
        cmocka_unit_test(steps_in_an_engine_need_no_cpu),
        cmocka_unit_test(compiling_needs_an_engine_that_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
