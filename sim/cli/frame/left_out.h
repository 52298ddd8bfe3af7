/* The systems that were left out of a choice, and why. */
#pragma once

#include "study/plan/candidates.h"

#include <stdio.h>

/* Print a line for each reason with the systems' names, or one with how many there are; nothing if no
 * system was left out. */
void left_out_print(const struct candidate *candidates, uint32_t count, bool names, FILE *out);
