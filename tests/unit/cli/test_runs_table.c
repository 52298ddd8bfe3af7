/* The table of runs: what stands around it, and which columns it has. Results are made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/runs/runs.h"

#include <stdlib.h>
#include <string.h>

struct run {
    const char *system;
    const char *source; /* what its hit ratio rests on; NULL: it has none */
    const char *trace;  /* what its mass rests on; NULL: it has none */
    const char *models; /* a note on each letter, the name of a model; NULL: none */
    uint64_t left_out;  /* requests that a note says were left out; 0: no note */
    bool short_of_memory;
    bool extrapolated;
    double assumed; /* share of its time, the rest is published */
};

static void fill(const struct run *run, struct result *result)
{
    struct error why;
    result_init(result);
    assert_true(result_text(result, COLUMN(system), run->system, &why));
    assert_true(result_text(result, COLUMN(model), "tiny", &why));
    result_integer(result, COLUMN(batch), 1);
    for (const char *name = run->models; name != NULL && *name != '\0'; name++) {
        result_note(result,
                    note_make(NOTE_indexer_unused, note_text(((const char[]){*name, '\0'}))));
    }
    if (run->left_out > 0) {
        result_note(result, note_make(NOTE_too_long, note_whole(run->left_out)));
    }
    if (run->short_of_memory) {
        assert_true(result_text(result, COLUMN(status), "out-of-memory", &why));
        return;
    }
    result_integer(result, COLUMN(step_us), 2000000);
    result_real(result, COLUMN(decode_tokens_per_s), 500);
    result_integer(result, COLUMN(extrapolated), run->extrapolated);
    assert_true(result_text(result, COLUMN(basis), "assumed", &why));
    result->basis_count = 4;
    result->basis[1].share = 1 - run->assumed;
    result->basis[3].share = run->assumed;
    if (run->trace != NULL) {
        assert_true(result_text(result, COLUMN(trace), run->trace, &why));
        result_real(result, COLUMN(mass_recall), 0.8);
    }
    if (run->source != NULL) {
        assert_true(result_text(result, COLUMN(trace_source), run->source, &why));
    }
}

/* The table of these runs, which are the points of `sweep` (YAML); the caller frees it. */
static char *print(const char *sweep, const struct run *runs, uint32_t count)
{
    struct error why;
    struct scenario scenario = {.points = count};
    char *text = NULL;
    size_t size = 0;
    scenario.sweep = node_parse(sweep, strlen(sweep), "sweep", &why);
    assert_non_null(scenario.sweep);
    struct runs_table *table =
        runs_table_create(&scenario, &(struct table_view){.wide = false}, &why);
    assert_non_null(table);
    for (uint32_t i = 0; i < count; i++) {
        struct result result;
        fill(&runs[i], &result);
        assert_true(runs_table_add(table, i, &result, &why));
        result_release(&result);
    }
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(runs_table_print(table, out, &why));
    fclose(out);
    runs_table_destroy(table);
    node_destroy(scenario.sweep);
    return text;
}

#define PRINT(sweep, ...)                                                                          \
    print(sweep, (const struct run[]){__VA_ARGS__},                                                \
          sizeof((const struct run[]){__VA_ARGS__}) / sizeof(struct run))

/* Frees `text`. */
static void assert_holds(char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("'%s' is not in:\n%s", part, text);
    }
    free(text);
}

static void assert_lacks(char *text, const char *part)
{
    if (strstr(text, part) != NULL) {
        fail_msg("'%s' is in:\n%s", part, text);
    }
    free(text);
}

static void everything_stands_where_it_belongs(void **state)
{
    (void)state;
    char *text = PRINT("system: [full, cached]", {.system = "full", .assumed = 0.25},
                       {.system = "cached",
                        .source = "rec 100 tokens",
                        .left_out = 3,
                        .extrapolated = true,
                        .assumed = 0.5});
    assert_string_equal(
        text,
        "hit ratio: rec 100 tokens\n"
        "tiny\n"
        "\n"
        "system  batch  KV in HBM  hit %  mass %  step ms  tok/s   best  stall  "
        "waiting for (%)\n"
        "full        1          -      -       -     2.00   *500  100 %    0 %\n"
        "cached      1          -      -       -     2.00   =500  100 %    0 %\n"
        "\n"
        "note: 3 requests exceed the server's KV memory and were left out (1 of 2 runs: cached)\n"
        "sure: the error is unknown; 1 of 2 runs goes past what was recorded or measured; --why tells more\n"
        "tok/s: * best, = ties with it (at most 2 % apart)\n");
    free(text);
}

