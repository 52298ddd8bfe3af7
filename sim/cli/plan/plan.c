/* `spillway plan`: the smallest (or largest) value of a key at which a scenario meets targets. */
#include <string.h>

#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "cli/plan/deployment.h"
#include "cli/plan/plan_report.h"
#include "core/text.h"
#include "cli/frame/message.h"

static bool check_workload(const struct scenario *scenario, const struct targets *targets,
                           bool pareto, struct error *why)
{
    for (uint32_t i = 0; !scenario_serves(scenario) && i < targets->count; i++) {
        if (target_serves(&targets->all[i])) {
            error_usage(why, "--target", 0, "'%s' is a serving metric; it needs a 'workload'",
                        targets->all[i].column->name);
            return error_expect(why, pareto ? "a metric of a decode step, such as tpot_ms"
                                            : "--set workload=NAME, such as conversations; or a "
                                              "metric of a decode step, such as tpot_ms");
        }
    }
    return true;
}

/* Goodput needs objectives: stated in `slo`, or as the axis. */
static bool check_objectives(const struct scenario *scenario,
                             const struct planning_options *options, struct error *why)
{
    const struct node *slo = node_stated(scenario->root, "slo");
    bool said = slo != NULL && (slo->kind != NODE_MAP || slo->count > 0);
    bool walked = options->axis != NULL && strncmp(options->axis, "slo", 3) == 0;
    if (said || walked || !targets_judge(&options->targets, COLUMN(goodput))) {
        return true;
    }
    error_usage(why, "--target", 0,
                "'goodput' counts requests that meet objectives, and 'slo' sets none");
    return error_expect(why, "--set 'slo={ttft_ms: 1000, tpot_ms: 60}', or one of the two");
}

/* The smallest budget, or a server's largest rate, unless an option says so. A stated rate is ignored. */
static bool choose_axis(const struct scenario *scenario, struct planning_options *out,
                        struct error *why)
{
    bool serves = scenario_serves(scenario) && out->best == NULL;
    if (serves && scenario_states(scenario, "rate")) {
        scenario_error(scenario, "rate", why,
                       "a plan looks for the highest rate, but 'rate' is stated");
        return error_expect(why, "no rate; --maximise rate; or another goal for this rate, such as "
                                 "--minimise replicas=1:8");
    }
    out->axis = out->best != NULL ? "batch" : serves ? "rate" : "budget";
    out->maximise = out->maximise || serves;
    out->unasked = out->best == NULL;
    return true;
}

/* Choose the axis of a plan if no option did, add what any server has to meet, and refuse targets
 * that the scenario cannot judge. With `pareto` there is no axis. Without a clock there is no queue. */
static bool plan_question_read(const struct scenario *scenario, bool pareto,
                               struct planning_options *out, struct error *why)
{
    bool timed = scenario_stated(&scenario->values, "timed", 1) != 0;
    if (!check_workload(scenario, &out->targets, pareto, why) ||
        !check_objectives(scenario, out, why) ||
        (!pareto && out->axis == NULL && !choose_axis(scenario, out, why))) {
        return false;
    }
    return pareto || !(scenario_serves(scenario) || search_is_load(out->axis)) ||
           targets_add_service(timed, &out->targets, why);
}

enum { TARGET, MINIMISE, MAXIMISE, SYSTEM, HARDWARE, PRICE, ALLOW, PARETO, BEST, OVER, OUTPUT };
enum { DEPLOY = OUTPUT + 1, SET, FROM, DB, JOBS, NO_CACHE, COLUMNS, WIDE, WHY, JSON };

