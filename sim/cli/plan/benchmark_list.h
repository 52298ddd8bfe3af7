/* The requests that the benchmark of a deployment sends, as a list that vLLM's client replays and that this
 * program reads: a file in Mooncake's format, and the scenario of a server that is sent it. */
#pragma once

#include "predict/decode/context.h"
#include "predict/result/result.h"
#include "predict/scenario/scenario.h"

#define BENCHMARK_LIST_FILE "requests.jsonl"

struct benchmark_list {
    uint64_t count;
    uint32_t hash_tokens;     /* of a hash of the list */
    struct scenario scenario; /* beside the file, by whose name it calls it; owned */
    struct result result;     /* its run: what is predicted of the list; owned */
};

/* Write the file into `folder`, for the server of a scenario of one point, `asked`, whose run gave `result`.
 * Requests are drawn and arrive as the scenario says, for so long that its sessions are under way; each has the
 * time at which it came in a run, turns of sessions, too. The caller releases `out`, also after a failure. */
bool benchmark_list_write(const struct scenario *scenario, const struct point *asked,
                          const struct result *result, const struct run_context *context,
                          const char *folder, struct benchmark_list *out, struct error *why);
void benchmark_list_release(struct benchmark_list *list);
