/* A batch with many micro-batches is timed from few: figures equal those of the whole schedule. */
#include "unit/fixture/make_timing.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/tiny.h"

#include "core/random.h"
#include "decode/time/prefill.h"
#include "decode/time/steady.h"

#include <gsl/gsl_rng.h>

/* ---- random batches of many micro-batches ---- */

enum { AXES = 16, MOST_VALUES = 8, TEXT = 160 };

/* Overrides to choose from, one of each row; "" leaves the key as it is. */
static const char *const axes[AXES][MOST_VALUES] = {
    {"system=flexgen", "system=capture", "system=capture-act", "system=capture-static",
     "system=token-recompute"},
    {"batch=83", "batch=140", "batch=151", "batch=233"},
    {"context=300", "context=1000", "context=4000"},
    {"", "", "mechanisms.barrier=none", "mechanisms.barrier=pass", "mechanisms.barrier=layer"},
    {"", "mechanisms.halves=yes", "mechanisms.halves=no"},
    {"", "", "mechanisms.weights=50%", "mechanisms.weights=100%"},
    {"", "", "mechanisms.weights_spread=no"},
    {"", "mechanisms.transfer=pageable", "mechanisms.transfer=copy-engine",
     "mechanisms.transfer=sm-zero-copy"},
    {"", "mechanisms.micro_batch_overhead=1ms", "mechanisms.micro_batch_overhead=3us"},
    {"", "", "mechanisms.launch=graph"},
    {"", "hardware.link.h2d=1GB/s", "hardware.link.h2d=60GB/s"},
    {"", "hardware.link.d2h=300MB/s"},
    {"", "hardware.host.launch=20us", "hardware.host.dram_bandwidth=12GB/s"},
    {"mechanisms.operators=8", "mechanisms.operators=40"},
    {"steps=1", "steps=2", "steps=5", "steps=7"},
    {"", "prompt=200"},
};

struct choice_of_axes {
    const char *overrides[AXES + 8];
    char sequences[TEXT];
    size_t count;
};

/* Small micro-batches: of one, two or three sequences. */
static void choose_size(gsl_rng *rng, struct choice_of_axes *choice)
{
    unsigned each = 1 + (unsigned)gsl_rng_uniform_int(rng, 3);
    bool flexgen = strcmp(choice->overrides[2], "system=flexgen") == 0;
    snprintf(choice->sequences, TEXT,
             flexgen ? "mechanisms.micro_batch_sequences=%u" : "mechanisms.micro_batch_tokens=%u",
             flexgen ? each : each * 1000);
    choice->overrides[choice->count++] = choice->sequences;
}

static void choose(gsl_rng *rng, const char *model, struct choice_of_axes *choice)
{
    *choice = (struct choice_of_axes){.overrides = {model, tiny_machine}, .count = 2};
    for (size_t axis = 0; axis < AXES; axis++) {
        size_t values = 0;
        while (values < MOST_VALUES && axes[axis][values] != NULL) {
            values++;
        }
        const char *value = axes[axis][gsl_rng_uniform_int(rng, values)];
        if (value[0] != '\0') {
            choice->overrides[choice->count++] = value;
        }
    }
    choose_size(rng, choice);
    if (gsl_rng_uniform_int(rng, 4) == 0) {
        choice->overrides[choice->count++] = "context=";
        choice->overrides[choice->count++] = "batch=";
        choice->overrides[choice->count++] = "contexts={300: 90, 1000: 160, 3000: 3}";
    }
}

static void print_choice(const struct choice_of_axes *choice)
{
    for (size_t i = 2; i < choice->count; i++) {
        print_message(" %s", choice->overrides[i]);
    }
    print_message("\n");
}

/* ---- both ways ---- */

static void same_steps(const struct timing *a, const struct timing *b)
{
    assert_int_equal(a->steps, b->steps);
    for (uint32_t s = 0; s < a->steps; s++) {
        assert_int_equal(a->step[s].ns, b->step[s].ns);
        assert_int_equal(a->step[s].moved[WAY_IN], b->step[s].moved[WAY_IN]);
        assert_int_equal(a->step[s].moved[WAY_OUT], b->step[s].moved[WAY_OUT]);
    }
}

