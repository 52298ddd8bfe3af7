/* A verdict: what a study advises and why, in a few labelled sentences, and the numbers that they
 * say.
 *
 * It is a frame of one row. Columns with a title are sentences, which text and JSON have under the
 * same name; the others are numbers, which only JSON has. */
#pragma once

#include "tables/frame.h"

/* Print the sentences that are set, each behind its name, and an empty line. The first column, if
 * it has no title, is a line above them. */
bool verdict_print(const struct frame *verdict, FILE *out, struct error *why);

/* Print {"verdict":{...}} on a line. */
bool verdict_print_json(const struct frame *verdict, FILE *out, struct error *why);
