/* A signal handler has no argument, so the flag that it raises is a global of the program. */

#include "cli/frame/question.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/frame/program.h"
#include "cli/frame/message.h"
#include "core/disk_cache.h"

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
    *jobs = 0;
    return arguments_whole(arguments, arguments_number(arguments, "--jobs"), UNIT_COUNT, 1,
                           MOST_JOBS, jobs, why);
}

/* What a file states for another value of a key: of users in place of arrivals, and of one router. */
static const struct {
    const char *said, *yields[5];
} replaced[] = {
    {"clients", {"rate", "arrivals", "burstiness", "warm_rate"}},
    {"rate", {"clients", "warm_clients"}},
    {"routing", {"cache_threshold", "balance_abs_threshold", "balance_rel_threshold"}},
};

/* Is the key typed: "clients=8", "sweep.clients=[1, 2]", or one of the axes "replicas=[1, 2],clients"? */
static bool is_typed(const char *text, const char *key)
{
    const char *first = strncmp(text, "sweep.", 6) == 0 ? text + 6 : text, *at = first;
    while ((at = strstr(at, key)) != NULL &&
           !((at == first || at[-1] == ',') && strchr("=,", at[strlen(key)]) != NULL)) {
        at++;
    }
    return at != NULL;
}

static void give_way(const char *typed, struct scenario *scenario)
{
    struct scenario_values *values = &scenario->values;
    bool balances = scenario_stated(values, "routing", ROUTE_ROUND_ROBIN) == ROUTE_PREFIX_LOAD;
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        const char *key = replaced[i].said;
        bool routes = strcmp(key, "routing") != 0 || (scenario_states(scenario, key) && !balances);
        bool said = routes && is_typed(typed, key) && !scenario_value(values, key)->empty;
        for (const char *const *yields = replaced[i].yields; said && *yields != NULL; yields++) {
            const struct scenario_value *value = scenario_value(values, *yields);
            if (value->stated && strcmp(value->file, "--set") != 0) {
                message_note("'%s' of %.200s gives way to '%s'", *yields, value->file, key);
                scenario_values_remove(values, *yields);
            }
        }
    }
}

void scenario_replace_keys(const struct arguments *arguments, struct scenario *scenario)
{
    static const char *const options[] = {"--set", "--over", "--minimise", "--maximise", NULL};
    for (const char *const *option = options; *option != NULL; option++) {
        uint32_t count;
        int number = arguments_number(arguments, *option);
        const char *const *texts = arguments_all(arguments, number, &count);
        for (uint32_t i = 0; i < count; i++) {
            give_way(texts[i], scenario);
        }
    }
}

bool question_read(const struct arguments *arguments, struct question *out, struct error *why)
{
    return question_jobs(arguments, &out->jobs, why) &&
           scenario_from_arguments(arguments, &out->scenario, why);
}

/* "h100" is taken for one of the machines whose names begin so: say which, and name the others. */
static void note_machine(const struct node *at)
{
    const struct node *name = node_get(at, "extends");
    char **names, others[NAMED_SIZE] = "";
    size_t count;
    name = name != NULL ? name : at;
    if (name == NULL || name->typed == NULL || name_same(name->typed, name->text) ||
        !find_names(named_machine.folder, named_machine.suffix, &names, &count, ERROR_UNSEEN)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(name->typed);
        if (strncasecmp(names[i], name->typed, length) == 0 && names[i][length] == '-' &&
            strcmp(names[i], name->text) != 0 && strlen(name->text) > length) {
            name_list_add(others, sizeof others, names[i]);
        }
        free(names[i]);
    }
    free(names);
    if (others[0] != '\0') {
        message_note("'%s' is taken for %s; others are %s", name->typed, name->text, others);
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
    const struct node *swept = node_get(question->scenario.sweep, "hardware");
    note_machine(node_stated(question->scenario.root, "hardware"));
    for (size_t i = 0; swept != NULL && i < swept->count; i++) {
        note_machine(swept->children[i]);
    }
    runs->threads = question->jobs;
    sources_watch(question->scenario.sources, runs->stop);
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
    const struct sources_pool *pool =
        question->scenario.sources != NULL ? sources_pool(question->scenario.sources) : NULL;
    if (pool != NULL && atomic_load(&pool->larger)) {
        message_note(
            "this machine has room for a larger KV pool than the file of --from states: if the "
            "server ran on another, give its command alone");
    }
    if (pool != NULL && atomic_load(&pool->computed)) {
        message_note(
            "the KV pool that the file of --from states is that of its own setting, and computed "
            "with another (--set kv_pool_tokens=N states it)");
    }
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

void database_print_note(const char *note)
{
    if (note[0] != '\0') {
        fprintf(stderr, "note: %s\n", note);
    }
}

bool view_read(const struct arguments *arguments, const struct frame_column *columns,
               uint32_t count, struct table_view *out, struct error *why)
{
    *out = (struct table_view){.wide = arguments_shared(arguments, "--wide") != NULL,
                               .columns = arguments_shared(arguments, "--columns"),
                               .why = arguments_shared(arguments, "--why") != NULL};
    if (out->wide && out->columns != NULL) {
        return error_usage(why, NULL, 0, "use either --columns or --wide");
    }
    if ((out->wide || out->columns != NULL || out->why) &&
        arguments_shared(arguments, "--json") != NULL) {
        error_usage(why, NULL, 0, "'%s' is about the table, which --json replaces",
                    out->wide  ? "--wide"
                    : out->why ? "--why"
                               : "--columns");
        return error_expect(why, "one of the two; --json has all figures");
    }
    return frame_view_check(out, columns, count, why);
}

void scenario_print_keys(FILE *out)
{
    fputs("keys of a scenario (a YAML map):\n", out);
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        char text[512];
        snprintf(text, sizeof text, "%s; e.g. %s", key->summary, key->example);
        help_entry(key->name, 16, text, out);
    }
}
