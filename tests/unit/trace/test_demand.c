/* Demands: the order by hand, then against qsort on random rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/demand.h"
#include "unit/fixture/one_row.h"

#include <math.h>

static void demands_worked_by_hand(void **state)
{
    (void)state;
    /* Positions 0 ... 19; sinks 0 1, recent 17 18 19. */
    const uint32_t units[] = {0, 1, 3, 5, 6, 9, 12, 16, 17, 18, 19};
    const uint8_t mass[] = {60, 70, 110, 80, 110, 255, 80, 40, 70, 70, 60};
    const double outside = 0x1p-4 + 2 * 0x1p-8 + 2 * 0x1p-11;
    const struct {
        const char *what;
        uint32_t wanted, sinks, recent;
        uint32_t expected, recorded;
        uint32_t order[11];
        double outside_mass; /* 7/8 less this is the window's */
    } cases[] = {
        {"best first, ties by position", 4, 2, 3, 4, 6, {16, 5, 12, 3, 6, 9}, outside},
        {"less than the row has", 1, 2, 3, 1, 6, {16, 5, 12, 3, 6, 9}, outside},
        {"more than the row has", 99, 2, 3, 6, 6, {16, 5, 12, 3, 6, 9}, outside},
        {"nothing", 0, 2, 3, 0, 6, {16, 5, 12, 3, 6, 9}, outside},
        {"no window",
         5,
         0,
         0,
         5,
         11,
         {16, 0, 19, 1, 17, 18, 5, 12, 3, 6, 9},
         outside + 2 * 0x1p-6 + 3 * 0x1p-7},
        {"a window wider than the recorded one", 9, 4, 8, 3, 3, {5, 6, 9}, 0x1p-8 + 0x1p-11},
        {"all is window", 9, 10, 10, 0, 0, {0}, 0},
    };
    struct trace_header header = header_of_one_row();
    struct trace_frame frame;
    struct demand_buffer buffer = {0};
    make_row(&header, &frame, units, mass, 11);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        struct demand demand;
        struct demand_shape shape =
            demand_shape(&header, cases[i].wanted, cases[i].sinks, cases[i].recent);
        make_check(demand_from_frame(&header, &frame, 0, 0, &shape, &buffer, &demand, &why), &why);
        if (demand.wanted != cases[i].expected || demand.recorded != cases[i].recorded ||
            memcmp(demand.units, cases[i].order, demand.recorded * sizeof *demand.units) != 0 ||
            fabs((double)demand.window_mass - (.875 - cases[i].outside_mass)) > 1e-6 ||
            demand.query != NULL) {
            fail_msg("%s: %u of %u units, window mass %g", cases[i].what, demand.wanted,
                     demand.recorded, (double)demand.window_mass);
        }
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* Twenty positions, recorded with sinks 0 1 and recent 17 18 19 and the five heaviest others: 3 6 9
 * 12 16, of which 9 is the lightest, 1/32. The ten that the row does not record have 1/8 together,
 * and none more than 1/32 and half a code. Outside the window the row has 1/2 + 1/16 + 1/32; the
 * window and the tokens born have the rest, 9/32. */
