/* A signal handler has no argument, so the flag that it raises is a global of the program. */

#include "cli/frame/question.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/frame/help.h"
#include "cli/frame/message.h"
#include "core/array.h"
#include "core/disk_cache.h"
#include "core/node.h"
#include "core/text.h"
#include "core/units.h"
#include "core/version.h"
#include "policy/plugin.h"
#include "predict/command/server_text.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"
#include "store/store.h"

static const int signals[] = {SIGINT, SIGTERM};
#define MOST_CACHED ((uint64_t)1 << 30) /* bytes */
enum { SIGNALS = sizeof signals / sizeof signals[0], MOST_JOBS = 4096 };

static struct stop_flag interrupted;
static volatile sig_atomic_t interrupting; /* the signal that raised it */
static struct sigaction before[SIGNALS];

/* Only write() may be called here. */
static void question_interrupt(int signal)
{
#define STOPPING "stopping after what is being computed; once more ends it at once"
    const char *told =
        message_is_json() ? "{\"note\":\"" STOPPING "\"}\n" : "spillway: " STOPPING "\n";
    int interrupted_code = errno;
    interrupting = signal;
    atomic_store(&interrupted.raised, true);
    ssize_t unused = write(STDERR_FILENO, told, strlen(told));
    (void)unused;
    errno = interrupted_code;
}

int question_signal(void)
{
    return interrupting;
}

bool question_jobs(const struct arguments *arguments, uint32_t *jobs, struct error *why)
{
    const char *text = arguments_shared(arguments, "--jobs");
    uint64_t count = 0;
    bool good = text == NULL ||
                units_parse_whole(text, UNIT_COUNT, MOST_JOBS, NULL, 0, "--jobs", &count, why);
    *jobs = (uint32_t)count;
    return good && (text == NULL || count > 0 ||
                    (error_usage(why, NULL, 0, "'--jobs' is 0"), error_expect(why, "1 or more")));
}

bool question_read(const struct arguments *arguments, struct question *out, struct error *why)
{
    return question_jobs(arguments, &out->jobs, why) &&
           scenario_from_arguments(arguments, &out->scenario, why);
}

