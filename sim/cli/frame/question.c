/* A signal handler has no argument, so the flag that it raises is a global of the program. */
#include "cli/frame/question.h"

#include "core/disk_cache.h"
#include "core/units.h"
#include "cli/frame/database.h"
#include "cli/frame/message.h"
#include "cli/frame/scenario_options.h"
#include "study/sweep/sweep.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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

const struct stop_flag *question_stop(void)
{
    return &interrupted;
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
