/* Runs as JSON: every column, in order, spelt so that what reads them gets the values back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/runs/runs.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char odd_text[] = "a \"quoted\", \\ back\\slash,\ttab → and\nnewline";

static void fill(struct result *result)
{
    struct error why;
    result_init(result);
    assert_true(result_text(result, COLUMN(run), "0123456789abcdef", &why));
    assert_true(result_text(result, COLUMN(trace), odd_text, &why));
    assert_true(result_text(result, COLUMN(policy), "", &why));
    result_integer(result, COLUMN(context), 131072);
    result_integer(result, COLUMN(step_us), 50097183);
    result_integer(result, COLUMN(tpot_ms), 50097183);
    result_real(result, COLUMN(hit_ratio), 0.1);
    result_real(result, COLUMN(mass_recall), INFINITY);
    result->part_count = 2;
    result->parts[0] = (struct result_item){.name = "compute", .ns = 50000000};
    result->parts[1] = (struct result_item){.name = "link", .ns = 97183};
}

static char *print_json(const struct result *result, bool *ok, struct error *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    *ok = run_print_json(result, NULL, out, why);
    fclose(out);
    return text;
}

static void json_has_every_column_in_order(void **state)
{
    (void)state;
    struct result result;
    struct error why;
    bool ok;
    fill(&result);
    char *text = print_json(&result, &ok, &why);
    assert_true(ok);
    assert_int_equal(strcspn(text, "\n"), strlen(text) - 1); /* one line */
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    uint32_t ends = 0;
    for (uint32_t i = 0; i < column_count; i++) {
        ends += column_rows[i]->is_end;
    }
    assert_int_equal(json_object_size(json), column_count - ends + 1);
    const char *name;
    json_t *value;
    uint32_t i = 0;
    json_object_foreach(json, name, value)
    {
        if (i == column_count) {
            assert_string_equal(name, "seal");
            break;
        }
        while (column_rows[i]->is_end) {
            i++; /* no family, no range */
        }
        assert_string_equal(name, column_rows[i]->name);
        assert_int_equal(!json_is_null(value), result_has(&result, column_rows[i]));
        i++;
    }
    json_decref(json);
    free(text);
    result_release(&result);
}

static void json_has_the_range_over_families(void **state)
{
    (void)state;
    struct result result;
    struct error why;
    bool ok;
    fill(&result);
    result_real(&result, COLUMN(hit_ratio_low), 0.05);
    result_real(&result, COLUMN(hit_ratio_high), 0.5);
    result.family_count = 2;
    for (int f = 0; f < 2; f++) {
        snprintf(result.families[f].name, RESULT_NAME, "family-%d", f);
        for (int i = 0; i < RANGES_MOST; i++) {
            result.families[f].values[i] = i == COLUMN(hit_ratio)->range - 1 ? 0.25 * (f + 1) : NAN;
        }
    }
    char *text = print_json(&result, &ok, &why);
    assert_true(ok);
    assert_non_null(
        strstr(text, "\"hit_ratio\":0.1,\"hit_ratio_low\":0.05,\"hit_ratio_high\":0.5,"));
    assert_non_null(strstr(text, ",\"families\":{\"family-0\":{\"hit_ratio\":0.25},"
                                 "\"family-1\":{\"hit_ratio\":0.5}},"));
    free(text);
    result_release(&result);
}

static void json_gives_the_values_back(void **state)
{
    (void)state;
    struct result result;
    struct error why;
    bool ok;
    fill(&result);
    char *text = print_json(&result, &ok, &why);
    json_t *json = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "trace")), odd_text);
    assert_string_equal(json_string_value(json_object_get(json, "policy")), "");
    assert_int_equal(json_integer_value(json_object_get(json, "context")), 131072);
    assert_true(json_is_null(json_object_get(json, "mass_recall")));
    json_decref(json);
    assert_non_null(strstr(text, "\"hit_ratio\":0.1,"));
    assert_non_null(strstr(text, "\"step_us\":50097.183,"));
    assert_non_null(strstr(text, "\"tpot_ms\":50.097183,"));
    assert_non_null(strstr(text, "\"parts_us\":{\"compute\":50000.000,\"link\":97.183},"));
    free(text);
    result_release(&result);
}

static void text_that_is_no_utf8_is_an_error_in_json(void **state)
{
    (void)state;
    struct result result;
    struct error why;
    bool ok;
    fill(&result);
    assert_true(result_text(&result, COLUMN(model), "mod\xff", &why));
    char *text = print_json(&result, &ok, &why);
    assert_false(ok);
    free(text);
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_every_column_in_order),
        cmocka_unit_test(json_has_the_range_over_families),
        cmocka_unit_test(json_gives_the_values_back),
        cmocka_unit_test(text_that_is_no_utf8_is_an_error_in_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
