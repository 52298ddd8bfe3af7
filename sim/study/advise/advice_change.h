/* What one could do instead of offloading, tried with plain vLLM. Internal to advice*.c. */
#ifndef STUDY_ADVISE_ADVICE_CHANGE_H
#define STUDY_ADVISE_ADVICE_CHANGE_H

#include "study/advise/advice.h"

/* Try each change that the scenario leaves room for. If nothing fits, GPUs are doubled and contexts
 * halved until something does. A change that cannot be is not tried, nor
 * are more GPUs for requests that the stated GPUs serve. */
bool advice_try_changes(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, bool *interrupted, struct error *why);

#endif
