/* Results of a run's replications (study/sweep/replication.h), to print beside the run's own. */
#pragma once

#include "core/json_writer.h"
#include "tables/frame.h"

enum { DRAWN_TEXT = SHOWN_TEXT };

/* In the frame's row, replace figures of a run by means over its draws, apart from shares, which
 * hardly differ between draws. */
void drawn_means(struct frame *frame, const struct result *result);

/* The range of the middle nine in ten draws, "41 - 52"; or NULL. */
bool drawn_span(const struct result *result, const struct column *column, char text[DRAWN_TEXT],
                const char **out, struct error *why);

/* Put the member "replications":{"draws":100,"step_us":{"mean":...},...}; nothing without them. */
bool drawn_put_json(const struct result *result, struct json_writer *json, struct error *why);
