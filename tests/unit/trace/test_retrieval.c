/* What retrievals ask for: pages by hand, then what holds for any error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/retrieval.h"
#include "unit/fixture/make_trace.h"

#include <math.h>

enum { UNITS = 2000, KEPT = 500, STEPS = 8, WANTED = 200 };

static struct trace_header header_of_one_head(uint32_t units)
{
    struct trace_header header = make_header();
    header.kv_heads = 1;
    header.has_queries = false;
    header.context = header.units = units;
    header.sinks = header.recent = 0;
    header.keep = units;
    return header;
}

static void reserve_frame(const struct trace_header *header, struct trace_frame *frame,
                          uint32_t steps, uint32_t units)
{
    struct error why;
    *frame = (struct trace_frame){0};
    frame->steps = steps;
    make_check(trace_frame_reserve(header, frame, &why), &why);
    make_check(trace_rows_reserve(&frame->rows, units, &why), &why);
    frame->rows.start[0] = 0;
}

/* Sixteen positions; the window is 0 and 15, so of the pages of four the first has 1 2 3 and the
 * last 12 13 14. Positions 1 4 5 6 10 14 are recorded; the others share 1/16. The heaviest unit is
 * 10, but the page of 4 5 6 has more. */
static void pages_worked_by_hand(void **state)
{
    (void)state;
    const uint32_t units[] = {0, 1, 4, 5, 6, 10, 14, 15};
    const uint8_t mass[] = {30, 60, 30, 30, 40, 20, 70, 40};
    const struct {
        uint32_t page, wanted, expected, recorded;
        uint32_t order[16];
        uint8_t mass[16];
    } cases[] = {
        {1, 2, 2, 6, {10, 4, 5, 6, 1, 14}, {20, 30, 30, 40, 60, 70}},
        {4, 2, 4, 7, {4, 5, 6, 7, 10, 1, 14}, {30, 30, 40, 255, 20, 60, 70}},
        {4,
         9,
         8,
         10,
         {4, 5, 6, 7, 8, 9, 10, 11, 1, 14},
         {30, 30, 40, 255, 255, 255, 20, 255, 60, 70}},
        {4,
         12,
         11,
         12,
         {4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 14},
         {30, 30, 40, 255, 255, 255, 20, 255, 60, 255, 255, 70}},
    };
    struct trace_header header = header_of_one_head(16);
    struct trace_frame frame;
    struct retrieval_buffer buffer = {0};
    reserve_frame(&header, &frame, 1, 8);
    frame.rows.start[1] = 8;
    memcpy(frame.rows.units, units, sizeof units);
    memcpy(frame.rows.mass, mass, sizeof mass);
    frame.born[0] = 0;
    frame.tail[0] = .0625f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        struct demand demand;
        struct retrieval_error error = {.page = cases[i].page};
        struct demand_shape single = demand_shape(&header, cases[i].wanted, 1, 1);
        struct demand_shape shape = retrieval_shape(&single, error.page);
        float worth = 0;
        make_check(
            demand_from_retrieval(&header, &frame, 0, 0, &shape, &error, &buffer, &demand, &why),
            &why);
        for (uint32_t k = 0; k < cases[i].expected; k++) {
            worth += cases[i].mass[k] == 255 ? 0 : trace_mass[cases[i].mass[k]];
        }
        assert_int_equal(demand.wanted, cases[i].expected);
        assert_int_equal(demand.recorded, cases[i].recorded);
        assert_memory_equal(demand.units, cases[i].order, demand.recorded * sizeof *demand.units);
        assert_memory_equal(demand.mass, cases[i].mass, demand.recorded);
        assert_float_equal(demand.wanted_mass, worth, 1e-6);
    }
    retrieval_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* All steps have the same row: every fourth unit, from a mass of 2^-4 down to 2^-14; the others
 * share an eighth of the mass of the lightest each. */
