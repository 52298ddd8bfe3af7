/* A decode step without a workload is a server's: it takes as long as the gap between tokens of as
 * many requests that arrive together, after the last prompt, at that context. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "predict/answer.h"
#include "server/record.h"

#include <math.h>

enum {
    SEED = 45,
    COMPARED = 300,
    MOST_DRAWS = 1350,
    GAPS = 2,
    MOST_TOKENS = 1 << 20 /* of a step */,
    TEXTS = 12,
    TEXT = 96
};

static struct error why;

struct question {
    char texts[TEXTS][TEXT], what[TEXTS * TEXT];
    const char *all[TEXTS + 1];
    unsigned long passes; /* of a step: a batch is what one of them computes */
    uint32_t batch;
    uint64_t context;
};

static void add(struct question *question, const char *format, ...)
{
    va_list values;
    int count = 0;
    while (question->all[count] != NULL) {
        count++;
    }
    assert_true(count < TEXTS);
    va_start(values, format);
    vsnprintf(question->texts[count], TEXT, format, values);
    va_end(values);
    question->all[count] = question->texts[count];
    size_t used = strlen(question->what);
    snprintf(question->what + used, sizeof question->what - used, " %s", question->texts[count]);
}

static unsigned long draw(gsl_rng *random, unsigned long most)
{
    return gsl_rng_uniform_int(random, most);
}

/* From `least` to `most`, with an even logarithm. */
static unsigned long draw_scale(gsl_rng *random, double least, double most)
{
    return (unsigned long)(least * exp(gsl_rng_uniform(random) * log(most / least)));
}

/* What the answer without a workload and the server have in common. */
static void draw_question(gsl_rng *random, struct question *out)
{
    static const char *const servers[][2] = {
        {"vllm-0.8", "vllm"},     {"vllm-0.14", "lmcache"},
        {"vllm-0.19", "vllm"},    {"vllm-0.22", "vllm"},
        {"vllm-0.29", "lmcache"}, {"sglang-0.4", "sglang"},
        {"sglang-0.5", "sglang"}, {"tensorrt-llm-1.0", "tensorrt-llm"},
        {"none", "vllm"}};
    static const char *const models[] = {"llama-3.2-1b",  "llama-3.1-8b",    "llama-3.1-8b-fp8",
                                         "qwen3-0.6b",    "qwen3-8b-fp8",    "qwen3-14b",
                                         "qwen3-30b-a3b", "gpt-oss-20b",     "mixtral-8x7b",
                                         "gemma-3-12b",   "qwen2.5-32b-awq", "mistral-small-24b"};
    static const char *const machines[] = {"a40",  "a100-sxm-80gb", "b200", "h100-sxm",
                                           "h200", "l40s",          "h20",  "rtx-4090"};
    unsigned long gpus = 1UL << draw(random, 3);
    bool piped = draw(random, 4) == 0;
    memset(out, 0, sizeof *out);
    out->passes = piped ? gpus : 1;
    out->context = draw_scale(random, 64, 32768);
    out->batch =
        (uint32_t)draw_scale(random, 1, fmin(400, MOST_TOKENS / (double)(gpus * out->context)));
    const char *const *server = servers[draw(random, COUNT(servers))];
    add(out, "engine=%s", server[0]);
    add(out, "system=%s", server[1]);
    add(out, "model=%s", models[draw(random, COUNT(models))]);
    add(out, "hardware=%s", machines[draw(random, COUNT(machines))]);
    add(out, piped ? "pipeline_parallel=%lu" : "tensor_parallel=%lu", gpus);
}

/* Both halves of a question are points of it, with these keys besides. */
static bool answer(struct question question, struct result *result, const char *const *more)
{
    struct point point;
    struct run_context runs;
    for (int i = 0; more[i] != NULL; i++) {
        add(&question, "%s", more[i]);
    }
    if (!try_point(question.all, &point, &why)) {
        fail_msg("%s: %s", question.what, message_of(&why));
    }
    /* The process in front of the engine would spread the requests. */
    point.engine.path.request_ns = point.engine.path.prompt_token_ns = 0;
    make_runs(&runs, 1);
    bool ran = answer_run(&point, &runs, result, &why);
    if (!ran && strstr(message_of(&why), "HBM") == NULL &&
        strstr(message_of(&why), "KV memory") == NULL) {
        fail_msg("%s: %s", question.what, message_of(&why));
    }
    if (!ran) {
        result_init(result);
    }
    run_context_release(&runs);
    point_release(&point);
    return ran && result_ok(result);
}

