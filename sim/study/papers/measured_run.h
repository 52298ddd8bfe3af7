/* Whether what was measured is what a run predicts, as far as a benchmark says it: its model by a
 * name, and the rate that it sent requests at.
 */
#ifndef STUDY_PAPERS_MEASURED_RUN_H
#define STUDY_PAPERS_MEASURED_RUN_H

#include <stdbool.h>

/* Can a server's `model_id` mean this model? When its words, between '-', '_' and '/', have those
 * of the model's name in their order, as "meta-llama/Meta-Llama-3-8B-Instruct" has "llama-3-8b".
 * Case is free. */
bool measured_names_model(const char *model_id, const char *model);

/* Can `requests` that come at `rate_in` a second have been sent at `asked`? The gaps are drawn, so
 * that the rate of N of them lies off by about 1 / sqrt(N) of itself: twice that is allowed, and a
 * twentieth. */
bool measured_agrees_in_rate(double asked, double rate_in, double requests);

#endif
