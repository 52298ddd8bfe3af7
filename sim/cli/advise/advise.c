/* `spillway advise`: what to run for a model on a machine. */
#include "base/array.h"
#include "base/named.h"
#include "base/node.h"
#include "base/units.h"
#include "cli/advise/advise_hire.h"
#include "cli/advise/advise_report.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/database.h"
#include "cli/frame/jobs.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/frame/question.h"
#include "answer/table.h"
#include "cli/plan/plan_report.h"
#include "cli/runs/scenario_options.h"
#include "study/advise/advice_search.h"
#include "study/plan/prices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTEXT,
    TPOT,
    TTFT,
    RATE,
    PRICE,
    WEIGHTS,
    GPUS,
    MASS,
    PAPER,
    WORKLOAD,
    SET,
    DB,
    NO_CACHE,
    JOBS,
    WIDE,
    JSON
};

enum { MOST_GPUS = 1024, OVERRIDE = 4200 };

static const struct command_option options[] = {
    [CONTEXT] = {.name = "--context",
                 .argument = "TOKENS",
                 .summary = "tokens of a sequence, such as 32K (default: 128K, or all that the "
                            "model was trained to if that is less)"},
    [TPOT] = {.name = "--tpot",
              .argument = "TIME",
              .summary = "most time of a token, such as 50ms; with a workload its 99th percentile, "
                         "or such as p50:50ms (p50, p90, p99, mean)"},
    [TTFT] = {.name = "--ttft",
              .argument = "TIME",
              .summary =
                  "most time to the first token, such as 2s: the 99th percentile of requests, or "
                  "such as p50:2s (p50, p90, p99, mean); "
                  "without a workload, of requests as long as the context, with answers of "
                  "256 tokens"},
    [RATE] = {.name = "--rate",
              .argument = "R",
              .summary =
                  "requests a second: how many GPUs of MACHINE, or of which of MACHINE,MACHINE..., "
                  "hold them, as which servers, and what that costs"},
    [PRICE] = {.name = "--price",
               .argument = "M=P,...",
               .summary =
                   "dollars an hour of a GPU of each machine, such as h100-sxm=2.5,l40s=0.9"},
    [WEIGHTS] = {.name = "--weights",
                 .argument = "TYPE,...",
                 .summary =
                     "with --rate, types that the weights may have, such as bf16,fp8,int4: a "
                     "shipped variant of the model, or rounded (default: the model's own)"},
    [GPUS] = {.name = "--gpus",
              .argument = "N",
              .summary = "GPUs to use, as one server or several (default: 1, or as "
                         "tensor_parallel says); with --rate the most of a machine"},
    [MASS] = {.name = "--mass",
              .argument = "SHARE",
              .summary = "also admit lossy systems that attend to at least this share of the "
                         "attention mass, such as 95%"},
    [PAPER] = {.name = "--paper",
               .summary = "also compare systems that exist on paper only; they never win"},
    [WORKLOAD] = {.name = "--workload",
                  .argument = "FILE",
                  .summary = "serve these requests, and find the highest rate; a file, or such as "
                             "synthetic:prompt=8000,output=300"},
    [SET] = SCENARIO_SET_OPTION,
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "store the runs in this SQLite file; runs already in it are reused"},
    [NO_CACHE] = NO_CACHE_OPTION,
    [JOBS] = JOBS_OPTION,
    [WIDE] = {.name = "--wide", .summary = "name the systems that were left out, and why"},
    [JSON] = {.name = "--json",
              .summary = "print the verdict and each row as a JSON object on its own line"},
    {.name = NULL},
};

/* ---- the scenario ---- */

/* Is a rate asked about, rather than what one machine holds? */
static bool is_hire(const struct arguments *arguments)
{
    return arguments_given(arguments, RATE);
}

/* Options that have no part in a question about a rate. */
static bool check_unused(const struct arguments *arguments, struct error *why)
{
    static const int unused[] = {MASS, PAPER, WIDE};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        if (arguments_given(arguments, unused[i])) {
            error_usage(why, NULL, 0, "'%s' does not apply to '--rate'", options[unused[i]].name);
            return error_expect(why, "only systems that lose nothing and can be started are hired");
        }
    }
    return true;
}

/* Several machines, and several types of weights, need a rate. */
static bool check_hire(const struct arguments *arguments, const char *machines, struct error *why)
{
    if (is_hire(arguments)) {
        return check_unused(arguments, why);
    }
    if (strchr(machines, ',') != NULL) {
        error_usage(why, NULL, 0, "several machines are compared at a rate of requests");
        return error_expect(why, "--rate R, such as --rate 2; or one machine");
    }
    if (arguments_given(arguments, WEIGHTS)) {
        error_usage(why, NULL, 0, "'--weights' applies to '--rate' only");
        return error_expect(why, "--rate R as well; or --set dtype.weights=fp8");
    }
    return true;
}

