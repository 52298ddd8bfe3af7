/* What is held against a measurement: its names, its rates, and its numbers, as typed here. */
#include "core/name.h"
#include "study/papers/measured_server.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_server_names_its_model_with_more_words(void **state)
{
    (void)state;
    assert_true(name_holds("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"));
    assert_true(name_holds("/models/Qwen3_30B-A3B/", "qwen3-30b-a3b"));
    assert_true(name_holds("llama-3-8b", "llama-3-8b"));
    assert_false(name_holds("meta-llama/Llama-3.1-8B", "llama-3-8b"));
    assert_false(name_holds("Llama-3-80B", "llama-3-8b"));
    assert_false(name_holds("8b-3-llama", "llama-3-8b")); /* the order counts */
    assert_false(name_holds("", "llama-3-8b"));
}

/* 0.05 + 2 / sqrt(100) is a quarter. */
static void a_rate_may_lie_off_by_what_the_gaps_spread(void **state)
{
    (void)state;
    assert_true(measured_agrees_in_rate(4, 5, 100));
    assert_true(measured_agrees_in_rate(4, 3, 100));
    assert_false(measured_agrees_in_rate(4, 5.1, 100));
    assert_false(measured_agrees_in_rate(4, 5, 400));
    assert_false(measured_agrees_in_rate(8, 1, 5));
}

static void a_number_that_none_measures_is_an_error_and_names_its_key(void **state)
{
    static const struct {
        const char *text;
        double value; /* NAN: not said */
        const char *found;
    } cases[] = {
        {"{\"k\": 12.5}", 12.5, NULL},
        {"{\"k\": 0}", 0, NULL},
        {"{\"k\": 1e12}", 1e12, NULL},
        {"{\"k\": null}", NAN, NULL},
        {"{\"other\": -1}", NAN, NULL},
        {"{\"k\": -5}", 0, "'k' is -5"},
        {"{\"k\": 1e308}", 0, "'k' is 1e+308"},
        {"{\"k\": 1e-300}", 0, "'k' is 1e-300"},
        {"{\"k\": \"12\"}", 0, "'k' is not a number"},
        {"{\"k\": [1]}", 0, "'k' is not a number"},
        {"{\"k\": {}}", 0, "'k' is not a number"},
        {"{\"k\": true}", 0, "'k' is not a number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error why;
        double value;
        json_t *object = json_loads(cases[i].text, 0, NULL);
        assert_non_null(object);
        bool good = measured_number(object, "k", "file", &value, &why);
        json_decref(object);
        assert_int_equal(good, cases[i].found == NULL);
        if (!good) {
            assert_string_equal(why.found, cases[i].found);
            assert_string_equal(why.file, "file");
        } else if (isnan(cases[i].value)) {
            assert_true(isnan(value));
        } else {
            assert_true(value == cases[i].value);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_names_its_model_with_more_words),
        cmocka_unit_test(a_rate_may_lie_off_by_what_the_gaps_spread),
        cmocka_unit_test(a_number_that_none_measures_is_an_error_and_names_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
