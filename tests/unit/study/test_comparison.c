/* Predictions beside published figures: what a row comes to, what explains a miss, what a class's
 * band is made of, and which files are refused. */
#include "unit/fixture/tiny.h"

#include "base/find.h"
#include "study/papers/class_errors.h"

/* Full attention of the tiny model over 1000 tokens: a layer takes 28 212 + (40 + 8 * 1000) +
 * 140 420 = 176 672 ns, all of it HBM, whose bandwidth may be from half to twice what is said. */
static void write_paper(const char *rows)
{
    static const char bandwidth[] = "hbm_bandwidth: 100GB/s";
    const char *machine = tiny_machine + strlen("hardware=");
    const char *at = strstr(machine, bandwidth);
    char model[128], text[4096];
    tiny_model(3, model);
    snprintf(text, sizeof text,
             "paper: The paper\nfigure: its figure\n"
             "scenario:\n  model: %s\n  system: fullattn\n  context: 1000\n  steps: 2\n"
             "  mechanisms: {operators: 40, launch_cost: 1x}\n"
             "  trace: 'assumed:hit=90%%'\n"
             "  hardware: %.*shbm_bandwidth: {value: 100GB/s, basis: assumed, range: [50%%, 200%%],"
             " source: nobody}%s\n"
             "rows:\n%s",
             model + strlen("model="), (int)(at - machine), machine, at + strlen(bandwidth), rows);
    char path[64];
    snprintf(path, sizeof path, "%s/paper.yaml", folder);
    write_text(path, text);
}

static bool try_comparison(const char *rows, uint32_t threads, struct comparison *out,
                           struct error *why)
{
    char path[64];
    const char *files[] = {path};
    snprintf(path, sizeof path, "%s/paper.yaml", folder);
    write_paper(rows);
    return comparison_create(files, 1, threads, NULL, out, why);
}

static struct comparison compare(const char *rows)
{
    struct comparison comparison;
    struct error why;
    if (!try_comparison(rows, 1, &comparison, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return comparison;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct {
    const char *row;
    double predicted, error;
    enum verdict verdict;
} row_cases[] = {
    {"take: layer_us, published: 176.672us", 176672, 0, VERDICT_MET},
    {"take: layer_us, published: 170us..180us", 176672, 0, VERDICT_MET},
    /* a tenth is promised of what bandwidth bounds */
    {"take: layer_us, published: 193us", 176672, 176.672 / 193 - 1, VERDICT_MET},
    {"take: layer_us, published: 197us", 176672, 176.672 / 197 - 1, VERDICT_MISSED},
    {"take: layer_us, published: 100us..160us", 176672, 176.672 / 160 - 1, VERDICT_MISSED},
    {"take: layer_us, published: 197us, not_comparable: so it is", 176672, 176.672 / 197 - 1,
     VERDICT_NOT_COMPARABLE},
    /* twice the tokens: 40 + 8 * 2000 */
    {"take: layer_us, published: 1x, set: {context: 2000}, against: {context: 1000}",
     184672. / 176672, 8000. / 176672, VERDICT_MET},
    {"take: layer_us, published: 8us, set: {context: 2000}, minus: {context: 1000}", 8000, 0,
     VERDICT_MET},
    {"take: [layer_us, layer_us], over: layers, published: 117.7us", 2 * 176672 / 3.,
     2 * 176.672 / 3 / 117.7 - 1, VERDICT_MET},
    /* KV of 1000 tokens in 3 layers of 4 heads: 2 400 000 B, exact or not at all */
    {"take: dram_kv_bytes, published: 2400000B, set: {system: retroinfer}", 2400000, 0,
     VERDICT_MET},
    {"take: dram_kv_bytes, published: 2400001B, set: {system: retroinfer}", 2400000,
     2400000. / 2400001 - 1, VERDICT_MISSED},
};

static void rows_come_to_what_is_worked_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(row_cases); i++) {
        char rows[256];
        snprintf(rows, sizeof rows, "  - {what: it, %s}\n", row_cases[i].row);
        struct comparison comparison = compare(rows);
        const struct comparison_row *row = &comparison.rows[0];
        assert_int_equal(comparison.row_count, 1);
        assert_near(row->predicted, row_cases[i].predicted, 1e-6 * row_cases[i].predicted);
        assert_near(row->error, row_cases[i].error, 1e-6);
        if (row->verdict != row_cases[i].verdict) {
            fail_msg("%s: %s", row_cases[i].row, verdict_names[row->verdict]);
        }
        comparison_release(&comparison);
    }
}

/* 1600 tokens are 100 blocks of 16; a pool is wanted within 5 %. */
static void a_server_has_a_pool_and_no_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *published;
        enum verdict verdict;
    } cases[] = {{"105", VERDICT_MET}, {"106", VERDICT_MISSED}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char row[512];
        snprintf(row, sizeof row,
                 "  - {what: pool, take: kv_blocks, published: %s, set: {system: vllm, rate: 1, "
                 "kv_pool_tokens: 1600, engine: none, context: , trace: , steps: , "
                 "workload: 'synthetic:prompt=64,output=2,requests=1'}}",
                 cases[i].published);
        struct comparison comparison = compare(row);
        assert_near(comparison.rows[0].predicted, 100, 1e-9);
        assert_int_equal(comparison.rows[0].verdict, cases[i].verdict);
        assert_string_equal(comparison.rows[0].class_name, "pool");
        assert_int_equal(comparison.runs[0].ranges.count, 0);
        comparison_release(&comparison);
    }
}