static void make_equal_rows(const struct trace_header *header, struct trace_frame *frame)
{
    reserve_frame(header, frame, STEPS, STEPS * KEPT);
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t i = 0; i < KEPT; i++) {
            frame->rows.units[s * KEPT + i] = 4 * i;
            frame->rows.mass[s * KEPT + i] = (uint8_t)(40 + (i * 7919u % KEPT) / 5);
        }
        frame->rows.start[s + 1] = (s + 1) * KEPT;
        frame->born[s] = 0;
        frame->tail[s] = (UNITS - KEPT) * 0x1p-17f;
    }
}

/* Ask at a step: the units asked for, as a set. Checks what holds for any demand. */
static struct demand ask(const struct trace_frame *frame, const struct retrieval_error *error,
                         uint32_t step, struct retrieval_buffer *buffer, bool asked[UNITS])
{
    struct error why;
    struct demand demand;
    struct trace_header header = header_of_one_head(UNITS);
    struct demand_shape shape = demand_shape(&header, WANTED, 0, 0);
    uint32_t unknown = 0;
    header.keep = KEPT;
    memset(asked, 0, UNITS * sizeof *asked);
    make_check(demand_from_retrieval(&header, frame, 0, step, &shape, error, buffer, &demand, &why),
               &why);
    assert_int_equal(demand.wanted, WANTED);
    for (uint32_t i = 0; i < demand.recorded; i++) {
        uint32_t unit = demand.units[i];
        bool known = unit % 4 == 0;
        assert_false(asked[unit]); /* no unit twice */
        asked[unit] = true;
        unknown += !known;
        assert_true(known || i < demand.wanted);
        assert_int_equal(demand.mass[i], known ? frame->rows.mass[unit / 4] : 255);
    }
    for (uint32_t i = demand.wanted; i < demand.recorded; i++) {
        asked[demand.units[i]] = false;
    }
    assert_int_equal(demand.wanted_tail, unknown);
    assert_int_equal(demand.recorded, KEPT + unknown);
    return demand;
}

/* The units asked for at step 0 that are asked for at another step, too. */
static uint32_t count_common(const struct trace_frame *frame, const struct retrieval_error *error,
                             uint32_t step, struct retrieval_buffer *buffer)
{
    static bool first[UNITS], other[UNITS];
    uint32_t common = 0;
    ask(frame, error, 0, buffer, first);
    ask(frame, error, step, buffer, other);
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        common += first[unit] && other[unit];
    }
    return common;
}

static void more_noise_costs_more_mass(void **state)
{
    (void)state;
    const double noises[] = {0, .2, .5, 1, 2, 100};
    static bool asked[UNITS];
    struct trace_header header = header_of_one_head(UNITS);
    struct trace_frame frame;
    struct retrieval_buffer buffer = {0};
    float before = INFINITY;
    uint32_t tail = 0;
    make_equal_rows(&header, &frame);
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        struct retrieval_error error = {1, noises[i], .9};
        struct demand demand = ask(&frame, &error, 3, &buffer, asked);
        assert_true(demand.wanted_mass < before);
        assert_true(demand.wanted_tail >= tail);
        before = demand.wanted_mass;
        tail = demand.wanted_tail;
    }
    assert_true(tail > WANTED / 2); /* by chance three quarters */
    retrieval_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* What lasts is the same at each step; what does not is drawn anew. */
static void errors_last_as_long_as_they_should(void **state)
{
    (void)state;
    struct trace_header header = header_of_one_head(UNITS);
    struct trace_frame frame;
    struct retrieval_buffer buffer, again;
    static bool first[UNITS], second[UNITS];
    const struct retrieval_error lasts = {1, 1, 1}, half = {1, 1, .5}, drawn = {1, 1, 0};
    buffer = (struct retrieval_buffer){0};
    again = (struct retrieval_buffer){0};
    make_equal_rows(&header, &frame);
    assert_int_equal(count_common(&frame, &lasts, 5, &buffer), WANTED);
    uint32_t some = count_common(&frame, &half, 5, &buffer);
    uint32_t few = count_common(&frame, &drawn, 5, &buffer);
    assert_true(few < some && some < WANTED);
    ask(&frame, &half, 5, &buffer, first); /* whatever was asked before */
    ask(&frame, &half, 5, &again, second);
    assert_memory_equal(first, second, sizeof first);
    retrieval_buffer_release(&buffer);
    retrieval_buffer_release(&again);
    trace_frame_release(&frame);
}

