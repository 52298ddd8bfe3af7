#include "decode/replay/replay_fill.h"

#include <string.h>

/* Code 255 stands for hardly any mass (traces/FORMAT.md); here it also marks units not yet taken. */
enum { TAKEN = 0, LEAST_MASS = 255 };

struct demand replay_fill(const struct demand *first, const struct demand_shape *shape,
                          uint32_t *units, uint8_t *mass)
{
    struct demand fill = *first;
    uint32_t count = 0;
    memset(mass, LEAST_MASS, shape->end_unit);
    for (uint32_t i = 0; i < first->recorded; i++) {
        units[count++] = first->units[i];
        mass[first->units[i]] = TAKEN;
    }
    for (uint32_t unit = shape->end_unit; unit-- > shape->first_unit;) {
        if (mass[unit] != TAKEN) {
            units[count++] = unit;
        }
    }
    if (first->recorded > 0) {
        memcpy(mass, first->mass, first->recorded);
    }
    memset(mass + first->recorded, LEAST_MASS, count - first->recorded);
    fill.units = units;
    fill.mass = mass;
    fill.wanted = fill.recorded = count;
    return fill;
}
