/* `spillway advise`: what to run for a model on a machine. */
#include "cli/advise/advise.h"

#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "cli/plan/deployment.h"
#include "cli/report/report_query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDE = 4200, MOST_GPUS = 1024 };

enum { CONTEXT, TPOT, TTFT, RATE, PRICE, WEIGHTS, GPUS, MASS, PAPER, WORKLOAD, SET, DB, HTML };
enum { DEPLOY = HTML + 1, NO_CACHE, JOBS, WIDE, WHY, JSON };

static const struct command_option advise_options[] = {
    [CONTEXT] = {"--context", "TOKENS",
                 "tokens of a sequence, such as 32K (default: 128K, or all that the "
                 "model was trained to if that is less)"},
    [TPOT] = {"--tpot", "TIME",
              "most time of a token, such as 50ms; with a workload its 99th percentile, "
              "or such as p50:50ms (p50, p90, p95, p99, mean)"},
    [TTFT] =
        {"--ttft", "TIME",
         "most time to the first token, such as 2s: the 99th percentile of requests, or such as "
         "p50:2s (p50, p90, p95, p99, mean); without a workload, of requests as long as the context, "
         "with answers of 256 tokens"},
    [RATE] = {"--rate", "R",
              "requests a second: how many GPUs of MACHINE, or of which of MACHINE,MACHINE..., "
              "hold them, as which servers, and what that costs"},
    [PRICE] = {"--price", "M=P,...",
               "dollars an hour of a GPU of each machine, such as h100-sxm=2.5,l40s=0.9",
               .list = true},
    [WEIGHTS] =
        {"--weights", "TYPE,...",
         "with --rate, types that the weights may have, such as bf16,fp8,int4: rounded to fp8, a "
         "shipped variant of the model, or a checkpoint that you name (default: the model's own)",
         .list = true},
    [GPUS] = {"--gpus", "N",
              "GPUs to use, as one server or several (default: 1, or as "
              "tensor_parallel says); with --rate the most of a machine"},
    [MASS] = {"--mass", "SHARE",
              "also admit lossy systems that attend to at least this share of the "
              "attention mass, such as 95%"},
    [PAPER] = {"--paper", NULL, "also compare systems that exist on paper only; they never win"},
    [WORKLOAD] = {"--workload", "FILE",
                  "serve these requests, and find the highest rate; a file, or such as "
                  "synthetic:prompt=8000,output=300"},
    [SET] = {SCENARIO_SET_OPTION},
    [DB] = {"--db", "FILE", "store the runs in this SQLite file; runs already in it are reused"},
    [HTML] = {"--html", "FILE",
              "also write a page of the answer and of all runs, as 'report' does"},
    [DEPLOY] = {"--deploy", "DIR",
                "also write files that start the advised servers, and the "
                "benchmark that checks the prediction, into this folder"},
    [NO_CACHE] = {NO_CACHE_OPTION},
    [JOBS] = {JOBS_OPTION},
    [WIDE] = {"--wide", NULL, "name the systems that were left out, and why"},
    [WHY] = {"--why", NULL,
             "also say what memory holds and is worth, what holds the answer up, how sure it "
             "is, and what the figures of the table rest on"},
    [JSON] = {"--json", NULL, "print the verdict and each row as a JSON object on its own line"},
    {.name = NULL},
};

/* ---- the scenario ---- */

/* Is a rate asked about, rather than what one machine holds? */
static bool is_fleet(const struct arguments *arguments)
{
    return arguments_given(arguments, RATE);
}

/* Several machines, and several types of weights, need a rate; other options have no part in that. */
static bool check_fleet(const struct arguments *arguments, const char *machines, struct error *why)
{
    static const char *const systems =
        "only systems that lose nothing and can be started are candidates";
    const struct {
        int option;
        bool of_rate;
        const char *expect;
    } parts[] = {{WEIGHTS, true, "--rate R as well; or --set dtype.weights=fp8"},
                 {MASS, false, systems},
                 {PAPER, false, systems},
                 {WIDE, false, "--json, which has all forms"}};
    if (strchr(machines, ',') != NULL && !is_fleet(arguments)) {
        error_usage(why, NULL, 0, "several machines are compared at a rate of requests");
        return error_expect(why, "--rate R, such as --rate 2; or one machine");
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (arguments_given(arguments, parts[i].option) &&
            parts[i].of_rate != is_fleet(arguments)) {
            error_usage(why, NULL, 0, "'%s' %s", advise_options[parts[i].option].name,
                        parts[i].of_rate ? "applies to '--rate' only"
                                         : "does not apply to '--rate'");
            return error_expect(why, "%s", parts[i].expect);
        }
    }
    return true;
}

