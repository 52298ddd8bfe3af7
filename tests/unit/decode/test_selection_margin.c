/* What is near the heaviest: demands by hand and by brute force, then what a ledger and a schedule
 * make of them. */
#include "unit/fixture/tiny.h"

#include "decode/replay/replay.h"
#include "trace/demand.h"
#include "unit/fixture/make_timing.h"
#include "unit/fixture/one_row.h"

#include <math.h>

/* A code is a tenth of a halving, .0693 natural units. */
static void margins_are_counted_in_codes(void **state)
{
    (void)state;
    const struct {
        double margin;
        uint32_t codes;
    } cases[] = {{0, 0}, {.01, 1}, {.0694, 2}, {2.77, 40}, {2.78, 41}, {4, 58}, {1e9, 256}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(demand_codes(cases[i].margin), cases[i].codes);
    }
}

static void what_is_near_the_heaviest_by_hand(void **state)
{
    (void)state;
    /* Best first: 16 with a code of 0, 5 and 12 with 40, 3 and 6 with 70, 9 with none. */
    const uint32_t units[] = {3, 5, 6, 9, 12, 16}, order[] = {16, 5, 12, 3, 6, 9};
    const uint8_t mass[] = {70, 40, 70, 255, 40, 0};
    const struct {
        const char *what;
        double margin;
        uint32_t wanted, recent, expected;
        float mass;
    } cases[] = {
        {"no margin", 0, 9, 0, 6, 1 + .125f + 0x1p-6f},
        {"the heaviest alone", .01, 9, 0, 1, 1},
        {"just too far, e^-2.77 is above 2^-4", 2.77, 9, 0, 1, 1},
        {"just near enough", 2.78, 9, 0, 3, 1.125f},
        {"all that weigh anything", 4.86, 9, 0, 5, 1 + .125f + 0x1p-6f},
        {"no margin is so wide that no mass is near", 99, 9, 0, 5, 1 + .125f + 0x1p-6f},
        {"no more than are asked for", 4.86, 2, 0, 2, 1.0625f},
        {"the heaviest of the window does not count", 2.08, 9, 4, 4, .125f + 0x1p-6f},
        {"nor is it near", 2.07, 9, 4, 2, .125f},
    };
    struct trace_header header = header_of_one_row();
    struct trace_frame frame;
    struct demand_buffer buffer = {0};
    struct error why;
    make_row(&header, &frame, units, mass, 6);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct demand demand;
        struct demand_shape shape = demand_shape(&header, cases[i].wanted, 0, cases[i].recent);
        shape.codes = demand_codes(cases[i].margin);
        make_check(demand_from_frame(&header, &frame, 0, 0, &shape, &buffer, &demand, &why), &why);
        uint32_t first = cases[i].recent > 0 ? 1 : 0;
        if (demand.wanted != cases[i].expected || demand.recorded != 6 - first ||
            fabsf(demand.wanted_mass - cases[i].mass) > 1e-6f ||
            memcmp(demand.units, order + first, demand.recorded * sizeof *order) != 0) {
            fail_msg("%s: %u of %u units, mass %g", cases[i].what, demand.wanted, demand.recorded,
                     (double)demand.wanted_mass);
        }
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* The row has codes 10, 30, 30, 40, 70 for 16 9 12 6 3; asked for are 6 2 12 9 7 in this order. */
static void an_approximate_query_asks_for_as_many_as_the_true_one(void **state)
{
    (void)state;
    const uint32_t units[] = {3, 6, 9, 12, 16}, asked[] = {2, 6, 7, 9, 12};
    const uint32_t order[] = {6, 2, 12, 9, 7};
    const uint8_t mass[] = {70, 40, 30, 30, 10}, place[] = {51, 0, 204, 153, 102};
    const struct {
        double margin;
        uint32_t wanted, expected;
    } cases[] = {{0, 9, 5}, {.1, 9, 1}, {1.39, 9, 3}, {1.38, 9, 1}, {1.39, 2, 2}, {9, 9, 5}};
    struct error why;
    struct trace_header header = header_of_one_row();
    struct trace_frame frame;
    struct demand_buffer buffer = {0};
    header.has_approximate = true;
    make_row(&header, &frame, units, mass, 5);
    make_check(trace_rows_reserve(&frame.approximate, 5, &why), &why);
    frame.approximate.start[0] = 0;
    frame.approximate.start[1] = 5;
    memcpy(frame.approximate.units, asked, sizeof asked);
    memcpy(frame.approximate.mass, place, sizeof place);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct demand demand;
        struct demand_shape shape = demand_shape(&header, cases[i].wanted, 0, 0);
        shape.codes = demand_codes(cases[i].margin);
        make_check(demand_from_approximate(&header, &frame, 0, 0, &shape, &buffer, &demand, &why),
                   &why);
        assert_int_equal(demand.wanted, cases[i].expected);
        assert_memory_equal(demand.units, order, demand.wanted * sizeof *order);
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* ---- ledgers --------------------------------------------------------------------------------- */

/* The last code is of less than it says. */
static double mass_by_force(uint8_t code)
{
    return code == 255 ? 0 : (double)trace_mass[code];
}

/* Units of a row outside its window whose mass is that of the heaviest times exp(-margin) or more:
 * each compared with every other. */
static uint32_t count_by_force(const struct trace_header *header, const struct trace_frame *frame,
                               uint32_t row, uint32_t most, double margin)
{
    const struct trace_rows *rows = &frame->rows;
    uint32_t near = 0;
    for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        bool is_near = !make_is_window(header, rows->units[i]);
        for (uint32_t j = rows->start[row]; is_near && j < rows->start[row + 1]; j++) {
            double least = mass_by_force(rows->mass[j]) * (margin > 0 ? exp(-margin) : 0);
            is_near =
                make_is_window(header, rows->units[j]) || mass_by_force(rows->mass[i]) >= least;
        }
        near += is_near;
    }
    return near < most ? near : most;
}

/* Over the heads of a layer at a step. */
static uint64_t wanted_by_force(const struct trace *trace, uint32_t layer, uint32_t step,
                                uint32_t most, double margin)
{
    struct error why;
    struct trace_frame frame = {0};
    const struct trace_header *header = trace_header(trace);
    uint64_t wanted = 0;
    make_check(trace_read(trace, 0, step / header->steps_per_tile, layer, &frame, &why), &why);
    for (uint32_t head = 0; head < header->kv_heads; head++) {
        uint32_t row = head * frame.steps + step % header->steps_per_tile;
        wanted += count_by_force(header, &frame, row, most, margin);
    }
    trace_frame_release(&frame);
    return wanted;
}

static void check_ledger(const struct trace *trace, const char *policy, double margin,
                         uint64_t seed)
{
    const struct replay_head heads[] = {{.offloaded = true, .importance = 1},
                                        {.offloaded = true, .importance = 1},
                                        {.offloaded = true, .importance = 1},
                                        {.offloaded = true, .importance = 1}};
    struct error why;
    struct ledger ledger;
    const struct policy_kind *kind = policy_find(policy, NULL, 0, &why);
    struct replay_plan plan = {.layers = 2,
                               .kv_heads = 2,
                               .batch = 1,
                               .context = 20,
                               .heads = heads,
                               .policy = kind,
                               .selection = .25,
                               .margin = margin,
                               .capacity = strcmp(policy, "none") == 0 ? 0 : .4,
                               .sinks = 2,
                               .recent = 3,
                               .manager_unit = 1,
                               .warmup = 2,
                               .steps = 5};
    ledger_init(&ledger);
    make_check(replay_run(trace, &plan, 2, &ledger, &why), &why);
    for (uint32_t i = 0; i < plan.steps * plan.layers; i++) {
        const struct ledger_row *row = &ledger.rows[i];
        uint64_t wanted = wanted_by_force(trace, i % 2, 2 + i / 2, 5, margin);
        if (row->wanted != wanted || row->hit + row->missed != wanted) {
            fail_msg("seed %d, %s, margin %g, row %u: %d wanted, not %d", (int)seed, policy, margin,
                     i, (int)row->wanted, (int)wanted);
        }
    }
    ledger_release(&ledger);
}

static void ledgers_want_what_is_near_the_heaviest(void **state)
{
    (void)state;
    struct trace_header header = make_header();
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct error why;
        char path[64];
        gsl_rng *random = random_stream(seed, "test.margin", 0, &why);
        make_trace(&header, make_path(folder, "margin.swt", path), seed);
        struct trace *trace = trace_open(path, &why);
        make_check(trace != NULL, &why);
        check_ledger(trace, "none", 0, seed);
        check_ledger(trace, "none", 20 * gsl_rng_uniform(random), seed);
        check_ledger(trace, "lru", 10 * gsl_rng_uniform(random), seed);
        trace_close(trace);
        gsl_rng_free(random);
    }
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* Two sequences of 4 heads select up to 100 tokens; what they do select changes by step and layer.
 * The GPU attends to that (80 + 16 ns a token of a head), and the indices of that go to the host,
 * 8 B each, behind the new K and V, 1600 B a layer. */
static void schedules_attend_to_what_the_ledger_wants(void **state)
{
    (void)state;
    const uint64_t tokens[2][2] = {{100, 70}, {60, 90}};
    char model[128], bare[128];
    struct error why;
    struct trust trust = {.basis = BASIS_MEASURED};
    struct course course = {0};
    struct setup setup =
        SETUP(tiny_model(2, model), tiny_machine, bare_system(bare), "context=1000", "batch=2",
              "steps=2", "trace=assumed:hit=0%",
              "mechanisms={selection: 10%, sinks: 0tok, recent: 0tok, retrieval: hata,"
              " retrieval_bytes: 20B, retrieval_kernels: 1, transfer: cpu-store, sync: cpu,"
              " operators: 8}");
    setup.mechanisms->selection_margin = 4;
    course.setup = &setup;
    ledger_init(&course.ledger);
    make_check(plan_resolve(&setup, NULL, &course.plan, &trust, &why), &why);
    make_check(course_ledger(&course, &why), &why);
    for (uint32_t i = 0; i < 4; i++) {
        struct ledger_row *row = &course.ledger.rows[i];
        assert_int_equal(row->wanted, 8 * 100);
        row->wanted = row->missed = 8 * tokens[i / 2][i % 2];
    }
    make_check(pipe_build(&course.pipe, &setup, &course.plan, course.used, NULL, &why), &why);
    uint32_t seen = 0;
    for (size_t i = 0; i < course.pipe.mark_count; i++) {
        const struct pipe_mark *mark = &course.pipe.marks[i];
        if (strcmp(mark->stage, "attend") == 0 && mark->part == PART_COMPUTE && mark->step > 0) {
            int64_t attended = (int64_t)tokens[mark->step - 1][mark->layer];
            assert_int_equal(mark->alone_ns, 80 + 16 * attended);
            seen++;
        }
    }
    assert_int_equal(seen, 4);
    for (uint32_t s = 0; s < 2; s++) {
        int64_t selected = 8 * (int64_t)(tokens[s][0] + tokens[s][1]);
        assert_int_equal(course.pipe.moved[s + 1].moved[WAY_OUT], 8 * selected + 2 * 1600);
        assert_int_equal(course.pipe.moved[s + 1].moved[WAY_IN], TINY_HEAD_BYTES * selected);
    }
    course_release(&course);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins_are_counted_in_codes),
        cmocka_unit_test(what_is_near_the_heaviest_by_hand),
        cmocka_unit_test(an_approximate_query_asks_for_as_many_as_the_true_one),
        cmocka_unit_test(ledgers_want_what_is_near_the_heaviest),
        cmocka_unit_test(schedules_attend_to_what_the_ledger_wants),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
