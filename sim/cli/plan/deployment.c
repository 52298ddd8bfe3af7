#include "cli/plan/deployment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/frame/output.h"
#include "cli/plan/benchmark_list.h"
#include "core/quote.h"
#include "core/text.h"
#include "model/sharding.h"
#include "predict/command/server_program.h"
#include "predict/server/serving_stream.h"
#include "study/advise/advice.h"
#include "study/plan/start_line.h"

static bool make_folder(const char *path, struct error *why)
{
    if (mkdir(path, 0777) == 0) {
        return true;
    }
    error_set(why, path, 0, "cannot be made: %s", strerror(errno));
    return error_expect(why, "a folder that does not exist");
}

bool deployment_check(const char *file, const char *folder, struct error *why)
{
    return (file == NULL || output_check(file, why)) &&
           (folder == NULL || (make_folder(folder, why) && rmdir(folder) == 0));
}

void deployment_servers(const struct scenario *scenario, uint32_t servers, const char *command,
                        char text[SERVERS_WORDS])
{
    struct error unseen;
    int by = (int)scenario_stated(&scenario->values, "routing", ROUTE_ROUND_ROBIN);
    bool asks = !scenario_states(scenario, "routing") && !advice_is_unshared(scenario);
    const struct server_program *program = server_program_of(command, &unseen);
    text[0] = '\0';
    if (servers > 1) {
        text_append(text, SERVERS_WORDS, "%u of these servers, each on its own GPUs", servers);
    }
    if (servers > 1 && scenario_serves(scenario)) {
        text_append(text, SERVERS_WORDS, ", behind a router: %s (%s)", routing_names[by],
                    routings[by].origin);
        if (asks) {
            text_append(text, SERVERS_WORDS,
                        "; where prompts begin alike, one that knows them may need fewer servers: "
                        "--set routing=prefix-load");
        } else if (by != ROUTE_ROUND_ROBIN && routings[by].policy != NULL && program != NULL) {
            double balance = scenario_stated(&scenario->values, "balance_abs_threshold", NAN);
            text_append(text, SERVERS_WORDS, ", %s --policy %s", program->router,
                        routings[by].policy);
            if (!isnan(balance)) {
                text_append(text, SERVERS_WORDS, " --balance-abs-threshold %.0f", balance);
            }
            text_append(text, SERVERS_WORDS, " --worker-urls and their URLs");
        }
    }
}

enum { PATH = 4096, TEXT = 512, LINE = 2 * SERVER_COMMAND };
#define GIB (UINT64_C(1) << 30)

/* What a template names. */
#define TEMPLATE_VALUES(V)                                                                         \
    V(MODEL), V(MACHINE), V(SYSTEM), V(ENGINE), V(IMAGE), V(VERSION), V(COMMAND), V(LACKS),        \
        V(GPUS), V(SERVERS), V(PREDICTION), V(PROMPT), V(PROMPTS), V(OUTPUT), V(SENT), V(CLIENT),  \
        V(LIST), V(LISTED), V(REQUESTS), V(HASH), V(SECONDS), V(TIMED), V(CONCURRENCY), V(UNSENT), \
        V(WARM), V(WARMING), V(FIRST), V(REPLAYED), V(SINCE), V(COMPARED), V(PREDICTED), V(HOST),  \
        V(ROUTER), V(UNROUTED), V(ADDRESS), V(FRONT), V(ROUTER_COMMAND), V(ROUTER_IMAGE),          \
        V(BALANCER)
#define VALUE_ID(name) name
#define VALUE_NAME(name) #name
enum { TEMPLATE_VALUES(VALUE_ID), VALUES };
static const char *const value_names[VALUES] = {TEMPLATE_VALUES(VALUE_NAME)};

/* ---- templates ---- */

/* What text is in a file: alone, within double quotes, in a comment. */
static const struct template_language {
    const char *suffix;
    enum quote plain, quoted, comment;
} languages[] = {
    {".sh", QUOTE_SHELL, QUOTE_SHELL_DOUBLE, QUOTE_LINE},
    {".yaml", QUOTE_MANIFEST, QUOTE_MANIFEST_DOUBLE, QUOTE_LINE},
    {".md", QUOTE_MARKDOWN, QUOTE_MARKDOWN, QUOTE_MARKDOWN},
};

