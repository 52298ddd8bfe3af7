/* QSAC's eta, chosen by the share of sets to reuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "policy/qsac.h"

#include <math.h>
#include <string.h>

enum { ETA, REUSE = 4 };

/* A made-up model: reuse falls from 1 to 0, and steeply below `turn`. */
struct model {
    double turn;
    int trials, fails_at;
};

static bool reuse_of(void *context, const double *values, double *reused, struct error *why)
{
    struct model *model = context;
    double eta = qsac_eta(values);
    *reused = eta < model->turn ? 1 : (1 - eta) / (1 - model->turn);
    return ++model->trials != model->fails_at || error_set(why, NULL, 0, "no trace");
}

static void eta_reuses_the_wanted_share(void **state)
{
    (void)state;
    static const struct {
        double turn, reuse, eta;
    } cases[] = {
        {0, .7, .3},   /* 1 - eta = .7 */
        {.5, .7, .65}, /* (1 - eta) / .5 */
        {.9, .25, .975},
        {.9, 1, .9}, /* from here on fewer */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double values[POLICY_MOST_PARAMS] = {[ETA] = .8, [REUSE] = cases[i].reuse};
        struct model model = {.turn = cases[i].turn};
        struct error why;
        assert_true(qsac_choose_eta(values, reuse_of, &model, &why));
        if (cases[i].reuse < 1 ? fabs(qsac_eta(values) - cases[i].eta) > .0021
                               : qsac_eta(values) > cases[i].eta) {
            fail_msg("case %zu: %.4f, not %.4f", i, qsac_eta(values), cases[i].eta);
        }
        assert_true(qsac_reuse(values) == cases[i].reuse);
        assert_true(fabs(1000 * qsac_eta(values) - round(1000 * qsac_eta(values))) < 1e-9);
    }
}

static void a_trial_that_fails_ends_the_search(void **state)
{
    (void)state;
    double values[POLICY_MOST_PARAMS] = {[ETA] = .8, [REUSE] = .5};
    struct model model = {.turn = .5, .fails_at = 3};
    struct error why;
    assert_false(qsac_choose_eta(values, reuse_of, &model, &why));
    assert_int_equal(model.trials, 3);
    assert_string_equal(why.found, "no trace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eta_reuses_the_wanted_share),
        cmocka_unit_test(a_trial_that_fails_ends_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