/* "key=VALUE" for each operand and option, then what --set says, which has the last word. Of several
 * machines the first stands for all: the model's context is the same on each. */
static bool load_scenario(const struct arguments *arguments, struct scenario *out,
                          struct error *why)
{
    uint32_t operands, sets, count = 0;
    const char *const *names = arguments_operands(arguments, &operands);
    const char *const *typed = arguments_all(arguments, SET, &sets);
    const struct {
        const char *key, *value;
    } own[] = {{"model", names[0]},
               {"hardware", names[1]},
               {"context", arguments_text(arguments, CONTEXT)},
               {"workload", arguments_text(arguments, WORKLOAD)}};
    enum { MACHINE = 1, OWN = sizeof own / sizeof own[0] };
    char texts[OWN][OVERRIDE];
    const char **all = array_zeroed(OWN + sets, sizeof *all, why);
    for (size_t i = 0; all != NULL && i < OWN; i++) {
        if (own[i].value != NULL) {
            size_t length = strcspn(own[i].value, i == MACHINE ? "," : "");
            snprintf(texts[i], OVERRIDE, "%s=%.*s", own[i].key, (int)length, own[i].value);
            all[count++] = texts[i];
        }
    }
    for (uint32_t i = 0; all != NULL && i < sets; i++) {
        all[count++] = typed[i];
    }
    bool good = all != NULL && scenario_load(NULL, 0, all, count, out, why);
    free(all);
    return good;
}

/* Keys that the advice chooses must not be stated; nor those with which no rate can be found. */
static bool check_chosen(const struct arguments *arguments, const struct scenario *scenario,
                         struct error *why)
{
    static const char *const chosen = "'advise' chooses it";
    bool shares = arguments_given(arguments, GPUS) || is_fleet(arguments);
    bool untimed = scenario_stated(&scenario->values, "timed", 1) == 0;
    const struct {
        const char *key, *reason, *expect;
        bool wrong;
    } keys[] = {{"batch", chosen, "no batch; 'plan' and 'simulate' take one", true},
                {"rate", chosen, "--rate R, or no rate: then the highest is found", true},
                {"tensor_parallel", chosen,
                 "--gpus or --rate without tensor_parallel; all ways to share them are tried",
                 shares},
                {"replicas", chosen,
                 "--gpus or --rate without replicas; all ways to share them are tried", shares},
                {"clients", "'advise' answers for a rate",
                 "no clients; 'simulate' takes them, and 'plan --maximise clients=1:256' says how "
                 "many meet targets",
                 true},
                {"timed", "'advise' needs a clock",
                 "timed: yes; 'simulate --set timed=no' counts hits without a clock", untimed}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].wrong && scenario_states(scenario, keys[i].key)) {
            error_usage(why, "--set", 0, "'%s' is stated, but %s", keys[i].key, keys[i].reason);
            return error_expect(why, "%s", keys[i].expect);
        }
    }
    /* Requests as long as the model can have them are nobody's question. */
    if (is_fleet(arguments) && !scenario_serves(scenario) && !advice_states_context(scenario)) {
        error_usage(why, NULL, 0, "'--rate' needs requests");
        return error_expect(why,
                            "--workload synthetic:prompt=2000,output=300, or --context TOKENS");
    }
    return true;
}

/* ---- the limits ---- */

static bool add_target(const char *bound, const char *value, int option, struct targets *targets,
                       struct error *why)
{
    struct targets more;
    char text[TARGET_TEXT];
    if (snprintf(text, sizeof text, "%s%s", bound, value) >= (int)sizeof text) {
        error_usage(why, advise_options[option].name, 0, "'%.80s' is too long", value);
        return error_expect(why, "a number with fewer digits");
    }
    if (!targets_parse(text, &more, why)) {
        return false;
    }
    targets->all[targets->count++] = more.all[0];
    return true;
}

