/* The result of a point that several families of recordings answer (predict/scenario/resolve_trace.h).
 *
 * The result is that of one family, the one in the middle by time, so that its parts and stalls add
 * up to its step. Each figure that depends on demands (RANGED in columns.def) is the median over
 * the families; beside it stand the least and the most, and `families` has every family's own. The
 * range is what these families span; it promises nothing about another model.
 */
#pragma once

#include "predict/result/result.h"

/* The family in the middle by the time of a step (a server: by time per output token): 0 ...
 * count - 1. A family that does not fit in memory counts as slower than all that do, families of
 * equal time keep their order, and of an even number the slower one of the two in the middle is
 * taken. `count` is 1 ... RESULT_MOST_FAMILIES. */
uint32_t families_middle(const struct result *results, uint32_t count);

/* The family whose run an answer's result is, of what families_write() wrote; 0 without families. */
uint32_t families_chosen(const struct result *result);

/* Write medians, ranges and families into `out`, a result of one of them. Where a family lacks a
 * figure, or their number is even, the figure stays that of `out`. `names` [count] are the
 * recordings. A figure that no family has stays null. Where some families do not fit in memory, a
 * note says which, and ranges are over the others. */
void families_write(const struct result *results, const char *const *names, uint32_t count,
                    struct result *out);

/* Write the attention mass of each family by step into `out`. Steps whose mass is not known have none. */
bool families_write_masses(const struct result *results, uint32_t count, struct result *out,
                           struct error *why);

/* What the size of a model does to hits, as far as is known.
 *
 * The recorded models are small, and no recording of a large one ships. traces/sizes.py puts their
 * hits beside published ones of two larger models, and regresses logits of hits on the logarithm of
 * the number of parameters. Another model lies in the line's prediction band with a chance of 80 %.
 * The band widens with the distance from the sizes that are known.
 */

struct model;

/* The number of a model's weights. */
double model_size_of(const struct model *model);

/* The band of the hits of LRU with a cache of 30 % and demands of 10 % of the context: shares, for a
 * model of `parameters` weights, above 0. */
void model_size_hits(double parameters, double *least, double *most);
