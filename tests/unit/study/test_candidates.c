/* What a plan chooses among, what is left out and why, and the servers that systems have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/plan/candidates.h"
#include "study/plan/start_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct scenario load(const char *const *overrides, uint32_t count)
{
    struct scenario scenario;
    struct error why;
    if (!scenario_load(NULL, 0, overrides, count, &scenario, &why)) {
        fail_msg("%s", why.found);
    }
    return scenario;
}

#define LOAD(...)                                                                                  \
    load((const char *const[]){__VA_ARGS__},                                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* "vllm on a40 clo on a40!": ! stands behind those left out. */
static const char *list(const struct candidate *candidates, uint32_t count, char text[4096])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, 4096 - used, "%s%s on %s%s", i > 0 ? ", " : "",
                                 candidates[i].system, candidates[i].machine,
                                 candidates[i].left_out[0] != '\0' ? "!" : "");
    }
    return text;
}

static const struct {
    const char *systems, *machines;
    bool lossy, paper;
    const char *candidates;
} sets[] = {
    {NULL, NULL, false, false, "retroinfer on a40!"},
    {NULL, NULL, true, false, "retroinfer on a40"},
    {"vllm", NULL, false, false, "vllm on a40"},
    {"vllm,h2o", "h200,a40", false, false, "vllm on h200, h2o on h200!, vllm on a40, h2o on a40!"},
    {" vllm , h2o,vllm", "a40, a40", true, false, "vllm on a40, h2o on a40"},
    {"clo,capture", NULL, true, false, "clo on a40!, capture on a40!"}, /* on paper only */
    {"clo,capture", NULL, false, true, "clo on a40!, capture on a40"},  /* clo is lossy too */
    {"clo,capture", NULL, true, true, "clo on a40, capture on a40"},
};

static void every_system_is_a_candidate_on_every_machine(void **state)
{
    struct scenario scenario = LOAD("model=llama-3-8b", "hardware=a40", "system=retroinfer");
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const struct candidate_options options = {.systems = sets[i].systems,
                                                  .machines = sets[i].machines,
                                                  .allow_lossy = sets[i].lossy,
                                                  .allow_paper = sets[i].paper};
        struct candidate *candidates;
        struct error why;
        uint32_t count;
        char text[4096];
        assert_true(candidates_create(&scenario, &options, &candidates, &count, &why));
        assert_string_equal(list(candidates, count, text), sets[i].candidates);
        candidates_destroy(candidates, count);
    }
    scenario_release(&scenario);
}

static void a_machine_with_parts_of_its_own_keeps_them(void **state)
{
    struct scenario scenario = LOAD("model=llama-3-8b", "hardware={extends: a40, link: pcie5-x16}");
    struct candidate *candidates;
    struct error why;
    uint32_t count;
    (void)state;
    const struct candidate_options options = {.systems = "vllm", .machines = "h200"};
    assert_true(candidates_create(&scenario, &options, &candidates, &count, &why));
    char *said = node_canonical(node_get(candidates[0].scenario.root, "hardware"), &why);
    assert_string_equal(said, "{\"extends\": \"h200\", \"link\": {\"extends\": \"pcie5-x16\"}}");
    free(said);
    candidates_destroy(candidates, count);
    scenario_release(&scenario);
}

#define WITH_DISK_AND_POOL                                                                         \
    "{extends: a40, disk: {capacity: 4TB, read: 6GB/s, write: 3GB/s, latency: 80us}, "             \
    "pool: {capacity: 8TB, read: 20GB/s, write: 20GB/s, latency: 10us}}"

/* Systems that keep prefixes on a disk or in a pool need a machine that has them. */
static void without_a_disk_no_system_keeps_prefixes_there(void **state)
{
    struct scenario scenario = LOAD("model=llama-3-8b", "hardware=a40");
    const struct candidate_options options = {.systems = "lmcache,lmcache-disk"};
    struct candidate *candidates;
    struct error why;
    uint32_t count;
    (void)state;
    assert_true(candidates_create(&scenario, &options, &candidates, &count, &why));
    assert_int_equal(count, 2);
    assert_string_equal(candidates[0].left_out, "");
    assert_string_equal(candidates[1].left_out, "the machine states no disk");
    candidates_destroy(candidates, count);
    scenario_release(&scenario);
}

static void without_a_system_all_that_ship_are_candidates(void **state)
{
    struct scenario scenario = LOAD("model=llama-3-8b", "hardware=" WITH_DISK_AND_POOL);
    const struct candidate_options options = {.allow_lossy = true, .allow_paper = true};
    struct candidate *candidates;
    struct error why;
    uint32_t count;
    (void)state;
    assert_true(candidates_create(&scenario, &options, &candidates, &count, &why));
    assert_true(count > 15);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(candidates[i].left_out, "");
    }
    candidates_destroy(candidates, count);
    scenario_release(&scenario);
}

