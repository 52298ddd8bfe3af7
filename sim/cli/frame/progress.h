/* The progress of a command: a line on a terminal that is overwritten, and erased at the end. With
 * --json, a program at the other end of a pipe is sent objects (message.h), at most ten a second and
 * none that it is too slow to read. A file is sent nothing. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Show the line in place of the one before, cut to the terminal's width. So much of `total` is
 * done; 0: the total is unknown. */
void progress_show(uint32_t done, uint32_t total, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ", 40 s left" for a command of which this share is done since it first asked; ", 40 s so far" where
 * the share is 0 (unknown); "" in the first two seconds, and where the share is 1. */
enum { PROGRESS_LEFT = 24 };
const char *progress_left(double share, char text[PROGRESS_LEFT]);

/* The same after so many seconds. */
const char *progress_left_after(double seconds, double share, char text[PROGRESS_LEFT]);

/* Erase the line. */
void progress_clear(void);

/* Erase the line after a study. Fails if the study failed (`good` is false, and `why` is the
 * study's), or if it was interrupted before `what`, such as "all runs were done". */
bool progress_end(bool good, bool interrupted, const char *what, struct error *why);

/* The progress of a sweep: "3 of 12 runs, 40 s left", and nothing once all are done. `context` is
 * unused. */
void progress_runs(uint32_t done, uint32_t points, void *context);
