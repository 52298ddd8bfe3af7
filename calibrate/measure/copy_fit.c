#include "calibrate/measure/copy_fit.h"

#include <math.h>

double copy_fixed_ns(const double *sizes, const double *times_ns, uint32_t count, double rate,
                     double *worst)
{
    double rest = 0, weights = 0;
    for (uint32_t i = 0; i < count; i++) {
        double weight = 1 / (times_ns[i] * times_ns[i]);
        rest += weight * (times_ns[i] - sizes[i] * 1e9 / rate);
        weights += weight;
    }
    double fixed = fmax(0, rest / weights);
    *worst = 0;
    for (uint32_t i = 0; i < count; i++) {
        double said = fixed + sizes[i] * 1e9 / rate;
        *worst = fmax(*worst, fabs(said / times_ns[i] - 1));
    }
    return fixed;
}

uint32_t copy_repeats(size_t size, size_t moved, uint32_t most)
{
    size_t repeats = size > 0 ? moved / size : most;
    return repeats < 1 ? 1 : repeats < most ? (uint32_t)repeats : most;
}

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