static void a_native_system_is_lossy_for_a_model_without_an_indexer(void **state)
{
    (void)state;
    for (int native = 0; native < 2; native++) {
        struct scenario scenario =
            LOAD(native ? "model=deepseek-v3.2" : "model=llama-3-8b", "hardware=h200",
                 "system=hisparse", "context=4096", "trace=assumed:hit=90%", "tensor_parallel=8");
        const struct candidate_options options = {.allow_paper = false};
        struct candidate *candidates;
        struct point point;
        struct error why;
        uint32_t count;
        assert_true(candidates_create(&scenario, &options, &candidates, &count, &why));
        assert_string_equal(candidates[0].left_out, "");
        assert_true(scenario_point(&candidates[0].scenario, 0, &point, &why));
        candidate_check(&candidates[0], &point.setup, &options);
        assert_int_equal(candidates[0].left_out[0] == '\0', native);
        point_release(&point);
        candidates_destroy(candidates, count);
        scenario_release(&scenario);
    }
}

static void names_that_there_are_not_are_refused(void **state)
{
    struct scenario scenario = LOAD("model=llama-3-8b");
    const struct {
        struct candidate_options options;
        const char *file, *found;
    } refused[] = {
        {{.systems = "vlm", .machines = "a40"}, "--system", "unknown system 'vlm'"},
        {{.systems = "vllm,", .machines = "a40"}, "--system", "a name is missing in 'vllm,'"},
        {{.systems = "vllm"}, "", "'hardware'"},
        {{.systems = "vllm", .machines = "a40", .prices = "A40=0.44,h200=0.5"},
         "--price",
         "'h200' is none of the machines"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct candidate *candidates;
        struct error why;
        uint32_t count;
        assert_false(candidates_create(&scenario, &refused[i].options, &candidates, &count, &why));
        assert_int_equal(why.kind, ERROR_USAGE);
        assert_string_equal(why.file, refused[i].file);
        assert_non_null(strstr(why.found, refused[i].found));
        assert_null(candidates);
    }
    scenario_release(&scenario);
}

/* ---- servers ---- */

/* A system of the test's own, whose command is `command`. */
static void make_system(char path[], const char *command)
{
    int file = mkstemps(path, 5);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    fprintf(
        out,
        "policy: lru\nbudget: 1000tok\nselection: 512tok\nretrieval: quest\nretrieval_keys: 2x\n"
        "retrieval_tokens: 16tok\nretrieval_kernels: 3\nmanager: gpu\ntransfer: sm-zero-copy\n"
        "sync: gpu\ncommand: %s\n",
        command);
    assert_int_equal(fclose(out), 0);
}

static void check_command(const char *command, const char *expected)
{
    char path[] = "/tmp/test_candidates_XXXXXX.yaml", system[64];
    make_system(path, command);
    snprintf(system, sizeof system, "system=%s", path);
    struct scenario scenario = LOAD("model=llama-3-8b", "hardware=a40", "context=4096", system,
                                    "trace=assumed:hit=90%", "tensor_parallel=2");
    struct result result;
    struct error why = {.found = ""};
    result_init(&result);
    result_integer(&result, COLUMN(batch), 3);
    /* 64 KiB a token on each of two GPUs: 1000 tokens of three sequences */
    result_integer(&result, COLUMN(cache_bytes), (int64_t)3 * 1000 * 65536);
    struct server_command said;
    if (server_command(&scenario, &result, &said, &why)) {
        assert_int_equal(said.pool, 0);
        assert_string_equal(said.text, expected);
    } else {
        assert_string_equal(why.found, expected);
    }
    result_release(&result);
    scenario_release(&scenario);
    unlink(path);
}

/* Nine tenths of 768 GiB; an engine that counts in whole GB gets no less. */
static void a_command_says_what_the_run_says(void **state)
{
    (void)state;
    check_command("serve -n {sequences} -g {gpus} -l {longest}", "serve -n 3 -g 2 -l 4096");
    check_command("\"s {hbm_usable} {kv_dtype} {host_gib}\"", "s 0.9 auto 691");
    check_command("'s {\"top\": {selected_tokens}, \"buffer\": {cache_tokens}} { } {'",
                  "s {\"top\": 512, \"buffer\": 1000} { } {");
    check_command(
        "\"s [-b {batched_tokens} -p {pool_blocks}] [-h {host_gib_each}] {host_gb_each}\"",
        "s -h 345.5 371");
    check_command("s {sequence}", "unknown value of a command 'sequence'");
}

/* Blocks of 16 tokens; vLLM keeps one for itself. */
static void check_pool(const char *said, const char *option, uint64_t computed)
{
    struct scenario scenario = LOAD("model=llama-3.1-8b", "hardware=rtx-4090", "system=vllm",
                                    "workload=conversations", "limit=2", said);
    struct result result;
    struct error why = {.found = ""};
    struct server_command command;
    result_init(&result);
    result_integer(&result, COLUMN(kv_blocks), 100);
    assert_true(server_command(&scenario, &result, &command, &why));
    const char *at = strstr(command.text, " --num-gpu-blocks-override");
    assert_string_equal(at != NULL ? at : "", option);
    assert_int_equal(command.pool, computed);
    result_release(&result);
    scenario_release(&scenario);
}

static void a_command_gives_the_pool_that_the_scenario_gives(void **state)
{
    (void)state;
    check_pool("kv_pool_tokens=1600", " --num-gpu-blocks-override 101", 0);
    check_pool("replicas=1", "", 1600);
}

/* What a run of one sequence asks of its engine, and what its command leaves unsaid. */
static void check_said(const char *system, const char *said, const char *part, const char *lacks)
{
    char named[64];
    snprintf(named, sizeof named, "system=%s", system);
    struct scenario scenario =
        LOAD("model=Llama-3.1-70B-Instruct", "hardware=h100", "context=4096", named, said);
    struct result result;
    struct error why = {.found = ""};
    struct server_command command;
    result_init(&result);
    result_integer(&result, COLUMN(batch), 1);
    assert_true(server_command(&scenario, &result, &command, &why));
    assert_non_null(strstr(command.text, command.needs_checkpoint
                                             ? " CHECKPOINT "
                                             : " meta-llama/Llama-3.1-70B-Instruct "));
    assert_string_equal(strstr(command.text, part) != NULL ? part : command.text, part);
    assert_string_equal(command.lacks, lacks);
    result_release(&result);
    scenario_release(&scenario);
}

static void a_command_says_how_a_step_drafts(void **state)
{
    (void)state;
    const char *eagle = "drafts={count: 3, method: eagle3, acceptance: 60%}";
    const char *unknown = "the id of the network that drafts, for which DRAFT stands";
    check_said("vllm", eagle,
               " --speculative-config '{\"method\": \"eagle3\", \"model\": \"DRAFT\", "
               "\"num_speculative_tokens\": 3}'",
               unknown);
    check_said("sglang", eagle,
               " --speculative-algorithm EAGLE3 --speculative-num-draft-tokens 4 "
               "--speculative-num-steps 3 --speculative-eagle-topk 1 "
               "--speculative-draft-model-path DRAFT",
               unknown);
    check_said("tensorrt-llm", eagle, "trtllm-serve", "3 drafts a step (eagle3)");
    check_said("sglang", "drafts={count: 3, method: ngram, acceptance: 60%}",
               " --speculative-algorithm NGRAM --speculative-num-draft-tokens 4", "");
    check_said("vllm", "drafts={count: 2, method: model, model: llama-3.1-8b, acceptance: 60%}",
               "\"draft_model\", \"model\": \"meta-llama/Llama-3.1-8B\"", "");
    check_said("vllm", "drafts={count: 0}", "--kv-cache-dtype auto", "");
}

static void a_command_serves_the_weights_or_says_that_it_does_not(void **state)
{
    (void)state;
    check_said("vllm", "dtype.weights=fp8", " --quantization fp8 ", "");
    check_said(
        "vllm", "dtype.weights=int4", "vllm serve CHECKPOINT ",
        "the id of a checkpoint of meta-llama/Llama-3.1-70B-Instruct with weights in int4, for which CHECKPOINT stands: its own has bf16");
    check_said(
        "tensorrt-llm", "dtype.weights=fp8", "trtllm-serve CHECKPOINT ",
        "the id of a checkpoint of meta-llama/Llama-3.1-70B-Instruct with weights in fp8, for which CHECKPOINT stands: its own has bf16");
}

static void the_plainest_preset_says_the_fewest_mechanisms(void **state)
{
    (void)state;
    const struct candidate_options options = {.systems = "lmcache,two-tier,vllm"};
    struct scenario scenario = LOAD("model=llama-3-8b", "hardware=a40", "context=4096");
    struct candidate *all;
    struct error why = {.found = ""};
    uint32_t count;
    assert_true(candidates_create(&scenario, &options, &all, &count, &why));
    assert_int_equal(count, 3);
    assert_true(all[0].mechanisms > all[1].mechanisms);
    assert_true(all[1].mechanisms > all[2].mechanisms);
    assert_int_equal(all[2].mechanisms, 8); /* of vllm.yaml, without what describes it */
    candidates_destroy(all, count);
    scenario_release(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_is_a_candidate_on_every_machine),
        cmocka_unit_test(a_machine_with_parts_of_its_own_keeps_them),
        cmocka_unit_test(without_a_disk_no_system_keeps_prefixes_there),
        cmocka_unit_test(without_a_system_all_that_ship_are_candidates),
        cmocka_unit_test(a_native_system_is_lossy_for_a_model_without_an_indexer),
        cmocka_unit_test(names_that_there_are_not_are_refused),
        cmocka_unit_test(a_command_says_what_the_run_says),
        cmocka_unit_test(a_command_gives_the_pool_that_the_scenario_gives),
        cmocka_unit_test(a_command_says_how_a_step_drafts),
        cmocka_unit_test(a_command_serves_the_weights_or_says_that_it_does_not),
        cmocka_unit_test(the_plainest_preset_says_the_fewest_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
