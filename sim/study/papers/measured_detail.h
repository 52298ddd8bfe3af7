/* The lists of a benchmark that kept each request: `vllm bench serve --save-detailed` and SGLang's
 * `bench_serving --output-details`. Private to this folder. */
#pragma once

#include "study/papers/measured_times.h"

#include <jansson.h>

/* Add what `object` says of single requests: `ttfts` in seconds, and with it `itls`, the seconds
 * between the tokens of each, and `output_lens`. Without `ttfts` it adds nothing. Requests without
 * output, or with an error, have failed and are left out. An error if lists are not equally long or
 * hold what no time can be. */
bool measured_detail_read(const json_t *object, const char *path, struct request_times *times,
                          struct error *why);
