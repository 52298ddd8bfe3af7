/* Packing: which sequences pass a layer together, by hand and against one sequence at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "decode/plan/memory_plan.h"

#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <string.h>

enum { COHORTS = 4, MOST = 60 };

struct batch {
    struct cohort cohorts[COHORTS];
    uint32_t count;
};

/* "1000x3 4000x2", shortest first. */
static struct batch read_batch(const char *text)
{
    struct batch batch = {.count = 0};
    unsigned long long context;
    unsigned sequences;
    int used;
    while (sscanf(text, " %llux%u%n", &context, &sequences, &used) == 2) {
        batch.cohorts[batch.count++] = (struct cohort){.context = context, .sequences = sequences};
        text += used;
    }
    return batch;
}

/* Micro-batches in their order, as "1+2 0+1": sequences of each cohort. */
static void write_packing(const struct packing *packing, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t m = 0; m < packing->count; m++) {
        for (uint32_t i = 0; i < packing->cohorts; i++) {
            used += (size_t)snprintf(text + used, size - used, "%s%u",
                                     i > 0   ? "+"
                                     : m > 0 ? " "
                                             : "",
                                     packing_of(packing, m)[i]);
        }
    }
}

static const struct {
    const char *batch, *blocks_of_2, *bins_of_8192;
} cases[] = {
    {"1000x5", "2 2 1", "5"},
    {"1000x20", "2 2 2 2 2 2 2 2 2 2", "8 8 4"},
    {"8192x2", "2", "1 1"},
    {"9000x3", "2 1", "1 1 1"},
    {"2000x5 3000x5", "2+0 2+0 1+1 0+2 0+2", "1+2 1+2 2+1 1+0"},
    {"1000x1 4000x3", "1+1 0+2", "0+2 1+1"},
    {"100x3 8192x1 20000x1", "2+0+0 1+1+0 0+0+1", "0+0+1 0+1+0 3+0+0"},
    {"1000x0 4000x1", "0+1", "0+1"},
    {"1000x3 7000x2", "2+0 1+1 0+1", "1+1 1+1 1+0"},
    {"600x9 5000x2", "2+0 2+0 2+0 2+0 1+1 0+1", "5+1 4+1"},
};

static void batches_are_packed_as_worked_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct batch batch = read_batch(cases[i].batch);
        struct packing packing;
        struct error why;
        char text[256];
        print_message("# %s\n", cases[i].batch);
        struct arrays arrays = {.failed = false};
        packing_init(&packing, &arrays, batch.count, &why);
        packing_blocks(&packing, batch.cohorts, 2);
        write_packing(&packing, text, sizeof text);
        assert_string_equal(text, cases[i].blocks_of_2);
        packing_bins(&packing, batch.cohorts, 8192);
        write_packing(&packing, text, sizeof text);
        assert_string_equal(text, cases[i].bins_of_8192);
        arrays_release(&arrays);
    }
}

/* First fit decreasing, one sequence after the other. */
struct bin {
    uint64_t tokens;
    uint32_t sequences[COHORTS];
};

static uint32_t pack_naively(const struct batch *batch, uint64_t most, struct bin *bins)
{
    uint32_t count = 0;
    for (uint32_t i = batch->count; i-- > 0;) {
        for (uint32_t n = 0; n < batch->cohorts[i].sequences; n++) {
            uint32_t b = 0;
            while (b < count && bins[b].tokens + batch->cohorts[i].context > most) {
                b++;
            }
            if (b == count) {
                bins[count++] = (struct bin){0};
            }
            bins[b].tokens += batch->cohorts[i].context;
            bins[b].sequences[i]++;
        }
    }
    return count;
}

static struct batch random_batch(gsl_rng *rng)
{
    struct batch batch = {.count = 1 + (uint32_t)gsl_rng_uniform_int(rng, COHORTS)};
    uint64_t context = 0;
    for (uint32_t i = 0; i < batch.count; i++) {
        context += 1 + gsl_rng_uniform_int(rng, 400);
        batch.cohorts[i].context = context;
        batch.cohorts[i].sequences = (uint32_t)gsl_rng_uniform_int(rng, MOST / COHORTS);
    }
    batch.cohorts[0].sequences++;
    return batch;
}

static void runs_are_first_fit_decreasing_of_single_sequences(void **state)
{
    struct error why;
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        gsl_rng *rng = random_stream(seed, "packing", 0, &why);
        struct batch batch = random_batch(rng);
        uint64_t most = 1 + gsl_rng_uniform_int(rng, 2000);
        struct bin bins[MOST + 1];
        uint32_t count = pack_naively(&batch, most, bins);
        struct packing packing;
        struct arrays arrays = {.failed = false};
        packing_init(&packing, &arrays, batch.count, &why);
        packing_bins(&packing, batch.cohorts, most);
        bool same = packing.count == count;
        for (uint32_t b = 0; same && b < count; b++) {
            same = memcmp(packing_of(&packing, b), bins[b].sequences,
                          batch.count * sizeof(uint32_t)) == 0;
        }
        if (!same) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
        arrays_release(&arrays);
        gsl_rng_free(rng);
    }
}

/* A million sequences are a few runs. */
static void large_batches_are_few_runs(void **state)
{
    struct batch batch = read_batch("100x400000 900x300000 2500x300000");
    struct packing packing;
    struct error why;
    (void)state;
    struct arrays arrays = {.failed = false};
    packing_init(&packing, &arrays, batch.count, &why);
    packing_bins(&packing, batch.cohorts, 8192);
    assert_true(packing.runs <= 4 * batch.count);
    packing_blocks(&packing, batch.cohorts, 7);
    assert_int_equal(packing.count, (1000000 + 6) / 7);
    assert_true(packing.runs <= 4 * batch.count);
    arrays_release(&arrays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_packed_as_worked_out),
        cmocka_unit_test(runs_are_first_fit_decreasing_of_single_sequences),
        cmocka_unit_test(large_batches_are_few_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
