#include "cli/report/report.h"

#include "answer/figures.h"
#include "cli/frame/html.h"
#include "cli/report/report_step.h"
#include "result/range.h"
#include "result/tie.h"

#include <stdlib.h>
#include <string.h>

static bool report_answer_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- a best run of a server -------------------------------------------------------------- */

static void say_found(const struct result *run, const char *found, FILE *out)
{
    char gpu[ANSWER_SIZE], host[ANSWER_SIZE];
    const char *on_gpu = figure_text(run, FIGURE_GPU_HIT, gpu);
    if (on_gpu == NULL) {
        fputs("It is unknown which prompts begin alike: the workload has no hashes", out);
    } else {
        fprintf(out,
                "%s %s&nbsp;%% of the prompts' tokens on the GPU and %s&nbsp;%% in host memory",
                found, on_gpu, figure_text(run, FIGURE_HOST_HIT, host));
    }
    fputs(".</p>\n", out);
}

static void say_server(const struct report_setting *setting, bool timed, FILE *out)
{
    const struct cell *cells = setting->runs[BEST].cells;
    html_print(out, "<p class=\"answer\"><strong>%s</strong> ", setting->names[BEST]);
    if (timed && cells[COLUMN_GOODPUT].set) {
        fprintf(out, "serves best: <strong>%.3g requests a second</strong> meet the objectives. ",
                cells[COLUMN_GOODPUT].real);
    }
    if (timed) {
        fprintf(out, "%s the first token after %.0f ms and the last after %.0f ms, at the median. ",
                cells[COLUMN_GOODPUT].set ? "Requests have" : "has",
                (double)cells[COLUMN_TTFT_P50].integer / 1e6,
                (double)cells[COLUMN_E2E_P50].integer / 1e6);
    }
    say_found(&setting->runs[BEST], timed ? "It finds" : "finds", out);
    fputs("<ul>\n", out);
    if (setting->differs[NEXT]) {
        enum tie tie = result_tie(&setting->runs[BEST], &setting->runs[NEXT],
                                  cells[COLUMN_GOODPUT].set ? COLUMN_GOODPUT : COLUMN_E2E_P50);
        html_print(out,
                   timed && tie != TIE_NONE ? "<li>Next is %s, a tie: %s.</li>\n"
                                            : "<li>Next is %s.</li>\n",
                   setting->names[NEXT], tie_reason(tie));
    }
    if (timed) {
        report_say_trust(setting, out);
    }
    fputs("</ul>\n", out);
}

/* ---- several settings -------------------------------------------------------------------- */

/* The number of settings of one kind in which the choice of `row` is best, and how many of these are
 * ties; 0 if an earlier row had that choice. */
static size_t count_wins(const struct report_table *best, size_t row, size_t *ties)
{
    const char *kind = report_table_text(best, row, "kind");
    const char *name = report_table_text(best, row, "best_name");
    size_t wins = 0;
    *ties = 0;
    for (size_t i = 0; i < best->count; i++) {
        if (report_answer_equal(report_table_text(best, i, "kind"), kind) &&
            report_answer_equal(report_table_text(best, i, "best_name"), name)) {
            if (i < row) {
                return 0;
            }
            wins++;
            *ties += report_table_text(best, i, "tie")[0] != '\0';
        }
    }
    return wins;
}

enum { MOST_WINNERS = 6 };

static void say_winners(const struct report_table *best, const char *kind, size_t settings,
                        FILE *out)
{
    size_t shown = 0, others = 0;
    fprintf(out, "<p class=\"answer\">Of %zu settings, ", settings);
    for (size_t row = 0; row < best->count; row++) {
        size_t ties = 0;
        bool own = report_answer_equal(report_table_text(best, row, "kind"), kind);
        size_t wins = own ? count_wins(best, row, &ties) : 0;
        if (wins > 0 && shown++ < MOST_WINNERS) {
            html_print(out, shown > 1 ? ", <strong>%s</strong>" : "<strong>%s</strong>",
                       report_table_text(best, row, "best_name"));
            fprintf(out, " is %s in %zu", report_answer_equal(kind, "decode") ? "fastest" : "best",
                    wins);
            if (ties > 0 && ties == wins) {
                fputs(wins > 1 ? ", all of them ties" : ", a tie", out);
            } else if (ties > 0) {
                fprintf(out, ", %zu of them %s", ties, ties > 1 ? "ties" : "a tie");
            }
        } else if (wins > 0) {
            others += wins;
        }
    }
    if (others > 0) {
        fprintf(out, ", and others in %zu", others);
    }
    fputs(".</p>\n", out);
}

static double score_of(const struct report_table *best, size_t row)
{
    return strtod(report_table_text(best, row, "score"), NULL);
}

/* With nothing to choose from, the settings themselves are compared. Waiting times grow with the
 * load, so neither end is called the best. */
