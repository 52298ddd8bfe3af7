/* The rules for combining mechanisms. */
#pragma once

#include "decode/mechanisms.h"

/* Why these mechanisms contradict each other, with the key to blame; NULL when they do not. */
const char *mechanisms_contradiction(const struct mechanisms *mechanisms, const char **key);
