/* Replications: uniform and common draws, the same for any number of threads, and as many as are
 * needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"
#include "unit/fixture/rounds.h"

#include "study/sweep/replication.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

/* A recording, so that the seed decides nothing but the draws. */
#define RECORDED "model=smollm2-135m", "trace=smollm2-135m", "context=3840", "steps=4"

static struct result replicate(const struct point *point, uint32_t draws, uint32_t threads)
{
    struct error why;
    struct result result;
    struct run_context runs;
    make_runs(&runs, threads);
    if (!replication_run(point, draws, &runs, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    run_context_release(&runs);
    return result;
}

/* That many draws of these overrides. */
static struct result draw(const char *const *overrides, uint32_t count)
{
    struct point point = make_point(overrides);
    struct result result = replicate(&point, count, 1);
    assert_int_equal(result.draws.count, count);
    point_release(&point);
    return result;
}

static bool same_draws(const struct result_draws *a, const struct result_draws *b)
{
    return a->count == b->count && strcmp(a->ranges, b->ranges) == 0 &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0;
}

/* ---- quantiles ---- */

enum { DRAWS = 4000 };

/* Kolmogorov and Smirnov: of n uniform draws the distribution lies within 1.63 / √n of a straight
 * line, 99 times in a hundred. */
static void assert_uniform(double *draws, const char *what, uint64_t seed)
{
    double worst = 0;
    gsl_sort(draws, 1, DRAWS);
    for (int i = 0; i < DRAWS; i++) {
        assert_true(draws[i] > 0 && draws[i] < 1);
        worst = fmax(worst, fmax(draws[i] - (double)i / DRAWS, (i + 1.0) / DRAWS - draws[i]));
    }
    if (worst > 1.63 / sqrt(DRAWS)) {
        fail_msg("seed %llu, %s: %.4f off", (unsigned long long)seed, what, worst);
    }
}

static void quantiles_are_uniform_over_draws_and_seeds(void **state)
{
    (void)state;
    static double draws[DRAWS];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        for (uint32_t r = 0; r < DRAWS; r++) {
            draws[r] = replication_quantile(seed, r, curve_kinds[CURVE_LINK_IN].name);
        }
        assert_uniform(draws, "over draws", seed);
        for (uint32_t s = 0; s < DRAWS; s++) {
            draws[s] = replication_quantile(seed * DRAWS + s, 0, curve_kinds[CURVE_HOST_SYNC].name);
        }
        assert_uniform(draws, "over seeds", seed);
    }
}

/* Of n independent pairs the correlation lies within 3.3 / √n, 999 times in a thousand. */
static void figures_are_drawn_independently(void **state)
{
    (void)state;
    static double a[DRAWS], b[DRAWS], next[DRAWS];
    for (uint32_t r = 0; r < DRAWS; r++) {
        a[r] = replication_quantile(1, r, curve_kinds[CURVE_LINK_IN].name);
        b[r] = replication_quantile(1, r, curve_kinds[CURVE_LINK_OUT].name);
        next[r] = replication_quantile(2, r, curve_kinds[CURVE_LINK_IN].name);
    }
    assert_near(gsl_stats_correlation(a, 1, b, 1, DRAWS), 0, 3.3 / sqrt(DRAWS));
    assert_near(gsl_stats_correlation(a, 1, next, 1, DRAWS), 0, 3.3 / sqrt(DRAWS));
}

/* ---- runs ---- */

static void the_run_itself_stays(void **state)
{
    (void)state;
    struct point point = POINT(RECORDED, "system=retroinfer-10pct");
    struct result plain = replicate(&point, 0, 1);
    struct result drawn = replicate(&point, 5, 1);
    assert_int_equal(plain.draws.count, 0);
    assert_int_equal(drawn.draws.count, 5);
    assert_int_equal(result_cell(&plain, COLUMN(step_us))->integer,
                     result_cell(&drawn, COLUMN(step_us))->integer);
    assert_string_equal(result_cell(&plain, COLUMN(run))->text,
                        result_cell(&drawn, COLUMN(run))->text);
    for (uint32_t i = 0; i < 5; i++) {
        double step = drawn.draws.values[i][COLUMN(step_us)->drawn - 1];
        assert_true(step != result_number(&plain, COLUMN(step_us)));
        assert_near(drawn.draws.values[i][COLUMN(decode_tokens_per_s)->drawn - 1] * step / 1e6, 1,
                    1e-9);
        assert_near(drawn.draws.values[i][COLUMN(hit_ratio)->drawn - 1],
                    result_cell(&plain, COLUMN(hit_ratio))->real, 0);
        assert_true(isnan(drawn.draws.values[i][COLUMN(ttft_ms)->drawn - 1]));
    }
    result_release(&plain);
    result_release(&drawn);
    point_release(&point);
}

/* A hundred are ten and ninety more, by any number of threads. */
static void draws_are_the_same_however_they_are_made(void **state)
{
    (void)state;
    struct point point = POINT(RECORDED, "system=retroinfer-10pct");
    struct result few = replicate(&point, 4, 1);
    struct result one = replicate(&point, 12, 1);
    struct result three = replicate(&point, 12, 3);
    assert_true(same_draws(&one.draws, &three.draws));
    one.draws.count = 4;
    assert_true(same_draws(&one.draws, &few.draws));
    result_release(&few);
    result_release(&one);
    result_release(&three);
    point_release(&point);
}

/* All KV in HBM, and on a machine of which only HBM's bandwidth is uncertain a step is as much
 * slower as HBM is: the mean of draws over the range [50%, 200%] comes out as the integral says,
 * (1/2) · ((2 - 1) + (1 - 1/2)) / ln 2 = 1.0820 of the median, for what HBM alone decides. */
static void a_step_follows_what_is_drawn(void **state)
{
    (void)state;
    enum { COUNT_OF_DRAWS = 300 };
    struct point point = POINT("system=fullattn", "steps=1");
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        point.setup.profile.curves[i].least = point.setup.profile.curves[i].most = 1;
    }
    point.setup.profile.curves[CURVE_GPU_HBM_BANDWIDTH].least = 0.5;
    point.setup.profile.curves[CURVE_GPU_HBM_BANDWIDTH].most = 2;
    struct result result = replicate(&point, COUNT_OF_DRAWS, 1);
    double least = INFINITY, most = 0, own = result_number(&result, COLUMN(step_us));
    for (uint32_t i = 0; i < COUNT_OF_DRAWS; i++) {
        double quantile =
            replication_quantile(point.setup.seed, i, curve_kinds[CURVE_GPU_HBM_BANDWIDTH].name);
        double step = result.draws.values[i][COLUMN(step_us)->drawn - 1];
        assert_near(step / own, exp2(1 - 2 * quantile), 0.03);
        least = fmin(least, step);
        most = fmax(most, step);
    }
    assert_true(least < 0.6 * own && most > 1.8 * own);
    struct interval interval = interval_mean(&result.draws.values[0][COLUMN(step_us)->drawn - 1],
                                             DRAWN_MOST, COUNT_OF_DRAWS);
    assert_near(interval.mean / own, 1.0820, 1.5 * interval.half / own + 0.02);
    result_release(&result);
    point_release(&point);
}

