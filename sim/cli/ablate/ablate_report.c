#include "cli/ablate/ablate_report.h"

#include "cli/ablate/ablate_text.h"
#include "cli/ablate/ablate_trades.h"
#include "answer/table.h"
#include "cli/runs/runs_notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = ABLATE_NAMES, LINE = 4096 };

/* ---- tables ---- */

static bool print_rows(const struct ablation *ablation, const struct table_view *view, FILE *out,
                       struct error *why)
{
    struct frame *frame = ablate_frame(ablation, false, why);
    bool good = frame != NULL && frame_print(frame, view, out, why);
    frame_destroy(frame);
    return good;
}

/* The keys that a mechanism's name stands for. */
static bool ablate_report_print_changes(const struct ablation *ablation, FILE *out,
                                        struct error *why)
{
    static const struct frame_column columns[] = {{.title = "mechanism"},
                                                  {.title = "what changes", .wrap = true}};
    struct frame *frame = frame_create(columns, 2, why);
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        const struct difference_mechanism *mechanism = &ablation->difference.mechanisms[i];
        frame_row(frame);
        frame_text(frame, 0, mechanism->name);
        frame_text(frame, 1, mechanism->changes);
    }
    fputc('\n', out);
    bool good = frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return good;
}

/* ---- what follows ---- */

/* "+ merge=no has no time": the first row for which there is nothing to add up. */
static void print_untimed(const struct ablation *ablation, FILE *out)
{
    char line[LINE], name[NAMES];
    int64_t ns;
    double times;
    for (uint32_t i = 0; i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        if (row->refused == NULL && row->kind != ABLATION_LEFT_OUT &&
            !ablation_saves(ablation, row, &ns, &times)) {
            snprintf(line, sizeof line, "the interaction is unknown: '%s' has no step to compare",
                     ablate_name(ablation, row, name) + strspn(name, " "));
            table_line("", line, out);
            return;
        }
    }
}

static void print_interaction(const struct ablation *ablation, const struct ablation_sum *sum,
                              char *text, size_t size)
{
    char ms[ANSWER_SIZE];
    double shown = 1e6 * pow(10, -ablate_decimals(ablation)); /* the last digit, in ns */
    ablate_ms(ablation, sum->interaction_ns, ms);
    if (fabs((double)sum->interaction_ns) < shown / 2) {
        snprintf(text, size, "there is no interaction");
        return;
    }
    snprintf(text, size,
             "the interaction is %s ms, so much %s they save together; as a ratio of gains it is "
             "%.2fx",
             ms, sum->interaction_ns < 0 ? "less" : "more", sum->interaction_times);
}

/* What all mechanisms save together, and how much of that each alone does not explain. */
static void print_total(const struct ablation *ablation, FILE *out)
{
    struct ablation_sum sum;
    char line[LINE], base[ANSWER_SIZE], whole[ANSWER_SIZE], alone[ANSWER_SIZE], name[NAMES];
    const struct ablation_row *row = &ablation->rows[ablation->row_count - 1];
    int64_t ns;
    double times;
    if (!ablation_add_up(ablation, &sum) || !ablation_saves(ablation, row, &ns, &times)) {
        print_untimed(ablation, out);
        return;
    }
    int64_t base_ns = ablation_result(ablation, 0)->cells[COLUMN_STEP].integer;
    size_t used = (size_t)snprintf(line, sizeof line, "%s %s %s ms of %s's %s (%.2fx)",
                                   ablate_system(ablation, name), ablate_verb(ns),
                                   ablate_ms(ablation, llabs(ns), whole), ablation->base.name,
                                   ablate_ms(ablation, base_ns, base), times);
    if (ablation->difference.count > 1) {
        used += (size_t)snprintf(
            line + used, sizeof line - used,
            "; one by one its mechanisms %s %s (%.2fx): ", sum.alone_ns < 0 ? "cost" : "save",
            ablate_ms(ablation, llabs(sum.alone_ns), alone), sum.alone_times);
        print_interaction(ablation, &sum, line + used, sizeof line - used);
    }
    table_line("", line, out);
}

