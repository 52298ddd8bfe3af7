/* A run of a server: requests in, how they fared out. */
#ifndef STUDY_SERVING_H
#define STUDY_SERVING_H

#include "decode/setup.h"
#include "result/result.h"
#include "study/shared.h"

/* Serve the workload of `setup`, which has one, and write what its columns say of requests, times
 * and trust. `threads` and `shared` as in run_setup(). */
bool serving_run(const struct setup *setup, uint32_t threads, struct shared *shared,
                 struct result *result, struct error *why);

#endif
