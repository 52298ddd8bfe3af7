/* The threshold of QSAC, for those who ask how hard a head is to reuse. */
#ifndef POLICY_QSAC_H
#define POLICY_QSAC_H

/* Cosine from which a head of `importance` (0 ... 1) reuses its set; `values` of the policy's
 * parameters. -INFINITY where it always does. */
double qsac_threshold(const double *values, double importance);

#endif
