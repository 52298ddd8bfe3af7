/* Below the rows stand what they have in common: what each mechanism changes, how far the single
 * savings are from the sum, and what mechanisms buy that cost time. */
#include "cli/ablate/ablate_report.h"

#include "cli/ablate/ablate_text.h"
#include "cli/ablate/ablate_trades.h"
#include "tables/table.h"
#include "cli/runs/runs_notes.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = ABLATE_NAMES, LINE = 4096 };

/* ---- tables ---- */

static bool print_rows(const struct ablation *ablation, const struct table_view *view, FILE *out,
                       struct error *why)
{
    struct frame *frame = ablate_frame(ablation, view, why);
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

/* What the mechanisms save one by one, and how much more or less they save together. */
static void print_interaction(const struct ablation *ablation, FILE *out)
{
    struct ablation_sum sum;
    char line[LINE], alone[SHOWN_TEXT], together[SHOWN_TEXT];
    if (!ablation_add_up(ablation, &sum)) {
        table_line("interaction: ", "unknown, as a row has no step to compare", out);
        return;
    }
    ablate_ms(ablation, llabs(sum.interaction_ns), together);
    if (strcmp(together, ablate_ms(ablation, 0, alone)) == 0) { /* too little to show */
        table_line("interaction: ", "none: each saves alone what it saves among the others", out);
        return;
    }
    snprintf(line, sizeof line,
             "together they save %s ms %s (%.2fx) than one by one (%s ms, %.2fx)", together,
             sum.interaction_ns < 0 ? "less" : "more", sum.interaction_times,
             ablate_ms(ablation, sum.alone_ns, alone), sum.alone_times);
    table_line("interaction: ", line, out);
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
        snprintf(line, sizeof line, "%s",
                 difference_names(&ablation->difference, idle, true, names, sizeof names));
        table_line("no effect on any step: ", line, out);
    }
}

static bool ablate_report_print_findings(const struct ablation *ablation, FILE *out,
                                         struct error *why)
{
    fputc('\n', out);
    if (ablation->difference.count > 1) {
        print_interaction(ablation, out);
    }
    print_idle(ablation, out);
    if (!ablate_trades(ablation, out, why)) {
        return false;
    }
    const struct cell *lossless = result_cell(ablation_result(ablation, 0), COLUMN(lossless));
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
