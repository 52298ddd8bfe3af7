/* Figures of a trace: worked by hand, then against sets kept in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/demand.h"
#include "trace/stats.h"
#include "unit/fixture/trace_files.h"

#include <math.h>

/* Two KV heads of two query heads each, 20 steps in tiles of 3. Each row keeps three units of
 * mass 1/2, 1/4, 1/8; each step repeats the one two steps before. */
static const uint32_t hand_units[2][2][3] = {
    {{3, 5, 7}, {3, 5, 8}}, /* head 0 wants 3 and 5 at all steps */
    {{0, 1, 9}, {1, 2, 9}}, /* head 1 wants 0 and 1, then 1 and 2 */
};
static const uint8_t hand_mass[3] = {10, 20, 30};
static const int8_t hand_queries[4][2][2] = {
    {{1, 0}, {1, 0}},   /* cosine 1 */
    {{1, 0}, {0, 1}},   /* 0 */
    {{3, 4}, {-3, -4}}, /* -1 */
    {{3, 4}, {4, 3}},   /* 24 / 25 */
};

static void fill_hand_frame(const struct trace_header *header, struct trace_frame *frame)
{
    struct error why;
    frame->first_step = frame->tile * header->steps_per_tile;
    frame->steps = trace_tile_steps(header, frame->tile);
    make_check(trace_frame_reserve(header, frame, &why) &&
                   trace_rows_reserve(&frame->rows, 6 * frame->steps, &why),
               &why);
    frame->rows.start[0] = 0;
    for (uint32_t row = 0; row < 2 * frame->steps; row++) {
        uint32_t turn = (frame->first_step + row % frame->steps) % 2;
        memcpy(frame->rows.units + 3 * row, hand_units[row / frame->steps][turn], 12);
        memcpy(frame->rows.mass + 3 * row, hand_mass, 3);
        frame->rows.start[row + 1] = 3 * (row + 1);
        frame->born[row] = 0.0625f;
        frame->tail[row] = 0.0625f;
    }
    for (uint32_t row = 0; row < 4 * frame->steps; row++) {
        uint32_t turn = (frame->first_step + row % frame->steps) % 2;
        memcpy(frame->query + 2 * row, hand_queries[row / frame->steps][turn], 2);
        frame->scale[row] = (float)row;
    }
}

static void make_hand_trace(const char *path, uint32_t steps)
{
    struct error why;
    struct trace_frame frame = {0};
    struct trace_header header = make_header();
    header.layers = header.sequences = 1;
    header.head_dim = 2;
    header.context = header.units = 12;
    header.sinks = header.recent = 0;
    header.keep = 3;
    header.steps = steps;
    header.steps_per_tile = 3;
    struct trace_writer *writer = trace_writer_open(path, &header, &why);
    make_check(writer != NULL, &why);
    for (frame.tile = 0; frame.tile < trace_tiles(&header); frame.tile++) {
        fill_hand_frame(&header, &frame);
        make_check(trace_writer_put(writer, &frame, &why), &why);
    }
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
}

static struct trace *open_trace(const char *path)
{
    struct error why;
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    return trace;
}

static void check_near(const char *what, double found, double expected)
{
    if (!(fabs(found - expected) < 1e-6) && !(isnan(found) && isnan(expected))) {
        fail_msg("%s is %.9g, not %.9g", what, found, expected);
    }
}

static void figures_worked_by_hand(void **state)
{
    (void)state;
    const double heads[2][TRACE_FIGURES] = {
        {[TRACE_OVERLAP_1] = 1,
         [TRACE_OVERLAP_4] = 1,
         [TRACE_OVERLAP_16] = 1,
         [TRACE_COSINE_1] = 0.5,
         [TRACE_COSINE_4] = 1,
         [TRACE_COSINE_16] = 1,
         [TRACE_FRESH_MASS] = 0.8125,
         [TRACE_HALF_UNITS] = 1 / 12.0,
         [TRACE_MOST_UNITS] = 3 / 12.0,
         [TRACE_ROW_UNITS] = 3,
         [TRACE_RECALL] = (double)NAN,
         [TRACE_ASKED_MASS] = (double)NAN},
        {[TRACE_OVERLAP_1] = 0.5,
         [TRACE_OVERLAP_4] = 1,
         [TRACE_OVERLAP_16] = 1,
         [TRACE_COSINE_1] = -0.02,
         [TRACE_COSINE_4] = 1,
         [TRACE_COSINE_16] = 1,
         [TRACE_FRESH_MASS] = 0.8125,
         [TRACE_HALF_UNITS] = 1 / 12.0,
         [TRACE_MOST_UNITS] = 3 / 12.0,
         [TRACE_ROW_UNITS] = 3,
         [TRACE_RECALL] = (double)NAN,
         [TRACE_ASKED_MASS] = (double)NAN},
    };
    char path[64];
    struct error why;
    struct trace_stats stats;
    double cosine[2];
    make_hand_trace(make_path(folder, "x.swt", path), 20);
    struct trace *trace = open_trace(path);
    const struct trace_selection selection = {.share = 2 / 12.0};
    make_check(trace_stats_measure(trace, &selection, 1, &stats, &why), &why);
    assert_int_equal(stats.heads, 2);
    for (int figure = 0; figure < TRACE_FIGURES; figure++) {
        const char *name = trace_figures[figure].name;
        check_near(name, stats.figures[figure][0], heads[0][figure]);
        check_near(name, stats.figures[figure][1], heads[1][figure]);
        check_near(name, stats.overall[figure], (heads[0][figure] + heads[1][figure]) / 2);
    }
    make_check(trace_head_cosine(trace, 1, cosine, &why), &why);
    check_near("cosine", cosine[0], 0.5);
    check_near("cosine", cosine[1], -0.02);
    trace_stats_release(&stats);
    trace_close(trace);
    unlink(path);
}

