/* `spillway plan`: the least of something that meets targets. */
#include "base/name.h"
#include "base/text.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/database.h"
#include "cli/frame/jobs.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/frame/question.h"
#include "cli/frame/table.h"
#include "cli/plan/plan_report.h"
#include "cli/plan/scenario_yaml.h"
#include "cli/runs/explain.h"
#include "cli/runs/replications.h"
#include "cli/runs/scenario_options.h"
#include "study/plan/planning_draws.h"
#include "study/plan/server_command.h"

#include <inttypes.h>
#include <string.h>

enum {
    TARGET,
    MINIMISE,
    MAXIMISE,
    SYSTEM,
    HARDWARE,
    ALLOW,
    PARETO,
    REPLICATIONS,
    OUTPUT,
    SET,
    DB,
    JOBS,
    JSON
};

enum { POOL_NOTE = 256 };

static const struct command_option options[] = {
    [TARGET] = {.name = "--target",
                .argument = "KEY<=N,...",
                .summary =
                    "what has to hold: keys of 'simulate --json' with <= or >= and a number"},
    [MINIMISE] = {.name = "--minimise",
                  .argument = "KEY",
                  .summary = "the axis whose least value is wanted (default: budget)"},
    [MAXIMISE] = {.name = "--maximise",
                  .argument = "KEY",
                  .summary =
                      "the axis whose largest value is wanted (default with a workload: rate)"},
    [SYSTEM] = {.name = "--system",
                .argument = "NAME,...",
                .summary = "systems to choose among, or all (default: the scenario's, else all)"},
    [HARDWARE] = {.name = "--hardware",
                  .argument = "NAME,...",
                  .summary = "machines to choose among, or all (default: the scenario's)"},
    [ALLOW] = {.name = "--allow",
               .argument = "WHAT,...",
               .summary = "systems to admit besides: lossy, paper (that exist on paper only)"},
    [PARETO] = {.name = "--pareto",
                .summary = "instead of a least value: all budgets and batches that no other beats "
                           "in throughput, step, HBM and mass; targets may be left out"},
    [REPLICATIONS] = {.name = "--replications",
                      .argument = "N",
                      .summary = "run what is found on N machines, every figure drawn from its "
                                 "range, and with other arrivals: how many of them meet the "
                                 "targets"},
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .summary = "write the winner's scenario to this file (default: behind the table)"},
    [SET] = SCENARIO_SET_OPTION,
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "keep the runs in this SQLite file; those it has are not run again"},
    [JOBS] = JOBS_OPTION,
    [JSON] = {.name = "--json",
              .summary = "print a JSON object a candidate, or a run of the front, on a line of its "
                         "own, and nothing else"},
    {.name = NULL},
};

static void print_axes(FILE *out)
{
    fputs(
        "an axis is as for 'whatif --over': budget, batch, context, link, tensor_parallel, any "
        "key\nof the scenario, mechanism, or figure of the machine; KEY=FROM:TO or KEY=[A, B, C] "
        "say\nits values\n"
        "exit status: 0 where targets are met; 1 where none of the candidates meets them: then "
        "the\nanswer says how near each comes, and what stands in the way; 1 also, without an "
        "answer, of a\nplan that failed or was interrupted, as of every command; 2 of what cannot "
        "be meant\n",
        out);
}

static bool has_workload(const struct scenario *scenario)
{
    const struct node *workload = node_get(scenario->root, "workload");
    return workload != NULL && workload->kind != NODE_NULL;
}

/* Without a workload no request comes, and nothing that is said of requests can be met. */
static bool check_workload(const struct scenario *scenario, const struct targets *targets,
                           bool pareto, struct error *why)
{
    for (uint32_t i = 0; !has_workload(scenario) && i < targets->count; i++) {
        if (target_serves(&targets->all[i])) {
            error_usage(why, "--target", 0,
                        "'%s' is of requests, and without a 'workload' none come",
                        column_kinds[targets->all[i].column].name);
            return error_expect(why, pareto ? "a figure of a decode step, such as tpot_ms"
                                            : "--set workload=NAME, as conversations; or a figure "
                                              "of a decode step, such as tpot_ms");
        }
    }
    return true;
}

/* Without objectives no request is within them, unless the axis is one of them. */
static bool check_objectives(const struct scenario *scenario,
                             const struct planning_options *options, struct error *why)
{
    const struct node *slo = node_get(scenario->root, "slo");
    bool said = slo != NULL && (slo->kind != NODE_MAP || slo->count > 0) && slo->kind != NODE_NULL;
    bool walked = options->axis != NULL && strncmp(options->axis, "slo", 3) == 0;
    if (said || walked || !targets_judge(&options->targets, COLUMN_GOODPUT)) {
        return true;
    }
    error_usage(why, "--target", 0,
                "'goodput' is of requests within objectives, and 'slo' says none");
    return error_expect(why, "--set 'slo={ttft_ms: 1000, tpot_ms: 60}', or one of them");
}

/* A step's budget is asked for, unless said otherwise; of a server the largest rate. One to which
 * more requests come than it can serve holds no rate, however few they are. */
