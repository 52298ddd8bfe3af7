#include "cli/report/report_step.h"

#include "answer/figures.h"
#include "cli/frame/html.h"
#include "result/tie.h"

#include <math.h>
#include <string.h>

/* As a share of the best run's HBM: a run that takes more than this is not a saving. */
static const double saving = 0.9;

static bool report_step_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const struct {
    const char *run, *name; /* columns */
} place_columns[REPORT_PLACES] = {
    [BEST] = {"best", "best_name"},
    [NEXT] = {"next", "next_name"},
    [LOSSLESS] = {"lossless", "lossless_name"},
    [QUICKEST] = {"quickest", "quickest_name"},
    [FRUGAL] = {"frugal", "frugal_name"},
};

void report_setting_release(struct report_setting *setting)
{
    for (int i = 0; i < REPORT_PLACES; i++) {
        result_release(&setting->runs[i]);
    }
}

bool report_setting_read(struct store *store, const struct report_table *best, size_t row,
                         struct report_setting *out, struct error *why)
{
    const char *first = report_table_text(best, row, place_columns[BEST].run);
    bool ok = true;
    for (int i = 0; i < REPORT_PLACES; i++) {
        const char *run = report_table_text(best, row, place_columns[i].run);
        result_init(&out->runs[i]);
        out->names[i] = report_table_text(best, row, place_columns[i].name);
        out->differs[i] = i != BEST && *run != '\0' && !report_step_equal(run, first);
        if (ok && (i == BEST || out->differs[i])) {
            ok = store_get(store, run, &out->runs[i], why);
        }
    }
    if (!ok) {
        report_setting_release(out);
    }
    return ok;
}

static const char *rate(const struct report_setting *setting, enum report_place place,
                        char text[ANSWER_SIZE])
{
    return figure_text(&setting->runs[place], FIGURE_RATE, text);
}

/* How much slower than the best, as a share of its rate. */
static double report_step_slower(const struct report_setting *setting, enum report_place place)
{
    return 1 - setting->runs[place].cells[COLUMN_DECODE_RATE].real /
                   setting->runs[BEST].cells[COLUMN_DECODE_RATE].real;
}

/* Why the best and the next one tie. */
static enum tie tie_of(const struct report_setting *setting)
{
    return setting->differs[NEXT]
               ? result_tie(&setting->runs[BEST], &setting->runs[NEXT], COLUMN_DECODE_RATE)
               : TIE_NONE;
}

static bool report_step_is_lossy(const struct result *run)
{
    const struct cell *lossless = &run->cells[COLUMN_LOSSLESS];
    return lossless->set && report_step_equal(lossless->text, "lossy");
}

/* A run that attends to less is no better answer until its loss is judged: one that attends to all
 * then leads. */
static bool leads_lossless(const struct report_setting *setting)
{
    return report_step_is_lossy(&setting->runs[BEST]) && setting->differs[LOSSLESS];
}

static void say_lossless(const struct report_setting *setting, FILE *out)
{
    char per_second[ANSWER_SIZE], step[ANSWER_SIZE];
    if (leads_lossless(setting)) {
        html_print(
            out,
            "<p class=\"answer\"><strong>%s</strong> decodes fastest of those that attend to "
            "all of the attention mass: <strong>%s tokens a second</strong>, a step of "
            "%s ms.</p>\n",
            setting->names[LOSSLESS], rate(setting, LOSSLESS, per_second),
            figure_text(&setting->runs[LOSSLESS], FIGURE_STEP, step));
    }
}

static void say_loss(const struct result *run, FILE *out)
{
    const struct cell *recall = &run->cells[COLUMN_MASS_RECALL];
    if (!report_step_is_lossy(run)) {
        return;
    }
    fputs(". It is lossy", out);
    if (recall->set) {
        fprintf(out,
                ": it attends to %.0f&nbsp;%% of the attention mass, a proxy for quality, not a "
                "score",
                100 * recall->real);
    }
}

static void report_step_say_best(const struct report_setting *setting, bool chosen, FILE *out)
{
    const struct cell *cells = setting->runs[BEST].cells;
    char per_second[ANSWER_SIZE], user[ANSWER_SIZE], step[ANSWER_SIZE];
    bool ties = tie_of(setting) != TIE_NONE;
    html_print(out, "<p class=\"answer\"><strong>%s</strong> ", setting->names[BEST]);
    if (ties) {
        html_print(out, "and <strong>%s</strong> tie for fastest. %s ", setting->names[NEXT],
                   setting->names[BEST]);
    }
    html_print(
        out,
        chosen && !ties ? "decodes fastest%s: <strong>%s tokens a second</strong>, a step of %s ms"
                        : "decodes%s <strong>%s tokens a second</strong>, a step of %s ms",
        chosen && !ties && leads_lossless(setting) ? " of all" : "",
        rate(setting, BEST, per_second), figure_text(&setting->runs[BEST], FIGURE_STEP, step));
    if (cells[COLUMN_BATCH].set && cells[COLUMN_BATCH].integer > 1 && cells[COLUMN_USER_RATE].set) {
        html_print(out, "; %s for each sequence",
                   answer_column(&setting->runs[BEST], COLUMN_USER_RATE, ANSWER_REAL, user));
    }
    say_loss(&setting->runs[BEST], out);
    fputs(".</p>\n", out);
}

