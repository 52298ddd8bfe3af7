/* The mechanisms that cost time: what each buys instead, and where it pays off. */
#pragma once

#include "study/ablate/ablation.h"

#include <stdio.h>

/* Print a table of the mechanisms that cost at least 0.5 % of a step, added last or else alone. */
bool ablate_trades(const struct ablation *ablation, FILE *out, struct error *why);

enum { ABLATE_PAYOFF = 32 };

/* "batch 4", where the mechanism saves time or makes room; NULL if it does so nowhere. */
const char *ablate_payoff(const struct ablation_payoff *payoff, char text[ABLATE_PAYOFF]);

enum { ABLATE_SETTINGS = PAYOFF_SETTINGS * (ABLATE_PAYOFF + 2) };

/* "batch 4, context 32768": all that were tried. */
const char *ablate_settings(const struct ablation *ablation, char text[ABLATE_SETTINGS]);