static const struct command_option options[] = {
    [TARGET] = {"--target", "KEY<=N,...",
                "the targets to meet: keys of 'simulate --json' with <= or >= and a number",
                .list = true},
    [MINIMISE] = {"--minimise", "KEY", "find the smallest value of this axis (default: budget)"},
    [MAXIMISE] = {"--maximise", "KEY",
                  "find the largest value of this axis (default with a workload: rate)"},
    [SYSTEM] = {"--system", "NAME,...",
                "the candidate systems, or all (default: the scenario's, else all)", .list = true},
    [HARDWARE] = {"--hardware", "NAME,...",
                  "the candidate machines, or all (default: the scenario's)", .list = true},
    [PRICE] = {"--price", "NAME=N,...",
               "dollars an hour of a GPU of these machines, such as a40=0.44; for "
               "cost_per_million_tokens",
               .list = true},
    [ALLOW] = {"--allow", "WHAT,...",
               "also admit these systems: lossy (--target 'mass_recall>=90%' bounds the "
               "loss), paper (those that exist on paper only)",
               .list = true},
    [PARETO] = {"--pareto", NULL,
                "list all budgets and batches on the Pareto front of throughput, step time, HBM "
                "and attention mass, instead of one value; with a workload all rates (or clients) "
                "on that of throughput, p99 of TTFT, and TPOT; --target is then optional"},
    [BEST] = {"--best", "KEY",
              "find the value with the best figure, such as decode_tokens_per_s: most of "
              "a rate, least of a time or a cost; over the axis --over (default: "
              "batch); --target is then optional"},
    [OVER] = {"--over", "AXIS[,AXIS]",
              "the axis of --best; the axes of --pareto, in place of these", .list = true},
    [OUTPUT] = {"--output", "FILE",
                "write the winner's scenario to this file (default: print it below the table)",
                .letter = 'o'},
    [DEPLOY] = {"--deploy", "DIR",
                "write files that start the best candidate's servers, and the benchmark "
                "that checks the prediction, into this folder"},
    [SET] = {SCENARIO_SET_OPTION},
    [FROM] = {SCENARIO_FROM_OPTION},
    [DB] = {"--db", "FILE", "store the runs in this SQLite file; runs already in it are reused"},
    [JOBS] = {JOBS_OPTION},
    [NO_CACHE] = {NO_CACHE_OPTION},
    [COLUMNS] = {COLUMNS_OPTION},
    [WIDE] = {WIDE_OPTION},
    [WHY] = {WHY_OPTION},
    [JSON] = {"--json", NULL,
              "print one JSON object per candidate, or per run of the Pareto front, each on "
              "its own line, and nothing else"},
    {.name = NULL},
};

static bool plan_command_print_answer(const struct arguments *arguments,
                                      const struct planning *planning,
                                      const struct table_view *view, struct error *why)
{
    bool met = planning->winner != PLANNING_NONE, json = arguments_given(arguments, JSON);
    const char *path = arguments_text(arguments, OUTPUT);
    const char *folder = arguments_text(arguments, DEPLOY);
    struct frame *rows = json ? plan_frame(planning, NULL, why) : NULL;
    bool good = (json ? rows != NULL && frame_print_json(rows, stdout, why)
                      : plan_report(planning, view, stdout, why)) &&
                (!met || plan_winner_print(planning, path, folder, json, why)) &&
                output_flush(stdout, "standard output", why);
    frame_destroy(rows);
    return good && (met || error_unmet(why, planning->options.targets.count > 0
                                                ? "no candidate meets all targets"
                                                : "no candidate has the figure that is compared"));
}

static bool plan(const struct arguments *arguments, const struct scenario *scenario,
                 const struct planning_options *with, const struct table_view *view,
                 struct error *why)
{
    struct planning planning;
    bool good = planning_run(scenario, with, &planning, why);
    progress_clear();
    good = good && (with->study.store == NULL || plan_store(&planning, with->study.store, why)) &&
           plan_command_print_answer(arguments, &planning, view, why);
    planning_release(&planning);
    return good;
}

static void plan_command_print_axes(FILE *out)
{
    fputs("An axis is written as for 'whatif --over': budget, batch, context, link,\n"
          "tensor_parallel, any other key of the scenario, a mechanism, or a figure of the\n"
          "machine. KEY=FROM:TO or KEY=[A, B, C] sets its values.\n"
          "\n"
          "exit status:\n"
          "  0                a candidate meets the targets\n"
          "  1                no candidate meets them, and the answer says how near each comes\n"
          "                   and what limits it; or the plan failed or was interrupted\n"
          "  2                invalid request\n",
          out);
    uint32_t count;
    const struct frame_column *columns = plan_columns(&count);
    frame_columns_print("\ncolumns of the table, for --columns; each target has one by its key:",
                        columns, count, out);
    columns = front_columns(&count);
    frame_columns_print("\ncolumns of --pareto:", columns, count, out);
}

