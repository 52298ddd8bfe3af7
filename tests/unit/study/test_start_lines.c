/* A start line, read back as a server's command, starts by the server's own pool, which holds the length and
 * the batch that the line was printed for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/mechanism_values.h"
#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "predict/command/server_text.h"
#include "predict/decode/run.h"
#include "predict/server/serving_memory.h"
#include "study/plan/start_line.h"

#include <string.h>

enum { SEED = 47, LINES = 150, TEXT = 512, MOST_TEXTS = 40 };

static struct error why;

/* Overrides of a scenario. */
struct asked {
    char texts[MOST_TEXTS][TEXT];
    uint32_t count;
};

static void add(struct asked *asked, const char *key, const char *value)
{
    assert_in_range(asked->count, 0, MOST_TEXTS - 1);
    snprintf(asked->texts[asked->count++], TEXT, "%s=%s", key, value);
}

static bool load(const struct asked *asked, struct scenario *out)
{
    const char *all[MOST_TEXTS];
    for (uint32_t i = 0; i < asked->count; i++) {
        all[i] = asked->texts[i];
    }
    return scenario_load(NULL, 0, all, asked->count, out, &why);
}

#define DRAW(random, list) (list)[gsl_rng_uniform_int(random, COUNT(list))]

static void draw_question(gsl_rng *random, bool serves, struct asked *out)
{
    static const char *const systems[] = {"vllm", "lmcache", "vllm-offload", "sglang",
                                          "sglang-hicache"};
    static const char *const models[] = {
        "llama-3.2-1b",      "llama-3.1-8b",       "llama-3.1-70b-fp8", "qwen3-0.6b",
        "qwen3-30b-a3b-fp8", "gpt-oss-20b",        "deepseek-v3.2",     "gemma-3-12b",
        "qwen2.5-32b-awq",   "qwen3-next-80b-a3b", "kimi-k2",           "mistral-7b-v0.3"};
    static const char *const machines[] = {
        "a40", "a100-sxm-80gb", "b200", "h100-sxm", "h200", "l40s", "l4", "t4", "rtx-4090"};
    char text[TEXT];
    unsigned long tokens =
        64 + gsl_rng_uniform_int(random, 1UL << (8 + gsl_rng_uniform_int(random, 9)));
    *out = (struct asked){.count = 0};
    add(out, "system", DRAW(random, systems));
    add(out, "model", DRAW(random, models));
    add(out, "hardware", DRAW(random, machines));
    snprintf(text, TEXT, "%lu", 1UL << gsl_rng_uniform_int(random, 4));
    add(out, "tensor_parallel", text);
    if (gsl_rng_uniform_int(random, 4) == 0) {
        add(out, "dtype.kv", "fp8");
    }
    if (serves) {
        snprintf(text, TEXT, "synthetic:prompt=%lu,output=%lu,requests=50", tokens, 1 + tokens / 8);
        add(out, "workload", text);
        add(out, "rate", "1");
    } else {
        snprintf(text, TEXT, "%lu", tokens);
        add(out, "context", text);
    }
}

/* The largest batch that fits, as `advise` finds it without limits; 0: none. */
static uint32_t most_of(struct asked *asked, struct run_context *runs, struct result *result)
{
    struct scenario scenario;
    struct point point;
    struct plan plan;
    char text[TEXT];
    if (!load(asked, &scenario)) {
        return 0;
    }
    bool good = scenario_point(&scenario, 0, &point, &why);
    scenario_release(&scenario);
    if (!good) {
        return 0; /* a model that this many GPUs do not share */
    }
    assert_true(run_plan(&point.setup, runs, &plan, &why));
    uint32_t most = point.setup.engine.refuses == NULL ? plan.max_batch : 0;
    plan_release(&plan);
    point_release(&point);
    snprintf(text, TEXT, "%u", most);
    add(asked, "batch", text);
    result_integer(result, COLUMN(batch), most);
    return most;
}

/* Does the server start, and how many blocks, tokens and requests of the workload's mean does its pool
 * hold? */
