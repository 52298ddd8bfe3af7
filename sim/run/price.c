/* The rate per GPU already accounts for the GPUs that share a model, and for replicas. */
#include "run/price.h"

void price_write(const struct profile *machine, struct result *result)
{
    const struct cell *rate = &result->cells[COLUMN_GPU_RATE];
    if (machine->price_per_hour > 0 && rate->set && rate->real > 0) {
        result_real(result, COLUMN_COST, 1e6 * machine->price_per_hour / (3600 * rate->real));
    }
}
