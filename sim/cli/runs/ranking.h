/* Runs in groups, the best of each group first.
 *
 * Runs are compared within a group (sweep_point_group()). The list is sorted by group, then by
 * merit, then in the order in which runs were added. Groups are small, so places are searched
 * linearly, from the end.
 */
#ifndef CLI_RUNS_RANKING_H
#define CLI_RUNS_RANKING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { RANKING_NAME = 128 };

struct ranked {
    size_t group;
    char title[RANKING_NAME]; /* what the runs of the group have in common, or "" */
    char name[RANKING_NAME];
    double merit; /* more is better */
    void *more;   /* what else the list's owner knows of the run; freed with the list */
};

/* Zeroed memory is an empty one. */
struct ranking {
    struct ranked *runs; /* [count] owned */
    size_t count, capacity;
};

/* Copy `run` into the list, which then owns `run->more`; on failure it is freed. */
bool ranking_add(struct ranking *ranking, const struct ranked *run, struct error *why);
void ranking_release(struct ranking *ranking);

/* The number of runs in the group that begins at place `first`. */
size_t ranking_group(const struct ranking *ranking, size_t first);

#endif
