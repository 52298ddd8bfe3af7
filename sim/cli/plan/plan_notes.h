/* What a person should know before they rely on a plan: verdicts nearer than the error band, and
 * what a lossy winner leaves out. */
#ifndef CLI_PLAN_PLAN_NOTES_H
#define CLI_PLAN_PLAN_NOTES_H

#include "study/plan/planning.h"

#include <stdio.h>

enum { PLAN_NAME = 1024, PLAN_NOTE = 2048 };

/* Do the candidates differ in their machine? It is then part of a search's name. */
bool plan_machines_differ(const struct planning *planning);
void plan_name_search(const struct planning *planning, const struct search *search,
                      char text[PLAN_NAME]);

/* If the error band leaves open whether `result`, the run of the candidate `name`, meets a target,
 * write a note with the range. */
bool plan_note_near(const struct target *target, const struct result *result, const char *name,
                    char text[PLAN_NOTE]);

/* Print one line per note, for the winner and for the candidate that misses by least. */
void plan_notes_print(const struct planning *planning, const struct targets *targets, FILE *out);

#endif
