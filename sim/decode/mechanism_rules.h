/* The rules for combining mechanisms. */
#ifndef DECODE_MECHANISM_RULES_H
#define DECODE_MECHANISM_RULES_H

#include "decode/mechanisms.h"

/* Why these mechanisms contradict each other, with the key to blame; NULL when they do not. */
const char *mechanisms_contradiction(const struct mechanisms *mechanisms, const char **key);

#endif