static const struct template_language *language_of(const char *file)
{
    const struct template_language *row = languages;
    while (strcmp(strrchr(file, '.'), row->suffix) != 0) {
        row++;
    }
    return row;
}

/* The place in the language at which a line of a template has got to `at`. */
static enum quote quote_at(const struct template_language *language, const char *line,
                           const char *at)
{
    bool quoted = false;
    for (const char *c = line; c < at; c++) {
        quoted ^= *c == '"';
        if (*c == '#' && !quoted && (c == line || c[-1] == ' ')) {
            return language->comment;
        }
    }
    return quoted ? language->quoted : language->plain;
}

/* The next {{NAME}} at `*at` or after it, stepped over: where it opens, and its value's number.
 * Templates are shipped, so that each name is known. */
static const char *next_placeholder(const char **at, int *value)
{
    const char *open = strstr(*at, "{{"), *name = open != NULL ? open + 2 : NULL;
    size_t length = open != NULL ? strcspn(name, "}") : 0;
    if (open == NULL) {
        return NULL;
    }
    for (*value = 0; *value < VALUES - 1 && (strlen(value_names[*value]) != length ||
                                             strncmp(value_names[*value], name, length) != 0);) {
        (*value)++;
    }
    *at = name + length + 2;
    return open;
}

/* Write a line of a template, unless one of its values is "". Values are text in the file's
 * language; a command is text to every language but a shell's. */
static void write_template_line(const struct template_language *language, const char *line,
                                char (*values)[LINE], FILE *out)
{
    int value;
    const char *open, *at = line, *from;
    while (next_placeholder(&at, &value) != NULL) {
        if (values[value][0] == '\0') {
            return;
        }
    }
    for (at = line; from = at, (open = next_placeholder(&at, &value)) != NULL;) {
        enum quote quote = quote_at(language, line, open);
        fwrite(from, 1, (size_t)(open - from), out);
        if (value == COMMAND && quote == QUOTE_SHELL) {
            fputs(values[value], out);
        } else {
            quote_write(quote, values[value], out);
        }
    }
    fputs(from, out);
}

/* With the line that begins a document of a manifest, all of it is left out. */
static bool fill_template(const char *name, const char *folder, const char *file,
                          char (*values)[LINE], struct error *why)
{
    char from[PATH], path[PATH], line[LINE];
    struct output output;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!find_path("scenarios/deploy", name, "in", from, sizeof from, why)) {
        return false;
    }
    FILE *in = fopen(from, "r");
    if (in == NULL) {
        return error_set(why, from, 0, "cannot be opened: %s", strerror(errno));
    }
    bool good = output_open(path, &output, why), written = true;
    while (good && fgets(line, sizeof line, in) != NULL) {
        if (strncmp(line, "---", 3) == 0) { /* without what decides whether it is written */
            const char *at = line;
            int value;
            written = next_placeholder(&at, &value) == NULL || values[value][0] != '\0';
            strcpy(line, "---\n");
        }
        if (written) {
            write_template_line(language_of(file), line, values, output.file);
        }
    }
    fclose(in);
    if (good && strstr(file, ".sh") != NULL) {
        fchmod(fileno(output.file), 0755); /* without it: sh FILE */
    }
    return good && output_commit(&output, why);
}

/* ---- values ---- */

static bool deployment_command(const struct deployment *deployment, char (*values)[LINE],
                               struct error *why)
{
    struct server_command command;
    bool good = server_command(deployment->scenario, deployment->result, &command, why);
    snprintf(values[MODEL], LINE, "%s", command.model);
    snprintf(values[COMMAND], LINE, "%s", command.text);
    snprintf(values[LACKS], LINE, "%s", command.lacks);
    if (command.host > 0) {
        snprintf(values[HOST], LINE, "%" PRIu64, (command.host + GIB - 1) / GIB);
    }
    return good;
}

