#include "server/layered.h"

#include <math.h>

double layered_ns(double compute_ns, double load_ns, uint32_t layers)
{
    return fmax(compute_ns + load_ns / layers, load_ns + compute_ns / layers);
}
