/* Notes about a server's requests and memory. */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_cache.h"

/* What the requests, or keys that have no effect on this server, make of its figures. */
void serving_note_requests(const struct point *point, const struct requests *requests,
                           struct result *result);

/* Add a note if HBM holds less than kv_pool_tokens asks for, or one of the requests at a time. */
void serving_note_pool(const struct point *point, const struct prefix_options *memory,
                       const struct requests *requests, struct result *result);