struct pool {
    uint64_t blocks, tokens, requests;
};

static bool server_starts(const struct asked *asked, struct run_context *runs, struct pool *pool)
{
    struct scenario scenario;
    struct point point;
    struct serving_memory memory;
    if (!load(asked, &scenario)) {
        return false;
    }
    bool good = scenario_point(&scenario, 0, &point, &why);
    scenario_release(&scenario);
    if (!good) {
        return false;
    }
    good = serving_memory_plan(&point, runs, &memory, &why);
    pool->blocks = good ? memory.prefix.gpu_blocks : 0;
    pool->tokens = pool->blocks * point.setup.mechanisms->prefix_block;
    pool->requests = pool->tokens / point.setup.context;
    point_release(&point);
    return good;
}

/* The scenario of a line that was printed for `asked`: requests of the length that it serves. */
static uint64_t read_line(const char *line, const struct asked *asked, struct asked *out)
{
    struct stated_keys keys;
    char text[TEXT];
    uint64_t length = 0;
    FILE *in = fmemopen((void *)(uintptr_t)line, strlen(line), "r");
    assert_non_null(in);
    if (!server_text_read(in, "line", NULL, 0, &keys, &why)) {
        fail_msg("%s: %s", line, message_of(&why));
    }
    fclose(in);
    *out = (struct asked){.count = 0};
    for (int id = 0; id < STATED_MOST; id++) {
        if (keys.all[id].value[0] != '\0') {
            add(out, keys.all[id].key, keys.all[id].value);
        }
    }
    length = strtoull(keys.all[STATED_REQUEST_TOKENS].value, NULL, 10);
    for (uint32_t i = 0; i < asked->count; i++) {
        if (strncmp(asked->texts[i], "hardware=", strlen("hardware=")) == 0) {
            add(out, "hardware", strchr(asked->texts[i], '=') + 1);
        }
    }
    snprintf(text, TEXT, "synthetic:prompt=%llu,output=2,requests=2",
             (unsigned long long)(length > 2 ? length - 2 : 1));
    add(out, "workload", text);
    add(out, "rate", "1");
    return length;
}

/* Ask, print the line, read it back and look at its pool; false: no line is printed. */
static bool line_holds(gsl_rng *random, bool serves, struct run_context *runs)
{
    struct asked asked, back;
    struct result result;
    struct scenario scenario;
    struct server_command command;
    struct pool pool = {.blocks = 0};
    uint64_t batch = 1;
    result_init(&result);
    draw_question(random, serves, &asked);
    bool fits =
        serves ? server_starts(&asked, runs, &pool) : (batch = most_of(&asked, runs, &result)) > 0;
    if (serves) {
        result_integer(&result, COLUMN(kv_blocks), (int64_t)pool.blocks);
    }
    if (fits) {
        assert_true(load(&asked, &scenario));
        if (!server_command(&scenario, &result, &command, &why)) {
            fail_msg("%s", message_of(&why));
        }
        uint64_t length = read_line(command.text, &asked, &back);
        if (!server_starts(&back, runs, &pool) || pool.tokens < length || pool.requests < batch) {
            fail_msg("%s %s %s %s: %s: %llu tokens: %s", asked.texts[1], asked.texts[2],
                     asked.texts[3], asked.texts[asked.count - 1], command.text,
                     (unsigned long long)pool.tokens,
                     pool.tokens > 0 ? "too few" : message_of(&why));
        }
        scenario_release(&scenario);
    }
    result_release(&result);
    return fits;
}

static void printed_lines_start(void **state)
{
    (void)state;
    gsl_rng *random = random_stream(SEED, "lines", 0, &why);
    struct run_context runs;
    uint32_t printed = 0;
    make_runs(&runs, 1);
    for (int i = 0; i < LINES; i++) {
        printed += line_holds(random, i % 2 == 1, &runs);
    }
    assert_in_range(printed, LINES / 4, LINES);
    run_context_release(&runs);
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(printed_lines_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
