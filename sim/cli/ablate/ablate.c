/* `spillway ablate`: what each mechanism in which a system differs from a base saves. */
#include "cli/ablate/ablate_report.h"
#include "cli/frame/arguments.h"
#include "cli/frame/column_options.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/frame/message.h"
#include "cli/frame/question.h"
#include "store/stored_run.h"

/* ---- the command ------------------------------------------------------------------------- */

enum { AGAINST, SET, DB, JOBS, NO_CACHE, COLUMNS, WIDE, WHY, JSON };

static const struct command_option options[] = {
    [AGAINST] = {.name = "--against",
                 .argument = "SYSTEM",
                 .summary = "the base system to compare with (default: the baseline named by the "
                            "system's preset, else fullattn)"},
    [SET] = SCENARIO_SET_OPTION,
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "store runs and rows in this SQLite file, for 'plot ablate'; runs already "
                       "in it are reused"},
    [JOBS] = JOBS_OPTION,
    [NO_CACHE] = NO_CACHE_OPTION,
    [COLUMNS] = COLUMNS_OPTION,
    [WIDE] = WIDE_OPTION,
    [WHY] = WHY_OPTION,
    [JSON] = {.name = "--json",
              .summary = "print one JSON object per row, each on its own line, and nothing else"},
    {.name = NULL},
};

static void print_meaning(FILE *out)
{
    fputs("rows:\n"
          "  + MECHANISM      the base with this mechanism of the system; if that is invalid,\n"
          "                   the reason, and the mechanism on top of the fewest it needs\n"
          "  - MECHANISM      the system without this mechanism; if that is invalid, the\n"
          "                   reason, and the system also without the fewest that go with it\n"
          "saves: the step without the mechanism minus the step with it, all else equal\n"
          "interaction: what the system saves minus the sum of what each mechanism saves alone\n"
          "A mechanism that costs time may buy something else: --wide shows by how much the run\n"
          "with it has more attention mass, memory, work of the CPU and bytes over the link.\n"
          "Overrides (--set mechanisms.KEY=VALUE) change the system, not the base.\n",
          out);
    uint32_t count;
    const struct frame_column *columns = ablate_columns(&count);
    frame_columns_print("\ncolumns of the table, for --columns:", columns, count, out);
}

/* All rows for programs: into the database if there is one, and printed if JSON was asked for. */
static bool give_rows(const struct arguments *arguments, const struct ablation *ablation,
                      struct store *store, struct error *why)
{
    struct frame *frame = ablate_frame(ablation, NULL, why);
    const struct store_frame rows = {.table = "ablations", .frame = frame};
    bool good = frame != NULL && (store == NULL || store_put_frames(store, &rows, 1, why)) &&
                (!arguments_given(arguments, JSON) || frame_print_json(frame, stdout, why));
    frame_destroy(frame);
    return good;
}

static bool ablate_study(const struct arguments *arguments, struct question *question,
                         const struct table_view *view, struct error *why)
{
    const struct ablation_options with = {.against = arguments_text(arguments, AGAINST),
                                          .study = question_study(question)};
    struct ablation ablation;
    bool interrupted = false;
    bool good = ablation_run(&question->scenario, &with, &ablation, &interrupted, why);
    good = progress_end(good, interrupted, "all runs were done", why);
    /* A failed run is shown as a row like the others; the command then fails with its error. */
    good = good && give_rows(arguments, &ablation, question->store, why) &&
           (arguments_given(arguments, JSON) || ablate_report(&ablation, view, stdout, why)) &&
           output_flush(stdout, "standard output", why) &&
           sweep_check(ablation.results, ablation.done, why);
    ablation_release(&ablation);
    return good;
}

static bool ablate_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct table_view view;
    uint32_t count;
    const struct frame_column *columns = ablate_columns(&count);
    bool good = view_read(arguments, columns, count, &view, why) &&
                question_read(arguments, &question, why) &&
                question_begin(arguments, &question, false, why) &&
                ablate_study(arguments, &question, &view, why);
    question_end(&question);
    return good;
}

const struct command command_ablate = {
    .name = "ablate",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "take a system apart: what each of its mechanisms saves, alone and together",
    .example = "spillway ablate --set model=llama-3-8b --set hardware=a40 --set context=128K \\\n"
               "    --set trace=smollm2-135m --set system=litecache --against retroinfer-10pct",
    .options = options,
    .more = print_meaning,
    .run = ablate_run,
};