static void same_timing(const struct timing *a, const struct timing *b)
{
    same_steps(a, b);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(*a->cpu_ns, *b->cpu_ns);
    assert_memory_equal(a->layer_ns, b->layer_ns, a->layers * sizeof *a->layer_ns);
    assert_memory_equal(a->part_ns, b->part_ns, PART_COUNT * sizeof *a->part_ns);
    assert_memory_equal(a->stall_ns, b->stall_ns, PART_COUNT * sizeof *a->stall_ns);
    assert_memory_equal(a->basis_ns, b->basis_ns, BASIS_COUNT * sizeof *a->basis_ns);
    assert_ptr_equal(a->assumed_figure, b->assumed_figure);
    assert_int_equal(a->trust.basis, b->trust.basis);
    assert_int_equal(a->trust.extrapolated, b->trust.extrapolated);
    assert_ptr_equal(a->trust.assumed, b->trust.assumed);
}

static int64_t sum_of(const int64_t *ns, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(ns[i] >= 0);
        sum += ns[i];
    }
    return sum;
}

/* A schedule that does not repeat is known closely; its parts add up none the less. */
static void near_timing(const struct timing *a, const struct timing *b)
{
    assert_near((double)a->total_ns, (double)b->total_ns, 1e-3 * (double)b->total_ns);
    assert_int_equal(sum_of(a->part_ns, PART_COUNT), a->total_ns);
    assert_int_equal(sum_of(a->basis_ns, BASIS_COUNT), a->total_ns);
}

/* The plan with its long runs in pieces that are timed whole. The caller frees `times` and
 * `sequences` of its micro-batches. */
static struct plan in_pieces(const struct plan *plan)
{
    enum { PIECE = 50 };
    const struct packing *whole = &plan->micro_batches;
    struct plan pieces = *plan;
    struct packing *packing = &pieces.micro_batches;
    size_t most = whole->runs + whole->count / PIECE;
    packing->times = calloc(most, sizeof *packing->times);
    packing->sequences = calloc(most * whole->cohorts, sizeof *packing->sequences);
    assert_true(packing->times != NULL && packing->sequences != NULL);
    packing->runs = 0;
    for (uint32_t r = 0; r < whole->runs; r++) {
        for (uint32_t left = whole->times[r]; left > 0; left -= packing->times[packing->runs++]) {
            packing->times[packing->runs] = left < PIECE ? left : PIECE;
            memcpy(packing->sequences + (size_t)packing->runs * whole->cohorts,
                   whole->sequences + (size_t)r * whole->cohorts,
                   whole->cohorts * sizeof *packing->sequences);
        }
    }
    assert_false(steady_shortens(&pieces));
    return pieces;
}

