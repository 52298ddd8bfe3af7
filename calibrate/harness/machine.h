/* The machine, as its profile's provenance states it. */
#ifndef CALIBRATE_HARNESS_MACHINE_H
#define CALIBRATE_HARNESS_MACHINE_H

#include "calibrate/measure/provenance.h"

#include <stdbool.h>

enum machine_part { MACHINE_NOTHING, MACHINE_HOST, MACHINE_GPU };

/* State the host, or host, GPU and link, and the clocks that they run at: `clocks` is
 * FACT_CLOCKS_START or FACT_CLOCKS_END. What is not measured is not stated. */
bool machine_describe(enum machine_part most, enum fact clocks, struct provenance *out,
                      struct error *why);

#endif
