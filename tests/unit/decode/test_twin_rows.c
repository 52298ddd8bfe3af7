/* Rows of twins: those that ship can be read, and faults are told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/find.h"
#include "decode/replay/twin_rows.h"

#include <stdio.h>
#include <string.h>

static void shipped_rows_can_be_read(void **state)
{
    (void)state;
    char path[4096];
    struct error why;
    struct twin_rows rows;
    assert_true(find_path("traces", "twins", "json", path, sizeof path, &why));
    assert_true(twin_rows_load(path, &rows, &why));
    assert_true(rows.count >= 12);
    assert_string_equal(rows.row[0].model, "SmolLM2-135M-Instruct.Q4_1");
    assert_string_equal(rows.row[0].text, "policy.txt.gz from byte 30000");
    assert_int_equal(rows.row[0].context, 3840);
    twin_rows_release(&rows);
}

/* Write a file with one row; `fault` says what is wrong with it. */
static void write_file(const char *fault, char text[4096])
{
    size_t used = (size_t)sprintf(text, "{\"figures\": [");
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        bool is_other = f == 7 && strcmp(fault, "figure") == 0;
        used += (size_t)sprintf(text + used, "%s\"%s\"", f > 0 ? ", " : "",
                                is_other ? "lru_11" : likeness_figures[f].name);
    }
    used += (size_t)sprintf(text + used, "],\n\"recordings\": [{%s\"text\": \"t\", \"context\": %s",
                            strcmp(fault, "model") == 0 ? "" : "\"model\": \"m\", ",
                            strcmp(fault, "context") == 0 ? "0" : "3840");
    used += (size_t)sprintf(text + used, ", \"%s\": 3840",
                            strcmp(fault, "key") == 0 ? "fited" : "fitted");
    for (int key = 0; key < 2; key++) {
        used += (size_t)sprintf(text + used, ", \"%s\": [", key == 0 ? "recording" : "twin");
        uint32_t last = LIKENESS_FIGURES;
        last -= key == 1 && strcmp(fault, "length") == 0;
        for (uint32_t f = 0; f < last; f++) {
            used += (size_t)sprintf(text + used, "%s%s", f > 0 ? ", " : "",
                                    f == 3 && strcmp(fault, "share") == 0 ? "1.5" : "0.25");
        }
        used += (size_t)sprintf(text + used, "]");
    }
    sprintf(text + used, "}]}");
}

static void faults_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *found;
    } cases[] = {
        {"figure", "figure 8 is another one"},
        {"model", "a recording has no 'model'"},
        {"context", "a recording has no 'context'"},
        {"key", "unknown key 'fited' in 'recordings'"},
        {"length", "'twin' is missing, or of the wrong length or type"},
        {"share", "1.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        struct error why;
        struct twin_rows rows;
        write_file(cases[i].fault, text);
        assert_false(twin_rows_parse(text, strlen(text), "rows", &rows, &why));
        if (strstr(why.found, cases[i].found) == NULL) {
            fail_msg("%s: %s", cases[i].fault, why.found);
        }
        twin_rows_release(&rows);
    }
}

static void a_row_is_read_as_written(void **state)
{
    (void)state;
    char text[4096];
    struct error why;
    struct twin_rows rows;
    write_file("", text);
    assert_true(twin_rows_parse(text, strlen(text), "rows", &rows, &why));
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.row[0].model, "m");
    assert_int_equal(rows.row[0].fitted, 3840);
    assert_float_equal(rows.row[0].is[LIKENESS_FIGURES - 1], 0.25, 0);
    twin_rows_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_rows_can_be_read),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(a_row_is_read_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
