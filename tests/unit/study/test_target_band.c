/* Verdicts that are nearer than the error band: where it puts a figure, and which bounds that
 * holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/result/tie.h"
#include "study/plan/target.h"

#include <math.h>

/* A step of 60 ms, 20 tokens a second, 8 dollars; published rates lay at 0.8 to 1.25 times such. */
static void make_run(struct result *result)
{
    struct error why;
    result_init(result);
    result->band[0][0] = -0.2;
    result->band[0][1] = 0.25;
    result->cells[COLUMN(error_band)->index].set = true;
    result->cells[COLUMN(tpot_ms)->index] = (struct cell){.set = true, .integer = 60000000};
    result->cells[COLUMN(decode_tokens_per_s)->index] = (struct cell){.set = true, .real = 20};
    result->cells[COLUMN(cost_per_million_tokens)->index] = (struct cell){.set = true, .real = 8};
    result->cells[COLUMN(hbm_bytes)->index] = (struct cell){.set = true, .integer = 1000};
    assert_true(result_text(result, COLUMN(status), "ok", &why));
}

static const struct {
    const char *target;
    bool known;
    double least, most; /* milliseconds, tokens a second, dollars */
    bool near;
} cases[] = {
    {"tpot_ms<=50", true, 48, 75, true},  /* 60 / 1.25 to 60 / 0.8; missed */
    {"tpot_ms<=70", true, 48, 75, true},  /* met */
    {"tpot_ms<=47", true, 48, 75, false}, /* missed for sure */
    {"tpot_ms<=76", true, 48, 75, false}, /* met for sure */
    {"tpot_ms>=70", true, 48, 75, true},
    {"decode_tokens_per_s>=16.5", true, 16, 25, true},
    {"decode_tokens_per_s>=15", true, 16, 25, false},
    {"decode_tokens_per_s>=24", true, 16, 25, true},
    {"cost_per_million_tokens<=9", true, 6.4, 10, true},
    {"cost_per_million_tokens<=11", true, 6.4, 10, false},
    {"tpot_ms>=40", true, 48, 75, false},
    {"hbm_bytes<=1001", false, 0, 0, false}, /* no band is of memory */
    {"step_us<=60000", false, 0, 0, false},  /* the run has none */
};

static void a_bound_within_the_band_may_go_either_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct targets targets;
        struct result run;
        struct error why;
        double least = 0, most = 0;
        make_run(&run);
        assert_true(targets_parse(cases[i].target, &targets, &why));
        bool known = band_ends(&run, targets.all[0].column, &least, &most);
        if (known != cases[i].known || fabs(least - cases[i].least) > 1e-9 * cases[i].least ||
            fabs(most - cases[i].most) > 1e-9 * cases[i].most ||
            target_is_near(&targets.all[0], &run) != cases[i].near) {
            fail_msg("%s: from %g to %g", cases[i].target, least, most);
        }
        result_release(&run);
    }
}

static void without_a_band_nothing_is_known(void **state)
{
    struct targets targets;
    struct result run;
    struct error why;
    (void)state;
    make_run(&run);
    run.cells[COLUMN(error_band)->index].set = false;
    assert_true(targets_parse("tpot_ms<=60", &targets, &why));
    assert_false(target_is_near(&targets.all[0], &run));
    result_release(&run);
}

/* Of a server: tokens a second as above, TTFT of 100 ms at half to twice it, TPOT unknown. */
static void a_servers_figures_have_bands_of_their_own(void **state)
{
    static const struct {
        const char *target;
        bool known;
        double least, most;
    } served[] = {
        {"ttft_ms<=100", true, 50, 200},           {"ttft_p50_ms<=100", true, 50, 200},
        {"ttft_p99_ms<=100", false, 0, 0},         {"tpot_ms<=60", false, 0, 0},
        {"decode_tokens_per_s>=20", true, 16, 25},
    };
    (void)state;
    for (size_t i = 0; i < sizeof served / sizeof served[0]; i++) {
        struct targets targets;
        struct result run;
        struct error why;
        double least = 0, most = 0;
        make_run(&run);
        run.cells[COLUMN(requests)->index] = (struct cell){.set = true, .integer = 10};
        run.cells[COLUMN(ttft_ms)->index] = run.cells[COLUMN(ttft_p50_ms)->index] =
            run.cells[COLUMN(ttft_p99_ms)->index] =
                (struct cell){.set = true, .integer = 100000000};
        run.cells[COLUMN(ttft_band)->index].set = true;
        run.band[BANDED_TTFT - BANDED_RATE][0] = -0.5;
        run.band[BANDED_TTFT - BANDED_RATE][1] = 1;
        assert_true(targets_parse(served[i].target, &targets, &why));
        bool known = band_ends(&run, targets.all[0].column, &least, &most);
        if (known != served[i].known || fabs(least - served[i].least) > 1e-9 * served[i].least ||
            fabs(most - served[i].most) > 1e-9 * served[i].most) {
            fail_msg("%s: %d, %g to %g", served[i].target, known, least, most);
        }
        result_release(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_within_the_band_may_go_either_way),
        cmocka_unit_test(without_a_band_nothing_is_known),
        cmocka_unit_test(a_servers_figures_have_bands_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