static void only_a_run_with_a_time_can_say_that_nothing_is_offloaded(void **state)
{
    (void)state;
    assert_holds(PRINT("system: [a, b]", {.system = "a"}, {.system = "b", .short_of_memory = true}),
                 "hit ratio: no trace needed");
    assert_holds(PRINT("system: [a, b]", {.system = "a"}, {.system = "b", .trace = "rec"}),
                 "attention mass: rec\n");
    assert_lacks(PRINT("system: [a, b]", {.system = "a", .short_of_memory = true},
                       {.system = "b", .short_of_memory = true}),
                 "hit ratio:");
}

#define UNUSED " has its own indexer, which the system does not use"

static void a_note_is_said_once(void **state)
{
    (void)state;
    static const char sweep[] = "seed: [1, 2, 3, 4]";
    assert_holds(PRINT(sweep, {.system = "a", .models = "m"}, {.system = "b", .models = "m"}),
                 "\n\nnote: m" UNUSED "\nsure: ");
    assert_holds(PRINT(sweep, {.system = "ab", .models = "m"}, {.system = "b", .models = "m"},
                       {.system = "b", .models = "m"}, {.system = "c", .models = "n"}),
                 "\n\nnote: m" UNUSED " (3 of 4 runs: ab, b)\nnote: n" UNUSED
                 " (1 of 4 runs: c)\nsure: ");
}

static void each_note_of_a_run_is_one(void **state)
{
    (void)state;
    static const char sweep[] = "seed: [1, 2]";
    assert_holds(PRINT(sweep, {.system = "a", .models = "mn"}, {.system = "a", .models = "n"}),
                 "\n\nnote: m" UNUSED " (1 of 2 runs: a)\nnote: n" UNUSED "\nsure: ");
    assert_holds(PRINT(sweep, {.system = "a", .models = "bcdefghijklmnopq"},
                       {.system = "b", .models = "rs"}),
                 "note: q" UNUSED " (1 of 2 runs: a)\n"
                 "note: there are more notes: 'simulate' each run alone");
}

static void numbers_of_several_runs_are_a_range(void **state)
{
    (void)state;
    assert_holds(PRINT("seed: [1, 2, 3]", {.system = "a", .left_out = 9},
                       {.system = "b", .left_out = 4}, {.system = "b", .left_out = 7}),
                 "\n\nnote: 4–9 requests exceed the server's KV memory and were left out\nsure: ");
}

static void what_became_of_a_run_without_a_time_is_no_note(void **state)
{
    (void)state;
    char *text = PRINT("system: [a, b]", {.system = "a"},
                       {.system = "b", .models = "m", .short_of_memory = true});
    assert_non_null(strstr(text, "out-of-memory: m" UNUSED "\n"));
    assert_lacks(text, "note:");
}

static void a_long_note_is_wrapped(void **state)
{
    (void)state;
    assert_holds(PRINT("seed: [1, 2, 3]", {.system = "a system", .models = "m"},
                       {.system = "yet another system", .models = "m"}, {.system = "b"}),
                 "note: m" UNUSED " (2 of 3 runs: a system, yet another\n"
                 "      system)\n");
}

static void every_key_with_several_values_has_a_column(void **state)
{
    (void)state;
    assert_holds(
        PRINT("{a: [1, 2], b: [1, 2], c: [1, 2], d: [1, 2], e: [1, 2], f: [1, 2],"
              " g: [1, 2], h: [1, 2], i: [1, 2], one: [7]}",
              {.system = "x"}, {.system = "x"}),
        "system  a  b  c  d  e  f  g  h  i  batch  KV in HBM  hit %  mass %  step ms  tok/s   best  stall  "
        "waiting for (%)\n"
        "x       1  1  1  1  1  1  1  1  1      1          -      -       -     2.00    500  100 %    0 %\n"
        "x       1  1  1  1  1  1  1  1  2      1          -      -       -     2.00    500  100 %    0 %\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_stands_where_it_belongs),
        cmocka_unit_test(only_a_run_with_a_time_can_say_that_nothing_is_offloaded),
        cmocka_unit_test(a_note_is_said_once),
        cmocka_unit_test(each_note_of_a_run_is_one),
        cmocka_unit_test(numbers_of_several_runs_are_a_range),
        cmocka_unit_test(what_became_of_a_run_without_a_time_is_no_note),
        cmocka_unit_test(a_long_note_is_wrapped),
        cmocka_unit_test(every_key_with_several_values_has_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