static bool choose_axis(const struct scenario *scenario, struct planning_options *out,
                        struct error *why)
{
    static const char holds[] = "queue_grows<=0";
    bool serves = has_workload(scenario);
    out->maximise = out->maximise || (out->axis == NULL && serves);
    out->axis = out->axis != NULL ? out->axis : serves ? "rate" : "budget";
    bool rate = strncmp(out->axis, "rate", 4) == 0 && strchr("=", out->axis[4]) != NULL;
    struct targets more;
    if (!rate || targets_judge(&out->targets, COLUMN_QUEUE_GROWS)) {
        return true;
    }
    if (out->targets.count == TARGETS_MOST) {
        return error_usage(why, "--target", 0, "with '%s' these are too many", holds);
    }
    bool good = targets_parse(holds, &more, why);
    out->targets.all[out->targets.count++] = more.all[0];
    return good;
}

static void show_progress(const char *system, const char *machine, uint32_t runs, void *context)
{
    (void)context;
    progress_show("%s on %s: %u runs", system, machine, runs);
}

/* ---- options ---- */

static bool read_allowed(const char *text, struct candidate_options *out, struct error *why)
{
    static const char *const names[] = {"lossy", "paper", NULL};
    const char *item;
    size_t length;
    while (text_item(&text, &item, &length)) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)length, item);
        out->allow_lossy = out->allow_lossy || strcmp(name, names[0]) == 0;
        out->allow_paper = out->allow_paper || strcmp(name, names[1]) == 0;
        if (strcmp(name, names[0]) != 0 && strcmp(name, names[1]) != 0) {
            error_usage(why, "--allow", 0, "there is no '%s' to allow", name);
            return name_expect(name, names, why);
        }
    }
    return true;
}

/* A front has options of a search as little as a search has none of targets. */
static bool read_targets(const struct arguments *arguments, struct targets *out, struct error *why)
{
    static const int others[] = {MINIMISE, MAXIMISE, REPLICATIONS, OUTPUT};
    const char *text = arguments_text(arguments, TARGET);
    bool pareto = arguments_given(arguments, PARETO);
    for (size_t i = 0; pareto && i < sizeof others / sizeof others[0]; i++) {
        if (arguments_given(arguments, others[i])) {
            return error_usage(why, NULL, 0,
                               "'--pareto' shows all that is worth choosing among: "
                               "there is no '%s'",
                               options[others[i]].name);
        }
    }
    if (text == NULL && !pareto) {
        error_usage(why, NULL, 0, "'plan' needs --target");
        return error_expect(why, "--target KEY<=N,..., or --pareto");
    }
    return text == NULL || targets_parse(text, out, why);
}

static bool read_options(const struct arguments *arguments, struct planning_options *out,
                         struct error *why)
{
    const char *least = arguments_text(arguments, MINIMISE);
    const char *largest = arguments_text(arguments, MAXIMISE);
    const char *draws = arguments_text(arguments, REPLICATIONS);
    out->maximise = largest != NULL;
    out->axis = largest != NULL ? largest : least;
    out->candidates.systems = arguments_text(arguments, SYSTEM);
    out->candidates.machines = arguments_text(arguments, HARDWARE);
    if (least != NULL && largest != NULL) {
        error_usage(why, NULL, 0, "'--minimise' and '--maximise' cannot both be had");
        return error_expect(why, "one of them, and the other as a target");
    }
    return read_targets(arguments, &out->targets, why) &&
           read_allowed(arguments_text(arguments, ALLOW), &out->candidates, why) &&
           (draws == NULL || replications_read(draws, &out->draws, why)) &&
           jobs_read(arguments, JOBS, &out->jobs, why);
}

/* ---- the answer ---- */

/* What bounds the step of the run that comes nearest, and what would help. */
static bool explain_nearest(const struct arguments *arguments, const struct planning *planning,
                            struct error *why)
{
    if (planning->nearest == PLANNING_NONE || arguments_given(arguments, JSON)) {
        return true;
    }
    const struct quest *quest = &planning->quests[planning->nearest];
    if (!quest->results[quest->nearest].cells[COLUMN_STEP].set) {
        return true;
    }
    struct scenario nearest = {
        .root = quest_scenario(quest, planning->maximise, quest->nearest, why),
        .points = 1,
        .sources = sources_hold(quest->candidate->scenario.sources)};
    bool good = nearest.root != NULL && explain_print(&nearest, planning->runs, why);
    scenario_release(&nearest);
    return good;
}

/* How its server is started, where it has one. */
static bool print_command(const struct scenario *point, const struct result *result,
                          struct error *why)
{
    char command[SERVER_COMMAND], note[POOL_NOTE];
    uint64_t pool;
    if (!server_command(point, result, command, &pool, why)) {
        return false;
    }
    if (command[0] != '\0') {
        printf("\nits server:\n\n%s\n", command);
    }
    if (pool > 0) {
        snprintf(note, sizeof note,
                 "the pool here is computed (%" PRIu64 " tokens), and a server's graphs and "
                 "workspace may leave less: what its start-up log says goes into --set "
                 "kv_pool_tokens=N, and plan again",
                 pool);
        fputc('\n', stdout);
        table_line("note: ", note, stdout);
    }
    return true;
}

