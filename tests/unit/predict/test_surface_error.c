/* Surfaces against the decode steps that they stand for, and what they cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/mechanism_values.h"
#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "predict/decode/run.h"
#include "server/surface.h"

#include <math.h>

static struct error why;

struct steps {
    struct setup setup;
    struct run_context runs;
    uint32_t computed;
};

static bool compute_step(void *context, uint64_t sequences, uint64_t tokens,
                         double values[SURFACE_VALUES], struct error *reason)
{
    struct steps *steps = context;
    struct step_answer answer;
    struct setup setup = setup_at(&steps->setup, tokens);
    setup.batch = (uint32_t)sequences;
    if (!run_step(&setup, &steps->runs, &answer, reason)) {
        return false;
    }
    steps->computed++;
    values[0] = (double)answer.ns;
    values[1] = (double)answer.in_bytes / 50; /* ns of a link of 50 GB/s */
    return true;
}

/* A server: what runs on what, up to which sequences and contexts, and the points that it may
 * cost. */
struct server {
    const char *const *overrides;
    uint64_t sequences, least_context, most_context;
    uint32_t most_points;
};

enum { READS = 150 };

/* Reads of few sequences are as frequent as of many. */
static double worst_read(struct surface *surface, struct steps *steps, const struct server *server,
                         gsl_rng *random)
{
    double worst = 0;
    for (int i = 0; i < READS; i++) {
        double values[SURFACE_VALUES] = {0}, exact[SURFACE_VALUES] = {0};
        uint64_t x = (uint64_t)exp(gsl_rng_uniform(random) * log((double)server->sequences + 1));
        uint64_t y = server->least_context +
                     gsl_rng_uniform_int(random, server->most_context - server->least_context + 1);
        assert_true(surface_read(surface, x, y, values, &why));
        uint32_t computed = steps->computed;
        assert_true(compute_step(steps, x, y, exact, &why));
        steps->computed = computed;
        for (int v = 0; v < SURFACE_HELD; v++) {
            worst = fmax(worst, fabs(values[v] - exact[v]) / exact[0]);
        }
    }
    return worst;
}

static void check_server(const struct server *server, uint64_t seed)
{
    struct steps steps = {.computed = 0};
    struct point point = make_point(server->overrides);
    steps.setup = point.setup;
    steps.setup.unlimited_memory = true;
    struct mechanisms own = *steps.setup.mechanisms;
    own.step_overhead = 0;
    steps.setup.mechanisms = &own;
    steps.setup.engine = (struct setup_engine){.runs = false};
    make_runs(&steps.runs, 1);
    const struct surface_domain domain = {1, 1024, server->least_context, server->most_context};
    struct surface *surface = surface_create(&domain, 0.0025, compute_step, &steps, &why);
    gsl_rng *random = random_stream(seed, "test.surface-error", 0, &why);
    assert_true(surface != NULL && random != NULL);
    double worst = worst_read(surface, &steps, server, random);
    print_message("%s %s %s: %.3f %%, %u points\n", server->overrides[0], server->overrides[1],
                  server->overrides[2], 100 * worst, steps.computed);
    assert_true(worst < 0.01 && steps.computed <= server->most_points);
    gsl_rng_free(random);
    surface_destroy(surface);
    run_context_release(&steps.runs);
    point_release(&point);
}

/* A surface is within 1 % of the time (predict/server/decode_surface.h). */
static void reads_are_close_to_the_step_and_cost_few_points(void **state)
{
    (void)state;
    const struct server servers[] = {
        {OVERRIDES("system=vllm", "model=llama-3.1-8b-fp8", "hardware=h200"), 256, 500, 6000, 220},
        {OVERRIDES("system=vllm", "model=qwen2.5-32b-awq", "hardware=l40s"), 16, 1, 48000, 120},
        {OVERRIDES("system=sglang", "model=deepseek-v3", "hardware=h200", "tensor_parallel=8"), 256,
         500, 6000, 220},
        {OVERRIDES("system=flexgen", "model=llama-3.1-8b", "hardware=a40"), 64, 500, 60000, 280},
        {OVERRIDES("system=litecache", "model=llama-3.1-8b", "hardware=a40"), 32, 8000, 60000, 160},
    };
    for (size_t i = 0; i < COUNT(servers); i++) {
        check_server(&servers[i], 3 + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_close_to_the_step_and_cost_few_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
