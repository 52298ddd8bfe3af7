/* What engines decide by the GPU that they find, beside what their logs and documents say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/mechanism_values.h"
#include "unit/fixture/engine_of.h"
#include "unit/fixture/trace_folder.h"

#include "decode/time/engine_step.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const double MiB = 1 << 20;

/* Worked by hand from each engine's source. SGLang on 24 080 MiB: 512 + 2048 · 1.5 + 24 · 2 +
 * 1024 / 8 = 3760, so 84.4 %; on 81 079 MiB 512 + 8192 · 1.5
 * + 256 · 2 + 128 = 13 440, so 83.4 %. */
static const struct {
    const char *what;
    const char *id;
    double mib;
    const char *machine;
    uint32_t gpus;
    uint64_t sequences, batched_tokens;
    double usable;
} cases[] = {
    {"vllm, RTX 4090", "vllm-0.19", 24080, "rtx-4090", 1, 256, 2048, 0.9},
    {"vllm, A100 of 80 GB", "vllm-0.19", 81079, "a100-sxm-80gb", 1, 256, 2048, 0.9},
    {"vllm, H100", "vllm-0.19", 81079, "h100-sxm", 1, 1024, 8192, 0.9},
    {"vllm 0.20, H100", "vllm-0.20", 81079, "h100-sxm", 1, 1024, 8192, 0.92},
    {"vllm 0.22, just below 70 GiB", "vllm-0.22", 70 * 1024 - 1, "other", 2, 256, 2048, 0.92},
    {"sglang, RTX 4090", "sglang-0.5", 24080, "rtx-4090", 1, 2048, 2048, 0.844},
    {"sglang, 4 of RTX 4090", "sglang-0.5", 24080, "rtx-4090", 4, 2048, 2048, 0.823},
    {"sglang, H100", "sglang-0.5", 81079, "h100-sxm", 1, 2048, 8192, 0.834},
    {"sglang, 8 of B200", "sglang-0.5", 182642, "b200", 8, 2048, 16384, 0.851},
    {"tensorrt-llm, A100 of 80 GB", "tensorrt-llm-1.0", 81079, "a100-sxm-80gb", 1, 2048, 8192, 0.9},
};

static void limits_follow_from_the_gpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct server_engine engine = engine_of(cases[i].id);
        struct server_engine_gpu gpu = {
            .bytes = cases[i].mib * MiB, .machine = cases[i].machine, .gpus = cases[i].gpus};
        struct server_engine_gpus limits = *server_engine_limits(&engine, &gpu);
        double usable = server_engine_usable(&engine, &gpu, limits.batched_tokens);
        double off = usable - cases[i].usable;
        if (limits.sequences != cases[i].sequences ||
            limits.batched_tokens != cases[i].batched_tokens || off > 1e-9 || off < -1e-9) {
            fail_msg("%s: %llu, %llu, %g", cases[i].what, (unsigned long long)limits.sequences,
                     (unsigned long long)limits.batched_tokens, usable);
        }
    }
}

/* Eight ranks of 143 771 MiB: 512 + 8192 · 1.5 + 512 · 2 + 1024 + 512 · 8 · (3 + 1.5) = 33 280, so 76.9 %;
 * with graphs of 64 sequences 15 488, so 89.2 %. Two stages of four GPUs: 512 + 8192 · 1.5 + 512 · 2 + 1024 =
 * 14 848. */
static void sglang_reserves_for_ranks_and_stages(void **state)
{
    (void)state;
    struct server_engine engine = engine_of("sglang-0.5");
    struct server_engine_gpu gpu = {
        .bytes = 143771 * MiB, .machine = "h200", .gpus = 8, .ranks = 8};
    assert_true(server_engine_usable(&engine, &gpu, 8192) == 0.769);
    gpu.captured = 64;
    assert_true(server_engine_usable(&engine, &gpu, 8192) == 0.892);
    gpu = (struct server_engine_gpu){
        .bytes = 143771 * MiB, .machine = "h200", .gpus = 4, .stages = 2};
    assert_true(server_engine_usable(&engine, &gpu, 8192) == 0.897);
}

/* SGLang reserves by the chunk that the user asks for; vLLM's share is fixed. */
static void the_share_follows_the_chunk_only_in_sglang(void **state)
{
    (void)state;
    struct server_engine_gpu gpu = {.bytes = 24080 * MiB, .machine = "rtx-4090", .gpus = 1};
    struct server_engine sglang = engine_of("sglang-0.5"), vllm = engine_of("vllm-0.19");
    assert_true(server_engine_usable(&sglang, &gpu, 8192) == 0.461);
    assert_true(server_engine_usable(&vllm, &gpu, 8192) == 0.9);
}

/* vLLM logs "PIECEWISE=51 (largest=512), FULL=35 (largest=256)" with its limits for small GPUs, and
 * "PIECEWISE=51, FULL=51" with those for large ones; with 8 sequences sizes 1, 2, 4, 8, 16. */
static void graphs_are_captured_for_the_sizes_of_the_logs(void **state)
{
    (void)state;
    struct server_engine vllm = engine_of("vllm-0.19");
    assert_int_equal(server_engine_graphs(&vllm, 256, 2048), 51 + 35);
    assert_int_equal(server_engine_graphs(&vllm, 1024, 8192), 51 + 51);
    assert_int_equal(server_engine_graphs(&vllm, 8, 2048), 5 + 4);
    assert_int_equal(server_engine_graphs(&vllm, 1, 2048), 2 + 1);
    assert_int_equal(server_engine_graphs(&vllm, 256, 1), 1 + 1);
}

