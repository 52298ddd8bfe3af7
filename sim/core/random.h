/* Random streams: one for each purpose, so that a new use changes no other. The generator of a purpose and a
 * seed is the same on any machine, for any number of threads: GSL's taus2, seeded with an XXH64. */
#pragma once

#include "core/error.h"

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* Stream number `index` of `purpose`. The caller frees it with gsl_rng_free(). NULL: memory is out. */
gsl_rng *random_stream(uint64_t seed, const char *purpose, uint64_t index, struct error *why);