/* How the saving of a mechanism added last compares with its saving when added first. */
static const char *describe_more(const struct ablate_ends *ends)
{
    bool more = ends->saves[1] > ends->saves[0];
    return ends->saves[0] < 0 || ends->saves[1] < 0 ? (more ? "better" : "worse")
           : more                                   ? "only together with the others"
                                                    : "that the others save as well";
}

/* "prefetch=next-layer on top of merge costs 1.51 ms; added last it saves 12.36: 13.87 ms better".
 */
static void print_ends(const struct ablation *ablation, const struct ablate_ends *ends, FILE *out)
{
    char line[LINE], others[2][NAMES], saved[2][ANSWER_SIZE], more[ANSWER_SIZE];
    bool alone = ends->rows[0]->others == 0, last = ends->rows[1]->others == 0;
    snprintf(line, sizeof line, "%s %s %s %s ms; added last%s%s it %s %s: %s ms %s",
             ablation->difference.mechanisms[ends->rows[0]->mechanism].label,
             alone ? "alone" : ablate_others(ablation, ends->rows[0], others[0]),
             ablate_verb(ends->saves[0]), ablate_ms(ablation, llabs(ends->saves[0]), saved[0]),
             last ? "" : ", ", last ? "" : ablate_others(ablation, ends->rows[1], others[1]),
             ablate_verb(ends->saves[1]), ablate_ms(ablation, llabs(ends->saves[1]), saved[1]),
             ablate_ms(ablation, llabs(ends->saves[1] - ends->saves[0]), more),
             describe_more(ends));
    table_line("", line, out);
}

/* The mechanism whose saving depends most on the others. */
static void print_most_dependent(const struct ablation *ablation, FILE *out)
{
    struct ablate_ends ends, most = {.saves = {0, 0}};
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        if (ablate_ends(ablation, i, &ends) &&
            llabs(ends.saves[1] - ends.saves[0]) > llabs(most.saves[1] - most.saves[0])) {
            most = ends;
        }
    }
    if (most.rows[0] != NULL) {
        print_ends(ablation, &most, out);
    }
}

/* Mechanisms without rows of their own. */
static void print_idle(const struct ablation *ablation, FILE *out)
{
    uint32_t idle = 0;
    char line[LINE], names[NAMES];
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        idle |= ablate_is_idle(ablation, i) ? 1u << i : 0;
    }
    if (idle != 0) {
        snprintf(line, sizeof line, "no effect on any step: %s",
                 difference_names(&ablation->difference, idle, true, names, sizeof names));
        table_line("", line, out);
    }
}

static bool ablate_report_print_findings(const struct ablation *ablation, FILE *out,
                                         struct error *why)
{
    fputc('\n', out);
    print_total(ablation, out);
    print_most_dependent(ablation, out);
    print_idle(ablation, out);
    if (!ablate_trades(ablation, out, why)) {
        return false;
    }
    const struct cell *lossless = &ablation_result(ablation, 0)->cells[COLUMN_LOSSLESS];
    if (lossless->set && strcmp(lossless->text, "lossy") == 0) {
        fprintf(out, "note: %s is lossy itself: nothing here is compared with exact attention\n",
                ablation->base.name);
    }
    return true;
}

bool ablate_report(const struct ablation *ablation, const struct table_view *view, FILE *out,
                   struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < ablation->done; i++) {
        runs_notes_add(notes, &ablation->results[i]);
    }
    if (good) {
        uint32_t count = ablation->difference.count;
        char name[NAMES];
        runs_notes_print_above(notes, ablation->scenario.root, out);
        fprintf(out, "%s against %s: %u mechanism%s differ%s\n\n", ablate_system(ablation, name),
                ablation->base.name, count, count == 1 ? "" : "s", count == 1 ? "s" : "");
        good = print_rows(ablation, view, out, why) &&
               ablate_report_print_changes(ablation, out, why) &&
               ablate_report_print_findings(ablation, out, why);
    }
    if (good) {
        runs_notes_print_below(notes, view->why, out);
    }
    runs_notes_destroy(notes);
    return good;
}
