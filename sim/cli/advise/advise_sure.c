/* What holds a run up, and how sure its figures are. */
#include "cli/advise/advise_answer.h"

#include "core/node.h"
#include "cli/runs/explain.h"
#include "server/requests/synthetic.h"
#include "predict/answer.h"

#include <math.h>
#include <string.h>

/* Requests that explain a server. */
#define EXPLAINED "100"

/* How many causes are told; and how much of a time a cause, a basis, and what a figure saves have to
 * be for that. */
enum { CAUSES_TOLD = 2 };
static const double told_part = 0.05, told_effect = 0.005;

enum { FIRST, SECOND, SHARE, TOLD, MORE, COLUMNS };

/* A list of shares: of what, and of which part. `told` is the share if it is worth a sentence, `more`
 * what the sentence also needs. Memory that ran out shows when the verdict is printed. */
static struct frame *make_shares(const char *first, const char *second, const char *more)
{
    const struct frame_column columns[COLUMNS] = {
        [FIRST] = {.key = first},
        [SECOND] = {.key = second},
        [SHARE] = {.key = "share", .unit = UNIT_SHARE},
        [TOLD] = {.name = "told", .unit = UNIT_PERCENT},
        [MORE] = {.name = more},
    };
    struct error unused;
    return frame_create(columns, COLUMNS, &unused);
}

static void put_share(struct frame *rows, const char *first, const char *second, double share,
                      double least, const char *more)
{
    frame_row(rows);
    frame_text(rows, FIRST, first);
    frame_text(rows, SECOND, second);
    frame_number(rows, SHARE, share);
    if (share >= least) {
        frame_number(rows, TOLD, share);
        frame_text(rows, MORE, more);
    }
}

/* ---- what limits ---- */

static const char *words_of(const struct explain_time *time)
{
    return time->column == COLUMN(ttft_ms) ? "to the first token" : "of a token";
}

/* The largest share first. */
static void put_causes(const struct explain_time *time, struct frame *rows)
{
    double shares[EXPLAIN_CAUSES];
    explain_shares(time, shares);
    for (int place = 0; place < EXPLAIN_CAUSES; place++) {
        int most = 0;
        for (int cause = 1; cause < EXPLAIN_CAUSES; cause++) {
            most = shares[cause] > shares[most] ? cause : most;
        }
        put_share(rows, time->column->name, explain_causes[most], shares[most],
                  place < CAUSES_TOLD ? told_part : INFINITY, place == 0 ? words_of(time) : NULL);
        shares[most] = -1;
    }
}

/* The largest effect of the figures whose names begin so: 10 % better takes so much off. */
static double effect_of(const struct explain_time *time, const char *begins)
{
    double most = 0;
    for (uint32_t i = 0; i < time->count; i++) {
        const char *name = curve_kinds[time->figures[i].curve].name;
        if (strncmp(name, begins, strlen(begins)) == 0) {
            most = fmax(most, -time->figures[i].better);
        }
    }
    return most;
}

/* `of`: the time, as a sentence names it; NULL: there is one only. */
static void put_helps(const struct explain_time *time, const char *of, struct frame *rows)
{
    static const struct {
        const char *begins, *what;
    } helps[] = {{"gpu.hbm_bandwidth", "HBM bandwidth"},
                 {"gpu.flops_", "FLOP/s"},
                 {"link.", "link speed"},
                 {"host.", "CPU speed"},
                 {"fabric.", "speed between GPUs"}};
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
        double effect = effect_of(time, helps[i].begins);
        put_share(rows, time->column->name, helps[i].what, effect, told_effect, of);
    }
}

static void put_limited(const struct explanation *explanation, bool serves, struct frame *verdict)
{
    const struct result *result = &explanation->result;
    const struct cell *by = result_cell(result, COLUMN(limited_by));
    double batch = result_number(result, COLUMN(batch));
    struct frame *causes = make_shares("time", "cause", "begins");
    struct frame *helps = make_shares("time", "figure", "of");
    for (uint32_t i = 0; i < (serves ? explanation->count : 1); i++) {
        put_causes(&explanation->times[i], causes);
        put_helps(&explanation->times[i], serves ? words_of(&explanation->times[i]) : NULL, helps);
    }
    if (!serves && by->set && batch == result_number(result, COLUMN(max_batch))) {
        frame_text(verdict, VERDICT_full, strcmp(by->text, "hbm") == 0 ? "HBM" : "Host memory");
    }
    frame_take(verdict, VERDICT_causes, causes);
    frame_take(verdict, VERDICT_helps, helps);
}

/* ---- how sure ---- */

static void put_error_band(const struct result *result, struct frame *verdict)
{
    if (result_cell(result, COLUMN(error_band))->set) {
        frame_number(verdict, VERDICT_error_band_low, result->band[0][0]);
        frame_number(verdict, VERDICT_error_band_high, result->band[0][1]);
    }
}

/* A kernel counts as assumed however little of its time an assumed figure decides. */
static const char *basis_words(const char *name)
{
    return strcmp(name, "datasheet") == 0 ? "from datasheets"
           : strcmp(name, "assumed") == 0 ? "partly assumed"
                                          : name;
}

static void put_basis(const struct result *result, struct frame *verdict)
{
    struct frame *rows = make_shares("of", "basis", "words");
    for (uint32_t i = 0; i < result->basis_count; i++) {
        const char *name = result->basis[i].name;
        put_share(rows, "time", name, result->basis[i].share, told_part, basis_words(name));
    }
    frame_take(verdict, VERDICT_basis, rows);
}

static void put_guesses(const struct explanation *explanation, struct frame *verdict)
{
    struct explain_guess guesses[CURVE_COUNT];
    uint32_t count = explain_guesses(explanation, guesses);
    struct frame *rows = make_shares("figure", "basis", "more");
    for (uint32_t i = 0; i < count; i++) {
        put_share(rows, curve_kinds[guesses[i].curve].name, basis_name(guesses[i].basis),
                  guesses[i].effect, i == 0 ? 0 : INFINITY, NULL);
    }
    frame_take(verdict, VERDICT_measure_first, rows);
}

/* ---- all of it ---- */

/* A server is explained by its first requests: each figure of the machine serves them twice more. All
 * of them where some are stated to come first and count in no figure. */
static bool shorten(struct scenario *scenario, struct error *why)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    bool made = workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text);
    bool stated = node_stated(scenario->root, "limit") != NULL ||
                  node_stated(scenario->root, "warm_requests") != NULL;
    return !made || stated || node_set(scenario->root, "limit", EXPLAINED, why);
}

bool verdict_put_explained(struct frame *verdict, bool serves, const struct scenario *scenario,
                           const struct run_context *runs, struct error *why)
{
    struct scenario shorter;
    struct point point;
    struct explanation explanation;
    bool good = scenario_copy(scenario, &shorter, why) && shorten(&shorter, why) &&
                scenario_point(&shorter, 0, &point, why);
    scenario_release(&shorter);
    if (!good) {
        return false;
    }
    good = explain_run(&point, runs, &explanation, why);
    if (good) {
        put_limited(&explanation, serves, verdict);
        put_error_band(&explanation.result, verdict);
        put_basis(&explanation.result, verdict);
        put_guesses(&explanation, verdict);
        explanation_release(&explanation);
    }
    point_release(&point);
    return good;
}
