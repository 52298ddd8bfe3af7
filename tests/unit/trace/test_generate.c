/* Generated traces: what follows from a profile by hand or by formula, and that a frame depends on
 * nothing but its place. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/stop_flag.h"
#include "trace/demand.h"
#include "trace/stats.h"
#include "unit/fixture/make_profile.h"
#include "unit/fixture/trace_files.h"

#include <math.h>

enum { CONTEXT = 2048, WANTED = 205, FIRST = 4, END = CONTEXT - 64 };

static struct demand_shape whole_shape(const struct trace_header *header)
{
    return demand_shape(header, header->keep, header->sinks, header->recent);
}

/* Levels fall with distance and nothing else matters: the nearest units are wanted, at all steps.
 */
static void without_spread_the_nearest_are_wanted(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    head.knots = 6;
    for (uint32_t o = 0; o < head.knots; o++) {
        head.level[o] = -8.0 * o;
        head.spread[o] = 0;
    }
    struct trace_profile profile = make_profile(&head, 1, 1);
    struct trace_geometry geometry = make_geometry(1, 1, CONTEXT, 16);
    struct trace *trace = make_generated(&profile, &geometry);
    struct trace_frame frame = {0};
    struct error why;
    make_check(trace_read(trace, 0, 0, 0, &frame, &why), &why);
    for (uint32_t s = 0; s < 16; s++) {
        const uint32_t *row = frame.rows.units + frame.rows.start[s];
        assert_int_equal(frame.rows.start[s + 1] - frame.rows.start[s], FIRST + WANTED + 64);
        for (uint32_t i = 0; i < WANTED; i++) {
            assert_int_equal(row[FIRST + i], END - WANTED + i);
        }
    }
    trace_frame_release(&frame);
    trace_close(trace);
}

/* Beyond the last octave the slope goes on, and the nearest win there, too. */
static void the_slope_goes_on_beyond_the_profile(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    head.spread[0] = 0;
    head.slope = -6;
    struct trace_profile profile = make_profile(&head, 1, 1);
    struct trace_geometry geometry = make_geometry(1, 1, 65536, 1);
    struct trace *trace = make_generated(&profile, &geometry);
    struct trace_frame frame = {0};
    struct error why;
    make_check(trace_read(trace, 0, 0, 0, &frame, &why), &why);
    uint32_t wanted = trace_header(trace)->keep, end = 65536 - 64;
    for (uint32_t i = 0; i < wanted; i++) { /* equal levels at the edge: a few places off */
        assert_in_range(frame.rows.units[FIRST + i], end - wanted - wanted / 20, end - 1);
    }
    trace_frame_release(&frame);
    trace_close(trace);
}

static double overlap(const struct trace_profile_head *head, enum trace_figure figure)
{
    struct trace_profile_head copy = *head;
    struct trace_profile profile = make_profile(&copy, 1, 1);
    struct trace_geometry geometry = make_geometry(4, 1, CONTEXT, 128);
    struct trace *trace = make_generated(&profile, &geometry);
    struct trace_stats stats;
    struct error why;
    struct trace_selection selection = {0.1, 4, 64};
    make_check(trace_stats_measure(trace, &selection, 1, &stats, &why), &why);
    double mean = stats.overall[figure];
    trace_stats_release(&stats);
    trace_close(trace);
    return mean;
}

/* Scores of correlation r: the demands of two steps share the chance that two normal variables of
 * correlation r are both among their best WANTED of END - FIRST (bivariate normal, by integration:
 * .329 at r = 1/2, .66 at 7/8, .51 at 3/4). Where parts last 32 steps, each of 16 directions turns
 * round once in 64: none does in .777 of the steps, one in .197 (r = 7/8), two in .023 (3/4).
 */
