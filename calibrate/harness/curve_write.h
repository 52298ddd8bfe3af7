/* The curves of a profile, made from what was found: points thinned (thin.h), basis measured, range
 * from the worst p10 and p90, and a source that says how. */
#ifndef CALIBRATE_HARNESS_CURVE_WRITE_H
#define CALIBRATE_HARNESS_CURVE_WRITE_H

#include "calibrate/measure/finding.h"

#include <stdio.h>

/* The curves of one part ("gpu."), under its key, in the order of curves.def; nothing when there
 * are none. */
bool curves_write(const struct findings *findings, const char *part, FILE *out, struct error *why);

/* A text as YAML reads it, in double quotes. */
void text_write(const char *text, FILE *out);

#endif