static void mass_adds_up(void **state)
{
    (void)state;
    const uint32_t units[] = {0, 1, 3, 6, 9, 12, 16, 17, 18, 19};
    const uint8_t mass[] = {255, 255, 30, 30, 50, 20, 40, 255, 255, 255};
    const double most = 0x1p-5 * pow(2, .05), all = 9. / 32;
    const struct {
        const char *what;
        uint32_t sinks, recent;
        struct unit_set set;
        double least, most;
    } cases[] = {
        {"nothing but the window", 2, 3, {0, 0, 0}, all, all},
        {"what the row records: the whole tail is lost", 2, 3, {.59375f, 5, 0}, .875, .875},
        {"a part of it", 2, 3, {.25f, 1, 0}, all + .25, all + .25},
        {"everything", 2, 3, {.59375f, 5, 10}, 1, 1},
        {"the whole tail, without the heaviest unit", 2, 3, {.34375f, 4, 10}, .75, .75},
        {"two of the tail have at most two of the lightest",
         2,
         3,
         {.59375f, 5, 2},
         .875,
         .875 + 2 * most},
        {"all but two of the tail: at least the rest", 2, 3, {.59375f, 5, 8}, 1 - 2 * most, 1},
        {"a wider window has three of the tail", 2, 8, {.28125f, 3, 0}, .875, .875 + 3 * most},
        {"a narrower window: its own units say nothing about the tail",
         0,
         0,
         {.59375f, 10, 2},
         .875,
         .875 + 2 * most},
    };
    struct trace_header header = header_of_one_row();
    struct trace_frame frame;
    struct demand_buffer buffer = {0};
    struct error why;
    header.sinks = 2;
    header.recent = 3;
    header.keep = 5;
    make_row(&header, &frame, units, mass, 10);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct demand demand;
        struct demand_shape shape = demand_shape(&header, 9, cases[i].sinks, cases[i].recent);
        make_check(demand_from_frame(&header, &frame, 0, 0, &shape, &buffer, &demand, &why), &why);
        struct mass_bounds found = demand_attended(&demand, &cases[i].set);
        if (fabs(found.least - cases[i].least) > 1e-6 || fabs(found.most - cases[i].most) > 1e-6) {
            fail_msg("%s: %.7f to %.7f, not %.7f to %.7f", cases[i].what, found.least, found.most,
                     cases[i].least, cases[i].most);
        }
        bool whole = cases[i].set.recorded == 5 && cases[i].set.unrecorded == 10;
        assert_true(!whole || (found.least == 1 && found.most == 1));
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* A frame of one row whose approximate row asks for 6 2 12 9 7 in this order; 2 and 7 are in no
 * row. The window is 0 and 19. */
static void approximate_demands_worked_by_hand(void **state)
{
    (void)state;
    const uint32_t units[] = {0, 3, 6, 9, 12, 16, 19}, asked[] = {0, 2, 6, 7, 9, 12, 19};
    const uint8_t mass[] = {40, 90, 60, 50, 50, 30, 50}, place[] = {0, 51, 0, 204, 153, 102, 0};
    const struct {
        uint32_t wanted, expected, recorded;
        uint32_t order[10];
        uint8_t mass[10];
    } cases[] = {
        {0, 0, 5, {16, 9, 12, 6, 3}, {30, 50, 50, 60, 90}},
        {2, 2, 6, {6, 2, 16, 9, 12, 3}, {60, 255, 30, 50, 50, 90}},
        {3, 3, 6, {6, 2, 12, 16, 9, 3}, {60, 255, 50, 30, 50, 90}},
        {9, 5, 7, {6, 2, 12, 9, 7, 16, 3}, {60, 255, 50, 50, 255, 30, 90}},
    };
    struct error why;
    struct trace_header header = header_of_one_row();
    struct trace_frame frame;
    struct demand_buffer buffer = {0};
    header.has_approximate = true;
    make_row(&header, &frame, units, mass, 7);
    make_check(trace_rows_reserve(&frame.approximate, 7, &why), &why);
    frame.approximate.start[0] = 0;
    frame.approximate.start[1] = 7;
    memcpy(frame.approximate.units, asked, sizeof asked);
    memcpy(frame.approximate.mass, place, sizeof place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float worth = 0;
        struct demand demand;
        struct demand_shape shape = demand_shape(&header, cases[i].wanted, 1, 1);
        make_check(demand_from_approximate(&header, &frame, 0, 0, &shape, &buffer, &demand, &why),
                   &why);
        for (uint32_t k = 0; k < cases[i].expected; k++) {
            worth += trace_mass[cases[i].mass[k]];
        }
        assert_int_equal(demand.wanted, cases[i].expected);
        assert_int_equal(demand.recorded, cases[i].recorded);
        assert_memory_equal(demand.units, cases[i].order, demand.recorded * sizeof *demand.units);
        assert_memory_equal(demand.mass, cases[i].mass, demand.recorded);
        assert_float_equal(demand.wanted_mass, worth, 1e-7);
        assert_float_equal(demand.window_mass, .875 - .125 - 2 * 0x1p-5 - 0x1p-6 - 0x1p-9, 1e-6);
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

static void a_unit_with_one_token_of_the_window_belongs_to_it(void **state)
{
    (void)state;
    const struct {
        enum trace_unit_kind kind;
        uint32_t context, unit_tokens, sinks, recent, first_unit, end_unit;
    } cases[] = {
        {TRACE_POSITIONS, 20, 1, 4, 6, 4, 14},
        {TRACE_POSITIONS, 20, 8, 1, 1, 1, 2},
        {TRACE_POSITIONS, 20, 8, 8, 4, 1, 2},
        {TRACE_POSITIONS, 20, 8, 9, 5, 2, 2},
        {TRACE_POSITIONS, 24, 8, 8, 8, 1, 2},
        {TRACE_POSITIONS, 24, 8, 0, 0, 0, 3},
        {TRACE_POSITIONS, 24, 8, 8, 24, 1, 1},
        {TRACE_POSITIONS, 24, 8, 99, 0, 3, 3},
        {TRACE_POSITIONS, 24, 8, 0, 99, 0, 0},
        {TRACE_CLUSTERS, 24, 8, 8, 8, 0, 3},
        {TRACE_POSITIONS, UINT32_MAX, 1, 4, 64, 4, UINT32_MAX - 64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace_header header = {
            .unit_kind = cases[i].kind,
            .context = cases[i].context,
            .unit_tokens = cases[i].unit_tokens,
            .units = (uint32_t)(((uint64_t)cases[i].context + cases[i].unit_tokens - 1) /
                                cases[i].unit_tokens),
        };
        struct demand_shape shape = demand_shape(&header, 7, cases[i].sinks, cases[i].recent);
        assert_int_equal(shape.wanted, 7);
        assert_int_equal(shape.first_unit, cases[i].first_unit);
        assert_int_equal(shape.end_unit, cases[i].end_unit);
    }
}

struct entry {
    uint32_t unit;
    uint8_t mass;
};

static int heavier_first(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->mass != b->mass) {
        return a->mass < b->mass ? -1 : 1;
    }
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static bool is_row_sorted(const struct trace_header *header, const struct trace_frame *frame,
                          uint32_t head, uint32_t step, const struct demand *demand)
{
    struct entry sorted[64];
    uint32_t row = head * frame->steps + step, count = 0;
    double window = 1 - (double)frame->tail[row]; /* what the others leave of it */
    for (uint32_t i = frame->rows.start[row]; i < frame->rows.start[row + 1]; i++) {
        if (!make_is_window(header, frame->rows.units[i])) {
            window -= (double)trace_mass[frame->rows.mass[i]];
            sorted[count++] = (struct entry){frame->rows.units[i], frame->rows.mass[i]};
        }
    }
    qsort(sorted, count, sizeof *sorted, heavier_first);
    bool same =
        demand->recorded == count && fabs((double)demand->window_mass - fmax(0, window)) < 1e-5;
    double wanted = 0;
    for (uint32_t i = 0; same && i < count; i++) {
        same = demand->units[i] == sorted[i].unit && demand->mass[i] == sorted[i].mass;
        wanted += i < demand->wanted ? (double)trace_mass[sorted[i].mass] : 0;
    }
    return same && fabs((double)demand->wanted_mass - wanted) < 1e-5;
}

static bool is_query_of_group(const struct trace_header *header, const struct trace_frame *frame,
                              uint32_t head, uint32_t step, const struct demand *demand)
{
    uint32_t group = header->query_heads / header->kv_heads;
    bool same = demand->query_heads == group;
    for (uint32_t q = 0; same && q < group; q++) {
        size_t at = (size_t)(head * group + q) * frame->steps + step;
        const int8_t *query = demand->query + q * demand->query_stride * demand->head_dim;
        same = demand->scale[q * demand->query_stride] == frame->scale[at] &&
               memcmp(query, frame->query + at * header->head_dim, header->head_dim) == 0;
    }
    return same;
}

static void demands_are_rows_sorted(void **state)
{
    (void)state;
    struct trace_header header = make_header();
    header.keep = 20;
    header.unit_tokens = 2;
    header.context = 79;
    header.units = 40;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct error why;
        struct trace_frame frame = {0};
        struct demand_buffer buffer = {0};
        gsl_rng *random = random_stream(seed, "test.demand", 0, &why);
        struct demand_shape shape = demand_shape(&header, 5, header.sinks, header.recent);
        make_frame(&header, &frame, random);
        for (uint32_t head = 0; head < header.kv_heads; head++) {
            for (uint32_t step = 0; step < frame.steps; step++) {
                struct demand demand;
                make_check(
                    demand_from_frame(&header, &frame, head, step, &shape, &buffer, &demand, &why),
                    &why);
                if (!is_row_sorted(&header, &frame, head, step, &demand) ||
                    !is_query_of_group(&header, &frame, head, step, &demand)) {
                    fail_msg("seed %d, head %u, step %u", (int)seed, head, step);
                }
            }
        }
        demand_buffer_release(&buffer);
        trace_frame_release(&frame);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demands_worked_by_hand),
        cmocka_unit_test(mass_adds_up),
        cmocka_unit_test(approximate_demands_worked_by_hand),
        cmocka_unit_test(a_unit_with_one_token_of_the_window_belongs_to_it),
        cmocka_unit_test(demands_are_rows_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