static void question_catch(void)
{
    struct sigaction action = {.sa_handler = question_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    atomic_store(&interrupted.raised, false);
    interrupting = 0;
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

bool question_begin(const struct arguments *arguments, struct question *question, bool replicated,
                    struct error *why)
{
    struct run_context *runs = &question->runs;
    char folder[PATH_MAX];
    if ((question->store == NULL && !database_open(arguments, &question->store, why)) ||
        !run_context_init(runs, sweep_users(question->jobs, replicated), &interrupted, why)) {
        return false;
    }
    runs->threads = question->jobs;
    sources_watch(question->scenario.sources, runs->stop);
    question_catch();
    if (arguments_shared(arguments, "--no-cache") == NULL &&
        disk_cache_folder(folder, sizeof folder)) {
        runs->cache = disk_cache_open(folder, MOST_CACHED);
    }
    return true;
}

struct study question_study(const struct question *question)
{
    return (struct study){.store = question->store,
                          .jobs = question->jobs,
                          .runs = &question->runs,
                          .on_progress = progress_study};
}

void question_end(struct question *question)
{
    if (question->runs.shared != NULL) {
        for (int i = 0; i < SIGNALS; i++) {
            sigaction(signals[i], &before[i], NULL);
        }
        sources_watch(question->scenario.sources, NULL);
        struct disk_cache *cache = question->runs.cache;
        run_context_release(&question->runs);
        disk_cache_close(cache);
    }
    store_close(question->store);
    scenario_release(&question->scenario);
}

bool database_open(const struct arguments *arguments, struct store **out, struct error *why)
{
    const char *path = arguments_shared(arguments, "--db");
    *out = path != NULL ? store_open(path, true, why) : NULL;
    if (*out != NULL) {
        store_watch(*out, &interrupted);
    }
    return path == NULL || *out != NULL;
}

/* Write the policy of a stored scenario as tables name it. A database loads no plug-in: it may come
 * from anyone. */
static bool database_policy_words(const char *value, char *text, size_t size)
{
    struct error unseen;
    struct node *node = node_parse(value, strlen(value), "", &unseen);
    const struct node *named =
        node != NULL && node->kind == NODE_MAP ? node_get(node, "name") : node;
    bool known = named != NULL && named->kind == NODE_SCALAR && !plugin_is_named(named->text) &&
                 policy_words(node, text, size);
    node_destroy(node);
    return known;
}

bool database_name_policies(struct store *store, struct error *why)
{
    return store_add_function(store, "policy_words", database_policy_words, why);
}

static void note_program(const struct store_program *program, char note[DATABASE_NOTE])
{
    note[0] = '\0';
    if (!program->own && program->name[0] != '\0') {
        text_append(note, DATABASE_NOTE,
                    "computed by another program, spillway %s; this one, %s, may compute other "
                    "figures",
                    program->name, spillway_program);
    }
    if (program->hidden > 0) {
        text_append(note, DATABASE_NOTE, "%s%" PRIu64 " result%s of other programs %s left out",
                    note[0] != '\0' ? "; " : "", program->hidden, text_plural(program->hidden),
                    program->hidden == 1 ? "is" : "are");
    }
}

struct store *database_show(const char *path, char note[DATABASE_NOTE], struct error *why)
{
    struct store_program program;
    struct store *store = store_open(path, false, why);
    if (store != NULL &&
        (!store_show_program(store, &program, why) || !database_name_policies(store, why))) {
        store_close(store);
        return NULL;
    }
    if (store != NULL) {
        note_program(&program, note);
    }
    return store;
}

void database_print_note(const char *note)
{
    if (note[0] != '\0') {
        fprintf(stderr, "note: %s\n", note);
    }
}

/* A server's keys become overrides, as if they were typed before the others. */

/* "model=..." */
typedef char override_text[sizeof((struct stated_key *)0)->value + 64];

/* Options that change no prediction share a line for each reason. */
static void print_unused(const char *file, const struct server_unused *unused)
{
    int count = unused->count < SERVER_UNUSED ? unused->count : SERVER_UNUSED;
    bool told[SERVER_UNUSED] = {false};
    for (int i = 0; i < count; i++) {
        char names[SERVER_UNUSED * (sizeof unused->all[0].name + 2)] = "";
        for (int j = i; j < count && !told[i]; j++) {
            if (unused->all[j].reason == unused->all[i].reason) {
                text_append(names, sizeof names, "%s%s", j > i ? ", " : "", unused->all[j].name);
                told[j] = j > i;
            }
        }
        if (!told[i]) {
            message_note("%s: %s: %s", file, unused->all[i].reason, names);
        }
    }
    if (unused->count > count) {
        message_note("%s: %d more options change nothing", file, unused->count - count);
    }
}

/* Add what a server's file says to the overrides. */
static bool lay_server(const char *file, override_text texts[STATED_MOST], const char **all,
                       uint32_t *count, struct stated_keys *keys, struct error *why)
{
    FILE *in = fopen(file, "r");
    if (in == NULL) {
        return error_set(why, file, 0, "cannot be opened: %s", strerror(errno));
    }
    bool ok = server_text_read(in, file, keys, why);
    fclose(in);
    if (!ok) {
        return false;
    }
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys->all[id];
        if (key->value[0] != '\0' && id != STATED_WEIGHTS_OUTSIDE) {
            snprintf(texts[id], sizeof texts[id], "%s=%s", key->key, key->value);
            char line[16] = "";
            if (key->line > 0) {
                snprintf(line, sizeof line, ":%d", key->line);
            }
            message_note("%s%s: %s (%s)", file, line, texts[id], key->said);
            all[(*count)++] = texts[id];
        }
    }
    print_unused(file, &keys->unused);
    return true;
}

/* A command that states no length serves the model's own. */
static bool lay_length(const char *file, const struct model *model, struct scenario *scenario,
                       struct error *why)
{
    if (model->trained_context == 0) {
        return true;
    }
    message_note("%s: request_tokens=%u (the model's own length)", file, model->trained_context);
    return scenario_values_set(&scenario->values, "request_tokens", model->trained_context, why);
}

/* Not all versions keep prefixes of models with states by default. */
static bool lay_prefixes(const char *file, const struct stated_key *version,
                         const struct model *model, struct scenario *scenario, struct error *why)
{
    struct server_engine engine;
    if (!server_engine_find(version->value, file, version->line, &engine, why)) {
        return false;
    }
    if (model->linear.key_heads == 0 || engine.caches_states) {
        return true;
    }
    message_note("%s: mechanisms.prefix=none (%s keeps none of models with states)", file,
                 version->value);
    return node_set(scenario->root, "mechanisms.prefix", "none", why);
}

/* Weights that lie on the host, of each GPU, are a share of the layers'. */
static bool lay_weights(const char *file, const struct stated_keys *keys, const struct model *model,
                        struct scenario *scenario, struct error *why)
{
    const struct stated_key *outside = &keys->all[STATED_WEIGHTS_OUTSIDE];
    const char *tensor = keys->all[STATED_TENSOR_PARALLEL].value;
    const char *stages = keys->all[STATED_PIPELINE_PARALLEL].value;
    double gpus = (tensor[0] != '\0' ? strtod(tensor, NULL) : 1) *
                  (stages[0] != '\0' ? strtod(stages, NULL) : 1);
    double bytes, layers = 0;
    char share[32];
    if (!units_parse(outside->value, UNIT_BYTES, file, outside->line, outside->said, &bytes, why)) {
        return false;
    }
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        layers += (double)model_layer_weight_bytes(model, layer);
    }
    snprintf(share, sizeof share, "%.4g%%", 100 * fmax(0, 1 - bytes * gpus / layers));
    message_note("%s:%d: mechanisms.weights=%s (%s)", file, outside->line, share, outside->said);
    return node_set(scenario->root, "mechanisms.weights", share, why);
}

