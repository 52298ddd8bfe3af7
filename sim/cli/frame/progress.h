/* How far a command is: a line on standard error, written over again and taken away in the end.
 * Only on a terminal; a file would fill with it.
 */
#ifndef CLI_FRAME_PROGRESS_H
#define CLI_FRAME_PROGRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Write the line, in place of the one before, as much of it as the terminal is wide. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Take it away. */
void progress_clear(void);

/* The same behind a study, which fails where it was interrupted before `what`, such as "all runs
 * were done". False, too, where it has failed already: then `why` is its own. */
bool progress_end(bool good, bool interrupted, const char *what, struct error *why);

/* What sweeps tell: "3 of 12 runs", and nothing once all are done. `context` is not looked at. */
void progress_runs(uint32_t done, uint32_t points, void *context);

#endif