/* What the first request waits for in steps that decode it. */
static double gap_ns(const struct result *result)
{
    double ns = 0;
    for (uint32_t i = 0; i < result->wait_count; i++) {
        const struct result_wait *wait = &result->waits[i];
        bool before = strcmp(wait->name, wait_name(WAIT_API)) == 0 ||
                      strcmp(wait->name, wait_name(WAIT_QUEUE)) == 0 ||
                      strcmp(wait->name, wait_name(WAIT_PREFILL)) == 0;
        ns += wait->request == 0 && !before ? (double)wait->ns : 0;
    }
    return ns / GAPS;
}

/* Parts add up to the step, shares of its basis to 1. */
static void check_sums(const struct result *result)
{
    int64_t parts = 0;
    double shares = 0;
    for (uint32_t i = 0; i < result->part_count; i++) {
        parts += result->parts[i].ns;
        assert_true(result->stalls[i].ns <= result->parts[i].ns);
    }
    for (uint32_t i = 0; i < result->basis_count; i++) {
        shares += result->basis[i].share;
    }
    assert_int_equal(parts, result_cell(result, COLUMN(step_us))->integer);
    assert_near(shares, 1, 1e-12);
}

/* All prompts are computed in one step, so that all requests decode together from then on. Returns
 * false where the machine has no room. */
static bool compare(const struct question *question, double *worst)
{
    struct result alone, server;
    char context[TEXT], batch[TEXT], workload[TEXT], tokens[TEXT];
    unsigned long requests = question->batch * question->passes;
    uint64_t prompt = question->context - GAPS / 2 - 1;
    snprintf(context, TEXT, "context=%llu", (unsigned long long)question->context);
    snprintf(batch, TEXT, "batch=%u", question->batch);
    snprintf(workload, TEXT, "workload=synthetic:prompt=%llu,output=%d,requests=%lu",
             (unsigned long long)prompt, GAPS + 1, requests);
    snprintf(tokens, TEXT, "batched_tokens=%llu", (unsigned long long)(requests * prompt));
    bool ok = answer(*question, &alone, OVERRIDES(context, batch));
    ok =
        answer(*question, &server,
               OVERRIDES("context=", workload, tokens, "max_sequences=2048", "arrivals=at-once")) &&
        ok;
    ok = ok && result_cell(&server, COLUMN(queue_p99_ms))->integer == 0 &&
         result_cell(&server, COLUMN(preemptions))->integer == 0;
    double step = (double)result_cell(&alone, COLUMN(step_us))->integer;
    double gap = ok ? gap_ns(&server) : 0;
    if (ok) {
        check_sums(&alone);
        *worst = fmax(*worst, fabs(step / gap - 1));
    }
    if (ok && fabs(step - gap) > 0.01 * gap) {
        fail_msg("%s, %lu sequences of %llu tokens: %.4g ms, in a server %.4g", question->what,
                 requests, (unsigned long long)question->context, step / 1e6, gap / 1e6);
    }
    result_release(&alone);
    result_release(&server);
    return ok;
}

static void a_step_is_the_gap_between_tokens_of_a_server(void **state)
{
    uint32_t compared = 0;
    double worst = 0;
    (void)state;
    for (uint64_t i = 0; i < MOST_DRAWS && compared < COMPARED; i++) {
        struct question question;
        gsl_rng *random = random_stream(SEED, "tests.one_clock", i, &why);
        assert_true(random != NULL);
        draw_question(random, &question);
        compared += compare(&question, &worst);
        gsl_rng_free(random);
    }
    print_message("# %u compared, at most %.3f %% apart\n", compared, 100 * worst);
    assert_int_equal(compared, COMPARED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_gap_between_tokens_of_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
