#include "cli/frame/waiting.h"

#include "cli/frame/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void *count_seconds(void *context)
{
    struct waiting *waiting = context;
    struct timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&waiting->lock);
    for (unsigned passed = 1; !waiting->ended; passed++) {
        next.tv_sec++;
        while (!waiting->ended &&
               pthread_cond_timedwait(&waiting->ended_now, &waiting->lock, &next) == 0) {
        }
        if (!waiting->ended) {
            progress_show(passed, (uint32_t)waiting->seconds, "%u of about %.0f s", passed,
                          waiting->seconds);
        }
    }
    pthread_mutex_unlock(&waiting->lock);
    progress_clear();
    return NULL;
}

void waiting_start(struct waiting *waiting, const char *what, double seconds)
{
    *waiting = (struct waiting){.lock = PTHREAD_MUTEX_INITIALIZER,
                                .ended_now = PTHREAD_COND_INITIALIZER,
                                .seconds = seconds};
    fprintf(stderr, "%s: about %.0f s\n", what, seconds);
    waiting->counts = isatty(STDERR_FILENO) &&
                      pthread_create(&waiting->thread, NULL, count_seconds, waiting) == 0;
}

void waiting_stop(struct waiting *waiting)
{
    if (!waiting->counts) {
        return;
    }
    pthread_mutex_lock(&waiting->lock);
    waiting->ended = true;
    pthread_cond_signal(&waiting->ended_now);
    pthread_mutex_unlock(&waiting->lock);
    pthread_join(waiting->thread, NULL);
}
