/* What is said above and below a table of runs: what they share, rest on, and how sure they are. */
#pragma once

#include <stdio.h>

#include "predict/result/result.h"
#include "predict/scenario/scenario.h"

struct runs_notes;

struct runs_notes *runs_notes_create(struct error *why);
void runs_notes_destroy(struct runs_notes *notes);

/* Add a run; only texts of the result are kept. */
void runs_notes_add(struct runs_notes *notes, const struct result *result);

/* Take over a note about a run of this system that is not among the run's own, as what a study says of it. */
void runs_notes_add_note(struct runs_notes *notes, const char *system, json_t *note);

/* The lines above a table: what hit ratios rest on, and what all runs have in common. The first
 * alone is left out if no run has a trace. `asked` is the root of the scenario, or of one of
 * several: if it names the model as other weights of the same shape, that name stands first. */
void runs_notes_print_sources(const struct runs_notes *notes, FILE *out);
void runs_notes_print_above(const struct runs_notes *notes, const struct scenario *asked,
                            FILE *out);

/* From now on `sure` is about this run alone: the answer of a study. Other notes stay those of all runs. */
void runs_notes_judge(struct runs_notes *notes, const struct result *answer);

/* The lines below a table: notes that are always told, and how sure figures are; with `why` all notes. */
void runs_notes_print_below(const struct runs_notes *notes, bool why, FILE *out);
