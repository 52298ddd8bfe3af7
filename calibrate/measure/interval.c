#include "calibrate/measure/interval.h"

#include <math.h>

uint32_t interval_repeats(uint32_t repeats, double ns, double enough_ns, uint32_t most)
{
    if (ns >= enough_ns || repeats >= most) {
        return repeats;
    }
    double wanted = ns > 0 ? ceil(repeats * enough_ns / ns) : most;
    return wanted < most ? (uint32_t)wanted : most;
}
