#include "calibrate/overlap.h"

double pieces_done(const double *ends, uint32_t count, double at)
{
    double begin = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (at < ends[i]) {
            return at > begin ? i + (at - begin) / (ends[i] - begin) : i;
        }
        begin = ends[i];
    }
    return count;
}
