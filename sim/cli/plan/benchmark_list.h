/* The requests that the benchmark of a deployment sends, as a list that vLLM's client replays and that this
 * program reads: a file in Mooncake's format, and the scenario of a server that is sent it. */
#pragma once

#include "predict/decode/context.h"
#include "predict/result/result.h"
#include "predict/scenario/scenario.h"

#define BENCHMARK_LIST_FILE "requests.jsonl"
#define BENCHMARK_LIST_SINCE "since_warm" /* ms after those that warm, where there are some */

struct benchmark_list {
    uint64_t warm, count; /* requests that fill the prefix caches first, and that are measured */
    int64_t warm_ns;      /* until these are answered, one after another on each server */
    uint32_t hash_tokens; /* of a hash of the list */
    struct scenario scenario; /* beside the file, by whose name it calls it; owned */
    struct result result;     /* its run: what is predicted of the list; owned */
};

/* Write the file into `folder`, for the server of a scenario of one point, `asked`, whose run gave `result`.
 * Requests that arrive without end are those of the steady state: caches are filled first, and sessions are under
 * way. Other requests are drawn and arrive as the scenario says, each at the time at which it came in a run. The
 * caller releases `out`, also after a failure. */
bool benchmark_list_write(const struct scenario *scenario, const struct point *asked,
                          const struct result *result, const struct run_context *context,
                          const char *folder, struct benchmark_list *out, struct error *why);
void benchmark_list_release(struct benchmark_list *list);