/* A machine where the model belongs, and the other way round? */
static bool check_order(const char *const *names, struct error *why)
{
    char canonical[NAMED_SIZE];
    if (!named_canonical(&named_machine, names[0], canonical) ||
        !named_canonical(&named_model, names[1], canonical)) {
        return true;
    }
    error_usage(why, NULL, 0, "'%s' is a machine and '%s' is a model: the model comes first",
                names[0], names[1]);
    return error_expect(why, "spillway advise %s %s", names[1], names[0]);
}

/* Does a --set state this key, which then has its value from there? */
static bool is_set(const struct arguments *arguments, const char *key)
{
    uint32_t count;
    size_t length = strlen(key);
    const char *const *typed = arguments_all(arguments, SET, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(typed[i], key, length) == 0 && typed[i][length] == '=') {
            return true;
        }
    }
    return false;
}

/* Messages about these values blame the word that was typed, not --set. An operand has no name, and
 * arguments_blame() takes away an option that nobody typed. */
static void name_places(const struct arguments *arguments, struct scenario *scenario)
{
    static const struct {
        const char *key, *file;
    } places[] = {{"model", "--model"},
                  {"hardware", "--hardware"},
                  {"context", "--context"},
                  {"workload", "--workload"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const struct node *node = node_find(scenario->root, places[i].key);
        const struct node *name = node != NULL ? node_get(node, "extends") : NULL;
        node = name != NULL ? name : node;
        if (node != NULL && strcmp(node->file, "--set") == 0 && !is_set(arguments, places[i].key)) {
            ((struct node *)node)->file = places[i].file; /* of our own tree */
        }
    }
}

/* "key=VALUE" for each operand and option, then what --set says, which has the last word. */
static bool load_scenario(const struct arguments *arguments, struct scenario *out,
                          struct error *why)
{
    uint32_t operands, sets, count = 0;
    const char *const *names = arguments_operands(arguments, &operands);
    const char *const *typed = arguments_all(arguments, SET, &sets);
    const struct {
        const char *key, *value;
    } own[] = {{"model", names[0]},
               {"hardware", is_hire(arguments) ? NULL : names[1]},
               {"context", arguments_text(arguments, CONTEXT)},
               {"workload", arguments_text(arguments, WORKLOAD)}};
    enum { OWN = sizeof own / sizeof own[0] };
    char(*texts)[OVERRIDE] = array_zeroed(OWN, sizeof *texts, why);
    const char **all = texts != NULL ? array_zeroed(OWN + sets, sizeof *all, why) : NULL;
    for (size_t i = 0; all != NULL && i < OWN; i++) {
        if (own[i].value != NULL) {
            snprintf(texts[count], OVERRIDE, "%s=%s", own[i].key, own[i].value);
            all[count] = texts[count];
            count++;
        }
    }
    for (uint32_t i = 0; all != NULL && i < sets; i++) {
        all[count++] = typed[i];
    }
    bool good = all != NULL && scenario_load(NULL, 0, all, count, out, why);
    if (good) {
        name_places(arguments, out);
    }
    free(all);
    free(texts);
    return good;
}

/* Keys that the advice chooses must not be stated. */
static bool check_chosen(const struct arguments *arguments, const struct scenario *scenario,
                         struct error *why)
{
    const struct {
        const char *key, *expect;
        bool chosen;
    } keys[] = {{"batch", "no batch; 'plan' and 'simulate' take one", true},
                {"rate", "--rate R, or no rate: then the highest is found", true},
                {"tensor_parallel",
                 "--gpus or --rate without tensor_parallel; all ways to share them are tried",
                 arguments_given(arguments, GPUS) || is_hire(arguments)},
                {"replicas", "--gpus or --rate without replicas; all ways to share them are tried",
                 arguments_given(arguments, GPUS) || is_hire(arguments)}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].chosen && node_said(scenario->root, keys[i].key) != NULL) {
            error_usage(why, "--set", 0, "'%s' is stated, but 'advise' chooses it", keys[i].key);
            return error_expect(why, "%s", keys[i].expect);
        }
    }
    return true;
}

/* ---- limits ---- */

/* Add "KEY<=VALUE" or "KEY>=VALUE". `option` stated the value. */
static bool add_target(const char *bound, const char *value, int option, struct targets *targets,
                       struct error *why)
{
    struct targets more;
    char text[TARGET_TEXT];
    if (snprintf(text, sizeof text, "%s%s", bound, value) >= (int)sizeof text) {
        error_usage(why, options[option].name, 0, "'%.80s' is too long", value);
        return error_expect(why, "a number with fewer digits");
    }
    if (!targets_parse(text, &more, why)) {
        return false;
    }
    targets->all[targets->count++] = more.all[0];
    return true;
}