static void sets_overlap_as_correlated_normals_do(void **state)
{
    (void)state;
    static const struct {
        double lasting[PROFILE_PARTS];
        double at_1, at_16; /* for a demand of 10.35 % */
    } cases[] = {
        {{1, 0, 0, 0, 0, 0, 0}, 0.1035, 0.1035}, /* independent */
        {{0, 0, 0, 0, 0, 0, 1}, 1, 1},           /* for ever */
        {{.5, 0, 0, 0, 0, 0, .5}, 0.328, 0.328}, /* half of each */
        {{0, 1, 0, 0, 0, 0, 0}, 0.328, 0.1035},  /* two steps: correlation 1/2, then 0 */
        {{0, 0, 0, 1, 0, 0, 0}, 0.919, 0.328},   /* 32 steps: see above */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_profile_head head = make_plain_head();
        memcpy(head.score, cases[i].lasting, sizeof head.score);
        double at_1 = overlap(&head, TRACE_OVERLAP_1), at_16 = overlap(&head, TRACE_OVERLAP_16);
        if (fabs(at_1 - cases[i].at_1) > 0.04 || fabs(at_16 - cases[i].at_16) > 0.04) {
            fail_msg("case %zu: %.3f %.3f, not %.3f %.3f", i, at_1, at_16, cases[i].at_1,
                     cases[i].at_16);
        }
    }
}

static void queries_keep_the_share_that_never_moves(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    double shares[PROFILE_PARTS] = {0.2, 0, 0, 0.2, 0, 0, 0.6};
    memcpy(head.query, shares, sizeof shares);
    assert_true(fabs(overlap(&head, TRACE_COSINE_1) - (0.6 + 0.2 * 31 / 32)) < 0.03);
    assert_true(fabs(overlap(&head, TRACE_COSINE_16) - (0.6 + 0.2 * 16 / 32)) < 0.03);
}

/* Queries and scores are made of the same directions: the likelier the queries, the more is shared.
 */
static void sets_follow_queries(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    double shares[PROFILE_PARTS] = {0.3, 0.7, 0, 0, 0, 0, 0};
    memcpy(head.query, shares, sizeof shares);
    memcpy(head.score, shares, sizeof shares);
    head.novelty = 0.5;
    head.decay = 0.8;
    struct trace_profile profile = make_profile(&head, 1, 1);
    struct trace_geometry geometry = make_geometry(1, 1, CONTEXT, 256);
    struct trace *trace = make_generated(&profile, &geometry);
    const struct trace_header *header = trace_header(trace);
    static uint8_t wanted[256][CONTEXT];
    static int8_t query[256][64];
    struct trace_frame frame = {0};
    struct error why;
    memset(wanted, 0, sizeof wanted);
    for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
        make_check(trace_read(trace, 0, tile, 0, &frame, &why), &why);
        for (uint32_t s = 0; s < frame.steps; s++) {
            for (uint32_t i = 0; i < WANTED; i++) {
                uint32_t unit = frame.rows.units[frame.rows.start[s] + FIRST + i];
                wanted[frame.first_step + s][unit] = 1;
            }
            memcpy(query[frame.first_step + s], frame.query + (size_t)s * 64, 64);
        }
    }
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (uint32_t t = 1; t < 256; t++) {
        double both = 0, dot = 0, a = 0, b = 0;
        for (uint32_t u = 0; u < CONTEXT; u++) {
            both += wanted[t][u] & wanted[t - 1][u];
        }
        for (uint32_t d = 0; d < 64; d++) {
            dot += query[t][d] * query[t - 1][d];
            a += query[t][d] * query[t][d];
            b += query[t - 1][d] * query[t - 1][d];
        }
        double cosine = dot / sqrt(a * b), overlap = both / WANTED;
        n++, x += cosine, y += overlap, xx += cosine * cosine, yy += overlap * overlap;
        xy += cosine * overlap;
    }
    double r = (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
    if (!(r > 0.9)) {
        fail_msg("correlation of cosine and overlap: %.3f", r);
    }
    trace_frame_release(&frame);
    trace_close(trace);
}

