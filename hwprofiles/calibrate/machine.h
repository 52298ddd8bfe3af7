/* The machine, as its profile's provenance states it. */
#ifndef CALIBRATE_MACHINE_H
#define CALIBRATE_MACHINE_H

#include "calibrate/provenance.h"

#include <stdbool.h>

/* State the host, with `gpu` also the GPU and its link, and the clocks that they run at: `clocks`
 * is FACT_CLOCKS_START or FACT_CLOCKS_END. */
bool machine_describe(bool gpu, enum fact clocks, struct provenance *out, struct error *why);

#endif