/* The time that a request's requests are judged by: "p50:2s" is the median, "2s" the 99th
 * percentile. */
static const struct {
    const char *name, *column;
} percentiles[] = {{"p50", "_p50_ms"}, {"p90", "_p90_ms"}, {"p99", "_p99_ms"}, {"mean", "_ms"}};

/* Read what stands before a ':' and skip it. */
static bool read_percentile(const char **text, const char *option, const char **column,
                            struct error *why)
{
    const char *colon = strchr(*text, ':');
    *column = "_p99_ms";
    if (colon == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        size_t length = strlen(percentiles[i].name);
        if ((size_t)(colon - *text) == length && strncmp(*text, percentiles[i].name, length) == 0) {
            *column = percentiles[i].column;
            *text = colon + 1;
            return true;
        }
    }
    error_usage(why, option, 0, "unknown percentile in '%.80s'", *text);
    return error_expect(why, "a time such as 2s, or with p50:, p90:, p99: or mean: before it");
}

static bool add_time(const struct arguments *arguments, int option, bool serves,
                     struct targets *targets, struct error *why)
{
    const char *text = arguments_text(arguments, option), *column = "_ms";
    char bound[TARGET_TEXT];
    double ns;
    if (text == NULL) {
        return true;
    }
    if (serves && !read_percentile(&text, options[option].name, &column, why)) {
        return false;
    }
    if (!units_parse(text, UNIT_NS, NULL, 0, options[option].name, &ns, why)) {
        return error_expect(why, "a time with its unit, such as %s",
                            option == TTFT ? "2s" : "50ms");
    }
    snprintf(bound, sizeof bound, "%s%s<=", option == TTFT ? "ttft" : "tpot", column);
    return add_target(bound, text, option, targets, why);
}

static bool add_mass(const struct arguments *arguments, struct advice_options *out,
                     struct error *why)
{
    const char *text = arguments_text(arguments, MASS);
    double share;
    out->candidates.allow_lossy = text != NULL;
    if (text != NULL && !units_parse(text, UNIT_SHARE, NULL, 0, "--mass", &share, why)) {
        return false;
    }
    if (text != NULL && share > 1) {
        error_usage(why, NULL, 0, "'--mass' is '%.80s', which is more than 100 %%", text);
        return error_expect(why, "a share such as 95%%");
    }
    return text == NULL || add_target("mass_recall>=", text, MASS, &out->targets, why);
}

static bool read_gpus(const struct arguments *arguments, uint32_t *out, struct error *why)
{
    const char *text = arguments_text(arguments, GPUS);
    uint64_t gpus = 0;
    bool good = text == NULL ||
                units_parse_whole(text, UNIT_COUNT, MOST_GPUS, NULL, 0, "--gpus", &gpus, why);
    *out = (uint32_t)gpus;
    return good && (text == NULL || gpus > 0 ||
                    (error_usage(why, NULL, 0, "'--gpus' is 0"), error_expect(why, "1 or more")));
}

static bool read_options(const struct arguments *arguments, bool serves, struct advice_options *out,
                         struct error *why)
{
    return add_time(arguments, TPOT, serves, &out->targets, why) &&
           add_time(arguments, TTFT, serves, &out->targets, why) && add_mass(arguments, out, why) &&
           read_gpus(arguments, &out->gpus, why) && jobs_read(arguments, JOBS, &out->jobs, why);
}

/* ---- the answer ---- */

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
    verdict.wide = arguments_given(arguments, WIDE);
    return (arguments_given(arguments, JSON) ? advise_print_json : advise_report)(advice, &verdict,
                                                                                  stdout, why) &&
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

static bool advise(const struct arguments *arguments, const struct scenario *scenario,
                   const struct advice_options *with, struct error *why)
{
    struct advice advice;
    bool interrupted = false;
    bool good = advice_run(scenario, with, &advice, &interrupted, why);
    progress_clear();
    if (good && interrupted && !arguments_given(arguments, JSON)) {
        print_so_far(&advice);
    }
    good = progress_end(good, interrupted, "the search had ended", why);
    good = good && (with->store == NULL || store_all(&advice, with->store, why)) &&
           print_answer(arguments, &advice, with->runs, why);
    advice_release(&advice);
    return good;
}

/* ---- a hire ---- */

static void show_hire(double share, const char *what, void *context)
{
    char left[PROGRESS_LEFT];
    (void)context;
    progress_show("%.0f %%: %s%s", 100 * share, what, progress_left(share, left));
}

