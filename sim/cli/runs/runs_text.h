/* Runs as text for programs: all columns of columns.def, in order; and what replications show. */
#pragma once

#include "core/json_writer.h"
#include "tables/frame.h"

#include <jansson.h>
#include <stdio.h>

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
