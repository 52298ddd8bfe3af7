/* Shared by the benchmarks: the clock, and the row of a measurement. */
#pragma once

#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void die(const struct error *why)
{
    char text[1024];
    error_format(why, text, sizeof text);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    exit(1);
}

/* CPU time, because others may use the machine too. */
static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Print a row: `count` things done in `took` seconds, and the time of the same work by hand
 * (`bare`, `bare_took`), or NULL for no comparison. */
static inline void print_row(const char *name, double count, const char *things, double took,
                             const char *bare, double bare_took)
{
    printf("%-28s %8.1f M %s/s", name, 1e-6 * count / took, things);
    if (bare != NULL) {
        printf(", %.2f of %s", bare_took / took, bare);
    }
    printf("\n");
}
