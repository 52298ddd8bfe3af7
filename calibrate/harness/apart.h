/* Runs a task in a process of its own. If the task crashes, hangs, or leaves the GPU in a state in
 * which every further call fails, only that process ends. */
#pragma once

#include "core/error.h"

struct apart {
    const char *name; /* of the process, as ps shows it; Linux keeps 15 characters */
    double seconds;   /* the task is killed if it takes longer */
    /* If not NULL, when the piece of work began that runs now, by clock_ns(); 0: none runs. It lies
     * in apart_memory(). The task is killed if a piece takes longer than `piece_seconds`, too. */
    const double *piece_ns;
    double piece_seconds;
    bool (*run)(void *state, struct error *why);
    void *state; /* the caller sees only changes of memory from apart_memory(), and of files */
};

/* Run the task and wait for it. If it fails, `why` is the task's own error; if it was killed, or
 * ended without an error, `why` says so. An interrupt (measure.h) is passed on to the task. The
 * task is killed when this process ends. Sets SIGCHLD to its default. */
bool apart_run(const struct apart *apart, struct error *why);

/* Zeroed memory that this process and its tasks share; the caller releases it. */
void *apart_memory(size_t size, struct error *why);
void apart_release(void *memory, size_t size);