static struct prefill_time prefill_of(const struct course *course, const struct plan *plan)
{
    struct prefill_time time;
    struct error why;
    if (!prefill_run(course->setup, plan, course->used, NULL, &time, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return time;
}

static void compare_prefill(const struct course *course)
{
    struct plan pieces = in_pieces(&course->plan);
    struct prefill_time whole = prefill_of(course, &pieces);
    struct prefill_time few = prefill_of(course, &course->plan);
    assert_true(whole.exact);
    assert_near((double)few.ns, (double)whole.ns, few.exact ? 0 : 1e-3 * (double)whole.ns);
    assert_int_equal(few.trust.basis, whole.trust.basis);
    assert_int_equal(few.trust.extrapolated, whole.trust.extrapolated);
    free(pieces.micro_batches.times);
    free(pieces.micro_batches.sequences);
}

struct tally {
    size_t refused, whole, exact, near;
};

/* Time the setup whole and from few micro-batches. */
static void compare(const struct setup *setup, struct tally *tally)
{
    struct course course;
    struct timing timing;
    struct error why;
    if (!try_course(setup, &course, &why)) {
        tally->refused++;
        return;
    }
    if (!pipeline_run(setup, &course.plan, course.used, NULL, &timing, &why)) {
        fail_msg("%s", message_of(&why));
    }
    tally->whole += !shortened_pays(&course.plan);
    tally->exact += timing.exact;
    tally->near += !timing.exact;
    (timing.exact ? same_timing : near_timing)(&timing, &course.timing);
    if (setup->prompt > 0) {
        compare_prefill(&course);
    }
    timing_release(&timing);
    course_release(&course);
}

/* ---- cases ---- */

static const struct {
    const char *what;
    bool exact;
    const char *overrides[MOST_OVERRIDES];
} cases[] = {
    {"FlexGen",
     true,
     {"system=flexgen", "batch=300", "context=1000", "mechanisms.micro_batch_sequences=3",
      "prompt=900"}},
    {"two runs are long",
     true,
     {"system=flexgen", "context=", "contexts={300: 200, 1000: 100}",
      "mechanisms.micro_batch_sequences=1", "steps=3"}},
    {"steps are many",
     true,
     {"system=flexgen", "batch=50", "context=1000", "mechanisms.micro_batch_sequences=1",
      "steps=150"}},
    /* Loads catch up with the kernels, and meet others of them from the 47th micro-batch on. */
    {"loads drift",
     true,
     {"system=capture-static", "batch=83", "context=4000", "mechanisms.micro_batch_overhead=1ms",
      "mechanisms.launch=graph", "steps=1", "mechanisms.micro_batch_tokens=2000"}},
    /* The weights of the next half layer take longer than the first 43 micro-batches. */
    {"weights hide micro-batches",
     true,
     {"system=capture", "batch=140", "context=4000", "mechanisms.halves=yes",
      "mechanisms.weights_spread=no", "mechanisms.transfer=pageable", "hardware.link.h2d=1GB/s",
      "hardware.host.dram_bandwidth=12GB/s", "mechanisms.operators=8", "steps=2",
      "mechanisms.micro_batch_overhead=3us", "mechanisms.micro_batch_tokens=3000"}},
    {"loads never stop drifting",
     false,
     {"system=capture", "batch=600", "context=4000", "mechanisms.halves=yes",
      "mechanisms.weights=50%", "mechanisms.transfer=sm-zero-copy",
      "mechanisms.micro_batch_overhead=3us", "hardware.link.d2h=300MB/s", "mechanisms.operators=40",
      "steps=1", "mechanisms.micro_batch_tokens=1000"}},
};

static void cases_are_as_the_whole(void **state)
{
    (void)state;
    char model[128];
    tiny_model(2, model);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *overrides[MOST_OVERRIDES] = {model, tiny_machine};
        memcpy(overrides + 2, cases[i].overrides, (MOST_OVERRIDES - 2) * sizeof *overrides);
        struct setup setup = make_setup(overrides);
        struct tally tally = {0};
        print_message("# %s\n", cases[i].what);
        compare(&setup, &tally);
        assert_int_equal(tally.exact, cases[i].exact);
        assert_int_equal(tally.refused + tally.whole, 0);
        setup_release(&setup);
    }
}

static void a_raised_flag_ends_the_timing(void **state)
{
    (void)state;
    char model[128];
    tiny_model(2, model);
    struct setup setup = SETUP(model, tiny_machine, "system=capture", "batch=100", "context=1000",
                               "mechanisms.micro_batch_tokens=1000", "prompt=900");
    struct stop_flag stop = {true};
    struct prefill_time prefill;
    struct timing timing;
    struct course course;
    struct error why;
    make_course(&setup, &course);
    assert_false(pipeline_run(&setup, &course.plan, course.used, &stop, &timing, &why));
    assert_string_equal(why.found, "interrupted");
    assert_false(prefill_run(&setup, &course.plan, course.used, &stop, &prefill, &why));
    assert_string_equal(why.found, "interrupted");
    course_release(&course);
    setup_release(&setup);
}

static void a_step_too_long_is_not_shown(void **state)
{
    (void)state;
    char model[128];
    tiny_model(2, model);
    struct setup setup = SETUP(model, tiny_machine, "system=flexgen", "batch=20000", "context=100",
                               "mechanisms.micro_batch_sequences=1", "steps=1");
    struct plan plan = make_plan(&setup);
    struct error why;
    assert_false(pipeline_timeline(&setup, &plan, NULL, stdout, &why));
    assert_string_equal(message_of(&why),
                        "a step of 20000 micro-batches in each of 2 layers is too long to show\n"
                        "  expected: at most 16384 micro-batches: a smaller 'batch'");
    plan_release(&plan);
    setup_release(&setup);
}

/* ---- random ---- */

static void few_micro_batches_tell_of_all(void **state)
{
    (void)state;
    struct error why;
    struct tally tally = {0};
    char model[128];
    uint64_t most = ROUNDS(40, 6);
    gsl_rng *rng = random_stream(1, "steady", 0, &why);
    tiny_model(2, model);
    for (uint64_t i = 0; i < most; i++) {
        struct choice_of_axes choice;
        struct setup setup;
        choose(rng, model, &choice);
        print_message("%llu:", (unsigned long long)i);
        print_choice(&choice);
        if (!try_setup(choice.overrides, &setup, &why)) {
            tally.refused++;
            continue;
        }
        compare(&setup, &tally);
        setup_release(&setup);
    }
    gsl_rng_free(rng);
    print_message("%zu refused, %zu exact, %zu of them whole, %zu near\n", tally.refused,
                  tally.exact, tally.whole, tally.near);
    assert_true(tally.exact - tally.whole > most / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_as_the_whole),
        cmocka_unit_test(a_raised_flag_ends_the_timing),
        cmocka_unit_test(a_step_too_long_is_not_shown),
        cmocka_unit_test(few_micro_batches_tell_of_all),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
