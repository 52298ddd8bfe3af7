#include "cli/advise/advise_verdict.h"

#include "base/text.h"
#include "cli/advise/advise_words.h"
#include "cli/frame/left_out.h"
#include "cli/runs/runs_notes.h"

#include <inttypes.h>
#include <string.h>

enum { NAME = 160, LINE = 2048 };

/* ---- the table ---- */

static void print_alike(const struct advice *advice, uint32_t index, FILE *out)
{
    const struct planning *systems = &advice->systems;
    char line[LINE] = "";
    for (uint32_t i = 0; i < systems->count; i++) {
        if (i != index && systems->searches[i].candidate->left_out[0] == '\0' &&
            advise_alike(&systems->searches[i], &systems->searches[index])) {
            text_append(line, sizeof line, "%s%s", line[0] != '\0' ? ", " : "",
                        systems->searches[i].candidate->system);
        }
    }
    if (line[0] != '\0') {
        char text[LINE + NAME];
        snprintf(text, sizeof text, "the same as %s: %s",
                 systems->searches[index].candidate->system, line);
        table_line("", text, out);
    }
}

/* Plain vLLM is searched in its form and among the systems: the same runs. */
static void advise_report_print_tried(const struct advice *advice, FILE *out)
{
    struct planning_tried tried = {0, 0};
    planning_count_tried(&advice->systems, &tried);
    for (uint32_t i = 0; i < advice->form_count; i++) {
        if (i != advice->plain) {
            planning_count_tried(&advice->forms[i].planning, &tried);
        }
    }
    for (int i = 0; i < ADVICE_CHANGES; i++) {
        planning_count_tried(&advice->changes[i].planning, &tried);
    }
    fprintf(out, "%" PRIu64 " of %" PRIu64 " %s were tried\n", tried.runs, tried.values,
            advice->serves ? "rates" : "batches");
}

static bool advise_report_print_table(const struct advice *advice, bool wide, FILE *out,
                                      struct error *why)
{
    struct frame *frame = advise_frame(advice, true, why);
    bool good = frame != NULL && frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    for (uint32_t i = 0; good && i < advice->systems.count; i++) {
        if (advise_stands(advice, i)) {
            print_alike(advice, i, out);
        }
    }
    if (good) {
        (wide ? left_out_print : left_out_print_counts)(advice->systems.candidates,
                                                        advice->systems.count, out);
        advise_report_print_tried(advice, out);
    }
    return good;
}

/* ---- all of it ---- */

/* Systems without an answer count as well for what the figures rest on: their misses are shown. */
static void advise_report_take_notes(const struct advice *advice, struct runs_notes *notes,
                                     struct runs_notes *sources)
{
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        const struct result *result = advice_result(search);
        const struct result *nearest =
            search->nearest != PLANNING_NONE ? &search->results[search->nearest] : result;
        if (result != NULL) {
            runs_notes_add(notes, result);
        }
        if (nearest != NULL) {
            runs_notes_add(sources, nearest);
        }
    }
}

/* "llama-3.1-8b on h100-sxm, 128K tokens of context", and the limits. */
static void advise_report_print_title(const struct advice *advice, const char *typed, FILE *out)
{
    const struct candidate *plain = advice_plain(advice)->candidate;
    char line[LINE] = "", limits[TARGETS_TEXT], number[ADVISE_NUMBER];
    uint64_t context = advice->forms[advice->plain].context;
    const struct node *model = node_get(plain->scenario.root, "model");
    bool other = strcasestr(typed, model->text) == NULL;
    text_append(line, sizeof line, "%s%s%s on %s", typed, other ? ", of the shape of " : "",
                other ? model->text : "", plain->machine);
    if (context > 0) {
        text_append(line, sizeof line, ", %s tokens of context", advise_tokens(context, number));
    }
    const struct node *workload = node_said(plain->scenario.root, "workload");
    if (advice->serves && workload != NULL) {
        text_append(line, sizeof line, ", requests %s", workload->text);
    }
    if (advice->targets.count > 0) {
        text_append(line, sizeof line, "; limits: %s", targets_text(&advice->targets, limits));
    }
    table_line("", line, out);
    fputc('\n', out);
}

bool advise_report(const struct advice *advice, const char *model, const struct frame *verdict,
                   const struct table_view *view, FILE *out, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct runs_notes *sources = notes != NULL ? runs_notes_create(why) : NULL;
    bool good = sources != NULL;
    if (good) {
        advise_report_take_notes(advice, notes, sources);
        advise_report_print_title(advice, model, out);
        good = verdict_print(verdict, out, why);
    }
    if (good) {
        fputc('\n', out);
        runs_notes_print_sources(sources, out);
        good = advise_report_print_table(advice, view->wide, out, why);
    }
    if (good) {
        runs_notes_print_remarks(notes, view->why, out);
    }
    runs_notes_destroy(sources);
    runs_notes_destroy(notes);
    return good;
}

bool advise_json(const struct advice *advice, const struct frame *verdict, FILE *out,
                 struct error *why)
{
    struct frame *frame = advise_frame(advice, false, why);
    bool good =
        frame != NULL && verdict_print_json(verdict, out, why) && frame_print_json(frame, out, why);
    frame_destroy(frame);
    return good;
}
