/* What the size of a model does to hits, as far as is known.
 *
 * The recorded models are small, and no recording of a large one ships. traces/sizes.py puts their
 * hits beside published ones of two larger models, and regresses logits of hits on the logarithm of
 * the number of parameters. Another model lies in the line's prediction band with a chance of 80 %.
 * The band widens with the distance from the sizes that are known.
 */
#pragma once

struct model;

/* The number of a model's weights. */
double model_size_of(const struct model *model);

/* The band of the hits of LRU with a cache of 30 % and demands of 10 % of the context: shares, for a
 * model of `parameters` weights, above 0. */
void model_size_hits(double parameters, double *least, double *most);
