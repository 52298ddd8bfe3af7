/* `advise --rate`: how many GPUs of which machine hold a rate of requests. */
#include "tables/verdict.h"
#include "core/units.h"
#include "cli/advise/advise_answer.h"
#include "cli/advise/advise_question.h"
#include "cli/plan/deployment.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/runs/runs_notes.h"
#include "study/advise/advice_search.h"

#include <stdio.h>

/* Options that have no part in a question about a rate. */
bool advise_rate_check(const struct arguments *arguments, struct error *why)
{
    static const char *const systems =
        "only systems that lose nothing and can be started are hired";
    static const struct {
        int option;
        const char *expect;
    } unused[] = {{ADVISE_MASS, systems},
                  {ADVISE_PAPER, systems},
                  {ADVISE_WIDE, "--json, which has all forms"}};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        if (arguments_given(arguments, unused[i].option)) {
            error_usage(why, NULL, 0, "'%s' does not apply to '--rate'",
                        advise_options[unused[i].option].name);
            return error_expect(why, "%s", unused[i].expect);
        }
    }
    return true;
}

static void show_hire(double share, const char *what, void *context)
{
    char left[PROGRESS_LEFT];
    (void)context;
    progress_show((uint32_t)(100 * share), 100, "%.0f %%: %s%s", 100 * share, what,
                  progress_left(share, left));
}

static bool read_rate(const struct arguments *arguments, double *out, struct error *why)
{
    const char *text = arguments_text(arguments, ADVISE_RATE);
    if (!units_parse(text, UNIT_COUNT, NULL, 0, "--rate", out, why)) {
        return error_expect(why, "requests a second, such as 0.3");
    }
    if (*out < 1e-6 || *out > 1e6) {
        error_usage(why, "--rate", 0, "'%.40s' is no rate that can be served", text);
        return error_expect(why, "0.000001 to 1000000 requests a second");
    }
    return true;
}

/* What the figures of the shown forms rest on, as below every table. */
static bool print_notes(const struct hire *hire, bool reasons, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    for (uint32_t i = 0; notes != NULL && i < hire->count; i++) {
        if (hire->forms[i].servers > 0) {
            runs_notes_add(notes, hire_holds(&hire->forms[i]));
        }
    }
    bool good = notes != NULL;
    if (good && hire->best != HIRE_NONE) {
        runs_notes_print_below(notes, reasons, stdout);
    }
    runs_notes_destroy(notes);
    return good;
}

/* Forms with tiers below host memory would make the search twice as long. */
static void print_unweighed(const struct hire *hire)
{
    bool has_lower = false;
    for (uint32_t i = 0; i < hire->count; i++) {
        has_lower = has_lower || hire->forms[i].has_lower;
    }
    if (has_lower) {
        table_line(
            "not weighed: ",
            "drives and pools, with --rate: 'simulate --set system=vllm-tiering' or vllm-mooncake does",
            stdout);
    }
}

static bool print_hire(const struct arguments *arguments, const struct hire *hire,
                       const struct frame *verdict, const struct frame *rows, struct error *why)
{
    if (!verdict_print(verdict, stdout, why) || !frame_print(rows, NULL, stdout, why)) {
        return false;
    }
    hire_print_rest(hire, stdout);
    print_unweighed(hire);
    if (hire->best != HIRE_NONE) {
        const struct hire_form *best = &hire->forms[hire->best];
        advise_print_unshared(&best->scenario, best->gpus, "--rate", stdout);
    }
    advise_print_made(arguments, &hire->candidates[0].scenario, stdout);
    bool good = print_notes(hire, arguments_given(arguments, ADVISE_WHY), why);
    if (good && hire->interrupted) {
        table_line("note: ", "interrupted: this is the best so far, and others may be cheaper",
                   stdout);
    }
    return good;
}

/* The files that start what is advised. */
static bool deploy_hire(const struct arguments *arguments, const struct hire *hire,
                        struct error *why)
{
    const char *folder = arguments_text(arguments, ADVISE_DEPLOY);
    struct scenario scenario;
    if (folder == NULL || hire->best == HIRE_NONE) {
        return true;
    }
    const struct hire_form *best = &hire->forms[hire->best];
    bool good = hire_scenario(hire, best, best->servers, &scenario, why) &&
                deployment_write(&(struct deployment){&scenario, hire_holds(best), best->servers},
                                 folder, why);
    scenario_release(&scenario);
    return good;
}

/* What was found before an interruption is shown, if that is anything, and the command fails all
 * the same. */
static bool answer_hire(const struct arguments *arguments, const struct hire *hire,
                        struct store *store, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    bool json = arguments_given(arguments, ADVISE_JSON);
    if (!json && hire->interrupted && hire->best == HIRE_NONE) {
        return true;
    }
    const struct result *best =
        hire->best != HIRE_NONE ? hire_holds(&hire->forms[hire->best]) : NULL;
    struct frame *rows = hire_rows(hire, !json, why);
    struct frame *verdict = rows != NULL ? hire_verdict(hire, model, rows, why) : NULL;
    bool good =
        verdict != NULL &&
        (json ? verdict_print_json(verdict, stdout, why) && frame_print_json(rows, stdout, why)
              : print_hire(arguments, hire, verdict, rows, why)) &&
        output_flush(stdout, "standard output", why) &&
        advise_page(arguments, store, best, &hire->targets, verdict, why) &&
        deploy_hire(arguments, hire, why);
    frame_destroy(verdict);
    return good && (hire->interrupted || hire->best != HIRE_NONE ||
                    error_unmet(why, "no form holds the rate within the limits"));
}

bool advise_at_rate(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    uint32_t operands;
    struct hire_options options = {.targets = with->targets,
                                   .machines = arguments_operands(arguments, &operands)[1],
                                   .prices = arguments_text(arguments, ADVISE_PRICE),
                                   .weights = arguments_text(arguments, ADVISE_WEIGHTS),
                                   .most_gpus = with->gpus,
                                   .store = with->store,
                                   .jobs = with->jobs,
                                   .runs = with->runs,
                                   .on_progress = show_hire};
    struct hire hire;
    bool interrupted = false;
    if (!read_rate(arguments, &options.rate, why) ||
        !advice_add_targets(true, &options.targets, why)) {
        return false;
    }
    bool good = hire_run(scenario, &options, &hire, &interrupted, why);
    progress_clear();
    good = good && answer_hire(arguments, &hire, with->store, why);
    good = progress_end(good, interrupted, "the search had ended", why);
    hire_release(&hire);
    return good;
}
