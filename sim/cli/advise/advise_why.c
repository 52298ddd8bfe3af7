/* What explains a verdict of `advise`: what limits the advised run, and how sure its figures are. */
#include "cli/advise/advise.h"

#include "predict/result/tie.h"
#include "cli/runs/explain.h"
#include "core/text.h"
#include "predict/answer.h"
#include "server/requests/synthetic.h"

#include <math.h>
#include <string.h>

/* Requests that explain a server. */
#define EXPLAINED 100

/* Shares of a time below the first, and effects below the second, are not told. */
static const double told_part = 0.05, told_effect = 0.005;

/* ---- limit ---- */

static const char *words_of(const struct explain_time *time)
{
    return time->column == COLUMN(ttft_ms) ? "to the first token" : "of a token";
}

/* The two largest causes of a time. */
static void say_causes(const struct explain_time *time, char text[ADVISE_SENTENCE])
{
    enum { TOLD = 2 };
    double shares[EXPLAIN_CAUSES];
    explain_shares(time, shares);
    for (int place = 0; place < TOLD; place++) {
        int most = 0;
        for (int cause = 1; cause < EXPLAIN_CAUSES; cause++) {
            most = shares[cause] > shares[most] ? cause : most;
        }
        if (shares[most] >= told_part) {
            text_append(text, ADVISE_SENTENCE, "%s%s%s%s %s", text[0] != '\0' ? ", " : "",
                        place == 0 ? words_of(time) : "", place == 0 ? ": " : "",
                        explain_causes[most], number_shown(UNIT_PERCENT, shares[most]).text);
        }
        shares[most] = -1;
    }
}

/* What 10 % more of the figures whose names begin so takes off: the largest of their effects. `of` names
 * the time where there are several. */
static void say_helps(const struct explain_time *time, const char *of, char text[ADVISE_SENTENCE])
{
    static const struct {
        const char *begins, *what;
    } kinds[] = {{"gpu.hbm_bandwidth", "HBM bandwidth"},
                 {"gpu.flops_", "FLOP/s"},
                 {"link.", "link speed"},
                 {"host.", "CPU speed"},
                 {"fabric.", "speed between GPUs"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double effect = 0;
        for (uint32_t f = 0; f < time->count; f++) {
            const char *name = curve_kinds[time->figures[f].curve].name;
            if (strncmp(name, kinds[i].begins, strlen(kinds[i].begins)) == 0) {
                effect = fmax(effect, -time->figures[f].better);
            }
        }
        if (effect >= told_effect) {
            text_append(text, ADVISE_SENTENCE, "%s%s saves %s%s%s", text[0] != '\0' ? ", " : "",
                        kinds[i].what, number_shown(UNIT_PERCENT, effect).text,
                        of[0] != '\0' ? " " : "", of);
        }
    }
}

static void put_limit(const struct explanation *explanation, bool serves, struct frame *verdict)
{
    const struct result *result = &explanation->result;
    const struct cell *by = result_cell(result, COLUMN(limited_by));
    double batch = result_number(result, COLUMN(batch));
    char told[ADVISE_SENTENCE] = "", helped[ADVISE_SENTENCE] = "", text[ADVISE_SENTENCE] = "";
    for (uint32_t i = 0; i < (serves ? explanation->count : 1); i++) {
        const struct explain_time *time = &explanation->times[i];
        say_causes(time, told);
        say_helps(time, serves ? words_of(time) : "", helped);
    }
    if (told[0] == '\0') {
        return;
    }
    text_append(text, sizeof text, "of the time %s.", told);
    if (helped[0] != '\0') {
        text_append(text, sizeof text, " 10 %% more %s.", helped);
    }
    if (!serves && by->set && batch == result_number(result, COLUMN(max_batch))) {
        text_append(text, sizeof text, " %s holds no more sequences.",
                    strcmp(by->text, "hbm") == 0 ? "HBM" : "Host memory");
    }
    frame_text(verdict, VERDICT_limit, text);
}

/* ---- sure ---- */

/* A kernel counts as assumed however little of its time an assumed figure decides. */
static const char *basis_words(const char *name)
{
    return strcmp(name, "datasheet") == 0 ? "from datasheets"
           : strcmp(name, "assumed") == 0 ? "partly assumed"
                                          : name;
}

void verdict_put_sure(struct frame *verdict, const struct result *result,
                      const struct explanation *explanation)
{
    struct explain_guess guesses[CURVE_COUNT];
    uint32_t count = explanation != NULL ? explain_guesses(explanation, guesses) : 0;
    char text[ADVISE_SENTENCE] = "", told[ADVISE_SENTENCE] = "";
    if (result_cell(result, COLUMN(error_band))->set) {
        const double *band = result->band[0];
        frame_number(verdict, VERDICT_error_band_low, band[0]);
        frame_number(verdict, VERDICT_error_band_high, band[1]);
    }
    error_words(result, text);
    for (uint32_t i = 0; i < result->basis_count; i++) {
        const char *name = result->basis[i].name;
        double share = result->basis[i].share;
        if (share >= told_part) {
            text_append(told, sizeof told, "%s%s is %s", told[0] != '\0' ? ", " : "",
                        number_shown(UNIT_PERCENT, share).text, basis_words(name));
        }
    }
    if (!result_cell(result, COLUMN(error_figures))->set) {
        text_append(text, sizeof text, ". Of the time, %s", told);
    }
    if (count > 0) {
        text_append(text, sizeof text, ". To measure first (effect of a 10 %% error): %s (%s) %s",
                    curve_kinds[guesses[0].curve].name, basis_name(guesses[0].basis),
                    number_rough(UNIT_PERCENT, guesses[0].effect, NAN, NAN).text);
    }
    text_append(text, sizeof text, ".");
    frame_text(verdict, VERDICT_sure, told[0] != '\0' ? text : NULL);
}

/* A server is explained by its first requests: each figure of the machine serves them twice more. All of
 * them where some are stated to come first and count in no figure. */
bool verdict_put_explained(struct frame *verdict, bool serves, const struct advise_answer *answer,
                           const struct run_context *runs, struct error *why)
{
    struct scenario shorter;
    struct point point;
    struct explanation explanation;
    bool good = scenario_copy(&answer->scenario, &shorter, why);
    if (good) {
        const char *workload = advise_stated(&shorter, "workload");
        bool shorten = workload != NULL && synthetic_is(workload) &&
                       !scenario_states(&shorter, "limit") &&
                       !scenario_states(&shorter, "warm_requests");
        good = (!shorten || scenario_values_set(&shorter.values, "limit", EXPLAINED, why)) &&
               scenario_point(&shorter, 0, &point, why);
    }
    scenario_release(&shorter);
    if (!good) {
        return false;
    }
    good = explain_run(&point, runs, NULL, &explanation, why);
    if (good) {
        put_limit(&explanation, serves, verdict);
        verdict_put_sure(verdict, &explanation.result, &explanation);
        explanation_release(&explanation);
    }
    point_release(&point);
    return good;
}
