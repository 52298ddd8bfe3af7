/* Compare, copy and write the value of one mechanism key. */
#pragma once

#include "decode/mechanisms.h"

/* Have `a` and `b` the same value, however it was spelt? */
bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b);

/* Copy the key's value in `from` to `to`. */
void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from);

/* The value as YAML, in its canonical spelling: gpu, 30%, {name: qsac, eta: 0.8, power: 3}. The
 * caller frees it; NULL when memory is out. */
char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why);
