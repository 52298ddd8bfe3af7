#include "predict/server/model_size.h"

#include "model/parameters.h"

#include <math.h>

/* As traces/sizes.py prints it: of five models, the mean logarithm of their billions of parameters,
 * the sum of squares about it, the mean logit, its slope, and half the band at the mean without the
 * uncertainty of the line. */
static const struct {
    double models, mean_size, squares, mean, slope, half;
} line = {.models = 5,
          .mean_size = 0.0650,
          .squares = 3.3446,
          .mean = 2.3028,
          .slope = 0.2705,
          .half = 0.7555};

double model_size_of(const struct model *model)
{
    struct model_part parts[PART_COUNT];
    double parameters = 0;
    model_parts(model, parts);
    for (int i = 0; i < PART_COUNT; i++) {
        parameters += (double)parts[i].total;
    }
    return parameters;
}

static double model_size_share(double logit)
{
    return 1 / (1 + exp(-logit));
}

void model_size_hits(double parameters, double *least, double *most)
{
    double away = log10(parameters / 1e9) - line.mean_size;
    double centre = line.mean + line.slope * away;
    double half = line.half * sqrt(1 + 1 / line.models + away * away / line.squares);
    *least = model_size_share(centre - half);
    *most = model_size_share(centre + half);
}