static void a_machine_without_ranges_is_sure(void **state)
{
    (void)state;
    struct point point = POINT(RECORDED, "system=retroinfer-10pct");
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        point.setup.profile.curves[i].least = point.setup.profile.curves[i].most = 1;
    }
    struct result result = replicate(&point, 6, 1);
    struct interval interval = interval_mean(&result.draws.values[0][COLUMN(step_us)->drawn - 1],
                                             DRAWN_MOST, result.draws.count);
    assert_true(interval.half == 0);
    assert_true(interval.mean == result_number(&result, COLUMN(step_us)));
    result_release(&result);
    point_release(&point);
}

static double deviation_between(const struct result *a, const struct result *b)
{
    double difference[64];
    for (uint32_t i = 0; i < a->draws.count; i++) {
        difference[i] = a->draws.values[i][COLUMN(step_us)->drawn - 1] -
                        b->draws.values[i][COLUMN(step_us)->drawn - 1];
    }
    return interval_mean(difference, 1, a->draws.count).deviation;
}

/* On a machine without ranges, a draw of an ensemble is the run of one of its families. */
static void a_draw_takes_one_family(void **state)
{
    (void)state;
    struct point point =
        POINT("trace=ensemble", "context=3840", "steps=2", "warmup=4", "system=clo");
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        point.setup.profile.curves[id].least = point.setup.profile.curves[id].most = 1;
    }
    struct result one = replicate(&point, 16, 1), two = replicate(&point, 16, 2);
    uint32_t seen[3] = {0};
    assert_true(same_draws(&one.draws, &two.draws));
    for (uint32_t i = 0; i < 16; i++) {
        for (int f = 0; f < 3; f++) {
            seen[f] += one.draws.values[i][COLUMN(step_us)->drawn - 1] ==
                           one.families[f].values[COLUMN(step_us)->range - 1] &&
                       one.draws.values[i][COLUMN(mass_recall)->drawn - 1] ==
                           one.families[f].values[COLUMN(mass_recall)->range - 1];
        }
    }
    assert_int_equal(seen[0] + seen[1] + seen[2], 16);
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
    result_release(&one);
    result_release(&two);
    point_release(&point);
}

