/* The requests of a benchmark that kept each one: `vllm bench serve --save-result --save-detailed` and
 * SGLang's `bench_serving --output-details` write one JSON object with lists, an entry a request:
 *
 *   input_lens, output_lens   tokens of the prompt and of the answer; 0 or an error: it failed
 *   start_times               seconds at which it was sent, if the benchmark kept them
 *   errors                    "" or what went wrong
 *
 * Prompts are not kept, so what they share is unknown. Private to this folder. */
#pragma once

#include "server/requests/request_line.h"

/* Read the file of `in`, which stands at its beginning. `*taken`: it is such an object, and `out` has
 * its requests in the order in which they were sent; else the file stands at its beginning again.
 * Failed requests are counted as skipped, at most options->limit others are read (0: all). */
bool requests_benchmark_read(struct csv_reader *in, const struct requests_options *options,
                             struct requests *out, bool *taken, struct error *why);