static void bytes_over_a_time_are_a_rate(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: dram_bytes, over: dram_bytes, published: 1GB/s,"
                " set: {system: retroinfer}}\n");
    assert_near(comparison.rows[0].predicted, 1e9, 1); /* 1 B a nanosecond */
    comparison_release(&comparison);
}

static void sweep_makes_a_row_for_each_value(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, sweep: {context: [1000, 2000]},"
                " published: [176.672us, 184.672us]}\n"
                "  - {what: again, take: step_us, published: 1ms}\n");
    assert_int_equal(comparison.row_count, 3);
    assert_int_equal(comparison.run_count, 2); /* the last row's is the first's */
    assert_string_equal(comparison.rows[1].row->what, "it, context 2000");
    assert_near(comparison.rows[0].error, 0, 1e-9);
    assert_near(comparison.rows[1].error, 0, 1e-9);
    comparison_release(&comparison);
}

#define SERVED "set: {clients: 2, prompt: 100, output: 10, limit: 4, context: 105}, served: "

static int dense(enum band_figure figure)
{
    return error_band_of_server((struct band_server){.figure = figure});
}

/* One run, a row a figure, judged by what it is. */
static void each_figure_of_a_server_is_a_row(void **state)
{
    (void)state;
    struct comparison comparison = compare(
        "  - {what: it, " SERVED "{ttft_ms: 1ms, tpot_p50_ms: 1ms, decode_tokens_per_s: 1}}\n"
        "  - {what: apart, " SERVED "{ttft_ms: 1ms}, not_comparable: so it is}\n");
    const struct comparison_row *rows = comparison.rows;
    const struct result *result = &comparison.runs[0].result;
    assert_int_equal(comparison.row_count, 4);
    assert_int_equal(comparison.run_count, 1);
    assert_near(rows[3].predicted, rows[0].predicted, 0);
    assert_int_equal(rows[3].verdict, VERDICT_NOT_COMPARABLE);
    assert_string_equal(rows[0].row->what, "it, TTFT, mean");
    assert_string_equal(rows[1].row->what, "it, TPOT, median");
    assert_ptr_equal(rows[0].class_name, error_band_names[dense(BAND_TTFT)]);
    assert_ptr_equal(rows[1].class_name, error_band_names[dense(BAND_TPOT)]);
    assert_ptr_equal(rows[2].class_name, error_band_names[dense(BAND_RATE)]);
    assert_near(rows[0].predicted, (double)result->cells[COLUMN_TTFT].integer, 0);
    assert_near(rows[1].error, (double)result->cells[COLUMN_TPOT_P50].integer / 1e6 - 1, 1e-12);
    assert_near(rows[2].predicted, result->cells[COLUMN_DECODE_RATE].real, 0);
    comparison_release(&comparison);
}

