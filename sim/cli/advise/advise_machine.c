#include "cli/advise/advise_question.h"
#include "cli/advise/advise_report.h"
#include "cli/advise/advise_words.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "answer/table.h"
#include "cli/plan/plan_report.h"

#include <stdio.h>

static void show_progress(const char *system, const char *machine, uint32_t runs, void *context)
{
    (void)context;
    progress_show("%s on %s: %u runs", system, machine, runs);
}

/* The first answers come within a round; later a system is decided now and then. */
static void show_decided(uint32_t decided, uint32_t all, void *context)
{
    (void)context;
    if (all > 1) {
        progress_show("%u of %u systems", decided, all);
    }
}

static bool print_answer(const struct arguments *arguments, const struct advice *advice,
                         const struct run_context *runs, struct error *why)
{
    struct advise_verdict verdict;
    uint32_t operands;
    if (!advise_verdict_make(advice, *arguments_operands(arguments, &operands), runs, &verdict,
                             why)) {
        return false;
    }
    verdict.wide = arguments_given(arguments, ADVISE_WIDE);
    return (arguments_given(arguments, ADVISE_JSON) ? advise_print_json : advise_report)(
               advice, &verdict, stdout, why) &&
           output_flush(stdout, "standard output", why) &&
           (advice->best != PLANNING_NONE ||
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
    char text[VERDICT_TEXT] = "";
    const struct quest *plain = NULL;
    for (uint32_t i = 0; i < advice->form_count; i++) {
        const struct planning *planning = &advice->forms[i].planning;
        bool found = planning->count > 0 && advice_result(&planning->quests[0]) != NULL;
        plain = plain == NULL && found ? &planning->quests[0] : plain;
    }
    if (advice->best != PLANNING_NONE) {
        advise_say_run(advice, text);
    } else if (plain != NULL) {
        snprintf(text, sizeof text, "%s with a %s of %s; nothing else was weighed", ADVICE_PLAIN,
                 axis_title(&plain->axis), quest_text(plain, advice->serves, plain->found));
    }
    if (text[0] != '\0') {
        table_line("best so far: ", text, stdout);
    }
}

bool advise_machine(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    struct advice advice;
    bool interrupted = false;
    with->on_progress = show_progress;
    with->on_decided = show_decided;
    bool good = advice_run(scenario, with, &advice, &interrupted, why);
    progress_clear();
    if (good && interrupted && !arguments_given(arguments, ADVISE_JSON)) {
        print_so_far(&advice);
    }
    good = progress_end(good, interrupted, "the search had ended", why);
    good = good && (with->store == NULL || store_all(&advice, with->store, why)) &&
           print_answer(arguments, &advice, with->runs, why);
    advice_release(&advice);
    return good;
}