/* The model of the scenario, with weights of the type that is stated if they count. */
static bool load_named(const struct scenario *scenario, const struct node *name, bool weights,
                       struct model *model, struct error *why)
{
    const struct node *type = weights ? node_find(scenario->root, "dtype.weights") : NULL;
    struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    enum dtype dtype;
    if (type != NULL && type->kind == NODE_SCALAR) {
        if (!dtype_find(type->text, type->file, type->line, &dtype, why)) {
            return false;
        }
        options.weights = (int)dtype;
    }
    return model_load(NULL, name->text, &options, name->file, name->line, model, why);
}

/* What a server's file leaves to the model that it names. */
static bool lay_command(const char *file, const struct stated_keys *keys, struct scenario *scenario,
                        struct error *why)
{
    const struct node *name = node_stated(scenario->root, "model");
    const struct stated_key *version = &keys->all[STATED_ENGINE];
    bool length = keys->all[STATED_MODEL].typed && scenario_serves(scenario) &&
                  !scenario_states(scenario, "request_tokens");
    bool prefixes = !keys->says_prefixes && version->value[0] != '\0' &&
                    node_find(scenario->root, "mechanisms.prefix") == NULL;
    bool weights = keys->all[STATED_WEIGHTS_OUTSIDE].value[0] != '\0';
    struct model model;
    if (name == NULL || name->kind != NODE_SCALAR || !(length || prefixes || weights)) {
        return true;
    }
    if (!load_named(scenario, name, weights, &model, why)) {
        return false;
    }
    bool good = (!prefixes || lay_prefixes(file, version, &model, scenario, why)) &&
                (!weights || lay_weights(file, keys, &model, scenario, why)) &&
                (!length || lay_length(file, &model, scenario, why));
    model_release(&model);
    return good;
}

bool scenario_from_arguments(const struct arguments *arguments, struct scenario *out,
                             struct error *why)
{
    override_text texts[STATED_MOST];
    const char *server = arguments_shared(arguments, "--from");
    uint32_t file_count, set_count, count = 0;
    const char *const *files = arguments_operands(arguments, &file_count);
    const char *const *sets =
        arguments_all(arguments, arguments_number(arguments, "--set"), &set_count);
    const char **all = array_zeroed(STATED_MOST + set_count, sizeof *all, why);
    struct stated_keys keys = {.unused.count = 0};
    bool ok = all != NULL && (server == NULL || lay_server(server, texts, all, &count, &keys, why));
    for (uint32_t i = 0; ok && i < set_count; i++) {
        all[count++] = sets[i];
    }
    ok = ok && scenario_load(files, file_count, all, count, out, why);
    free(all);
    if (ok && server != NULL && !lay_command(server, &keys, out, why)) {
        scenario_release(out);
        ok = false;
    }
    return ok;
}

/* ---- help ------------------------------------------------------------------------------- */

void scenario_print_keys(FILE *out)
{
    fputs("keys of a scenario (a YAML map):\n", out);
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        char text[512];
        snprintf(text, sizeof text, "%s; e.g. %s", key->summary, key->example);
        help_entry(key->name, 16, text, out);
    }
}
