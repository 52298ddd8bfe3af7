/* The parts of which a kernel's time is made: the larger of several bounds, after a fixed time. */
#ifndef DECODE_COST_ROOFLINE_H
#define DECODE_COST_ROOFLINE_H

#include "decode/cost/kernels.h"

/* The same kernel with one more bound, which decides its time and trust if it is the largest. */
struct kernel roofline_bounded(struct kernel kernel, double ns, struct trust trust,
                               enum kernel_bound bound);

/* The gap between two kernels, of a graph or launched one by one. */
enum curve_id roofline_gap(bool graph);

/* `bytes` through HBM at a kernel's own share of its peak, or, where the profile does not state
 * that, at the share that so many bytes reach in any kernel. */
struct kernel roofline_read(const struct profile *profile, double bytes, enum curve_id own);

/* The time in ns of FLOPs at the share of their peak that so many rows reach. */
double roofline_flops_ns(const struct profile *profile, double flops, double rows,
                         enum curve_id peak, enum curve_id share, struct trust *trust);

/* The same kernel with a time that nothing overlaps, `count` times, if the profile states it. */
struct kernel roofline_then(const struct profile *profile, struct kernel kernel, enum curve_id id,
                            double count);

/* `whole`, which is `part` after a fixed time: the larger of the two is its bound. */
struct kernel roofline_after(struct kernel whole, struct kernel part);

#endif
