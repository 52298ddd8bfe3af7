/* What people call keys elsewhere. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "predict/scenario/scenario_keys.h"

#include <string.h>

static void a_word_from_elsewhere_is_an_alias_of_a_key(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key;
    } cases[] = {
        {"tp", "tensor_parallel"},
        {"--gpus", "tensor_parallel"},
        {"--tensor-parallel-size", "tensor_parallel"},
        {"quantization", "dtype.weights"},
        {"--kv-cache-dtype", "dtype.kv"},
        {"Batch_Size", "batch"},
        {"QPS", "rate"},
        {"budget", "mechanisms.budget"},
        {"hbm_capacity", "hardware.gpu.hbm_capacity"},
        {"gpu.hbm_capacity", "hardware.gpu.hbm_capacity"},
        {"zzz", NULL},
        {"", NULL},
        {"--", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[SCENARIO_PATH];
        const char *key = scenario_alias(cases[i].text, path);
        print_message("# '%s'\n", cases[i].text);
        assert_int_equal(key != NULL, cases[i].key != NULL);
        if (key != NULL) {
            assert_string_equal(key, cases[i].key);
            assert_non_null(scenario_key_find(key, strcspn(key, ".")));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_from_elsewhere_is_an_alias_of_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
