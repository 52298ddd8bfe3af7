/* What replications say of a run (study/sweep/replication.h), beside what the run itself says. */
#ifndef CLI_FRAME_DRAWN_H
#define CLI_FRAME_DRAWN_H

#include "result/result.h"

#include <stdio.h>

enum { DRAWN_TEXT = 80 };

/* A figure's mean over the draws; NaN where there are none of it. */
double drawn_value(const struct result *result, enum drawn drawn);

/* That and the half-width of its interval, "45.13 ± 0.62", divided by `scale`; or NULL. */
const char *drawn_mean(const struct result *result, enum drawn drawn, double scale,
                       char text[DRAWN_TEXT]);

/* What the middle nine of ten draws span, "41 - 52". The same. */
bool drawn_span(const struct result *result, enum drawn drawn, double scale, char text[DRAWN_TEXT],
                const char **out, struct error *why);

/* The run's own main figure (study/sweep/replication.h), of the machine as its profile says, where it lies
 * outside of what the draws span or of the interval of their mean: "63.28 ms a step, longer than in
 * 9 of 10 draws"; or NULL. */
bool drawn_own(const struct result *result, char text[DRAWN_TEXT], const char **out,
               struct error *why);

/* "5 % wanted, 11.6 % reached after 10 draws", where the draws did not reach the precision of their
 * main figure that was wanted (0: none); or NULL. */
const char *drawn_missed(const struct result *result, double wanted, char text[DRAWN_TEXT]);

/* `,"replications":{"draws":100,"step_us":{"mean":...},...}`, and nothing where there are none. */
bool drawn_print_json(const struct result *result, FILE *out, struct error *why);

/* ",draws,step_us_mean,step_us_low,step_us_high,...", and a row of these. */
void drawn_print_csv_head(FILE *out);
void drawn_print_csv(const struct result *result, FILE *out);

#endif
