/* Does a measurement match a run? A benchmark says only the name of its model and the rate at which
 * it sent requests.
 */
#ifndef STUDY_PAPERS_MEASURED_RUN_H
#define STUDY_PAPERS_MEASURED_RUN_H

#include <stdbool.h>

/* Can a server's `model_id` mean this model? True if it contains the words of the model's name in
 * the same order, separated by '-', '_' or '/': "meta-llama/Meta-Llama-3-8B-Instruct" contains
 * "llama-3-8b". Case is ignored. */
bool measured_names_model(const char *model_id, const char *model);

/* Can `requests` that arrived at `rate_in` per second have been sent at rate `asked`? The gaps are
 * random, so the rate of N requests deviates by about 1 / sqrt(N) of itself. Twice that is allowed,
 * plus 5 %. */
bool measured_agrees_in_rate(double asked, double rate_in, double requests);

#endif
