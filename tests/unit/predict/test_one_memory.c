/* What fits without a workload is what the server's pool holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/mechanism_values.h"
#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "predict/decode/run.h"
#include "predict/server/serving_memory.h"

#include <string.h>

enum { SEED = 46, FITS = 300, TEXT = 128, KEYS = 5 };

static struct error why;

/* Engine, system, model, machine and GPUs, at random. */
struct server {
    char texts[KEYS][TEXT];
};

static void draw_server(gsl_rng *random, struct server *out)
{
    static const char *const systems[][2] = {
        {"vllm-0.8", "vllm"},  {"vllm-0.19", "vllm"},    {"vllm-0.20", "lmcache"},
        {"vllm-0.29", "vllm"}, {"sglang-0.5", "sglang"}, {"tensorrt-llm-1.0", "tensorrt-llm"}};
    static const char *const models[] = {
        "llama-3.2-1b",      "llama-3.1-8b",       "llama-3.1-70b-fp8", "qwen3-0.6b",
        "qwen3-30b-a3b-fp8", "gpt-oss-20b",        "deepseek-v3.2",     "gemma-3-12b",
        "qwen2.5-32b-awq",   "qwen3-next-80b-a3b", "kimi-k2",           "mistral-7b-v0.3"};
    static const char *const machines[] = {
        "a40", "a100-sxm-80gb", "b200", "h100-sxm", "h200", "l40s", "l4", "t4", "rtx-4090"};
    const char *const *system = systems[gsl_rng_uniform_int(random, COUNT(systems))];
    bool piped = gsl_rng_uniform_int(random, 5) == 0;
    snprintf(out->texts[0], TEXT, "engine=%s", system[0]);
    snprintf(out->texts[1], TEXT, "system=%s", system[1]);
    snprintf(out->texts[2], TEXT, "model=%s", models[gsl_rng_uniform_int(random, COUNT(models))]);
    snprintf(out->texts[3], TEXT, "hardware=%s",
             machines[gsl_rng_uniform_int(random, COUNT(machines))]);
    snprintf(out->texts[4], TEXT, "%s_parallel=%lu", piped ? "pipeline" : "tensor",
             1UL << gsl_rng_uniform_int(random, 4));
}

/* Not a pipeline of a model whose layers it does not divide. */
static bool server_is_known(const struct server *server)
{
    const char *const all[] = {
        server->texts[0], server->texts[1], server->texts[2], server->texts[3],
        server->texts[4], "context=1K",     "batch=1",        NULL};
    struct point point;
    bool known = try_point(all, &point, &why);
    if (known) {
        point_release(&point);
    }
    return known;
}

static struct point server_point(const struct server *server, const char *const *more)
{
    const char *all[KEYS + 8] = {NULL};
    struct point point;
    int count = 0;
    for (; count < KEYS; count++) {
        all[count] = server->texts[count];
    }
    for (int i = 0; more[i] != NULL; i++) {
        all[count++] = more[i];
    }
    if (!try_point(all, &point, &why)) {
        fail_msg("%s %s %s: %s", all[0], all[2], all[3], message_of(&why));
    }
    return point;
}

/* Does a batch of steps fit? `most`: as many as do; `sequences`: the engine's limit of a step. */
static bool batch_fits(const struct server *server, uint64_t context, uint64_t batch,
                       uint32_t *most, uint64_t *sequences)
{
    char at[TEXT], of[TEXT];
    struct run_context runs;
    struct plan plan;
    snprintf(at, TEXT, "context=%llu", (unsigned long long)context);
    snprintf(of, TEXT, "batch=%llu", (unsigned long long)batch);
    struct point point = server_point(server, OVERRIDES(at, of));
    make_runs(&runs, 1);
    assert_true(run_plan(&point.setup, &runs, &plan, &why));
    bool fits = plan.fits;
    *most = plan.max_batch;
    *sequences = point.workload.sequences;
    plan_release(&plan);
    run_context_release(&runs);
    point_release(&point);
    return fits;
}

/* Has the server's pool blocks for so many sequences in each pass? */
static bool pool_holds(const struct server *server, uint64_t context, uint64_t batch,
                       uint64_t sequences)
{
    char load[TEXT], most[TEXT];
    struct run_context runs;
    struct serving_memory memory;
    snprintf(load, TEXT, "workload=synthetic:prompt=%llu,output=3,requests=2",
             (unsigned long long)context - 2);
    snprintf(most, TEXT, "max_sequences=%llu", (unsigned long long)sequences);
    struct point point = server_point(server, OVERRIDES("context=", load, most, "rate=1"));
    assert_int_equal(point.setup.context, context);
    make_runs(&runs, 1);
    bool starts = serving_memory_plan(&point, &runs, &memory, &why);
    uint64_t block = point.setup.mechanisms->prefix_block;
    bool holds = starts && batch * ((context + block - 1) / block) <=
                               memory.prefix.gpu_blocks / point_passes(&point);
    run_context_release(&runs);
    point_release(&point);
    return holds;
}

static void what_fits_is_what_the_pool_holds(void **state)
{
    (void)state;
    gsl_rng *random = random_stream(SEED, "memory", 0, &why);
    uint32_t both = 0;
    for (int i = 0; i < FITS; i++) {
        struct server server;
        uint32_t most;
        uint64_t sequences, context = 64 + gsl_rng_uniform_int(random, 1UL << (7 + i % 9));
        do {
            draw_server(random, &server);
        } while (!server_is_known(&server));
        /* Steps that take longer prompts whole leave less; a batch of decodes has no prompts. */
        bool whole = strstr(server.texts[0], "tensorrt") != NULL;
        context = whole && context > 8192 ? 8192 : context;
        batch_fits(&server, context, 1, &most, &sequences);
        uint64_t batch = most + (most == 0 || gsl_rng_uniform_int(random, 2) == 0);
        bool fits = batch_fits(&server, context, batch, &most, &sequences);
        both += fits;
        if (fits != pool_holds(&server, context, batch, sequences)) {
            fail_msg("%s %s %s %s: %llu of %llu tokens %s", server.texts[0], server.texts[2],
                     server.texts[3], server.texts[4], (unsigned long long)batch,
                     (unsigned long long)context, fits ? "fit, the pool is smaller" : "do not fit");
        }
    }
    assert_in_range(both, FITS / 5, 4 * FITS / 5);
    gsl_rng_free(random);
}

/* The keys of a model's own indexer are a part of its KV. */
static void keys_of_an_indexer_are_counted_once(void **state)
{
    (void)state;
    static const struct server servers[] = {
        {{"engine=vllm-0.29", "system=vllm", "model=deepseek-v3.2", "hardware=h200",
          "tensor_parallel=8"}},
        {{"engine=sglang-0.5", "system=sglang", "model=glm-5.3", "hardware=b200",
          "tensor_parallel=8"}}};
    for (size_t i = 0; i < COUNT(servers); i++) {
        uint32_t most;
        uint64_t sequences;
        assert_true(batch_fits(&servers[i], 65536, 1, &most, &sequences));
        assert_true(most > 0 && pool_holds(&servers[i], 65536, most, sequences));
        assert_false(pool_holds(&servers[i], 65536, most + 1, sequences));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_an_indexer_are_counted_once),
        cmocka_unit_test(what_fits_is_what_the_pool_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