/* A few anchors far above the rest: as many as their share, at every step. */
static void anchors_are_always_wanted(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    head.anchor_share = 0.02;
    head.anchor_level = 30;
    struct trace_profile profile = make_profile(&head, 1, 1);
    struct trace_geometry geometry = make_geometry(1, 1, CONTEXT, 64);
    struct trace *trace = make_generated(&profile, &geometry);
    static uint32_t times[CONTEXT];
    struct trace_frame frame = {0};
    struct error why;
    memset(times, 0, sizeof times);
    for (uint32_t tile = 0; tile < 4; tile++) {
        make_check(trace_read(trace, 0, tile, 0, &frame, &why), &why);
        for (uint32_t i = 0; i < frame.rows.start[frame.steps]; i++) {
            times[frame.rows.units[i]]++;
        }
    }
    uint32_t always = 0;
    for (uint32_t unit = FIRST; unit < END; unit++) {
        always += times[unit] == 64;
    }
    assert_in_range(always, 22, 58); /* 40 expected, deviation 6 */
    trace_frame_release(&frame);
    trace_close(trace);
}

/* Four heads, unlike in everything that can differ. */
static void make_mixed(struct trace_profile_head heads[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        heads[i] = make_plain_head();
        double shares[PROFILE_PARTS] = {0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3};
        memcpy(heads[i].score, shares, sizeof shares);
        memcpy(heads[i].query, shares, sizeof shares);
        heads[i].knots = 1 + i;
        for (uint32_t o = 0; o < heads[i].knots; o++) {
            heads[i].level[o] = -1.0 * o;
            heads[i].spread[o] = 2;
        }
        heads[i].slope = -0.5 * i;
        heads[i].own = 0.2 * i;
        heads[i].anchor_share = 0.01 * i;
        heads[i].anchor_level = 5;
        heads[i].anchor_drift = 1;
        heads[i].sinks = 0.2;
        heads[i].recent = 0.1 + 0.05 * i;
        heads[i].born = 0.3;
    }
}

static void rows_obey_the_format_and_mass_adds_up_to_one(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    static const uint32_t contexts[] = {69, 300, CONTEXT, 20000};
    for (size_t c = 0; c < 4; c++) {
        struct trace_geometry geometry = make_geometry(3, 2, contexts[c], 37);
        struct trace *trace = make_generated(&profile, &geometry);
        const struct trace_header *header = trace_header(trace);
        struct demand_shape shape = whole_shape(header);
        struct demand_buffer buffer = {0};
        struct trace_frame frame = {0};
        struct error why;
        for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
            for (uint32_t layer = 0; layer < 3; layer++) {
                make_check(trace_read(trace, 0, tile, layer, &frame, &why), &why);
                make_check(trace_frame_check(header, &frame, &why), &why);
                for (uint32_t row = 0; row < 2 * frame.steps; row++) {
                    struct demand demand;
                    make_check(demand_from_frame(header, &frame, row / frame.steps,
                                                 row % frame.steps, &shape, &buffer, &demand, &why),
                               &why);
                    double mass =
                        (double)(demand.window_mass + demand.wanted_mass + frame.tail[row]);
                    assert_int_equal(demand.wanted, header->keep);
                    if (fabs(mass - 1) > 0.03) {
                        fail_msg("context %u, tile %u, layer %u, row %u: mass %.3f", contexts[c],
                                 tile, layer, row, mass);
                    }
                }
            }
        }
        demand_buffer_release(&buffer);
        trace_frame_release(&frame);
        trace_close(trace);
    }
}