static void a_step_fills_the_next_graph(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        uint32_t sequences, rows;
    } cases[] = {
        {"none", 9, 9},
        {"vllm-0.19", 1, 1},
        {"vllm-0.19", 3, 4},
        {"vllm-0.19", 5, 8},
        {"vllm-0.19", 9, 16},
        {"vllm-0.19", 256, 256},
        {"vllm-0.19", 257, 272},
        {"vllm-0.19", 513, 513},
        {"sglang-0.5", 9, 12},
        {"sglang-0.5", 13, 16},
        {"sglang-0.5", 22, 24},
        {"sglang-0.5", 25, 25},
        {"tensorrt-llm-1.0", 9, 16},
        {"tensorrt-llm-1.0", 129, 129},
    };
    struct server_engine_gpu gpu = {
        .bytes = 24080 * MiB, .machine = "rtx-4090", .gpus = 1}; /* SGLang: graphs of up to 24 */
    struct mechanisms mechanisms = {.resident_heads = RESIDENT_ALL,
                                    .selection = {.unit = UNIT_SHARE, .value = 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("# case %zu\n", i);
        struct server_engine engine = engine_of(cases[i].id);
        struct setup setup = {.engine = server_engine_around(&engine, &gpu, false),
                              .mechanisms = &mechanisms};
        assert_int_equal(engine_step_rows(&setup, cases[i].sequences), cases[i].rows);
    }
}

static void versions_between_rows_have_the_earlier_one(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *row, *which;
    } cases[] = {
        {"vllm-0.8", "vllm-0.8", "vllm-0.8", NULL},
        {"vLLM 0.19", "vllm-0.19", "vllm-0.19", NULL},
        {"VLLM==0.20.2", "vllm-0.20", "vllm-0.20", NULL},
        {"None", "none", "none", NULL},
        {"vllm-0.10", "vllm-0.10", "vllm-0.8", "nearest earlier"},
        {"vllm-0.16.0", "vllm-0.16", "vllm-0.15", "nearest earlier"},
        {"vllm v0.18.0rc1", "vllm-0.18", "vllm-0.17", "nearest earlier"},
        {"vllm:0.18", "vllm-0.18", "vllm-0.17", "nearest earlier"},
        {"vllm-0.24", "vllm-0.24", "vllm-0.23", "nearest earlier"},
        {"vllm-0.28", "vllm-0.28", "vllm-0.28", NULL},
        {"vllm-1.0", "vllm-1.0", "vllm-0.29", "latest"},
        {"vllm-0.6.3.post1", "vllm-0.6", "vllm-0.8", "earliest"},
        {"SGLang-0.5.9", "sglang-0.5.9", "sglang-0.5", "nearest earlier"},
        {"sglang-0.4", "sglang-0.4", "sglang-0.5", "earliest"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct server_engine version = engine_of(cases[i].text);
        char canonical[SERVER_ENGINE_NAME];
        print_message("# %s\n", cases[i].text);
        assert_string_equal(version.name, cases[i].name);
        assert_string_equal(version.row != NULL ? version.row : "none", cases[i].row);
        const char *which = version.stand_in;
        assert_int_equal(which != NULL, cases[i].which != NULL);
        assert_true(which == NULL || strcmp(which, cases[i].which) == 0);
        assert_true(server_engine_canonical(version.name, canonical, sizeof canonical));
        assert_string_equal(canonical, cases[i].name);
    }
}

static void what_is_no_version_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *nearest;
    } cases[] = {
        {"vllm", "vllm-0.29"},
        {"sglang", "sglang-0.5.23"},
        {"vllm-", "vllm-0.29"},
        {"vllm-x.1", "vllm-0.29"},
        {"vllm-0", "vllm-0.29"},
        {"vllm-0.", "vllm-0.29"},
        {"vllm-0.8x", "vllm-0.29"},
        {"vllm-99999.1", "vllm-0.29"},
        {"tgi", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct server_engine version;
        struct error why;
        print_message("# '%s'\n", cases[i].text);
        assert_false(server_engine_find(cases[i].text, "a.yaml", 3, &version, &why));
        assert_string_equal(why.nearest, cases[i].nearest);
        assert_int_equal(why.line, 3);
    }
}

static void every_engine_has_a_name_and_a_summary(void **state)
{
    (void)state;
    struct error why;
    const char *const *names = server_engine_names(&why);
    size_t count = 1;
    assert_string_equal(names[0], "none");
    for (; names[count] != NULL; count++) {
        struct server_engine engine = engine_of(names[count]);
        assert_string_equal(engine.name, names[count]);
        assert_string_equal(engine.row, names[count]);
        assert_true(engine.summary[0] != '\0' && engine.source[0] != '\0');
    }
    assert_true(count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_follow_from_the_gpu),
        cmocka_unit_test(sglang_reserves_for_ranks_and_stages),
        cmocka_unit_test(the_share_follows_the_chunk_only_in_sglang),
        cmocka_unit_test(graphs_are_captured_for_the_sizes_of_the_logs),
        cmocka_unit_test(a_step_fills_the_next_graph),
        cmocka_unit_test(versions_between_rows_have_the_earlier_one),
        cmocka_unit_test(what_is_no_version_is_refused),
        cmocka_unit_test(every_engine_has_a_name_and_a_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