/* All at once, one after the other: TTFT is the queue's. Such a row makes no band. */
static void a_server_that_holds_requests_back_is_apart(void **state)
{
    struct class_errors errors;
    struct error why;
    (void)state;
    struct comparison comparison = compare(
        "  - {what: it, set: {clients: 8, max_sequences: 1, prompt: 100, output: 10, context: 105,"
        " limit: 8}, served: {tpot_ms: 1ms}}\n");
    assert_ptr_equal(comparison.rows[0].class_name, comparison_saturated_class);
    assert_true(class_errors_of_band(&comparison, dense(BAND_TPOT), &errors, &why));
    assert_int_equal(errors.band.rows, 0);
    comparison_release(&comparison);
}

static void rank_is_met_where_every_run_is_faster_than_the_next(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: a, rank: [{context: 10}, {context: 1000}, {context: 2000}]}\n"
                "  - {what: b, rank: [{context: 1000}, {context: 10}]}\n"
                "  - {what: c, rank: [{context: 10}, {context: 10}]}\n");
    assert_int_equal(comparison.rows[0].verdict, VERDICT_MET);
    assert_int_equal(comparison.rows[1].verdict, VERDICT_MISSED);
    assert_int_equal(comparison.rows[2].verdict, VERDICT_MISSED);
    comparison_release(&comparison);
}

/* ---- across several cases -------------------------------------------------------------------- */

/* A step takes 41 180 ns and 3 layers of 168 672 ns + 8 ns a token, so that a layer takes 176 672
 * ns at 1000 tokens and 184 672 ns at 2000. */
static const struct {
    const char *row;
    double predicted;
    uint32_t which;
    int against;
} across_cases[] = {
    {"take: layer_us, published: {least: 100us}", 176672, 0, PAPER_RUN},
    {"take: layer_us, published: {most: 100us}", 184672, 1, PAPER_RUN},
    {"take: layer_us, published: {most: 1x}, against: {context: 1000}", 184672. / 176672, 1,
     PAPER_AGAINST},
    {"take: layer_us, published: {most: 1x}, against: [{context: 4000}, {context: 1000}]",
     184672. / 176672, 1, PAPER_AGAINST + 1},
    {"take: layer_us, published: {least: 1x}, against: [{context: 700}, {context: 1000}]",
     176672. / 174272, 0, PAPER_AGAINST},
    /* of rates, the fastest is the greatest */
    {"take: decode_tokens_per_s, published: {least: 1x}, against: [{context: 3000}, {context: 700}]",
     (41180 + 3 * 174272.) / (41180 + 3 * 184672.), 1, PAPER_AGAINST + 1},
    /* what does not fit is left out */
    {"take: layer_us, published: {most: 1x}, against: [{batch: 100000}, {context: 1000}]",
     184672. / 176672, 1, PAPER_AGAINST + 1},
    {"take: layer_us, published: {least: 1x}, minus: {context: 700}", 2400, 0, PAPER_RUN},
};

static void ends_across_cases_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(across_cases); i++) {
        char rows[256];
        snprintf(rows, sizeof rows,
                 "  - {what: it, across: [{context: 1000}, {context: 2000}], %s}\n",
                 across_cases[i].row);
        struct comparison comparison = compare(rows);
        const struct comparison_row *row = &comparison.rows[0];
        assert_int_equal(comparison.row_count, 1);
        assert_near(row->predicted, across_cases[i].predicted, 1e-6 * across_cases[i].predicted);
        assert_int_equal(row->at.which, across_cases[i].which);
        assert_int_equal(row->at.against, across_cases[i].against);
        comparison_release(&comparison);
    }
}

