/* How far a result may be off, in words. */
#pragma once

#include "predict/result/result.h"

enum { ERROR_WORDS = 256 };

/* "8 of 10 such servers had TTFT -28 … +38 %, TPOT -13 … +15 % off this (153 figures of 9 sources)";
 * "the error is unknown" if nothing of the kind was measured. */
void error_words(const struct result *result, char text[ERROR_WORDS]);
