/* `spillway ablate`: what each mechanism saves by which a system differs from a base. */
#include "cli/ablate/ablate_report.h"
#include "cli/ablate/ablate_rows.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/database.h"
#include "cli/frame/jobs.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/frame/question.h"
#include "cli/runs/scenario_options.h"

enum { AGAINST, SET, DB, JOBS, JSON };

static const struct command_option options[] = {
    [AGAINST] = {.name = "--against",
                 .argument = "SYSTEM",
                 .summary = "the base, as its preset says it (default: the baseline that the "
                            "system's preset names, else fullattn)"},
    [SET] = SCENARIO_SET_OPTION,
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "keep runs and rows in this SQLite file, for 'plot ablate'; runs that it "
                       "has are not run again"},
    [JOBS] = JOBS_OPTION,
    [JSON] = {.name = "--json",
              .summary = "print a JSON object a row, on a line of its own, and nothing else"},
    {.name = NULL},
};

static void print_meaning(FILE *out)
{
    fputs("rows:\n"
          "  + MECHANISM      the base with this mechanism of the system's; where that cannot be\n"
          "                   meant, the reason, and the mechanism on top of the least it needs\n"
          "  - MECHANISM      the system without it; or without the fewest that go with it\n"
          "saves: the step without the mechanism less the step with it, all else alike; the\n"
          "interaction is what the base with each alone, summed, misses of what the system saves\n"
          "Overrides (--set mechanisms.KEY=VALUE) are the system's, not the base's.\n",
          out);
}

/* What failed is a row like the others, and an error once all are shown. */
static bool show(const struct arguments *arguments, const struct ablation *ablation,
                 struct error *why)
{
    return (arguments_given(arguments, JSON) ? ablate_print_json : ablate_report)(ablation, stdout,
                                                                                  why) &&
           output_flush(stdout, "standard output", why) &&
           sweep_check(ablation->results, ablation->done, why);
}

static bool study(const struct arguments *arguments, const struct scenario *scenario,
                  const struct ablation_options *with, struct error *why)
{
    struct ablation ablation;
    bool interrupted = false;
    bool good = ablation_run(scenario, with, &ablation, &interrupted, why);
    good = progress_end(good, interrupted, "all runs were done", why);
    good = good && (with->store == NULL || ablate_store(&ablation, with->store, why)) &&
           show(arguments, &ablation, why);
    ablation_release(&ablation);
    return good;
}

static bool run(const struct arguments *arguments, struct error *why)
{
    struct run_context runs = {.threads = 0};
    struct ablation_options with = {.against = arguments_text(arguments, AGAINST),
                                    .runs = &runs,
                                    .on_progress = progress_runs};
    struct scenario scenario;
    if (!jobs_read(arguments, JOBS, &with.jobs, why) ||
        !scenario_from_arguments(arguments, SET, &scenario, why)) {
        return false;
    }
    bool good = database_open(arguments, DB, &with.store, why) &&
                question_begin(&runs, with.jobs, false, why) &&
                study(arguments, &scenario, &with, why);
    question_end(&runs);
    store_close(with.store);
    scenario_release(&scenario);
    return good;
}

const struct command command_ablate = {
    .name = "ablate",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "take a system apart: what each of its mechanisms saves, alone and together",
    .example = "spillway ablate --set model=llama-3-8b --set hardware=a40 --set context=128K \\\n"
               "    --set trace=smollm2-135m --set system=litecache --against retroinfer",
    .options = options,
    .more = print_meaning,
    .run = run,
};