static void say_range(const struct report_table *best, const char *kind, FILE *out)
{
    size_t least = SIZE_MAX, most = SIZE_MAX;
    char figure[RANGE_TEXT];
    for (size_t row = 0; row < best->count; row++) {
        if (!report_answer_equal(report_table_text(best, row, "kind"), kind)) {
            continue;
        }
        if (least == SIZE_MAX || score_of(best, row) < score_of(best, least)) {
            least = row;
        }
        if (most == SIZE_MAX || score_of(best, row) > score_of(best, most)) {
            most = row;
        }
    }
    if (score_of(best, most) < 0) {
        html_print(out, "<p class=\"answer\">With <strong>%s</strong> ",
                   report_table_text(best, most, "setting"));
        fprintf(out, "%s ms to the last token at the median, ",
                range_single(-score_of(best, most), figure, sizeof figure));
        html_print(out, "with %s ", report_table_text(best, least, "setting"));
        fprintf(out, "%s ms.</p>\n", range_single(-score_of(best, least), figure, sizeof figure));
        return;
    }
    html_print(out, "<p class=\"answer\">Best with <strong>%s</strong>, worst with %s: ",
               report_table_text(best, most, "setting"), report_table_text(best, least, "setting"));
    fprintf(out, "<strong>%s</strong> ", range_single(score_of(best, most), figure, sizeof figure));
    fprintf(out, "against %s ", range_single(score_of(best, least), figure, sizeof figure));
    html_print(out, "%s.</p>\n", report_table_text(best, most, "measure"));
}

/* ---- runs along an axis ------------------------------------------------------------------ */

/* The most lines in sentences; a picture shows more. */
enum { MOST_WALKS = 8 };

/* Write a paragraph; text between two ** is strong. */
static void say_marked(const char *text, FILE *out)
{
    bool strong = false;
    fputs("<p class=\"answer\">", out);
    for (; *text != '\0'; text++) {
        if (strncmp(text, "**", 2) == 0) {
            strong = !strong;
            fputs(strong ? "<strong>" : "</strong>", out);
            text++;
        } else {
            html_text((char[]){*text, '\0'}, out);
        }
    }
    fputs(strong ? "</strong></p>\n" : "</p>\n", out);
}

/* Write a sentence per line; with `compared`, also which line does best. */
static void say_walks(const struct report_table *walks, bool compared, FILE *out)
{
    for (size_t row = 0; row < walks->count && row < MOST_WALKS; row++) {
        say_marked(report_table_text(walks, row, "answer"), out);
    }
    if (walks->count > MOST_WALKS) {
        fprintf(out, "<p class=\"shortened\">%zu more are in the tables.</p>\n",
                walks->count - MOST_WALKS);
    }
    for (size_t row = 0; compared && row < walks->count; row++) {
        const char *best = report_table_text(walks, row, "best_answer");
        if (*best != '\0') {
            say_marked(best, out);
        }
    }
}

/* ---- all --------------------------------------------------------------------------------- */

static bool say_one(struct store *store, const struct report_table *best, size_t row, FILE *out,
                    struct error *why)
{
    struct report_setting setting;
    const char *kind = report_table_text(best, row, "kind");
    if (!report_setting_read(store, best, row, &setting, why)) {
        return false;
    }
    if (report_answer_equal(kind, "decode")) {
        report_say_step(&setting,
                        !report_answer_equal(report_table_text(best, row, "choices"), "1"), out);
    } else {
        say_server(&setting, report_answer_equal(kind, "served"), out);
    }
    report_setting_release(&setting);
    return true;
}

bool report_has_choice(const struct report_table *best)
{
    bool chosen = false;
    for (size_t row = 0; row < best->count; row++) {
        chosen = chosen || !report_answer_equal(report_table_text(best, row, "choices"), "1");
    }
    return chosen;
}

bool report_answer_write(struct store *store, const struct report_table *best,
                         const struct report_table *walks, FILE *out, struct error *why)
{
    static const char *const kinds[] = {"decode", "served", "found"};
    bool ok = true;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t settings = 0, first = 0;
        bool chosen = false;
        for (size_t row = best->count; row-- > 0;) {
            if (report_answer_equal(report_table_text(best, row, "kind"), kinds[i])) {
                settings++;
                first = row;
                chosen =
                    chosen || !report_answer_equal(report_table_text(best, row, "choices"), "1");
            }
        }
        if (settings == 1) {
            ok = ok && say_one(store, best, first, out, why);
        } else if (settings > 1 && chosen) {
            say_winners(best, kinds[i], settings, out);
        } else if (settings > 1 && walks->count == 0) {
            say_range(best, kinds[i], out);
        }
    }
    say_walks(walks, walks->count > 1 && best->count > 1, out);
    return ok;
}
