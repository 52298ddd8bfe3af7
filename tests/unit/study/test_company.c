/* Which mechanisms can be had together: by hand, and against the definition on random rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "study/ablate/company.h"

enum { SYNC = 1, LAUNCH = 2, MERGE = 4, ALL = 7 };

static struct company make(uint32_t mechanisms)
{
    struct company company;
    struct error why;
    assert_true(company_init(&company, mechanisms, &why));
    return company;
}

/* A graph needs that nothing synchronises with the CPU; merging goes with everything. */
static void what_is_needed_is_the_least_company(void **state)
{
    (void)state;
    struct company company = make(3);
    for (uint32_t set = 0; set <= ALL; set++) {
        company.can[set] = (set & LAUNCH) == 0 || (set & SYNC) != 0;
    }
    assert_int_equal(company_least(&company, SYNC), 0);
    assert_int_equal(company_least(&company, LAUNCH), SYNC);
    assert_int_equal(company_least(&company, MERGE), 0);
    assert_int_equal(company_most(&company, SYNC), MERGE); /* the graph leaves with it */
    assert_int_equal(company_most(&company, LAUNCH), SYNC | MERGE);
    assert_int_equal(company_most(&company, MERGE), SYNC | LAUNCH);
    company_release(&company);
}

static void what_only_comes_together_has_no_company_alone(void **state)
{
    (void)state;
    struct company company = make(2);
    company.can[0] = company.can[SYNC | LAUNCH] = true;
    assert_int_equal(company_least(&company, SYNC), COMPANY_NONE);
    assert_int_equal(company_most(&company, LAUNCH), COMPANY_NONE);
    assert_int_equal(company_least(&company, SYNC | LAUNCH), 0);
    assert_int_equal(company_most(&company, SYNC | LAUNCH), 0);
    company_release(&company);
}

static bool changes_in(const struct company *company, uint32_t group, uint32_t set)
{
    return (set & group) == 0 && company->can[set] && company->can[set | group];
}

static void no_company_is_smaller_or_larger(void **state)
{
    enum { MECHANISMS = 6, SETS = 1 << MECHANISMS };
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct company company = make(MECHANISMS);
        struct error why;
        gsl_rng *random = random_stream(seed, "test.company", 0, &why);
        for (uint32_t set = 0; set < SETS; set++) {
            company.can[set] = gsl_rng_uniform(random) < 0.2;
        }
        gsl_rng_free(random);
        for (uint32_t i = 0; i < MECHANISMS; i++) {
            uint32_t least = company_least(&company, 1u << i);
            uint32_t most = company_most(&company, 1u << i);
            int smallest = MECHANISMS, largest = -1;
            for (uint32_t set = 0; set < SETS; set++) {
                int size = __builtin_popcount(set);
                if (changes_in(&company, 1u << i, set)) {
                    smallest = size < smallest ? size : smallest;
                    largest = size > largest ? size : largest;
                }
            }
            bool none = largest < 0;
            bool right = none ? least == COMPANY_NONE && most == COMPANY_NONE
                              : changes_in(&company, 1u << i, least) &&
                                    changes_in(&company, 1u << i, most) &&
                                    __builtin_popcount(least) == smallest &&
                                    __builtin_popcount(most) == largest;
            if (!right) {
                fail_msg("seed %d, mechanism %d", (int)seed, (int)i);
            }
        }
        company_release(&company);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_is_the_least_company),
        cmocka_unit_test(what_only_comes_together_has_no_company_alone),
        cmocka_unit_test(no_company_is_smaller_or_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
