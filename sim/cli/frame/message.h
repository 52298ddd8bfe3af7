/* What a command says on standard error, besides the line of its progress on a terminal.
 *
 * With --json it is said to a program, as JSON objects, one a line. What is unknown is left out:
 *
 *   {"error":"a.yaml:12: unknown key 'polcy' ...","key":"polcy","file":"a.yaml","line":12,
 *    "found":"unknown key 'polcy'","expected":"policy, budget","nearest":"policy","status":1}
 *   {"note":"serve.log:3: not used: --swap-space"}
 *   {"progress":"3 of 12 runs, 40 s left","done":3,"total":12}
 *
 * "unmet" is true where standard output has the whole answer, and the answer is no. */
#pragma once

#include <stdint.h>

#include "core/error.h"

void message_use_json(void);
bool message_is_json(void);

/* Say why the program ends with this exit status. */
void message_error(const struct error *why, int status);

/* Say a line about the input that changes nothing. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The progress of a command: a line on a terminal that is overwritten, and erased at the end. With
 * --json, a program at the other end of a pipe is sent objects (above), at most ten a second and
 * none that it is too slow to read. A file is sent nothing. */

/* Show the line in place of the one before. So much of `total` is done; 0: the total is unknown. */
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

/* The progress of a study: "3 of 12 runs, 40 s left"; where `all` is 0, `what` alone. `context` is unused. */
void progress_study(uint32_t done, uint32_t all, const char *what, void *context);
