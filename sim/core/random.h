/* Random streams: one for each purpose, so that a new use changes no other.
 *
 * The generator of purpose "trace.order" under seed 7 is the same whatever else was drawn,
 * on any machine, for any number of threads. Backed by GSL's taus2 (period 2^88), seeded
 * with the XXH64 of the purpose under the seed. */
#pragma once

#include "core/error.h"

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* The stream of `purpose`, number `index`, under `seed`. The caller frees it with
 * gsl_rng_free(). NULL only when memory is out. */
gsl_rng *random_stream(uint64_t seed, const char *purpose, uint64_t index, struct error *why);