static void each_published_end_is_a_row(void **state)
{
    char name[64];
    (void)state;
    struct comparison comparison = compare(
        "  - {what: it, take: layer_us, across: [{context: 1000}, {context: 2000, batch: 1},"
        " {batch: 100000}], published: {most: 200us, least: 176.672us}}\n"
        "  - {what: alone, take: layer_us, published: 176.672us}\n");
    assert_int_equal(comparison.row_count, 3);
    assert_string_equal(comparison.rows[0].row->what, "it, most");
    assert_string_equal(comparison.rows[1].row->what, "it, least");
    assert_near(comparison.rows[0].error, 184.672 / 200 - 1, 1e-6);
    assert_near(comparison.rows[1].error, 0, 1e-9);
    paper_case_name(comparison.rows[0].row, 1, name, sizeof name);
    assert_string_equal(name, "context 2000, batch 1");
    paper_case_name(comparison.rows[2].row, 0, name, sizeof name);
    assert_string_equal(name, "");
    uint32_t runs, unfit = comparison_unfit(&comparison, &comparison.rows[0], &runs);
    assert_int_equal(unfit, 1);
    assert_int_equal(runs, 3);
    comparison_release(&comparison);
}

/* Half the bandwidth slows both cases to twice the time: the end is found anew. */
static void ranges_move_all_cases(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, across: [{context: 1000}, {context: 2000}],"
                " published: {least: 176.672us}}\n");
    assert_near(comparison.rows[0].most.error, 1, 1e-4);
    comparison_release(&comparison);
}

static void nothing_that_fits_is_missed(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, across: [{batch: 100000}, {batch: 200000}],"
                " published: {least: 500us}}\n");
    assert_int_equal(comparison.rows[0].verdict, VERDICT_MISSED);
    assert_near(comparison.rows[0].error, -1, 0);
    comparison_release(&comparison);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Half the bandwidth takes twice the time. Twice takes half, but that pre has 15 kernels and attend
 * 5 of a microsecond at least: 15 000 + 5000 + 70 210 ns. What is published is 1.5 of the time, so
 * that half is as much too long as the whole is too short: three quarters, by a straight line. */
static void miss_names_the_figure_whose_range_reaches_it(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, published: 265.008us}\n");
    const struct comparison_row *row = &comparison.rows[0];
    assert_near(row->least.error, 90.21 / 265.008 - 1, 1e-4);
    assert_near(row->most.error, 2 / 1.5 - 1, 1e-4);
    assert_string_equal(row->least.name, "gpu.hbm_bandwidth");
    assert_string_equal(row->suspect.name, "gpu.hbm_bandwidth");
    assert_near(row->suspect.share, 0.75, 1e-4);
    assert_near(row->suspect.error, 0, 0);
    comparison_release(&comparison);
}

static void miss_out_of_reach_names_the_end_that_comes_nearest(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, published: 706.688us}\n");
    const struct comparison_row *row = &comparison.rows[0];
    assert_string_equal(row->suspect.name, "gpu.hbm_bandwidth");
    assert_near(row->suspect.share, 0.5, 0);
    assert_near(row->suspect.error, -0.5, 1e-4);
    comparison_release(&comparison);
}

static void ranges_move_both_runs_of_a_ratio(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, published: 2x, against: {steps: 1}}\n");
    assert_near(comparison.rows[0].error, -0.5, 1e-9);
    assert_near(comparison.rows[0].most.error - comparison.rows[0].least.error, 0, 1e-9);
    assert_null(comparison.rows[0].suspect.name);
    comparison_release(&comparison);
}

/* 400 kernels of a microsecond a layer take as long as that. */
static void assumed_keys_are_moved_as_well(void **state)
{
    (void)state;
    struct comparison comparison = compare("  - {what: it, take: layer_us, published: 500us,"
                                           " assumed: {mechanisms.operators: [40, 400]}}\n");
    const struct comparison_row *row = &comparison.rows[0];
    assert_near(row->most.error, 400. / 500 - 1, 1e-3);
    assert_string_equal(row->suspect.name, "mechanisms.operators");
    assert_string_equal(row->suspect.value, "400");
    comparison_release(&comparison);
}

