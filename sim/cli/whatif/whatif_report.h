/* A what-if study for people: a table of its points, and conclusions.
 *
 * Along one axis a row is a point; over a grid a cell is a point and shows its measure.
 */
#pragma once

#include "tables/frame.h"
#include "predict/result/shown.h"
#include "study/whatif/whatif.h"

#include <stdio.h>

/* The columns of a table along an axis: of decode steps, or of a server. Returns their number. */
uint32_t whatif_columns(bool serves, struct frame_column out[TABLE_MOST_COLUMNS]);

/* `view` names columns of whatif_columns(). */
bool whatif_report(const struct whatif *whatif, const struct table_view *view, FILE *out,
                   struct error *why);

/* ---- parts of it that have a file of their own ---- */

/* Print a table: a row per point along one axis, or a cell per point of a grid, which shows the
 * measure alone. */
bool whatif_points_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         const struct table_view *view, FILE *out, struct error *why);
bool whatif_grid_table(const struct whatif *whatif, const struct whatif_findings *findings,
                       const struct table_view *view, FILE *out, struct error *why);

/* Of a grid of drafts and numbers: up to where drafts pay; nothing below other tables. */
void whatif_report_drafts(const struct whatif *whatif, FILE *out);

/* ---- points as texts, in tables and below them (whatif_text.c) ---- */

enum { WHATIF_TEXT = 64, WHATIF_LINE = 512 };

/* The measure of a study, in words, by enum whatif_figure. */
struct whatif_words {
    const char *unit; /* after a figure */
    const char *grid; /* above a grid of figures */
    const char *none; /* no point has it */
    const char *flat; /* all points have the same */
    const char *zero; /* and that is zero; NULL: use `flat` */
};
extern const struct whatif_words whatif_words[];

/* The name of a point: its value on each axis, "15.0 %, batch 4". */
const char *whatif_name(const struct whatif *whatif, uint32_t point, char text[WHATIF_LINE]);

/* The measure of a point, or a rate of arrivals, as text. */
const char *whatif_number(double worth, char text[SHOWN_TEXT]);

/* The marks of a point: "here, knee". "here" is the scenario's own value; a "tie" is one with the
 * best point. */
const char *whatif_mark(const struct whatif *whatif, const struct whatif_findings *findings,
                        uint32_t point, char text[WHATIF_TEXT]);
