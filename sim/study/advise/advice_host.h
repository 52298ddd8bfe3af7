/* Host memory for prompts that begin alike: how many GiB, what they take, and when not.
 *
 * The size is that of host_size.h, for the advised system if it keeps prefixes there, else for the
 * best that does, else for vLLM's own offloading; what it finds is of the advised load. A run of
 * the server with this size, at the load that plain vLLM holds, says what it gains, and what copies
 * beside decodes cost. If the advised system is the one, its answer becomes that of a run with this
 * size: its host memory is then stated in its scenario. A size that misses a limit there is
 * doubled. */
#pragma once

#include "study/advise/advice.h"

/* Answer the question for an advice whose systems were searched. Nothing is asked of a batch that
 * decodes, nor where plain vLLM holds no load. */
bool advice_host_find(const struct advice_options *options, struct advice *advice,
                      bool *interrupted, struct error *why);
void advice_host_release(struct advice_host *host);

/* How much longer a request takes with the size than without, as a share; NaN if it did not run. */
double advice_host_slower(const struct advice *advice);
