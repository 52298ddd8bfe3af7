/* The rule that gives each target head a source head and a shift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/replay/replay.h"

struct mapped {
    uint32_t source_layers, source_heads, layers, heads, rows; /* target */
    uint32_t layer, head;
    uint32_t source_layer, source_head, shift;
};

static const struct mapped mapped_cases[] = {
    /* Its own model: every head reads itself, unshifted. */
    {30, 3, 30, 3, 32, 7, 2, 7, 2, 0},
    /* 32 layers of 8 heads on 30 of 3: layers 0 and 1 share source layer 0 with 16 heads, of which
     * source head 0 has 6 (k = 0, 3 ... 15), heads 1 and 2 have 5; layer 2 is alone on 1. */
    {30, 3, 32, 8, 32, 0, 0, 0, 0, 0},
    {30, 3, 32, 8, 32, 0, 3, 0, 0, 5},
    {30, 3, 32, 8, 32, 0, 7, 0, 1, 12},
    {30, 3, 32, 8, 32, 1, 0, 0, 2, 12},
    {30, 3, 32, 8, 32, 1, 7, 0, 0, 26},
    {30, 3, 32, 8, 32, 2, 7, 1, 1, 21},
    {30, 3, 32, 8, 32, 17, 0, 15, 2, 12},
    {30, 3, 32, 8, 32, 31, 1, 29, 1, 0},
    /* A smaller target leaves layers and heads unread. */
    {4, 2, 2, 1, 32, 1, 0, 2, 0, 0},
    /* More readers than rows share shifts: 8 readers of 3 rows. */
    {1, 1, 1, 8, 3, 0, 2, 0, 0, 0},
    {1, 1, 1, 8, 3, 0, 3, 0, 0, 1},
};

static void heads_read_the_sources_worked_by_hand(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof mapped_cases / sizeof *mapped_cases; c++) {
        const struct mapped *worked = &mapped_cases[c];
        struct trace_header source = {.layers = worked->source_layers,
                                      .kv_heads = worked->source_heads};
        const struct replay_plan plan = {
            .layers = worked->layers, .kv_heads = worked->heads, .steps = worked->rows};
        struct replay_source read = replay_source(&source, &plan, worked->layer, worked->head);
        if (read.layer != worked->source_layer || read.head != worked->source_head ||
            read.shift != worked->shift) {
            fail_msg("(%u, %u) of %u x %u on %u x %u reads (%u, %u) shifted %u, not (%u, %u) %u",
                     worked->layer, worked->head, worked->layers, worked->heads,
                     worked->source_layers, worked->source_heads, read.layer, read.head, read.shift,
                     worked->source_layer, worked->source_head, worked->shift);
        }
    }
}

/* Numbering the heads one by one, as FORMAT.md says it. */
static void heads_read_the_sources_counted_one_by_one(void **state)
{
    (void)state;
    enum { ROWS = 37 };
    for (uint32_t c = 0; c < 7 * 5 * 9 * 6; c++) {
        struct trace_header source = {.layers = 1 + c % 7, .kv_heads = 1 + c / 7 % 5};
        uint32_t layers = 1 + c / 35 % 9, heads = 1 + c / 315;
        for (uint32_t from = 0; from < source.layers; from++) {
            uint32_t readers[5] = {0}, seen[5] = {0}, number = 0;
            for (uint32_t target = 0; target < layers; target++) {
                for (uint32_t h = 0; target * source.layers / layers == from && h < heads; h++) {
                    readers[number++ % source.kv_heads]++;
                }
            }
            number = 0;
            for (uint32_t target = 0; target < layers; target++) {
                for (uint32_t h = 0; target * source.layers / layers == from && h < heads; h++) {
                    uint32_t expected = number++ % source.kv_heads;
                    const struct replay_plan plan = {
                        .layers = layers, .kv_heads = heads, .steps = ROWS};
                    struct replay_source read = replay_source(&source, &plan, target, h);
                    assert_int_equal(read.layer, from);
                    assert_int_equal(read.head, expected);
                    assert_int_equal(read.shift, seen[expected]++ * ROWS / readers[expected]);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_read_the_sources_worked_by_hand),
        cmocka_unit_test(heads_read_the_sources_counted_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