/* 10 GB hold no 100 000 sequences of 1000 tokens, of 600 B each. */
static void what_does_not_fit_is_missed(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, set: {batch: 100000}, published: 500us}\n");
    assert_int_equal(comparison.rows[0].verdict, VERDICT_MISSED);
    comparison_release(&comparison);
}

static void threads_change_nothing(void **state)
{
    static const char rows[] =
        "  - {what: it, take: layer_us, sweep: {context: [500, 1000, 2000, 4000]},"
        " published: [1us, 1us, 1us, 1us]}\n";
    struct comparison one, four;
    struct error why;
    (void)state;
    assert_true(try_comparison(rows, 1, &one, &why));
    assert_true(try_comparison(rows, 4, &four, &why));
    for (size_t i = 0; i < one.row_count; i++) {
        assert_memory_equal(&one.rows[i].error, &four.rows[i].error, sizeof(double));
        assert_memory_equal(&one.rows[i].most.error, &four.rows[i].most.error, sizeof(double));
    }
    comparison_release(&one);
    comparison_release(&four);
}

/* ---- bands ----------------------------------------------------------------------------------- */

/* The first two rows time a whole step: one is off by 1.1 and one by 1.25. The next two are off, but
 * not of a whole step. The others are not off by any factor. */
static void band_is_of_whole_steps(void **state)
{
    struct class_errors errors;
    struct error why;
    (void)state;
    struct comparison comparison =
        compare("  - {what: slower, take: layer_us, published: 194.3392us}\n"
                "  - {what: faster, take: layer_us, published: 141.3376us}\n"
                "  - {what: a part, take: parts.compute, published: 1us}\n"
                "  - {what: a share, take: layer_us, over: step_us, published: 1%}\n"
                "  - {what: wide, take: layer_us, published: 100us..1ms}\n"
                "  - {what: excused, take: layer_us, published: 1us, not_comparable: yes}\n"
                "  - {what: no room, take: layer_us, set: {batch: 100000}, published: 500us}\n");
    assert_true(class_errors_of_band(&comparison, CLASS_BANDWIDTH_BOUND, &errors, &why));
    assert_int_equal(errors.rows, 4);
    assert_int_equal(errors.band.rows, 2);
    assert_near(errors.band.factor, 1.25, 1e-6);
    const char *machine = comparison.runs[0].point.setup.profile.name;
    assert_true(error_band_covers(&errors.band, machine));
    assert_false(error_band_covers(&errors.band, "h100"));
    assert_int_equal(errors.tested, 0);
    comparison_release(&comparison);
}

/* A ratio to a system that the CPU manages says nothing of either. */
static void band_is_absolute_or_against_bandwidth(void **state)
{
    struct class_errors errors;
    struct error why;
    (void)state;
    struct comparison comparison =
        compare("  - {what: absolute, take: layer_us, published: 1us, set: {system: retroinfer}}\n"
                "  - {what: over full attention, take: layer_us, published: 100x,"
                " set: {system: retroinfer}, against: {system: fullattn}}\n"
                "  - {what: of its like, take: layer_us, published: 3x, set: {system: retroinfer},"
                " against: {context: 900}}\n");
    assert_true(class_errors_of_band(&comparison, CLASS_CPU_MANAGED, &errors, &why));
    assert_int_equal(errors.rows, 3);
    assert_int_equal(errors.band.rows, 2);
    comparison_release(&comparison);
}

static void used_row_is_not_comparable_and_marks_its_table(void **state)
{
    (void)state;
    struct comparison comparison =
        compare("  - {what: it, take: layer_us, published: 1us, used: host.sync}\n"
                "  - {what: new, take: layer_us, published: 1us, later: yes}\n");
    assert_int_equal(comparison.rows[0].verdict, VERDICT_NOT_COMPARABLE);
    assert_string_equal(comparison.rows[0].row->used, "host.sync");
    assert_true(comparison.papers[0].used);
    assert_false(comparison.rows[0].row->later);
    assert_true(comparison.rows[1].row->later);
    assert_int_equal(comparison.rows[1].verdict, VERDICT_MISSED);
    comparison_release(&comparison);
}

