/* A layer as text: lanes, rows, what is left out. A column is a microsecond. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/runs/timeline.h"

#include <stdlib.h>

#define US 1000

static void assert_prints(const struct layer_schedule *schedule, const char *expected)
{
    struct error why;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(layer_print(schedule, 4, out, &why));
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

/* Signals overlap and take two lanes. A launch that nothing waits for and 10 ns of work are among
 * the others. */
static void lanes_hold_bars_and_rows_add_up(void **state)
{
    struct layer_bar bars[] = {
        {1, "post", "launch thread", 0, 5, 0, PART_LAUNCH, 0, 9 * US, 0, {9 * US}},
        {2,
         "pre",
         "main stream",
         1,
         4,
         0,
         PART_COMPUTE,
         0,
         10 * US,
         10 * US,
         {0, 4 * US, 0, 6 * US}},
        {3, "ids", NULL, 7, 4, 0, PART_SYNC, 10 * US, 30 * US, 20 * US, {0, 0, 0, 20 * US}},
        {4, "update", NULL, 7, 3, 0, PART_HANDOFF, 20 * US, 40 * US, 0, {0, 0, 0, 20 * US}},
        {5, "sync", "launch thread", 0, 4, 1, PART_SYNC, 30 * US, 30 * US + 10, 10, {0, 10}},
        {6,
         "attend",
         "main stream",
         1,
         4,
         0,
         PART_COMPUTE,
         30 * US + 10,
         85 * US,
         55 * US - 10,
         {0, 0, 55 * US - 10}},
    };
    const struct layer_schedule schedule = {
        bars, 6, 8, 85 * US, {0, 4 * US + 10, 55 * US - 10, 26 * US}};
    (void)state;
    assert_prints(
        &schedule,
        "layer 4: 85.0 us; a column is 1.0 us\n"
        "\n"
        "launch thread |post+1==|                    |\n"
        "main stream   |pre======|                   |attend================================"
        "================|\n"
        "signals                 |ids================|\n"
        "signals                           |update-1===========|\n"
        "\n"
        "stage     on           from us  for us  path us  part     rests most on\n"
        "pre       main stream      0.0    10.0     10.0  compute  assumed\n"
        "ids       signals         10.0    20.0     20.0  sync     assumed\n"
        "update-1  signals         20.0    20.0        -  handoff  assumed\n"
        "attend    main stream     30.0    55.0     55.0  compute  datasheet\n"
        "others    -                  -     9.0      0.0  -        -\n"
        "\n"
        "layer time by basis: published 5 %, datasheet 65 %, assumed 31 %\n");
}

/* Waits and copies of one stage take turns: a row for each resource. The same stage after another
 * one has a row of its own. */
static void turns_of_a_stage_are_one_row(void **state)
{
    struct layer_bar bars[] = {
        {1, "ids", "launch thread", 0, 4, 0, PART_SYNC, 0, 30 * US, 30 * US, {0, 30 * US}},
        {2, "ids", "copy to host", 4, 4, 0, PART_SYNC, 30 * US, 34 * US, 4 * US, {0, 0, 0, 4 * US}},
        {3, "ids", "launch thread", 0, 4, 0, PART_SYNC, 34 * US, 64 * US, 30 * US, {0, 30 * US}},
        {4, "ids", "copy to host", 4, 4, 0, PART_SYNC, 64 * US, 68 * US, 4 * US, {0, 0, 0, 4 * US}},
        {5, "gather", "CPU pool", 5, 4, 0, PART_GATHER, 68 * US, 80 * US, 12 * US, {12 * US}},
        {6, "ids", "launch thread", 0, 4, 0, PART_SYNC, 80 * US, 85 * US, 5 * US, {0, 5 * US}},
    };
    const struct layer_schedule schedule = {bars, 6, 8, 85 * US, {12 * US, 65 * US, 0, 8 * US}};
    (void)state;
    assert_prints(&schedule,
                  "layer 4: 85.0 us; a column is 1.0 us\n"
                  "\n"
                  "launch thread |ids==========================|   |ids==========================|"
                  "               |ids=|\n"
                  "copy to host                                |ids|                             |"
                  "ids|\n"
                  "CPU pool                                                                        "
                  "  |gather=====|\n"
                  "\n"
                  "stage    on             from us  for us  path us  part    rests most on\n"
                  "ids (2)  launch thread      0.0    60.0     60.0  sync    published\n"
                  "ids (2)  copy to host      30.0     8.0      8.0  sync    assumed\n"
                  "gather   CPU pool          68.0    12.0     12.0  gather  measured\n"
                  "ids      launch thread     80.0     5.0      5.0  sync    published\n"
                  "\n"
                  "layer time by basis: measured 14 %, published 76 %, assumed 9 %\n");
}

/* Without others there is no row of them; a second micro-batch has its number. */
static void micro_batches_are_told_apart(void **state)
{
    struct layer_bar bars[] = {
        {1, "post", "main stream", 1, 4, 0, PART_COMPUTE, 0, 40 * US, 40 * US, {40 * US}},
        {2, "post", "main stream", 1, 4, 1, PART_COMPUTE, 40 * US, 85 * US, 45 * US, {45 * US}},
    };
    const struct layer_schedule schedule = {bars, 2, 8, 85 * US, {85 * US}};
    (void)state;
    assert_prints(
        &schedule,
        "layer 4: 85.0 us; a column is 1.0 us\n"
        "\n"
        "main stream   |post===================================|post.1===================="
        "==================|\n"
        "\n"
        "stage   on           from us  for us  path us  part     rests most on\n"
        "post    main stream      0.0    40.0     40.0  compute  measured\n"
        "post.1  main stream     40.0    45.0     45.0  compute  measured\n"
        "\n"
        "layer time by basis: measured 100 %\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_hold_bars_and_rows_add_up),
        cmocka_unit_test(turns_of_a_stage_are_one_row),
        cmocka_unit_test(micro_batches_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