/* ", TTFT p95 510 ms" */
static void put_latency(const struct result *result, const struct column *column, char text[LINE])
{
    const char *title = column->title != NULL ? column->title : column->name;
    const char *unit = strstr(title, " ms");
    int length = (int)(unit != NULL ? (size_t)(unit - title) : strlen(title));
    char number[SHOWN_TEXT];
    if (column->unit == UNIT_MS && result_cell(result, column)->set) {
        range_single(result_number(result, column), number, sizeof number);
        text_append(text, LINE, ", %s%.*s %s ms", strstr(column->name, "_p") == NULL ? "mean " : "",
                    length, title, number);
    }
}

/* `of`: what was run. `runs`: servers of the run itself, of all those of the deployment. */
static void put_prediction(const struct deployment *deployment, const struct result *result,
                           const char *of, double servers, double runs, char text[LINE])
{
    const struct column *const times[] = {COLUMN(ttft_p99_ms), COLUMN(ttft_p50_ms),
                                          COLUMN(tpot_p99_ms), COLUMN(tpot_p50_ms)};
    enum { TIMES = sizeof times / sizeof *times };
    char number[SHOWN_TEXT];
    snprintf(text, LINE, "Predicted%s%s:", of, servers > 1 ? ", all servers together" : "");
    if (result_cell(result, COLUMN(decode_tokens_per_s))->set) { /* else nothing was timed */
        range_single(servers / runs * result_number(result, COLUMN(decode_tokens_per_s)), number,
                     sizeof number);
        text_append(text, LINE, " %s tokens a second", number);
    }
    for (size_t i = 0; i < TIMES; i++) {
        put_latency(result, times[i], text);
    }
    for (uint32_t i = 0; i < deployment->targets->count; i++) {
        const struct column *column = deployment->targets->all[i].column;
        size_t told = 0;
        while (told < TIMES && times[told] != column) {
            told++;
        }
        if (told == TIMES) {
            put_latency(result, column, text);
        }
    }
}

static void put_requests(const struct deployment *deployment, const struct point *point,
                         const struct benchmark_list *list, double runs, char (*values)[LINE])
{
    const struct requests *requests = point->requests;
    const struct workload *workload = &point->workload;
    if (!workload->timed ||
        (workload->clients > 0 && !requests->sessions)) { /* one after another */
        snprintf(values[CONCURRENCY], LINE, "%" PRIu64, workload->timed ? workload->clients : 1);
    } else {
        snprintf(values[SECONDS], LINE, "0.001");
        snprintf(values[TIMED], LINE, "--self-timed");
    }
    if (requests->sessions) {
        snprintf(values[UNSENT], LINE,
                 "a turn comes when it was predicted to come, and waits for no answer");
    } else if (workload->clients > 0 && serving_is_stream(point)) {
        snprintf(values[UNSENT], LINE, "all clients begin at once, which 99th percentiles show");
    }
    /* SGLang's router, and vLLM's, which began as it, take no token ids: sgl-project/sglang #35262. Until
     * vllm-project/vllm #45423 the client sent text instead. */
    snprintf(
        values[CLIENT], LINE, "%s",
        values[ROUTER_COMMAND][0] != '\0'
            ? "that of vLLM 0.23, which sends prompts as text, some 7 % longer than listed (raise the "
              "server's limit by as much): the router refuses token ids, which newer ones send"
            : "that of vLLM 0.25 or newer, which sends prompts as token ids");
    snprintf(values[SENT], LINE, "the requests of %s", BENCHMARK_LIST_FILE);
    snprintf(values[LIST], LINE, "%s", BENCHMARK_LIST_FILE);
    snprintf(values[REPLAYED], LINE, "%s", list->warm > 0 ? "measured.jsonl" : BENCHMARK_LIST_FILE);
    if (list->warm > 0) {
        snprintf(values[WARM], LINE, "%" PRIu64, list->warm);
        snprintf(values[FIRST], LINE, "%" PRIu64, list->warm + 1);
        snprintf(values[SINCE], LINE, "%s", BENCHMARK_LIST_SINCE);
        snprintf(values[WARMING], LINE, "%.0f", ceil((double)list->warm_ns / 60e9));
    }
    snprintf(values[REQUESTS], LINE, "%" PRIu64, list->count);
    snprintf(values[HASH], LINE, "%u", list->hash_tokens);
    put_prediction(deployment, &list->result, " of these requests", runs, runs, values[LISTED]);
    snprintf(values[PROMPTS], LINE, "These are random tokens, which %s.",
             requests->chunk_tokens > 0 ? "begin alike as those of the workload do"
                                        : "share no beginnings");
    snprintf(values[COMPARED], LINE, "What was predicted beside what was measured:");
    snprintf(values[PREDICTED], LINE, "predicted.db");
}