static void say_limits(const struct report_setting *setting, FILE *out)
{
    const struct result *run = &setting->runs[BEST];
    const struct result_item *part = result_largest(run, COLUMN_PARTS);
    const struct result_item *stall = result_largest(run, COLUMN_STALLS);
    double step = (double)run->cells[COLUMN_STEP].integer;
    char waits[ANSWER_SIZE];
    if (part == NULL || step <= 0) {
        return;
    }
    html_print(out, "<li>What limits it: the largest part of its critical path is %s, ",
               part->name);
    fprintf(out, "%.0f&nbsp;%%; ", 100 * (double)part->ns / step);
    html_print(out, "the GPU waits for %s of the step", figure_text(run, FIGURE_STALLED, waits));
    if (stall != NULL && (double)stall->ns > step / 200) {
        html_print(out, ", mostly for %s", stall->name);
    }
    fputs(".</li>\n", out);
}

static void report_step_say_next(const struct report_setting *setting, FILE *out)
{
    char per_second[ANSWER_SIZE];
    enum tie tie = tie_of(setting);
    if (!setting->differs[NEXT]) {
        return;
    }
    html_print(out, "<li>Next is %s: %s tokens a second, ", setting->names[NEXT],
               rate(setting, NEXT, per_second));
    fprintf(out, "%.1f&nbsp;%% less", 100 * report_step_slower(setting, NEXT));
    html_print(out, tie != TIE_NONE ? ", a tie: %s.</li>\n" : ".</li>\n", tie_reason(tie));
}

/* What a run attends to whose system keeps the model's own selection, if that is not all: it is not
 * lossy. */
static void say_selection(const struct report_setting *setting, FILE *out)
{
    const struct cell *recall = &setting->runs[BEST].cells[COLUMN_MASS_RECALL];
    char mass[ANSWER_SIZE], per_second[ANSWER_SIZE];
    if (report_step_is_lossy(&setting->runs[BEST]) || !recall->set || recall->real >= 0.9995) {
        return;
    }
    html_print(out,
               "<li>It keeps the selection that the model itself makes: it attends to %s&nbsp;% of "
               "the attention mass, a proxy for quality, not a score",
               figure_text(&setting->runs[BEST], FIGURE_MASS, mass));
    if (setting->differs[LOSSLESS]) {
        html_print(out, ". The fastest that attends to all of it is %s, with %s tokens a second",
                   setting->names[LOSSLESS], rate(setting, LOSSLESS, per_second));
    }
    fputs(".</li>\n", out);
}

static void report_step_say_others(const struct report_setting *setting, FILE *out)
{
    char per_second[ANSWER_SIZE], step[ANSWER_SIZE], hbm[ANSWER_SIZE];
    if (setting->differs[QUICKEST]) {
        const struct result *run = &setting->runs[QUICKEST];
        html_print(out, "<li>The shortest step is %s ms, with %s: %s tokens a second.</li>\n",
                   figure_text(run, FIGURE_STEP, step), setting->names[QUICKEST],
                   rate(setting, QUICKEST, per_second));
    }
    const struct cell *cells = setting->runs[FRUGAL].cells;
    double most = saving * (double)setting->runs[BEST].cells[COLUMN_HBM_BYTES].integer;
    if (setting->differs[FRUGAL] && (double)cells[COLUMN_HBM_BYTES].integer <= most) {
        html_print(
            out,
            "<li>Least HBM within 5&nbsp;% of the best rate: %s, with %s in all and %s tokens a "
            "second.</li>\n",
            setting->names[FRUGAL], figure_text(&setting->runs[FRUGAL], FIGURE_HBM, hbm),
            rate(setting, FRUGAL, per_second));
    }
}

void report_say_trust(const struct report_setting *setting, FILE *out)
{
    const struct result *run = &setting->runs[BEST];
    const char *between = " ";
    if (run->cells[COLUMN_ERROR_BAND].set) {
        fprintf(out,
                "<li>How sure: for such systems, published rates differ from predicted ones by "
                "%+.0f to %+.0f&nbsp;%%.",
                100 * run->band[0][0], 100 * run->band[0][1]);
    } else {
        fputs("<li>How sure: not known, because no published rate of such systems can be "
              "compared.",
              out);
    }
    fputs(run->basis_count > 0 ? " Its time rests on" : "", out);
    for (uint32_t i = 0; i < run->basis_count; i++) {
        if (run->basis[i].share >= 0.005) {
            html_print(out, "%s%s ", between, run->basis[i].name);
            fprintf(out, "%.0f&nbsp;%%", 100 * run->basis[i].share);
            between = ", ";
        }
    }
    bool carried = run->cells[COLUMN_EXTRAPOLATED].set && run->cells[COLUMN_EXTRAPOLATED].integer;
    fputs(run->basis_count > 0 ? "." : "", out);
    fputs(carried ? " A curve or the recording was extrapolated.</li>\n" : "</li>\n", out);
}

void report_say_step(const struct report_setting *setting, bool chosen, FILE *out)
{
    say_lossless(setting, out);
    report_step_say_best(setting, chosen, out);
    fputs("<ul>\n", out);
    say_limits(setting, out);
    report_step_say_next(setting, out);
    say_selection(setting, out);
    report_step_say_others(setting, out);
    report_say_trust(setting, out);
    fputs("</ul>\n", out);
}