/* The time that a request's requests are judged by: "p50:2s" is the median, "2s" the 99th percentile. */
static bool read_percentile(const char **text, const char *option, const char **column,
                            struct error *why)
{
    static const struct {
        const char *name, *column;
    } times[] = {{"p99", "_p99_ms"}, {"p95", "_p95_ms"}, {"p90", "_p90_ms"},
                 {"p50", "_p50_ms"}, {"mean", "_ms"},    {NULL, NULL}};
    const char *colon = strchr(*text, ':');
    int found = colon != NULL ? name_index_of(*text, (size_t)(colon - *text), NAMES(times)) : 0;
    if (found < 0) {
        error_usage(why, option, 0, "unknown percentile in '%.80s'", *text);
        return error_expect(why,
                            "a time such as 2s, or with p50:, p90:, p95:, p99: or mean: before it");
    }
    *column = times[found].column;
    *text = colon != NULL ? colon + 1 : *text;
    return true;
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
    if (serves && !read_percentile(&text, advise_options[option].name, &column, why)) {
        return false;
    }
    if (!units_parse(text, UNIT_NS, NULL, 0, advise_options[option].name, &ns, why)) {
        return error_expect(why, "a time with its unit, such as %s%s",
                            option == TTFT ? "2s" : "50ms",
                            serves ? "" : "; with --workload also such as p50:50ms");
    }
    snprintf(bound, sizeof bound, "%s%s<=", option == TTFT ? "ttft" : "tpot", column);
    return add_target(bound, text, option, targets, why);
}

static bool advise_limits_add_mass(const struct arguments *arguments, struct advice_options *out,
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

void advise_answer_release(struct advise_answer *answer)
{
    frame_destroy(answer->verdict);
    if (answer->result != NULL) {
        scenario_release(&answer->scenario);
    }
}

/* What explains the answer is said with `reasons`. */
static void print_verdict(const struct frame *verdict, bool reasons, FILE *out)
{
    enum { INDENT = 9 };
    table_line("", verdict->cells[VERDICT_head].text, out);
    fputc('\n', out);
    for (uint32_t i = 0; i < verdict->column_count; i++) {
        const char *text = verdict->cells[i].text, *title = verdict->columns[i].title;
        bool explains = i == VERDICT_memory || i == VERDICT_sure;
        if (title != NULL && text != NULL && (reasons || !explains)) {
            fprintf(out, "%-*s", INDENT, title);
            if (i == VERDICT_start) {
                table_command(text, INDENT, out);
            } else {
                table_wrap(text, INDENT, out);
            }
            fputc('\n', out);
        }
    }
}

/* Of a database that is kept, the page has only what this program computed. */
static bool advise_write_page(const struct arguments *arguments, struct store *store,
                              const struct advise_answer *answer, struct error *why)
{
    const char *path = arguments_text(arguments, HTML);
    const char *database = arguments_text(arguments, DB);
    char note[STORE_NOTE], limits[TARGETS_TEXT] = "";
    if (path == NULL) {
        return true;
    }
    struct report_answer page = {
        .title = answer->verdict->cells[VERDICT_head].text,
        .store = database != NULL ? store_open_shown(database, note, why) : store,
        .verdict = answer->verdict,
        .run = answer->result != NULL ? result_cell(answer->result, COLUMN(run))->text : NULL,
        .targets = answer->targets->count > 0 ? targets_text(answer->targets, limits) : "",
    };
    bool good = page.store != NULL && report_answer(&page, path, why);
    if (page.store != store) {
        store_close(page.store);
    }
    return good;
}

/* More GPUs than a machine has. */
static void print_untold(const struct advise_answer *answer, FILE *out)
{
    char line[ADVISE_WORDS];
    struct point point;
    struct error unseen;
    if (!scenario_point(answer->ran, 0, &point, &unseen)) {
        return;
    }
    uint64_t there = point_machine_gpus(&point);
    if (answer->most_gpus > there) {
        snprintf(line, sizeof line,
                 "%u GPUs are several machines of %" PRIu64
                 ": a network between them is slower than what is timed here",
                 answer->most_gpus, there);
        table_line("note: ", line, out);
    }
    point_release(&point);
}

static bool print_rows(const struct arguments *arguments, const struct advise_answer *answer,
                       struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct runs_notes *sources = notes != NULL ? runs_notes_create(why) : NULL;
    struct frame *rows = sources != NULL ? answer->rows(answer->context, true, why) : NULL;
    bool good = rows != NULL;
    if (good) {
        answer->take_notes(answer->context, notes, sources);
        runs_notes_print_sources(sources, stdout);
        good = frame_print(rows, NULL, stdout, why);
    }
    if (good) {
        answer->print_rest(answer->context, arguments_given(arguments, WIDE), stdout);
        print_untold(answer, stdout);
        if (answer->result != NULL) {
            runs_notes_judge(notes, answer->result);
        }
        runs_notes_print_below(notes, arguments_given(arguments, WHY), stdout);
    }
    frame_destroy(rows);
    runs_notes_destroy(sources);
    runs_notes_destroy(notes);
    return good;
}

bool advise_write(const struct arguments *arguments, const struct study *study,
                  const struct advise_answer *answer, struct error *why)
{
    const char *folder = arguments_text(arguments, DEPLOY);
    bool reasons = arguments_given(arguments, WHY), good = frame_ok(answer->verdict, why);
    if (good && arguments_given(arguments, JSON)) {
        struct frame *rows = answer->rows(answer->context, false, why);
        good = rows != NULL && frame_print_json_member(answer->verdict, "verdict", stdout, why) &&
               frame_print_json(rows, stdout, why);
        frame_destroy(rows);
    } else if (good) {
        print_verdict(answer->verdict, reasons, stdout);
        good = !reasons || answer->result == NULL ||
               explain_print(&answer->scenario, answer->result, study->runs, why);
        fputc('\n', stdout);
        good = good && print_rows(arguments, answer, why);
    }
    good = good && output_flush(stdout, "standard output", why) &&
           advise_write_page(arguments, study->store, answer, why);
    if (good && folder != NULL && answer->result != NULL) {
        const struct deployment deployment = {&answer->scenario, answer->result, answer->targets,
                                              study->runs, answer->servers};
        good = deployment_write(&deployment, folder, why);
    }
    return good;
}

static bool advise_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct scenario *scenario = &question.scenario;
    struct advice_options with = {.gpus = 0};
    with.candidates.to_serve = true;
    with.candidates.allow_paper = arguments_given(arguments, PAPER);
    with.candidates.prices = arguments_text(arguments, PRICE);
    uint32_t operands;
    const char *const *names = arguments_operands(arguments, &operands);
    /* A page is written from a store, which is kept if --db says so. */
    bool in_memory = arguments_given(arguments, HTML) && !arguments_given(arguments, DB);
    bool good = check_fleet(arguments, names[1], why) && load_scenario(arguments, scenario, why);
    bool requests = good && (scenario_serves(scenario) || arguments_given(arguments, TTFT) ||
                             is_fleet(arguments));
    good =
        good &&
        deployment_check(arguments_text(arguments, HTML), arguments_text(arguments, DEPLOY), why) &&
        check_chosen(arguments, scenario, why) &&
        add_time(arguments, TPOT, requests, &with.targets, why) &&
        add_time(arguments, TTFT, requests, &with.targets, why) &&
        advise_limits_add_mass(arguments, &with, why) &&
        arguments_whole(arguments, GPUS, UNIT_COUNT, 1, MOST_GPUS, &with.gpus, why) &&
        question_jobs(arguments, &question.jobs, why) && advice_set_context(scenario, why) &&
        (!requests || advice_set_requests(scenario, why)) &&
        (in_memory ? (question.store = store_open(NULL, true, why)) != NULL
                   : database_open(arguments, &question.store, why)) &&
        question_begin(arguments, &question, false, why);
    with.study = question_study(&question);
    good = good &&
           (is_fleet(arguments) ? advise_at_rate : advise_machine)(arguments, scenario, &with, why);
    question_end(&question);
    return good;
}