/* A batch that decodes: as many sequences at a time, each at the context in the middle. */
static void put_batch(const struct point *point, const struct deployment *deployment,
                      char (*values)[LINE])
{
    enum { TOKENS = 256 };
    uint64_t context = point->setup.context, output = context > TOKENS ? TOKENS : context / 2;
    double batch = result_number(deployment->result, COLUMN(batch)) * deployment->servers;
    snprintf(values[PROMPT], LINE, "%" PRIu64, context - output);
    snprintf(values[OUTPUT], LINE, "%" PRIu64, output);
    snprintf(values[SENT], LINE, "what was predicted");
    snprintf(values[CLIENT], LINE, "vLLM's, of any version");
    memcpy(values[LISTED], values[PREDICTION], LINE);
    snprintf(values[PROMPTS], LINE, "These are random tokens, which share no beginnings.");
    snprintf(values[REQUESTS], LINE, "%.0f", 4 * batch);
    snprintf(values[CONCURRENCY], LINE, "%.0f", batch);
    snprintf(values[COMPARED], LINE,
             "The median of TPOT is what was predicted; prompts that arrive in between lengthen "
             "its mean.");
}

/* A Service takes servers in turn. Another router stands in front of them, if the engine's or nginx knows the
 * policy. */
static void put_router(const struct workload *workload, char (*values)[LINE])
{
    struct error unseen;
    const struct server_program *program = server_program_of(values[COMMAND], &unseen);
    const char *policy = routings[workload->routing].policy;
    bool other = workload->routing != ROUTE_ROUND_ROBIN && values[ROUTER][0] != '\0';
    bool balances = other && workload->routing == ROUTE_LEAST_REQUESTS;
    bool starts = balances || (other && policy != NULL && program != NULL);
    snprintf(values[ADDRESS], LINE, "one address");
    if (balances) {
        snprintf(values[BALANCER], LINE, "least_conn");
        text_append(values[ADDRESS], LINE, ", with nginx (%s)", values[BALANCER]);
    } else if (starts) {
        snprintf(values[ROUTER_COMMAND], LINE, "%s --policy %s", program->router, policy);
        snprintf(values[ROUTER_IMAGE], LINE, "%s", program->router_image);
        text_append(values[ADDRESS], LINE, ", with their router (%s)", values[ROUTER_COMMAND]);
    }
    if (starts && workload->routing == ROUTE_PREFIX_LOAD) {
        text_append(values[ROUTER_COMMAND], LINE,
                    " --cache-threshold %g --balance-abs-threshold %" PRIu64
                    " --balance-rel-threshold %g",
                    workload->cache_threshold, workload->balance_abs, workload->balance_rel);
    }
    snprintf(values[FRONT], LINE, "%s%s", program != NULL ? program->file : "",
             starts ? "-router" : "");
    if (other && !starts) {
        text_append(values[ROUTER], LINE, ". The Service of kubernetes.yaml is no such router");
    }
    snprintf(values[UNROUTED], LINE, "%s", starts ? "" : values[ROUTER]);
}

