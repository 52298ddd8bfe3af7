#include "cli/advise/advise_question.h"
#include "cli/advise/advise_verdict.h"
#include "cli/advise/advise_words.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "answer/table.h"
#include "cli/plan/deployment.h"
#include "cli/plan/plan_report.h"

#include <stdio.h>

static void advise_machine_show_progress(const char *system, const char *machine, uint32_t runs,
                                         void *context)
{
    (void)context;
    progress_show("%s on %s: %u runs", system, machine, runs);
}

/* The first answers come within a round; later a system is decided now and then. */
static void advise_machine_show_decided(uint32_t decided, uint32_t all, void *context)
{
    (void)context;
    if (all > 1) {
        progress_show("%u of %u systems", decided, all);
    }
}

/* The files that start what is advised. */
static bool deploy(const struct arguments *arguments, const struct advice *advice,
                   const char *model, struct error *why)
{
    const char *folder = arguments_text(arguments, ADVISE_DEPLOY);
    struct scenario scenario;
    if (folder == NULL || advice->best == PLANNING_NONE) {
        return true;
    }
    const struct search *best = &advice->systems.searches[advice->best];
    bool good = search_scenario(best, advice->systems.maximise, best->found, &scenario, why) &&
                deployment_write(&(struct deployment){&scenario, advice_result(best), model,
                                                      advice->form.servers},
                                 folder, why);
    scenario_release(&scenario);
    return good;
}

static bool advise_machine_print_answer(const struct arguments *arguments,
                                        const struct advice *advice,
                                        const struct advice_options *with, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    const struct table_view view = {.wide = arguments_given(arguments, ADVISE_WIDE),
                                    .why = arguments_given(arguments, ADVISE_WHY)};
    const struct result *best = advice->best != PLANNING_NONE
                                    ? advice_result(&advice->systems.searches[advice->best])
                                    : NULL;
    struct frame *verdict = advise_verdict(advice, model, with->runs, why);
    bool good = verdict != NULL &&
                (arguments_given(arguments, ADVISE_JSON)
                     ? advise_json(advice, verdict, stdout, why)
                     : advise_report(advice, model, verdict, &view, stdout, why)) &&
                output_flush(stdout, "standard output", why) &&
                advise_page(arguments, with->store, best, &advice->targets, verdict, why) &&
                deploy(arguments, advice, model, why);
    frame_destroy(verdict);
    return good && (advice->best != PLANNING_NONE ||
                    error_set(why, NULL, 0, "nothing that one can start fits within the limits"));
}

/* Each search is a plan of its own, so that a report shows all questions and answers. */
static bool store_all(const struct advice *advice, struct store *store, struct error *why)
{
    bool good = plan_store(&advice->systems, &advice->targets, store, why);
    for (uint32_t i = 0; good && i < advice->form_count; i++) {
        good = i == advice->plain ||
               plan_store(&advice->forms[i].planning, &advice->targets, store, why);
    }
    for (int i = 0; good && i < ADVICE_CHANGES; i++) {
        const struct advice_trial *trial = &advice->changes[i];
        good = !trial->tried || plan_store(&trial->planning, &advice->targets, store, why);
    }
    return good;
}

/* The search was interrupted: what was found before. */
static void print_so_far(const struct advice *advice)
{
    struct error unused;
    struct frame *verdict = verdict_create(&unused);
    const struct search *plain = NULL;
    for (uint32_t i = 0; i < advice->form_count; i++) {
        const struct planning *planning = &advice->forms[i].planning;
        bool found = planning->count > 0 && advice_result(&planning->searches[0]) != NULL;
        plain = plain == NULL && found ? &planning->searches[0] : plain;
    }
    if (advice->best != PLANNING_NONE) {
        advise_say_run(advice, verdict);
    } else if (plain != NULL) {
        frame_textf(verdict, VERDICT_run, "%s with a %s of %s; nothing else was weighed",
                    ADVICE_PLAIN, axis_title(&plain->axis),
                    search_text(plain, advice->serves, plain->found));
    }
    if (frame_ok(verdict, &unused) && verdict->cells[VERDICT_run].set) {
        table_line("best so far: ", verdict->cells[VERDICT_run].text, stdout);
    }
    frame_destroy(verdict);
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
           advise_machine_print_answer(arguments, &advice, with, why);
    advice_release(&advice);
    return good;
}
