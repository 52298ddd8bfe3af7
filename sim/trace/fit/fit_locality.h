/* How much heads of a layer, and neighbours in the context, are wanted together; a profile's parameters. */
#pragma once

#include "trace/generate/trace_profile.h"
#include "trace/stats.h"

/* Means over wanted units, by size of neighbourhood (profile_blocks); none with units of the window. */
struct fit_locality {
    double near[PROFILE_WIDTHS]; /* of the other units in a wanted unit's neighbourhood, the share
                                    that the head wants too; 0 if there are none */
    double alike;                /* the probability that another head of the layer wants the unit;
                                    0 with one head */
};

/* Measure about `steps` steps of the first sequence, whole tiles spread over all, for any number of threads.
 * `near` means something only if units are positions. */
bool fit_locality_measure(const struct trace *trace, const struct trace_selection *selection,
                          uint32_t steps, uint32_t threads, struct fit_locality *out,
                          struct error *why);

/* Set `profile->locality` such that twins of `recording` show the recording's; the rest stays. */
bool fit_locality_solve(const struct trace *recording, double share, uint32_t threads,
                        struct trace_profile *profile, struct error *why);