static void assert_same_frame(const struct trace_header *header, const struct trace_frame *a,
                              const struct trace_frame *b)
{
    uint32_t rows = header->kv_heads * a->steps, units = a->rows.start[rows];
    uint32_t queries = header->query_heads * a->steps;
    assert_int_equal(a->steps, b->steps);
    assert_memory_equal(a->rows.start, b->rows.start, (rows + 1) * sizeof *a->rows.start);
    assert_memory_equal(a->rows.units, b->rows.units, units * sizeof *a->rows.units);
    assert_memory_equal(a->rows.mass, b->rows.mass, units);
    assert_memory_equal(a->born, b->born, rows * sizeof *a->born);
    assert_memory_equal(a->tail, b->tail, rows * sizeof *a->tail);
    assert_memory_equal(a->scale, b->scale, queries * sizeof *a->scale);
    assert_memory_equal(a->query, b->query, queries * header->head_dim);
}

static void queries_are_the_same_without_rows(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    struct trace_geometry geometry = make_geometry(2, 2, 500, 20);
    struct trace *trace = make_generated(&profile, &geometry);
    struct trace_frame whole, queries;
    struct error why;
    whole = (struct trace_frame){0};
    queries = (struct trace_frame){0};
    make_check(trace_read(trace, 0, 1, 1, &whole, &why) &&
                   trace_read_frame(trace, 0, 1, 1, false, &queries, &why),
               &why);
    assert_memory_equal(whole.query, queries.query, 4 * 4 * 64);
    assert_memory_equal(whole.scale, queries.scale, 4 * 4 * sizeof *whole.scale);
    trace_frame_release(&whole);
    trace_frame_release(&queries);
    trace_close(trace);
}

/* Backwards in memory, and from files written by one thread and by three. */
static void who_is_stopped_makes_no_frame(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    struct trace_geometry geometry = make_geometry(2, 2, 500, 20);
    struct trace *trace = make_generated(&profile, &geometry);
    struct trace_frame frame = {0};
    struct error why;
    struct stop_flag stop = {false};
    trace_stop_when(trace, &stop);
    make_check(trace_read(trace, 0, 1, 1, &frame, &why), &why);
    atomic_store(&stop.raised, true);
    assert_false(trace_read(trace, 0, 1, 1, &frame, &why));
    assert_string_equal(why.found, "interrupted");
    trace_stop_when(trace, NULL);
    make_check(trace_read(trace, 0, 1, 1, &frame, &why), &why);
    trace_frame_release(&frame);
    trace_close(trace);
}

static void a_frame_depends_on_its_place_alone(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    struct trace_geometry geometry = make_geometry(5, 2, 500, 40);
    geometry.sequences = 2;
    struct trace *trace = make_generated(&profile, &geometry);
    const struct trace_header *header = trace_header(trace);
    char one[64], three[64];
    struct error why;
    snprintf(one, sizeof one, "%s/one.swt", folder);
    snprintf(three, sizeof three, "%s/three.swt", folder);
    make_check(trace_copy(trace, one, 1, &why) && trace_copy(trace, three, 3, &why), &why);
    static struct bytes first, second;
    FILE *files[2] = {fopen(one, "rb"), fopen(three, "rb")};
    do {
        first.size = fread(first.at, 1, sizeof first.at, files[0]);
        second.size = fread(second.at, 1, sizeof second.at, files[1]);
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.at, second.at, first.size);
    } while (first.size > 0);
    fclose(files[0]);
    fclose(files[1]);
    struct trace *written = trace_open(one, &why);
    make_check(written != NULL, &why);
    struct trace_frame a, b;
    a = (struct trace_frame){0};
    b = (struct trace_frame){0};
    for (uint32_t sequence = 2; sequence-- > 0;) {
        for (uint32_t tile = trace_tiles(header); tile-- > 0;) {
            for (uint32_t layer = 5; layer-- > 0;) {
                make_check(trace_read(trace, sequence, tile, layer, &a, &why), &why);
                make_check(trace_read(written, sequence, tile, layer, &b, &why), &why);
                assert_same_frame(header, &a, &b);
            }
        }
    }
    trace_frame_release(&a);
    trace_frame_release(&b);
    trace_close(written);
    trace_close(trace);
    unlink(one);
    unlink(three);
}