/* Random rows, windows, pages and errors, the same buffer for all steps: a demand has no unit twice
 * and none of the window, as many as are wanted or are there, whole pages, and all that the row
 * records. */
static void check_random(const struct trace_header *header, const struct trace_frame *frame,
                         gsl_rng *random, struct retrieval_buffer *buffer)
{
    struct error why;
    struct demand truth, demand;
    struct demand_buffer own = {0};
    bool seen[64] = {false}, first[64] = {false};
    uint32_t page = 1 + (uint32_t)gsl_rng_uniform_int(random, 7);
    struct retrieval_error error = {page, 3 * gsl_rng_uniform(random), gsl_rng_uniform(random)};
    struct demand_shape single = demand_shape(header, 1 + (uint32_t)gsl_rng_uniform_int(random, 12),
                                              (uint32_t)gsl_rng_uniform_int(random, 9),
                                              (uint32_t)gsl_rng_uniform_int(random, 9));
    struct demand_shape shape = retrieval_shape(&single, page);
    uint32_t head = (uint32_t)gsl_rng_uniform_int(random, header->kv_heads), known = 0;
    uint32_t step = (uint32_t)gsl_rng_uniform_int(random, frame->steps), outside, pages = 0;
    make_check(demand_from_frame(header, frame, head, step, &shape, &own, &truth, &why), &why);
    make_check(
        demand_from_retrieval(header, frame, head, step, &shape, &error, buffer, &demand, &why),
        &why);
    for (uint32_t i = 0; i < demand.recorded; i++) {
        uint32_t unit = demand.units[i];
        assert_true(unit >= shape.first_unit && unit < shape.end_unit && !seen[unit]);
        seen[unit] = true;
        if (i < demand.wanted && !first[unit / page]) {
            first[unit / page] = true;
            pages++;
        }
    }
    for (uint32_t i = 0; i < truth.recorded; i++) {
        known += seen[truth.units[i]];
    }
    assert_int_equal(known, truth.recorded);
    assert_int_equal(demand.recorded - demand.wanted_tail, truth.recorded);
    outside = shape.end_unit - shape.first_unit;
    assert_true(demand.wanted <= shape.wanted);
    assert_true(truth.recorded == 0 || page > 1 ||
                demand.wanted == (shape.wanted < outside ? shape.wanted : outside));
    assert_true(pages <= shape.wanted / page);
    demand_buffer_release(&own);
}

static void demands_of_random_rows_are_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct error why;
        struct trace_frame frame = {0};
        struct retrieval_buffer buffer = {0};
        struct trace_header header = make_header();
        gsl_rng *random = random_stream(seed, "test.retrieval", 0, &why);
        make_check(random != NULL, &why);
        header.context = header.units = 20 + (uint32_t)gsl_rng_uniform_int(random, 44);
        header.keep = 1 + (uint32_t)gsl_rng_uniform_int(random, header.units);
        frame.tile = frame.layer = frame.sequence = 0;
        make_frame(&header, &frame, random);
        for (uint32_t i = 0; i < 8; i++) {
            check_random(&header, &frame, random, &buffer);
        }
        retrieval_buffer_release(&buffer);
        trace_frame_release(&frame);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_worked_by_hand),
        cmocka_unit_test(demands_of_random_rows_are_whole),
        cmocka_unit_test(more_noise_costs_more_mass),
        cmocka_unit_test(errors_last_as_long_as_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