static bool read_allowed(const char *text, struct candidate_options *out, struct error *why)
{
    static const char *const names[] = {"lossy", "paper", NULL};
    bool *const allowed[] = {&out->allow_lossy, &out->allow_paper};
    const char *item;
    size_t length;
    while (text_item(&text, &item, &length)) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)length, item);
        int kind = name_find(name, NAMES(names), "kind of system", "--allow", 0, why);
        if (kind < 0) {
            return false;
        }
        *allowed[kind] = true;
    }
    return true;
}

/* A Pareto front takes no option of a search. One search has one goal, and maybe targets. */
static bool read_targets(const struct arguments *arguments, struct targets *out, struct error *why)
{
    static const int others[] = {MINIMISE, MAXIMISE, BEST, OUTPUT, DEPLOY};
    const char *text = arguments_text(arguments, TARGET);
    bool pareto = arguments_given(arguments, PARETO), best = arguments_given(arguments, BEST);
    for (size_t i = 0; pareto && i < sizeof others / sizeof others[0]; i++) {
        if (arguments_given(arguments, others[i])) {
            return error_usage(why, NULL, 0,
                               "'--pareto' lists a whole Pareto front, so '%s' does not apply",
                               options[others[i]].name);
        }
    }
    if (!pareto && !best && arguments_given(arguments, OVER)) {
        error_usage(why, NULL, 0,
                    "'--over' states the axis of '--best', or the axes of '--pareto'");
        return error_expect(why,
                            "--best KEY or --pareto as well; or --minimise or --maximise AXIS");
    }
    if (text == NULL && !pareto && !best) {
        error_usage(why, NULL, 0, "'plan' needs --target");
        return error_expect(why, "--target KEY<=N,..., --best KEY, or --pareto");
    }
    return text == NULL || targets_parse(text, out, why);
}

static bool plan_command_read_options(const struct arguments *arguments,
                                      struct planning_options *out, struct error *why)
{
    const char *least = arguments_text(arguments, MINIMISE);
    const char *largest = arguments_text(arguments, MAXIMISE);
    const char *best = arguments_text(arguments, BEST);
    out->maximise = largest != NULL;
    out->axis = best != NULL ? arguments_text(arguments, OVER) : largest != NULL ? largest : least;
    out->candidates.systems = arguments_text(arguments, SYSTEM);
    out->candidates.machines = arguments_text(arguments, HARDWARE);
    out->candidates.prices = arguments_text(arguments, PRICE);
    if (least != NULL && largest != NULL) {
        error_usage(why, NULL, 0, "use either --minimise or --maximise");
        return error_expect(why, "one axis; a bound on the other is a target");
    }
    if (best != NULL && (least != NULL || largest != NULL)) {
        error_usage(why, NULL, 0, "use either --best or %s",
                    least != NULL ? "--minimise" : "--maximise");
        return error_expect(why, "one goal; a bound on the other is a target");
    }
    return (best == NULL || (out->best = best_read(best, "--best", why)) != NULL) &&
           read_targets(arguments, &out->targets, why) &&
           read_allowed(arguments_text(arguments, ALLOW), &out->candidates, why);
}

static bool plan_command_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct planning_options with = {.maximise = false};
    struct table_view view;
    bool pareto = arguments_given(arguments, PARETO);
    uint32_t count;
    const struct frame_column *columns = (pareto ? front_columns : plan_columns)(&count);
    bool good = plan_command_read_options(arguments, &with, why) &&
                deployment_check(arguments_text(arguments, OUTPUT),
                                 arguments_text(arguments, DEPLOY), why) &&
                question_read(arguments, &question, why) &&
                question_begin(arguments, &question, false, why);
    with.study = question_study(&question);
    good = good && plan_question_read(&question.scenario, pareto, &with, why) &&
           view_read(arguments, columns, count, &view, why) &&
           (pareto ? front_print(&question.scenario, arguments_text(arguments, OVER), &with, &view,
                                 arguments_given(arguments, JSON), why)
                   : plan(arguments, &question.scenario, &with, &view, why));
    question_end(&question);
    return good;
}

const struct command command_plan = {
    .name = "plan",
    .operands = "[FILE...]",
    .summary = "find the smallest or largest value, such as a budget or a rate, that meets targets",
    .example = "spillway plan --target 'tpot_ms<=70,decode_tokens_per_s>=15' --allow lossy \\\n"
               "    --system vllm,retroinfer --set model=llama-3-8b --set hardware=a40 \\\n"
               "    --set context=128K --set trace=smollm2-135m",
    .options = options,
    .more = plan_command_print_axes,
    .run = plan_command_run,
};