/* RetroInfer with either policy hangs on the same host. */
static void common_draws_tell_systems_apart_sooner(void **state)
{
    (void)state;
    struct result lru = draw(OVERRIDES(RECORDED, "system=retroinfer-10pct"), 40);
    struct result fifo = draw(OVERRIDES(RECORDED, "system=retroinfer-fifo"), 40);
    struct result other = draw(OVERRIDES(RECORDED, "system=retroinfer-fifo", "seed=2"), 40);
    double common = deviation_between(&lru, &fifo), independent = deviation_between(&lru, &other);
    if (!(common < independent / 5)) {
        fail_msg("%.3f us together, %.3f us apart", common, independent);
    }
    result_release(&lru);
    result_release(&fifo);
    result_release(&other);
}

/* ---- seeds ---- */

/* A point of these alone, up to a NULL. */
static struct point make_whole(const char *const *overrides)
{
    struct scenario scenario;
    struct point point;
    struct error why;
    uint32_t count = 0;
    while (overrides[count] != NULL) {
        count++;
    }
    if (!scenario_load(NULL, 0, overrides, count, &scenario, &why) ||
        !scenario_point(&scenario, 0, &point, &why)) {
        fail_msg("%s", message_of(&why));
    }
    scenario_release(&scenario);
    return point;
}

/* Without ranges nothing but the seed is left to differ. */
static double spread_of_seeds(const char *const *overrides, const struct column *column)
{
    struct point point = make_whole(overrides);
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        point.setup.profile.curves[i].least = point.setup.profile.curves[i].most = 1;
    }
    struct result result = replicate(&point, 4, 2);
    double own = result_number(&result, column);
    assert_near(result.draws.values[0][column->drawn - 1], own,
                0); /* the first seed is the run's */
    double deviation =
        interval_mean(&result.draws.values[0][column->drawn - 1], DRAWN_MOST, 4).deviation;
    result_release(&result);
    point_release(&point);
    return deviation;
}