static void deployment_put_values(const struct deployment *deployment, const struct point *point,
                                  const struct benchmark_list *list, char (*values)[LINE])
{
    snprintf(values[MACHINE], LINE, "%s", point->setup.profile.name);
    snprintf(values[SYSTEM], LINE, "%s", point->setup.system.name);
    snprintf(values[VERSION], LINE, "%s",
             point->setup.system.engine[0] != '\0' ? point->setup.system.engine
                                                   : point->setup.system.available);
    snprintf(values[GPUS], LINE, "%u", model_gpus(&point->setup.model));
    snprintf(values[SERVERS], LINE, "%u", deployment->servers);
    double runs = point_serves(point) ? (double)point_servers(point) : 1;
    put_prediction(deployment, deployment->result, "", deployment->servers, runs,
                   values[PREDICTION]);
    deployment_servers(deployment->scenario, deployment->servers, values[COMMAND], values[ROUTER]);
    put_router(&point->workload, values);
    if (point_serves(point)) {
        put_requests(deployment, point, list, runs, values);
    } else {
        put_batch(point, deployment, values);
    }
}

/* A machine without overrides is its name; what has parts is JSON, which is YAML, too. */
static bool print_yaml(const struct node *root, FILE *out, struct error *why)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct node *node = root->children[i];
        const struct node *extends = node->count == 1 ? node_get(node, "extends") : NULL;
        node = extends != NULL ? extends : node;
        char *text = node->kind == NODE_SCALAR ? NULL : node_canonical(node, why);
        quote_write(QUOTE_YAML, root->children[i]->key, out);
        fputs(": ", out);
        if (node->kind == NODE_SCALAR) {
            quote_write(QUOTE_YAML, node->text, out);
        } else if (text != NULL) {
            fputs(text, out);
        } else {
            return false;
        }
        fputc('\n', out);
        free(text);
    }
    return true;
}

bool deployment_write_scenario(const struct scenario *scenario, const char *path, struct error *why)
{
    struct output output;
    struct node *all = scenario_keys_tree(&scenario->values, scenario->root, why);
    bool good = all != NULL;
    if (good && path == NULL) {
        fputs("\nits scenario:\n\n", stdout);
        good = print_yaml(all, stdout, why);
    } else if (good && (good = output_open(path, &output, why))) {
        good = print_yaml(all, output.file, why) && output_commit(&output, why);
    }
    node_destroy(all);
    return good;
}

static bool write_files(const struct deployment *deployment, const char *folder,
                        char (*values)[LINE], struct error *why)
{
    static const char *const files[] = {"README.md", "compose.yaml", "kubernetes.yaml",
                                        "benchmark.sh"};
    char name[TEXT], path[PATH];
    const struct server_program *advised = server_program_of(values[COMMAND], why);
    if (advised == NULL) {
        return error_set(why, NULL, 0, "no engine has a command that starts '%s'", values[SYSTEM]);
    }
    snprintf(values[ENGINE], LINE, "%s", advised->file);
    snprintf(values[IMAGE], LINE, "%s:latest", advised->image);
    snprintf(name, sizeof name, "%s.sh", advised->file);
    bool good = fill_template("serve.sh", folder, name, values, why);
    for (size_t i = 0; good && i < sizeof files / sizeof files[0]; i++) {
        good = fill_template(files[i], folder, files[i], values, why);
    }
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    return good && deployment_write_scenario(deployment->scenario, path, why);
}

bool deployment_write(const struct deployment *deployment, const char *path, struct error *why)
{
    char file[PATH];
    struct point point;
    struct benchmark_list list = {.count = 0};
    char(*values)[LINE] = array_zeroed(VALUES, sizeof *values, why);
    bool made = values != NULL && make_folder(path, why) &&
                scenario_point(deployment->scenario, 0, &point, why);
    bool good = made && deployment_command(deployment, values, why);
    snprintf(file, sizeof file, "%s/benchmark.yaml", path);
    if (good && point_serves(&point)) {
        good = benchmark_list_write(deployment->scenario, &point, deployment->result,
                                    deployment->context, path, &list, why) &&
               deployment_write_scenario(&list.scenario, file, why);
    }
    if (good) {
        deployment_put_values(deployment, &point, &list, values);
        good = write_files(deployment, path, values, why);
    }
    if (made) {
        point_release(&point);
    }
    benchmark_list_release(&list);
    free(values);
    return good;
}
