/* `advise --rate`: how many GPUs of which machine hold a rate of requests. */
#include "tables/verdict.h"
#include "core/units.h"
#include "cli/advise/advise_answer.h"
#include "cli/advise/advise_question.h"
#include "cli/plan/deployment.h"
#include "cli/frame/output.h"
#include "cli/frame/message.h"
#include "cli/runs/runs_notes.h"
#include "study/advise/advice.h"

#include <stdio.h>

/* Options that have no part in a question about a rate. */
bool advise_rate_check(const struct arguments *arguments, struct error *why)
{
    static const char *const systems =
        "only systems that lose nothing and can be started are candidates";
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

static void show_fleet(double share, const char *what, void *context)
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
static bool print_notes(const struct fleet_size *fleet, bool reasons, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    for (uint32_t i = 0; notes != NULL && i < fleet->count; i++) {
        if (fleet->forms[i].servers > 0) {
            runs_notes_add(notes, fleet_holds(&fleet->forms[i]));
        }
    }
    bool good = notes != NULL;
    if (good && fleet->best != FLEET_NONE) {
        runs_notes_print_below(notes, reasons, stdout);
    }
    runs_notes_destroy(notes);
    return good;
}

/* Forms with tiers below host memory would make the search twice as long. */
static void print_unweighed(const struct fleet_size *fleet)
{
    bool has_lower = false;
    for (uint32_t i = 0; i < fleet->count; i++) {
        has_lower = has_lower || fleet->forms[i].has_lower;
    }
    if (has_lower) {
        table_line(
            "not weighed: ",
            "drives and pools, with --rate: 'simulate --set system=vllm-tiering' or vllm-mooncake does",
            stdout);
    }
}

static bool print_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                        const struct frame *verdict, const struct frame *rows, struct error *why)
{
    if (!verdict_print(verdict, stdout, why) || !frame_print(rows, NULL, stdout, why)) {
        return false;
    }
    fleet_print_rest(fleet, stdout);
    print_unweighed(fleet);
    if (fleet->best != FLEET_NONE) {
        const struct fleet_form *best = &fleet->forms[fleet->best];
        advise_print_unshared(&best->scenario, best->gpus, "--rate", stdout);
    }
    advise_print_made(arguments, &fleet->candidates[0].scenario, stdout);
    bool good = print_notes(fleet, arguments_given(arguments, ADVISE_WHY), why);
    if (good && fleet->interrupted) {
        table_line("note: ", "interrupted: this is the best so far, and others may be cheaper",
                   stdout);
    }
    return good;
}

/* The files that start what is advised. */
static bool deploy_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                         struct error *why)
{
    const char *folder = arguments_text(arguments, ADVISE_DEPLOY);
    struct scenario scenario;
    if (folder == NULL || fleet->best == FLEET_NONE) {
        return true;
    }
    const struct fleet_form *best = &fleet->forms[fleet->best];
    bool good = fleet_scenario(fleet, best, best->servers, &scenario, why) &&
                deployment_write(&(struct deployment){&scenario, fleet_holds(best), best->servers},
                                 folder, why);
    scenario_release(&scenario);
    return good;
}

/* What was found before an interruption is shown, if that is anything, and the command fails all
 * the same. */
static bool answer_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                         struct store *store, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    bool json = arguments_given(arguments, ADVISE_JSON);
    if (!json && fleet->interrupted && fleet->best == FLEET_NONE) {
        return true;
    }
    const struct result *best =
        fleet->best != FLEET_NONE ? fleet_holds(&fleet->forms[fleet->best]) : NULL;
    struct frame *rows = fleet_rows(fleet, !json, why);
    struct frame *verdict = rows != NULL ? fleet_verdict(fleet, model, rows, why) : NULL;
    bool good =
        verdict != NULL &&
        (json ? verdict_print_json(verdict, stdout, why) && frame_print_json(rows, stdout, why)
              : print_fleet(arguments, fleet, verdict, rows, why)) &&
        output_flush(stdout, "standard output", why) &&
        advise_page(arguments, store, best, &fleet->targets, verdict, why) &&
        deploy_fleet(arguments, fleet, why);
    frame_destroy(verdict);
    return good && (fleet->interrupted || fleet->best != FLEET_NONE ||
                    error_unmet(why, "no form holds the rate within the limits"));
}

bool advise_at_rate(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    uint32_t operands;
    struct fleet_options options = {.targets = with->targets,
                                    .machines = arguments_operands(arguments, &operands)[1],
                                    .prices = arguments_text(arguments, ADVISE_PRICE),
                                    .weights = arguments_text(arguments, ADVISE_WEIGHTS),
                                    .most_gpus = with->gpus,
                                    .store = with->store,
                                    .jobs = with->jobs,
                                    .runs = with->runs,
                                    .on_progress = show_fleet};
    struct fleet_size fleet;
    bool interrupted = false;
    if (!read_rate(arguments, &options.rate, why) ||
        !advice_add_targets(true, &options.targets, why)) {
        return false;
    }
    bool good = fleet_size_run(scenario, &options, &fleet, &interrupted, why);
    progress_clear();
    good = good && answer_fleet(arguments, &fleet, with->store, why);
    good = progress_end(good, interrupted, "the search had ended", why);
    fleet_size_release(&fleet);
    return good;
}