static void what_is_generated_takes_a_seed_each(void **state)
{
    (void)state;
#define HERE "hardware=a40", "steps=4", "system=retroinfer-10pct"
#define SMALL "model=smollm2-135m", HERE
    static const char *const generated[] = {SMALL, "trace=llama-3-8b-like", "context=4096", NULL};
    static const char *const mixed[] = {SMALL, "trace=llama-3-8b-like", "contexts=[2048, 4096]",
                                        NULL};
    static const char *const recorded[] = {SMALL, "trace=smollm2-135m", "context=3840", NULL};
    static const char *const lots[] = {SMALL, "trace=smollm2-135m", "context=3840",
                                       "mechanisms.policy=lecar", NULL};
    static const char *const dealt[] = {"model=llama-3-8b", HERE, "context=8192",
                                        "trace=assumed:hit=93%,spread=5%", NULL};
    if (ROUNDS(true, false)) {
        assert_true(spread_of_seeds(generated, COLUMN(hit_ratio)) > 0);
        assert_true(spread_of_seeds(mixed, COLUMN(hit_ratio)) > 0);
    }
    assert_true(spread_of_seeds(lots, COLUMN(hit_ratio)) > 0);
    assert_true(spread_of_seeds(dealt, COLUMN(step_us)) > 0);
    assert_true(spread_of_seeds(recorded, COLUMN(step_us)) == 0);
}

static void a_server_has_arrivals_of_its_own(void **state)
{
    (void)state;
#define SERVER "model=llama-3.1-8b", "hardware=rtx-4090", "system=vllm", "workload=conversations"
    static const char *const drawn[] = {SERVER, "limit=20", "rate=2", NULL};
    static const char *const stated[] = {SERVER, "limit=20", "trace=smollm2-135m", NULL};
    assert_true(spread_of_seeds(drawn, COLUMN(ttft_ms)) > 0);
    assert_true(spread_of_seeds(stated, COLUMN(ttft_ms)) == 0);
}

static void what_does_not_fit_is_not_drawn(void **state)
{
    (void)state;
    struct point point = POINT("system=fullattn", "batch=1000");
    struct result result = replicate(&point, 5, 1);
    assert_int_equal(result.draws.count, 0);
    assert_string_equal(result_cell(&result, COLUMN(status))->text, "out-of-memory");
    result_release(&result);
    point_release(&point);
}

/* Memory decides what fits, which is planned: its range is not among those that are drawn from. */
static void memory_is_not_drawn(void **state)
{
    static const enum curve_id ids[] = {CURVE_GPU_HBM_CAPACITY, CURVE_HOST_DRAM_CAPACITY,
                                        CURVE_GPU_HBM_BANDWIDTH};
    struct point point = POINT(RECORDED, "system=fullattn");
    char before[17], after[17];
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        replication_ranges(&point.setup, before);
        point.setup.profile.curves[ids[i]].least /= 2;
        replication_ranges(&point.setup, after);
        assert_int_equal(strcmp(before, after) == 0, ids[i] != CURVE_GPU_HBM_BANDWIDTH);
    }
    point_release(&point);
}

static void what_is_stopped_leaves_no_result(void **state)
{
    (void)state;
    struct error why;
    struct result result;
    struct point point = POINT(RECORDED, "system=litecache");
    struct run_context runs;
    make_runs(&runs, 1);

    atomic_store(&runs.stop->raised, true);
    assert_false(replication_run(&point, 5, &runs, &result, &why));
    run_context_release(&runs);
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_uniform_over_draws_and_seeds),
        cmocka_unit_test(figures_are_drawn_independently),
        cmocka_unit_test(the_run_itself_stays),
        cmocka_unit_test(draws_are_the_same_however_they_are_made),
        cmocka_unit_test(a_step_follows_what_is_drawn),
        cmocka_unit_test(a_machine_without_ranges_is_sure),
        cmocka_unit_test(a_draw_takes_one_family),
        cmocka_unit_test(common_draws_tell_systems_apart_sooner),
        cmocka_unit_test(what_is_generated_takes_a_seed_each),
        cmocka_unit_test(a_server_has_arrivals_of_its_own),
        cmocka_unit_test(what_does_not_fit_is_not_drawn),
        cmocka_unit_test(memory_is_not_drawn),
        cmocka_unit_test(what_is_stopped_leaves_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