static void advise_print_more(FILE *out)
{
    fputs("exit status:\n"
          "  0                there is an answer\n"
          "  1                nothing fits within the limits, and the verdict says what would; or\n"
          "                   the search failed or was interrupted\n"
          "  2                invalid request\n",
          out);
}

static const struct command_hint advise_hints[] = {
    {"from", "MODEL and MACHINE; your server as it is: 'spillway simulate --from FILE'"},
    {"gpu", "--gpus N, how many; MACHINE is the word after MODEL"},
    {"clients", "spillway plan --maximise clients=1:256; advise asks of a rate"},
    {NULL, NULL},
};

const struct command command_advise = {
    .name = "advise",
    .operands = "MODEL MACHINE[,MACHINE]",
    .summary = "say in words what to run for a model on a machine, at which batch, and whether "
               "offloading pays",
    .example = "spillway advise llama-3.1-8b h100-sxm --context 128K --tpot 50ms\n"
               "spillway advise llama-3.1-70b h100-sxm --gpus 8 --set dtype.weights=fp8\n"
               "spillway advise llama-3.1-70b h100-sxm,l40s --rate 2 --price h100-sxm=2.5,l40s=0.9 "
               "\\\n    --workload synthetic:prompt=8000,output=500 --ttft 2s --tpot 50ms",
    .hints = advise_hints,
    .options = advise_options,
    .more = advise_print_more,
    .run = advise_run,
};