static void shipped_bands_are_read_back_as_written(void **state)
{
    struct error_band bands[ERROR_BAND_COUNT];
    struct error why;
    char *text = NULL;
    size_t size = 0;
    (void)state;
    assert_true(error_band_load(NULL, bands, &why));
    FILE *out = open_memstream(&text, &size);
    error_band_write(bands, out);
    fclose(out);
    char path[4096];
    assert_true(find_path("scenarios", "error-bands", "yaml", path, sizeof path, &why));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(getc(file), text[i]);
    }
    assert_int_equal(getc(file), EOF);
    fclose(file);
    free(text);
}

/* ---- classes --------------------------------------------------------------------------------- */

static void class_follows_from_mechanisms(void **state)
{
    static const struct {
        const char *system, *override;
        enum system_class class;
    } cases[] = {
        {"system=fullattn", NULL, CLASS_BANDWIDTH_BOUND},
        {"system=vllm", NULL, CLASS_BANDWIDTH_BOUND},
        {"system=deepspeed", NULL, CLASS_BANDWIDTH_BOUND},
        {"system=litecache", NULL, CLASS_GPU_MANAGED},
        {"system=hisparse", NULL, CLASS_GPU_MANAGED},
        {"system=retroinfer", NULL, CLASS_CPU_MANAGED},
        {"system=retroinfer", "mechanisms.sync=gpu", CLASS_CPU_MANAGED},
        {"system=infinigen", NULL, CLASS_CPU_MANAGED},
        {"system=flexgen", NULL, CLASS_CPU_MANAGED},
        {"system=flexgen", "mechanisms.disk_kv=50%", CLASS_DISK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = SETUP("hardware={extends: a40, disk: gcp-local-ssd-4}",
                                   cases[i].system, cases[i].override);
        if (system_class_of(&setup) != cases[i].class) {
            fail_msg("%s is not %s", cases[i].system, error_band_names[cases[i].class]);
        }
        setup_release(&setup);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static const struct {
    const char *rows, *message;
} bad_cases[] = {
    {"  - {what: it, tke: layer_us, published: 1us}\n", "unknown key 'tke'"},
    {"  - {take: layer_us, published: 1us}\n", "'what'"},
    {"  - {what: it, published: 1us}\n", "'take'"},
    {"  - {what: it, served: 1ms}\n", "'served' must be a map"},
    {"  - {what: it, served: {ttft: 1ms}}\n", "'ttft' is not a figure of 'served'"},
    {"  - {what: it, served: {ttft_ms: 1ms}, take: layer_us}\n", "unknown key 'take'"},
    {"  - {what: it, take: layer_us}\n", "'published'"},
    {"  - {what: it, take: layerus, published: 1us}\n", "nearest: 'layer_us'"},
    {"  - {what: it, take: parts.comptue, published: 1us}\n", "nearest: 'compute'"},
    {"  - {what: it, take: [], published: 1us}\n", "1 to 8 figures"},
    {"  - {what: it, take: layer_us, published: soon}\n", "'soon'"},
    {"  - {what: it, take: layer_us, published: 2us..1us}\n", "'2us..1us'"},
    {"  - {what: it, take: layer_us, published: 1us..2B}\n", "'1us..2B'"},
    {"  - {what: it, take: layer_us, published: [1us], sweep: {context: [1, 2]}}\n",
     "each of 2 values"},
    {"  - {what: it, take: layer_us, published: 1us, sweep: {context: 5}}\n", "'sweep'"},
    {"  - {what: it, take: layer_us, published: 1us, assumed: {batch: 5}}\n", "range of 'batch'"},
    {"  - {what: it, rank: [{batch: 1}]}\n", "2 to 8 runs"},
    {"  - {what: it, published: 1us, used: host.sync, not_comparable: so}\n", "'used'"},
    {"  - {what: it, take: layer_us, published: 1us, later: 3}\n", "'later'"},
    {"  - {what: it, take: layer_us, across: [], published: {least: 1us}}\n", "2 to 16 maps"},
    {"  - {what: it, take: layer_us, across: {batch: 1}, published: {least: 1us}}\n",
     "2 to 16 maps"},
    {"  - {what: it, take: layer_us, across: [1, 2], published: {least: 1us}}\n", "single value"},
    {"  - {what: it, take: layer_us, across: [{bach: 1}, {batch: 2}], published: {least: 1us}}\n",
     "nearest: 'batch'"},
    {"  - {what: it, take: layer_us, across: [{batch: 1}, {batch: 2}], published: 1us}\n",
     "'published' must name the ends"},
    {"  - {what: it, take: layer_us, across: [{batch: 1}, {batch: 2}], published: {}}\n",
     "'published' must name the ends"},
    {"  - {what: it, take: layer_us, across: [{batch: 1}, {batch: 2}], published: {last: 1us}}\n",
     "nearest: 'least'"},
    {"  - {what: it, take: layer_us, across: [{batch: 1}, {batch: 2}], published: {least: soon}}\n",
     "'soon'"},
    {"  - {what: it, take: layer_us, across: [{batch: 1}, {batch: 2}], published: {least: 1us},"
     " sweep: {batch: [1]}}\n",
     "either 'across' or 'sweep'"},
    {"  - {what: it, take: layer_us, published: {least: 1us}}\n", "not a published figure"},
    {"  - {what: it, take: layer_us, published: 1x, against: [{batch: 1}]}\n", "2 to 4 runs"},
    {"  - {what: it, take: parts.compute, published: 1x, against: [{batch: 1}, {batch: 2}]}\n",
     "no best"},
    {"  - {what: it, take: layer_us, published: 1us, set: {sweep: {batch: [1]}}}\n",
     "cannot be swept"},
    {"  - {what: it, take: layer_us, published: 1us, set: {system: fullatn}}\n",
     "nearest: 'fullattn'"},
};

static void bad_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_cases); i++) {
        struct comparison comparison;
        struct error why;
        if (try_comparison(bad_cases[i].rows, 1, &comparison, &why)) {
            fail_msg("accepted: %s", bad_cases[i].rows);
        }
        if (strstr(message_of(&why), bad_cases[i].message) == NULL) {
            fail_msg("%s: %s", bad_cases[i].rows, message_of(&why));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_to_what_is_worked_out),
        cmocka_unit_test(a_server_has_a_pool_and_no_ranges),
        cmocka_unit_test(bytes_over_a_time_are_a_rate),
        cmocka_unit_test(sweep_makes_a_row_for_each_value),
        cmocka_unit_test(each_figure_of_a_server_is_a_row),
        cmocka_unit_test(a_server_that_holds_requests_back_is_apart),
        cmocka_unit_test(rank_is_met_where_every_run_is_faster_than_the_next),
        cmocka_unit_test(ends_across_cases_are_found),
        cmocka_unit_test(each_published_end_is_a_row),
        cmocka_unit_test(ranges_move_all_cases),
        cmocka_unit_test(nothing_that_fits_is_missed),
        cmocka_unit_test(miss_names_the_figure_whose_range_reaches_it),
        cmocka_unit_test(miss_out_of_reach_names_the_end_that_comes_nearest),
        cmocka_unit_test(ranges_move_both_runs_of_a_ratio),
        cmocka_unit_test(assumed_keys_are_moved_as_well),
        cmocka_unit_test(what_does_not_fit_is_missed),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(band_is_of_whole_steps),
        cmocka_unit_test(band_is_absolute_or_against_bandwidth),
        cmocka_unit_test(used_row_is_not_comparable_and_marks_its_table),
        cmocka_unit_test(shipped_bands_are_read_back_as_written),
        cmocka_unit_test(class_follows_from_mechanisms),
        cmocka_unit_test(bad_files_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
