/* The reuse threshold of QSAC, for callers that report how hard a head is to reuse. */
#ifndef POLICY_QSAC_H
#define POLICY_QSAC_H

/* The least cosine at which a head of `importance` (0 ... 1) reuses its set; -INFINITY if it always
 * does. `values` are the policy's parameters. */
double qsac_threshold(const double *values, double importance);

#endif
