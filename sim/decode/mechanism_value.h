/* The value that a system has of one mechanism key: compared, taken over, written. */
#ifndef DECODE_MECHANISM_VALUE_H
#define DECODE_MECHANISM_VALUE_H

#include "decode/mechanisms.h"

/* Do both say the same, however it was spelt? */
bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b);

/* Give `to` the value that `from` has. */
void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from);

/* The value as YAML says it, the one spelling of all that mean it: gpu, 30%, {name: qsac, eta: 0.8,
 * power: 3}. The caller frees it; NULL without memory. */
char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why);

#endif
