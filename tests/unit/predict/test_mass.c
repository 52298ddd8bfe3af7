/* Which systems are lossless, and that their attention mass is whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/run_setup.h"
#include "unit/fixture/make_setup.h"

static const struct {
    const char *what;
    const char *overrides[4];
    const char *lossless;
} setups[] = {
    {"all KV is attended to", {"system=fullattn"}, "exact"},
    {"all KV is loaded", {"system=flexgen"}, "exact"},
    {"a selection", {"system=retroinfer-10pct"}, "lossy"},
    {"a selection of everything",
     {"system=retroinfer-10pct", "mechanisms={selection: 100%, estimation: 0%}"},
     "exact"},
    {"an override that selects",
     {"system=fullattn", "mechanisms={selection: 10%, retrieval: loki, retrieval_keys: 0.25x, "
                         "retrieval_kernels: 3}"},
     "lossy"},
    {"KV is dropped", {"system=h2o"}, "lossy"},
    {"room for all of it: none is dropped", {"system=h2o", "mechanisms.budget=100%"}, "exact"},
    {"the window is everything", {"system=hgca", "mechanisms.budget=100%"}, "exact"},
    {"a model without an indexer", {"system=hisparse"}, "lossy"},
    {"the same at a context that its selection covers",
     {"system=hisparse", "context=2048"},
     "exact"},
    {"keys that fewer bits stand for",
     {"system=flexgen", "mechanisms={keys: hbm, keys_bits: 2}"},
     "lossy"},
    {"a model's own indexer, where the CPU attends to whole layers",
     {"system=neo", "model=deepseek-v3.2", "mechanisms.retrieval=native"},
     "exact"},
    {"a model that selects by itself", {"system=hisparse", "model=deepseek-v3.2"}, "native"},
    {"but its selections are used again",
     {"system=hisparse", "model=deepseek-v3.2", "mechanisms.policy=qsac"},
     "lossy"},
    {"or guessed a layer ahead",
     {"system=hisparse", "model=deepseek-v3.2", "mechanisms.prefetch=next-layer"},
     "lossy"},
};

static void lossless_is_what_attends_to_all_that_the_model_would(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(setups); i++) {
        const char *all[8] = {"trace=smollm2-135m"};
        memcpy(all + 1, setups[i].overrides, sizeof setups[i].overrides);
        struct setup setup = make_setup(all);
        if (strcmp(setup_lossless(&setup), setups[i].lossless) != 0) {
            fail_msg("%s: %s", setups[i].what, setup_lossless(&setup));
        }
        setup_release(&setup);
    }
}

static struct result run(const char *const *overrides)
{
    const char *all[12] = {"model=smollm2-135m", "trace=smollm2-135m", "context=3840", "steps=4",
                           "warmup=4"};
    struct run_context context;
    struct result result;
    struct error why;
    for (size_t i = 0; overrides[i] != NULL; i++) {
        all[5 + i] = overrides[i];
    }
    struct setup setup = make_setup(all);
    make_runs(&context, 1);
    if (!run_setup(&setup, &context, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    run_context_release(&context);
    setup_release(&setup);
    return result;
}

static double mass_of(const struct result *result)
{
    return result_number(result, COLUMN(mass_recall));
}

static void mass_is_whole_where_nothing_is_left_out(void **state)
{
    static const char *const whole[][3] = {
        {"system=fullattn"},
        {"system=h2o", "mechanisms.budget=100%"},
        {"system=hgca", "mechanisms.budget=100%"},
        {"system=hgca", "mechanisms.budget=3840tok", "warmup=0"},
        {"system=flexgen"},
    };
    static const char *const part[][3] = {
        {"system=h2o"}, {"system=hgca", "mechanisms.budget=1%"}, {"system=quest"}, {"system=clo"}};
    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++) {
        const char *overrides[4] = {whole[i][0], whole[i][1], whole[i][2]};
        struct result result = run(overrides);
        assert_true(mass_of(&result) == 1);
        assert_string_equal(result_cell(&result, COLUMN(lossless))->text, "exact");
        assert_false(result_cell(&result, COLUMN(mass_recall_most))->set);
        for (uint32_t s = 0; s < result.step_count; s++) {
            assert_true(result.steps[s].mass_recall == 1);
        }
        result_release(&result);
    }
    for (size_t i = 0; i < COUNT(part); i++) {
        const char *overrides[4] = {part[i][0], part[i][1], part[i][2]};
        struct result result = run(overrides);
        assert_true(mass_of(&result) < 1 && mass_of(&result) > .5);
        assert_string_equal(result_cell(&result, COLUMN(lossless))->text, "lossy");
        result_release(&result);
    }
}

/* The mean of its steps, whatever the shifts of a batch, which move hits and no mass. */
static void mass_is_told_step_by_step(void **state)
{
    (void)state;
    struct result one = run(OVERRIDES("system=h2o")),
                  many = run(OVERRIDES("system=h2o", "batch=3"));
    double sum = 0;
    assert_int_equal(one.step_count, 4);
    for (uint32_t s = 0; s < one.step_count; s++) {
        sum += one.steps[s].mass_recall;
        assert_near(many.steps[s].mass_recall, one.steps[s].mass_recall, 1e-9);
    }
    assert_near(mass_of(&one), sum / 4, 1e-12);
    assert_true(result_number(&one, COLUMN(mass_recall_most)) > mass_of(&one));
    result_release(&one);
    result_release(&many);
}

/* Half of the cache is for the last tokens: 20 % of 3840, 384. Of one that is all of the context,
 * or beside which born tokens stay, nothing is dropped later. */
static void a_short_run_says_that_dropping_goes_on(void **state)
{
    static const struct {
        const char *overrides[3];
        const char *note; /* NULL: none */
    } runs[] = {
        {{"system=h2o"},
         "attention mass is too high: heavy-hitter goes on dropping KV for 384 steps, warm-up and "
         "run have 8"},
        {{"system=h2o", "mechanisms.policy={name: heavy-hitter, recent: 1}"},
         "dropping KV for 768 steps"},
        {{"system=h2o", "mechanisms.policy={name: heavy-hitter, recent: 0.01}"}, NULL},
        {{"system=h2o", "mechanisms.policy={name: heavy-hitter, born: 0}"}, NULL},
        {{"system=h2o", "mechanisms.budget=100%"}, NULL},
        {{"system=fullattn"}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(runs); i++) {
        const char *overrides[4] = {runs[i].overrides[0], runs[i].overrides[1]};
        struct result result = run(overrides);
        const char *told = strstr(result.message, "goes on dropping");
        assert_int_equal(told != NULL, runs[i].note != NULL);
        assert_true(told == NULL || strstr(result.message, runs[i].note) != NULL);
        assert_true(told == NULL || strstr(result.message, "the least that") == NULL);
        assert_int_equal(result_cell(&result, COLUMN(mass_horizon_steps))->set, told != NULL);
        result_release(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossless_is_what_attends_to_all_that_the_model_would),
        cmocka_unit_test(mass_is_whole_where_nothing_is_left_out),
        cmocka_unit_test(mass_is_told_step_by_step),
        cmocka_unit_test(a_short_run_says_that_dropping_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