static void a_lag_that_no_step_has_gives_no_figure(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_stats stats;
    make_hand_trace(make_path(folder, "x.swt", path), 4);
    struct trace *trace = open_trace(path);
    const struct trace_selection selection = {.share = 2 / 12.0};
    make_check(trace_stats_measure(trace, &selection, 1, &stats, &why), &why);
    check_near("overlap_1", stats.overall[TRACE_OVERLAP_1], 0.75);
    check_near("overlap_4", stats.overall[TRACE_OVERLAP_4], (double)NAN);
    check_near("cosine_16", stats.figures[TRACE_COSINE_16][0], (double)NAN);
    trace_stats_release(&stats);
    trace_close(trace);
    unlink(path);
}

static void selections_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const struct {
        double share;
        const char *found;
    } cases[] = {
        {0, "the selection is 0"},
        {-0.1, "the selection is -0.1"},
        {1.1, "the selection is 1.1"},
        {NAN, "the selection is nan"},
        {0.5, "a selection of 50 % wants 6 units per row, but the trace keeps 3"},
    };
    char path[64];
    make_hand_trace(make_path(folder, "x.swt", path), 4);
    struct trace *trace = open_trace(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        struct trace_stats stats;
        const struct trace_selection selection = {.share = cases[i].share};
        assert_false(trace_stats_measure(trace, &selection, 1, &stats, &why));
        assert_string_equal(why.found, cases[i].found);
    }
    trace_close(trace);
    unlink(path);
}

static void no_queries_give_no_cosine(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_stats stats;
    double cosine[4];
    struct trace_header header = make_header();
    header.has_queries = false;
    make_trace(&header, make_path(folder, "x.swt", path), 1);
    struct trace *trace = open_trace(path);
    const struct trace_selection selection = {.share = 0.1, .sinks = 2, .recent = 3};
    make_check(trace_stats_measure(trace, &selection, 1, &stats, &why), &why);
    assert_true(isnan(stats.overall[TRACE_COSINE_1]));
    assert_true(!isnan(stats.overall[TRACE_OVERLAP_1]));
    assert_false(trace_head_cosine(trace, 1, cosine, &why));
    assert_string_equal(why.found, "the trace has no queries");
    trace_stats_release(&stats);
    trace_close(trace);
    unlink(path);
}

/* Head 0 wants 3 and 5 and asks for 7, 3, 5 in this order; head 1 wants 0 and 1, and asks for 9,
 * which is worth 1/8, and 4, of which nothing is known. */
static void recall_worked_by_hand(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_stats stats;
    struct trace_frame frame = {0};
    struct trace_header header = make_header();
    header.layers = header.sequences = header.steps = header.steps_per_tile = 1;
    header.head_dim = 2;
    header.context = header.units = 12;
    header.sinks = header.recent = 0;
    header.keep = 3;
    header.has_approximate = true;
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "x.swt", path), &header, &why);
    make_check(writer != NULL, &why);
    fill_hand_frame(&header, &frame);
    make_check(trace_rows_reserve(&frame.approximate, 5, &why), &why);
    memcpy(frame.approximate.start, (uint32_t[]){0, 3, 5}, 3 * sizeof(uint32_t));
    memcpy(frame.approximate.units, (uint32_t[]){3, 5, 7, 4, 9}, 5 * sizeof(uint32_t));
    memcpy(frame.approximate.mass, (uint8_t[]){85, 170, 0, 128, 0}, 5);
    make_check(trace_writer_put(writer, &frame, &why) && trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    struct trace *trace = open_trace(path);
    const struct trace_selection selection = {.share = 2 / 12.0};
    make_check(trace_stats_measure(trace, &selection, 1, &stats, &why), &why);
    check_near("recall", stats.figures[TRACE_RECALL][0], 0.5);
    check_near("asked_mass", stats.figures[TRACE_ASKED_MASS][0], 0.0625 + 0.125 + 0.5);
    check_near("recall", stats.figures[TRACE_RECALL][1], 0);
    check_near("asked_mass", stats.figures[TRACE_ASKED_MASS][1], 0.0625 + 0.125);
    trace_stats_release(&stats);
    trace_close(trace);
    unlink(path);
}

