/* Notes of runs that differ only in whole numbers, as one text with their ranges. */
#ifndef CLI_RUNS_NOTE_SPAN_H
#define CLI_RUNS_NOTE_SPAN_H

#include <stdbool.h>

enum { NOTE_SPAN = 2048 };

/* Join "... for 164 steps" and "... for 611 steps": "... for 164–611 steps". A number is a word of
 * digits alone, or a range that was joined before. Returns false, with `out` undefined, if the texts
 * differ in anything else or have no room. */
bool note_span(const char *a, const char *b, char out[NOTE_SPAN]);

#endif
