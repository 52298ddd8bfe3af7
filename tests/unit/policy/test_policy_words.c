/* What tables call a policy. By hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/policy.h"

#include <string.h>

static void a_policy_is_named_with_what_decides(void **state)
{
    static const struct {
        const char *text, *words; /* NULL: it is no policy */
    } cases[] = {
        {"lru", "lru"},
        {"qsac", "qsac, eta 0.8"},
        {"{name: qsac}", "qsac, eta 0.8"},
        {"{name: qsac, eta: 60%}", "qsac, eta 0.6"},
        {"{name: qsac, eta: 0.8, power: 0}", "qsac, eta 0.8, power 0"},
        {"{name: qsac, eta: 2}", NULL},
        {"many", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64] = "as before";
        struct error why;
        struct node *node = node_parse(cases[i].text, strlen(cases[i].text), "", &why);
        assert_non_null(node);
        assert_int_equal(policy_words(node, text, sizeof text), cases[i].words != NULL);
        assert_string_equal(text, cases[i].words != NULL ? cases[i].words : "as before");
        node_destroy(node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_named_with_what_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
