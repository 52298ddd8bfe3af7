/* The systems that were left out of a choice, and why. */
#pragma once

#include "study/plan/candidates.h"

#include <stdio.h>

/* Print one line per reason; nothing if no system was left out. */
void left_out_print(const struct candidate *candidates, uint32_t count, FILE *out);

/* Print one line with how many there are for each reason; --wide of the command lists them. */
void left_out_print_counts(const struct candidate *candidates, uint32_t count, FILE *out);