/* ---- brute force: all demands and queries of a head at once ------------------------------------
 */

enum { STEPS = 150, WANTED = 4 };

struct past {
    uint32_t count[STEPS];
    uint32_t units[STEPS][WANTED];
    double queries[STEPS][8]; /* of one query head */
};

static void remember(const struct trace *trace, uint32_t sequence, uint32_t layer, uint32_t head,
                     uint32_t query_head, struct past *past)
{
    struct error why;
    struct trace_frame frame = {0};
    struct demand_buffer buffer = {0};
    const struct trace_header *header = trace_header(trace);
    struct demand_shape shape = demand_shape(header, WANTED, header->sinks, header->recent);
    for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
        make_check(trace_read(trace, sequence, tile, layer, &frame, &why), &why);
        for (uint32_t s = 0; s < frame.steps; s++) {
            struct demand demand;
            uint32_t step = frame.first_step + s;
            make_check(demand_from_frame(header, &frame, head, s, &shape, &buffer, &demand, &why),
                       &why);
            past->count[step] = demand.wanted;
            memcpy(past->units[step], demand.units, demand.wanted * sizeof *demand.units);
            size_t query = query_head * frame.steps + s;
            for (uint32_t i = 0; i < header->head_dim; i++) {
                past->queries[step][i] =
                    (double)frame.scale[query] * frame.query[query * header->head_dim + i];
            }
        }
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

static double overlap(const struct past *past, uint32_t step, uint32_t before)
{
    uint32_t both = 0;
    for (uint32_t i = 0; i < past->count[step]; i++) {
        for (uint32_t j = 0; j < past->count[before]; j++) {
            both += past->units[step][i] == past->units[before][j];
        }
    }
    return (double)both / past->count[step];
}

static double cosine(const double *a, const double *b, uint32_t count)
{
    double ab = 0, aa = 0, bb = 0;
    for (uint32_t i = 0; i < count; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa * bb > 0 ? ab / sqrt(aa * bb) : 0;
}

static void figures_equal_brute_force_on_any_threads(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_stats stats, again;
    struct trace_header header = make_header();
    header.layers = 3;
    header.steps = STEPS;
    header.context = header.units = 60; /* high units are rare: some stay away for long */
    make_trace(&header, make_path(folder, "x.swt", path), 11);
    struct trace *trace = open_trace(path);
    const struct trace_selection selection = {WANTED / 60.0, header.sinks, header.recent};
    make_check(trace_stats_measure(trace, &selection, 1, &stats, &why), &why);
    make_check(trace_stats_measure(trace, &selection, 3, &again, &why), &why);
    for (int figure = 0; figure < TRACE_FIGURES; figure++) {
        assert_memory_equal(stats.figures[figure], again.figures[figure], 6 * sizeof(double));
    }
    const uint32_t lags[3] = {1, 4, 16};
    for (uint32_t head = 0; head < stats.heads; head++) {
        for (int lag = 0; lag < 3; lag++) {
            double overlaps = 0, cosines = 0;
            uint32_t demands = 0, queries = 0;
            for (uint32_t run = 0; run < header.sequences * 2; run++) {
                struct past past; /* a sequence and a query head of the group */
                remember(trace, run / 2, head / 2, head % 2, head % 2 * 2 + run % 2, &past);
                for (uint32_t step = lags[lag]; step < STEPS; step++, queries++) {
                    uint32_t before = step - lags[lag];
                    bool is_empty = past.count[step] == 0;
                    overlaps += is_empty ? 0 : overlap(&past, step, before);
                    demands += !is_empty;
                    cosines += cosine(past.queries[step], past.queries[before], header.head_dim);
                }
            }
            check_near("overlap", stats.figures[TRACE_OVERLAP_1 + lag][head], overlaps / demands);
            check_near("cosine", stats.figures[TRACE_COSINE_1 + lag][head], cosines / queries);
        }
    }
    trace_stats_release(&stats);
    trace_stats_release(&again);
    trace_close(trace);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_worked_by_hand),
        cmocka_unit_test(a_lag_that_no_step_has_gives_no_figure),
        cmocka_unit_test(selections_that_cannot_be_are_refused),
        cmocka_unit_test(no_queries_give_no_cosine),
        cmocka_unit_test(recall_worked_by_hand),
        cmocka_unit_test(figures_equal_brute_force_on_any_threads),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