static bool write_scenario(const struct node *scenario, const char *path, struct error *why)
{
    struct output output;
    if (path == NULL) {
        fputs("\nits scenario:\n\n", stdout);
        scenario_print_yaml(scenario, stdout);
        return true;
    }
    if (!output_open(path, &output, why)) {
        return false;
    }
    scenario_print_yaml(scenario, output.file);
    return output_commit(&output, why);
}

static bool print_winner(const struct arguments *arguments, const struct planning *planning,
                         struct error *why)
{
    const struct quest *quest = &planning->quests[planning->winner];
    const char *path = arguments_text(arguments, OUTPUT);
    if (path == NULL && arguments_given(arguments, JSON)) {
        return true;
    }
    struct scenario point = {.root = quest_scenario(quest, planning->maximise, quest->found, why),
                             .points = 1,
                             .sources = sources_hold(quest->candidate->scenario.sources)};
    bool good = point.root != NULL && write_scenario(point.root, path, why) &&
                (arguments_given(arguments, JSON) ||
                 print_command(&point, &quest->results[quest->found], why));
    scenario_release(&point);
    return good;
}

static bool print_answer(const struct arguments *arguments, const struct planning *planning,
                         const struct planning_options *with, struct error *why)
{
    bool met = planning->winner != PLANNING_NONE;
    bool good = (arguments_given(arguments, JSON) ? plan_print_json : plan_report)(
                    planning, &with->targets, stdout, why) &&
                (met ? print_winner(arguments, planning, why)
                     : explain_nearest(arguments, planning, why)) &&
                output_flush(stdout, "standard output", why);
    return good && (met || error_set(why, NULL, 0, "no candidate meets all targets"));
}

static bool plan(const struct arguments *arguments, const struct scenario *scenario,
                 const struct planning_options *with, struct error *why)
{
    struct planning planning;
    bool interrupted = false;
    bool good =
        planning_run(scenario, with, &planning, &interrupted, why) &&
        (with->draws == 0 || interrupted || planning_draw(&planning, with, &interrupted, why));
    good = progress_end(good, interrupted, "the search had ended", why);
    good = good &&
           (with->store == NULL || plan_store(&planning, &with->targets, with->store, why)) &&
           print_answer(arguments, &planning, with, why);
    planning_release(&planning);
    return good;
}

static bool print_tradeoff(const struct arguments *arguments, const struct tradeoff *tradeoff,
                           const struct targets *targets, struct error *why)
{
    bool good = arguments_given(arguments, JSON) ? tradeoff_print_json(tradeoff, stdout, why)
                                                 : tradeoff_report(tradeoff, targets, stdout, why);
    return good && output_flush(stdout, "standard output", why) &&
           (tradeoff->front_count > 0 ||
            error_set(why, NULL, 0, "no run fits in memory and meets all targets"));
}

static bool weigh(const struct arguments *arguments, const struct scenario *scenario,
                  const struct planning_options *with, struct error *why)
{
    const struct tradeoff_options options = {.targets = with->targets,
                                             .candidates = with->candidates,
                                             .store = with->store,
                                             .jobs = with->jobs,
                                             .runs = with->runs,
                                             .on_progress = show_progress};
    struct tradeoff tradeoff;
    bool interrupted = false;
    bool good = tradeoff_run(scenario, &options, &tradeoff, &interrupted, why);
    good = progress_end(good, interrupted, "all runs were done", why);
    good = good &&
           (with->store == NULL || tradeoff_store(&tradeoff, &with->targets, with->store, why)) &&
           print_tradeoff(arguments, &tradeoff, &with->targets, why);
    tradeoff_release(&tradeoff);
    return good;
}

static bool run(const struct arguments *arguments, struct error *why)
{
    struct run_context runs = {.threads = 0};
    struct planning_options with = {.runs = &runs, .on_progress = show_progress};
    struct scenario scenario;
    if (!read_options(arguments, &with, why) ||
        !scenario_from_arguments(arguments, SET, &scenario, why)) {
        return false;
    }
    bool good = database_open(arguments, DB, &with.store, why);
    bool pareto = arguments_given(arguments, PARETO);
    good = good && question_begin(&runs, with.jobs, with.draws > 0, why) && check_workload(&scenario, &with.targets, pareto, why) &&
           check_objectives(&scenario, &with, why) &&
           (pareto ? weigh(arguments, &scenario, &with, why)
                   : choose_axis(&scenario, &with, why) && plan(arguments, &scenario, &with, why));
    question_end(&runs);
    store_close(with.store);
    scenario_release(&scenario);
    return good;
}

const struct command command_plan = {
    .name = "plan",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "find the least budget, batch, link or number of GPUs that meets targets",
    .example = "spillway plan --target 'tpot_ms<=70,decode_tokens_per_s>=15' --allow lossy \\\n"
               "    --system vllm,retroinfer --set model=llama-3-8b --set hardware=a40 \\\n"
               "    --set context=128K --set trace=smollm2-135m",
    .options = options,
    .more = print_axes,
    .run = run,
};
