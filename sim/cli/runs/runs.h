/* Runs, as commands tell them: as tables, in words, as JSON, and by the keys that a scenario sweeps. */
#pragma once

#include "core/json_writer.h"
#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"
#include "tables/frame.h"

/* ---- a table for people: what the figures rest on, which runs tie for the best, and where the time goes ----
 *
 * A key that the scenario sweeps over several values has a column. What all runs share is printed above the
 * table, notes on some of them below. A run that does not fit in memory says what is short. */

struct runs_table;

/* Fails, too, if `view` names a column that there is not (runs_columns()); the table borrows it. */
struct runs_table *runs_table_create(const struct scenario *scenario, const struct table_view *view,
                                     struct error *why);
void runs_table_destroy(struct runs_table *table);

/* Add the result of point `index`; only texts of it are kept. */
bool runs_table_add(struct runs_table *table, uint32_t index, const struct result *result,
                    struct error *why);

bool runs_table_print(struct runs_table *table, FILE *out, struct error *why);

/* The columns of tables of runs, after those that name a run: of decode steps, or of a server. The column
 * "best" of decode steps is set by who knows the other runs. */
const struct frame_column *runs_columns(bool serves, uint32_t *count);

/* ---- what is said above and below such a table: what runs share, rest on, and how sure they are ---- */

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

/* ---- text for programs: all columns of columns.def, in order; and what replications show ---- */

/* Print one JSON object on one line; a column that is not set is null. The figures of replications, if any,
 * follow the columns, and then `swept`, which this takes (NULL: none). Fails on text that is not UTF-8. */
bool run_print_json(const struct result *result, json_t *swept, FILE *out, struct error *why);

/* The same without the object's end, for more members. */
bool run_begin_json(const struct result *result, struct json_writer *json, struct error *why);

/* The same, without `swept`, as a cell of a frame. */
bool run_put_json(const struct result *result, struct frame *frame, uint32_t column,
                  struct error *why);

/* Means over the run's draws replace its figures in the frame's row, but for shares, which hardly differ. */
void drawn_means(struct frame *frame, const struct result *result);

/* The range of the middle nine in ten draws, "41 - 52"; or NULL. */
bool drawn_span(const struct result *result, const struct column *column, char text[SHOWN_TEXT],
                const char **out, struct error *why);

/* ---- `simulate --explain`: one paragraph per run; for a server, a table of its memory as well ---- */

/* Explain every point of the scenario; `results` are the points' own. Those without a status are left out. */
bool explain_print(const struct scenario *scenario, const struct result *results,
                   const struct run_context *runs, struct error *why);

/* Print a point as a JSON object on a line, for programs that judge the run: its own object, and a member
 * 'explain' with what its error is known for, and the run again with each figure of its machine that has a
 * range, at both ends of that. */
bool explain_print_json(const struct scenario *scenario, uint32_t index,
                        const struct result *result, const struct run_context *runs, FILE *out,
                        struct error *why);

/* ---- the keys that a scenario sweeps: `sweep` is its map of key to list; the last key runs fastest ---- */

/* The last word of a key, or all of it if another one ends with the same word. The text is the tree's. */
const char *sweep_key_title(const struct node *sweep, size_t key);

/* The value that a key has at a point, on one line. */
void sweep_point_value(const struct node *sweep, uint32_t key, uint32_t point, char *text,
                       size_t size);

/* The values of all keys at a point, as a scenario writes them; NULL without a sweep. The caller's. */
json_t *sweep_point_json(const struct node *sweep, uint32_t point);

/* What distinguishes a point of its system: "context 32768, batch 4"; "" if only the system is swept. */
void sweep_point_setting(const struct node *sweep, uint32_t point, char *text, size_t size);

/* The number of a point's group: points are compared where they differ only in system, else all are one. */
size_t sweep_point_group(const struct node *sweep, uint32_t point);