static bool read_rate(const struct arguments *arguments, double *out, struct error *why)
{
    const char *text = arguments_text(arguments, RATE);
    if (!units_parse(text, UNIT_COUNT, NULL, 0, "--rate", out, why)) {
        return error_expect(why, "requests a second, such as 0.3");
    }
    if (*out < 1e-6 || *out > 1e6) {
        error_usage(why, "--rate", 0, "'%.40s' is no rate that can be served", text);
        return error_expect(why, "0.000001 to 1000000 requests a second");
    }
    return true;
}

/* What was found before an interruption is shown, and the command fails all the same. */
static bool print_hire(const struct arguments *arguments, const struct hire *hire,
                       struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    bool good = (arguments_given(arguments, JSON) ? advise_hire_json(hire, model, stdout, why)
                                                  : advise_hire_print(hire, model, stdout, why)) &&
                output_flush(stdout, "standard output", why);
    return good && (hire->interrupted || hire->best != HIRE_NONE ||
                    error_set(why, NULL, 0, "no form holds the rate within the limits"));
}

static bool advise_hire(const struct arguments *arguments, const struct scenario *scenario,
                        const struct advice_options *with, struct error *why)
{
    uint32_t operands;
    struct hire_options options = {.targets = with->targets,
                                   .machines = arguments_operands(arguments, &operands)[1],
                                   .prices = arguments_text(arguments, PRICE),
                                   .weights = arguments_text(arguments, WEIGHTS),
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
    good = good && print_hire(arguments, &hire, why);
    good = progress_end(good, interrupted, "the search had ended", why);
    hire_release(&hire);
    return good;
}

/* ---- the command ---- */

/* The price of the one machine. */
static bool lay_price(const struct arguments *arguments, struct scenario *scenario,
                      struct error *why)
{
    char canonical[NAMED_SIZE], *machine = canonical;
    uint32_t operands;
    const char *typed = arguments_operands(arguments, &operands)[1];
    const char *prices = arguments_text(arguments, PRICE);
    if (is_hire(arguments) || prices == NULL) {
        return true;
    }
    if (!named_canonical(&named_machine, typed, canonical)) {
        snprintf(canonical, sizeof canonical, "%s", typed);
    }
    return prices_check(prices, &machine, 1, why) && prices_lay(prices, machine, scenario, why);
}

static bool run(const struct arguments *arguments, struct error *why)
{
    struct run_context runs = {.threads = 0};
    struct advice_options with = {
        .runs = &runs, .on_progress = show_progress, .on_decided = show_decided};
    struct scenario scenario;
    with.candidates.to_serve = true;
    with.candidates.allow_paper = arguments_given(arguments, PAPER);
    uint32_t operands;
    const char *const *names = arguments_operands(arguments, &operands);
    if (!check_order(names, why) || !check_hire(arguments, names[1], why) ||
        !load_scenario(arguments, &scenario, why)) {
        return false;
    }
    bool requests =
        scenario_serves(&scenario) || arguments_given(arguments, TTFT) || is_hire(arguments);
    bool good = check_chosen(arguments, &scenario, why) &&
                read_options(arguments, requests, &with, why) &&
                lay_price(arguments, &scenario, why) && advice_lay_context(&scenario, why) &&
                (!requests || advice_lay_requests(&scenario, why)) &&
                database_open(arguments, DB, &with.store, why) &&
                question_begin(&runs, &scenario, with.jobs, false, why) &&
                question_cache(&runs, arguments, NO_CACHE) &&
                (is_hire(arguments) ? advise_hire : advise)(arguments, &scenario, &with, why);
    question_end(&runs, &scenario);
    store_close(with.store);
    scenario_release(&scenario);
    return good;
}

static void print_more(FILE *out)
{
    fputs("exit status:\n"
          "  0                there is an answer\n"
          "  1                nothing fits within the limits, and the verdict says what would; or\n"
          "                   the search failed or was interrupted\n"
          "  2                invalid request\n",
          out);
}

const struct command command_advise = {
    .name = "advise",
    .operands = "MODEL MACHINE",
    .least_operands = 2,
    .most_operands = 2,
    .summary = "say in words what to run for a model on a machine, at which batch, and whether "
               "offloading pays",
    .example = "spillway advise llama-3.1-8b h100-sxm --context 128K --tpot 50ms\n"
               "spillway advise llama-3.1-70b h100-sxm --gpus 8 --set dtype.weights=fp8\n"
               "spillway advise llama-3.1-70b h100-sxm,l40s --rate 2 --price h100-sxm=2.5,l40s=0.9 "
               "\\\n    --workload synthetic:prompt=8000,output=500 --ttft 2s --tpot 50ms",
    .options = options,
    .more = print_more,
    .run = run,
};
