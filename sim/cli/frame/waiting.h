/* A line on standard error while another program runs silently: how long it takes and, on a
 * terminal, the seconds that have passed, erased at the end. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct waiting {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended_now;
    bool counts, ended;
    double seconds;
};

/* Print that `what` takes about `seconds`, and count them. */
void waiting_start(struct waiting *waiting, const char *what, double seconds);
void waiting_stop(struct waiting *waiting);
