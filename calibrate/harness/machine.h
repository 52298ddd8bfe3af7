/* Describes the machine for the provenance of its profile. */
#pragma once

#include "calibrate/measure/provenance.h"

#include <stdbool.h>

enum machine_part { MACHINE_NOTHING, MACHINE_HOST, MACHINE_GPU };

/* Starting up a machine of eight GPUs without a persistence daemon may take half of this. */
#define DESCRIBE_SECONDS 60

/* State the host, or host, GPU and link, and their clocks: `clocks` is FACT_CLOCKS_START or
 * FACT_CLOCKS_END. `most` is the part that is measured; parts beyond it are not stated.
 * Fails if a GPU does not answer for `seconds`. */
bool machine_describe(enum machine_part most, enum fact clocks, double seconds,
                      struct provenance *out, struct error *why);