static size_t frame_bytes(const struct trace_profile *profile, uint32_t steps)
{
    struct trace_geometry geometry = make_geometry(2, 2, CONTEXT, steps);
    struct trace *trace = make_generated(profile, &geometry);
    struct trace_frame frame = {0};
    struct error why;
    for (uint32_t tile = 0; tile < trace_tiles(trace_header(trace)); tile++) {
        make_check(trace_read(trace, 0, tile, 1, &frame, &why), &why);
    }
    size_t bytes = frame.rows.units_capacity * 4 + frame.rows.mass_capacity + frame.raw_capacity +
                   frame.query_capacity;
    trace_frame_release(&frame);
    trace_close(trace);
    return bytes;
}

static void memory_does_not_grow_with_steps(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    assert_int_equal(frame_bytes(&profile, 32), frame_bytes(&profile, 640));
}

static void the_hash_tells_what_decides_the_rows(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    uint64_t hash[5];
    for (int i = 0; i < 5; i++) {
        struct error why;
        struct trace_geometry geometry = make_geometry(5, 2, i == 1 ? 501 : 500, 40);
        geometry.seed = i == 2 ? 2 : 1;
        heads[0].anchor_level += i == 4 ? 1e-9 : 0; /* beyond the digits that are written */
        geometry.model = i == 3 ? "another name" : NULL;
        struct trace *trace = make_generated(&profile, &geometry);
        make_check(trace_hash(trace, &hash[i], &why), &why);
        trace_close(trace);
    }
    assert_true(hash[0] != hash[1] && hash[0] != hash[2] && hash[0] == hash[3]);
    assert_true(hash[0] != hash[4]);
}

static void impossible_geometries_are_refused(void **state)
{
    (void)state;
    struct trace_profile_head heads[4];
    make_mixed(heads);
    struct trace_profile profile = make_profile(heads, 2, 2);
    static const struct {
        uint32_t context, query_heads, steps;
        double keep;
        const char *found;
    } cases[] = {
        {68, 2, 1, 0.1, "the context has 68 tokens"},
        {69, 2, 1, 0, "rows keep 0"},
        {69, 2, 1, 1.5, "rows keep 1.5"},
        {69, 3, 1, 0.1, "not a multiple of kv_heads"},
        {69, 2, 0, 0.1, "steps is 0"},
        {1u << 31, 2, 16, 0.5, "a frame has 32 rows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_geometry geometry = make_geometry(1, 2, cases[i].context, cases[i].steps);
        struct error why = {.found = "nothing"};
        geometry.query_heads = cases[i].query_heads;
        geometry.keep = cases[i].keep;
        assert_null(trace_open_generated(&profile, "test.yaml", &geometry, &why));
        if (strstr(why.found, cases[i].found) == NULL) {
            fail_msg("'%s', not '%s'", why.found, cases[i].found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_spread_the_nearest_are_wanted),
        cmocka_unit_test(the_slope_goes_on_beyond_the_profile),
        cmocka_unit_test(sets_overlap_as_correlated_normals_do),
        cmocka_unit_test(queries_keep_the_share_that_never_moves),
        cmocka_unit_test(sets_follow_queries),
        cmocka_unit_test(anchors_are_always_wanted),
        cmocka_unit_test(rows_obey_the_format_and_mass_adds_up_to_one),
        cmocka_unit_test(queries_are_the_same_without_rows),
        cmocka_unit_test(who_is_stopped_makes_no_frame),
        cmocka_unit_test_setup_teardown(a_frame_depends_on_its_place_alone, make_test_folder,
                                        remove_test_folder),
        cmocka_unit_test(memory_does_not_grow_with_steps),
        cmocka_unit_test(the_hash_tells_what_decides_the_rows),
        cmocka_unit_test(impossible_geometries_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
