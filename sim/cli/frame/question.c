/* A signal handler has no argument, so the flag that it raises is a global of the program. */
#include "cli/frame/question.h"

#include "base/disk_cache.h"
#include "study/sweep/sweep.h"

#include <limits.h>
#include <signal.h>

static const int signals[] = {SIGINT, SIGTERM};
#define MOST_CACHED ((uint64_t)1 << 30) /* bytes */
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct stop_flag interrupted;
static volatile sig_atomic_t interrupting; /* the signal that raised it */
static struct sigaction before[SIGNALS];

static void question_interrupt(int signal)
{
    interrupting = signal;
    atomic_store(&interrupted.raised, true);
}

const struct stop_flag *question_stop(void)
{
    return &interrupted;
}

int question_signal(void)
{
    return interrupting;
}

bool question_begin(struct run_context *runs, const struct scenario *scenario, uint32_t jobs,
                    bool replicated, struct error *why)
{
    struct sigaction action = {.sa_handler = question_interrupt, .sa_flags = (int)SA_RESETHAND};
    if (!run_context_init(runs, sweep_users(jobs, replicated), &interrupted, why)) {
        return false;
    }
    runs->threads = jobs;
    sources_watch(scenario->sources, runs->stop);
    sigemptyset(&action.sa_mask);
    atomic_store(&interrupted.raised, false);
    interrupting = 0;
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
    return true;
}

bool question_cache(struct run_context *runs, const struct arguments *arguments, int no_cache)
{
    char folder[PATH_MAX];
    if (!arguments_given(arguments, no_cache) && disk_cache_folder(folder, sizeof folder)) {
        runs->cache = disk_cache_open(folder, MOST_CACHED);
    }
    return true;
}

void question_end(struct run_context *runs, const struct scenario *scenario)
{
    if (runs->shared == NULL) {
        return;
    }
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
    sources_watch(scenario->sources, NULL);
    struct disk_cache *cache = runs->cache;
    run_context_release(runs);
    disk_cache_close(cache);
}
