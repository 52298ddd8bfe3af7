/* The curves of a profile, made from findings: points thinned (thin.h), basis measured, range from
 * the worst p10 and p90, and a source that says how the curve was measured. */
#pragma once

#include "calibrate/measure/finding.h"

#include <stdio.h>

/* Write the curves of one part ("gpu.") under its key, in the order of curves.def. Writes nothing
 * if the part has no curves. */
bool curves_write(const struct findings *findings, const char *part, FILE *out, struct error *why);

/* Write a text as a YAML scalar in double quotes. */
void text_write(const char *text, FILE *out);
