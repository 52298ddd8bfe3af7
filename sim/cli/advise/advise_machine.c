/* `advise` about one machine: what it holds, and how. */
#include "tables/verdict.h"
#include "cli/advise/advise_answer.h"
#include "cli/advise/advise_question.h"
#include "cli/frame/left_out.h"
#include "cli/plan/deployment.h"
#include "cli/frame/output.h"
#include "cli/frame/message.h"
#include "cli/plan/plan_report.h"
#include "cli/runs/runs_notes.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>

static void advise_machine_show_progress(const char *system, const char *machine, uint32_t runs,
                                         void *context)
{
    char left[PROGRESS_LEFT];
    (void)context;
    progress_show(runs, 0, "%s on %s: %u run%s%s", system, machine, runs, text_plural(runs),
                  progress_left(0, left));
}

/* The first answers come within a round; later a system is decided now and then. */
static void advise_machine_show_decided(uint32_t decided, uint32_t all, void *context)
{
    (void)context;
    if (all > 1) {
        progress_show(decided, all, "%u of %u systems", decided, all);
    }
}

/* Each search is a plan of its own, so that a report shows all questions and answers. */
static bool store_all(const struct advice *advice, struct store *store, struct error *why)
{
    bool good = plan_store(&advice->systems, &advice->targets, store, why);
    for (uint32_t i = 0; good && i < advice->trial_count; i++) {
        good = i == advice->plain ||
               plan_store(&advice->trials[i].planning, &advice->targets, store, why);
    }
    return good;
}

/* ---- the answer ---- */

/* Plain vLLM is searched in its form and among the systems: the same runs. */
static void advise_machine_print_tried(const struct advice *advice)
{
    struct planning_tried tried = {0, 0};
    planning_count_tried(&advice->systems, &tried);
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        if (i != advice->plain) {
            planning_count_tried(&advice->trials[i].planning, &tried);
        }
    }
    printf("%" PRIu64 " of %" PRIu64 " %s were tried\n", tried.runs, tried.values,
           advice->serves ? "rates" : "batches");
}

/* What a highest rate rests on. */
static void note_rate(const struct advice *advice, const struct search *search,
                      struct runs_notes *notes)
{
    const char *system = search->candidate->system;
    uint64_t requests = advice->trials[advice->plain].planning.requests;
    if (!advice->serves) {
        return;
    }
    runs_notes_add_note(notes, system, note_rates_apart());
    runs_notes_add_note(notes, system, note_arrivals_drawn());
    if (requests > 0) {
        runs_notes_add_note(notes, system, note_requests_extended(requests));
    }
}

/* Systems without an answer count as well for what the figures rest on: their misses are shown. */
static void take_notes(const struct advice *advice, struct runs_notes *notes,
                       struct runs_notes *sources)
{
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        const struct result *result = advice_result(search);
        const struct result *nearest =
            search->nearest != PLANNING_NONE ? &search->results[search->nearest] : result;
        if (result != NULL) {
            note_rate(advice, search, notes);
            runs_notes_add(notes, result);
        }
        if (nearest != NULL) {
            runs_notes_add(sources, nearest);
        }
    }
}

static bool print_table(const struct advice *advice, const struct frame *rows, bool wide,
                        struct error *why)
{
    bool good = frame_print(rows, NULL, stdout, why);
    if (good) {
        advise_print_alike(advice, stdout);
        (wide ? left_out_print : left_out_print_counts)(advice->systems.candidates,
                                                        advice->systems.count, stdout);
        advise_machine_print_tried(advice);
    }
    return good;
}

static bool print_people(const struct arguments *arguments, const struct advice *advice,
                         const struct frame *verdict, const struct frame *rows, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct runs_notes *sources = notes != NULL ? runs_notes_create(why) : NULL;
    bool good = sources != NULL && verdict_print(verdict, stdout, why);
    if (good) {
        take_notes(advice, notes, sources);
        runs_notes_print_sources(sources, stdout);
        good = print_table(advice, rows, arguments_given(arguments, ADVISE_WIDE), why);
    }
    if (good) {
        advise_print_untried(advice, stdout);
        advise_print_made(arguments, &advice_plain(advice)->candidate->scenario, stdout);
        runs_notes_print_remarks(notes, arguments_given(arguments, ADVISE_WHY), stdout);
    }
    runs_notes_destroy(sources);
    runs_notes_destroy(notes);
    return good;
}

/* The files that start what is advised. */
static bool deploy(const struct arguments *arguments, const struct advice *advice,
                   struct error *why)
{
    const char *folder = arguments_text(arguments, ADVISE_DEPLOY);
    struct scenario scenario;
    if (folder == NULL || advice->best == PLANNING_NONE) {
        return true;
    }
    const struct search *best = &advice->systems.searches[advice->best];
    bool good =
        search_scenario(best, advice->systems.maximise, best->found, &scenario, why) &&
        deployment_write(&(struct deployment){&scenario, advice_result(best), advice->form.servers},
                         folder, why);
    scenario_release(&scenario);
    return good;
}

static bool advise_machine_print(const struct arguments *arguments, const struct advice *advice,
                                 const struct advice_options *with, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    bool json = arguments_given(arguments, ADVISE_JSON);
    const struct result *best = advice->best != PLANNING_NONE
                                    ? advice_result(&advice->systems.searches[advice->best])
                                    : NULL;
    struct frame *rows = advise_rows(advice, !json, why);
    struct frame *verdict =
        rows != NULL ? advise_verdict(advice, model, rows, with->runs, why) : NULL;
    bool good =
        verdict != NULL &&
        (json ? verdict_print_json(verdict, stdout, why) && frame_print_json(rows, stdout, why)
              : print_people(arguments, advice, verdict, rows, why)) &&
        output_flush(stdout, "standard output", why) &&
        advise_page(arguments, with->store, best, &advice->targets, verdict, why) &&
        deploy(arguments, advice, why);
    frame_destroy(verdict);
    return good && (advice->best != PLANNING_NONE ||
                    error_unmet(why, "nothing that one can start fits within the limits"));
}

/* The search was interrupted: what was found before. */
static void print_so_far(const struct advice *advice)
{
    char line[ADVISE_WORDS];
    const struct search *best = NULL;
    for (uint32_t i = 0; best == NULL && i < advice->trial_count; i++) {
        const struct planning *planning = &advice->trials[i].planning;
        bool found = planning->count > 0 && advice_result(&planning->searches[0]) != NULL;
        best = found ? &planning->searches[0] : NULL;
    }
    best = advice->best != PLANNING_NONE ? &advice->systems.searches[advice->best] : best;
    if (best != NULL) {
        snprintf(line, sizeof line, "best so far: %.100s with a %s of %s", best->candidate->system,
                 axis_title(&best->axis), search_text(best, advice->serves, best->found));
        table_line("", line, stdout);
    }
}

bool advise_machine(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    struct advice advice;
    bool interrupted = false;
    with->on_progress = advise_machine_show_progress;
    with->on_decided = advise_machine_show_decided;
    bool good = advice_run(scenario, with, &advice, &interrupted, why);
    progress_clear();
    if (good && interrupted && !arguments_given(arguments, ADVISE_JSON)) {
        print_so_far(&advice);
    }
    good = progress_end(good, interrupted, "the search had ended", why);
    good = good && (with->store == NULL || store_all(&advice, with->store, why)) &&
           advise_machine_print(arguments, &advice, with, why);
    advice_release(&advice);
    return good;
}
