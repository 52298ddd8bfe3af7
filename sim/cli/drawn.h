/* What replications say of a run (study/replication.h), beside what the run itself says. */
#ifndef CLI_DRAWN_H
#define CLI_DRAWN_H

#include "store/result.h"

#include <stdio.h>

enum { DRAWN_TEXT = 64 };

/* A figure's mean over the draws; NaN where there are none of it. */
double drawn_value(const struct result *result, enum drawn drawn);

/* That and the half-width of its interval, "45.13 ± 0.62", divided by `scale`; or NULL. */
const char *drawn_mean(const struct result *result, enum drawn drawn, double scale,
                       char text[DRAWN_TEXT]);

/* What the middle nine of ten draws span, "41 - 52". The same. */
bool drawn_span(const struct result *result, enum drawn drawn, double scale, char text[DRAWN_TEXT],
                const char **out, struct error *why);

/* `,"replications":{"draws":100,"step_us":{"mean":...},...}`, and nothing where there are none. */
bool drawn_print_json(const struct result *result, FILE *out, struct error *why);

/* ",draws,step_us_mean,step_us_low,step_us_high,...", and a row of these. */
void drawn_print_csv_head(FILE *out);
void drawn_print_csv(const struct result *result, FILE *out);

#endif
