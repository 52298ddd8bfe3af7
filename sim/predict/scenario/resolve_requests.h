/* The requests of a scenario: a file's, or made up from its keys, and the context that stands for
 * them. */
#pragma once

#include "core/node.h"
#include "predict/scenario/sources.h"
#include "server/requests/requests.h"
#include "server/workload.h"

/* The requests of the keys `workload`, `limit`, `hash_tokens` and `seed`, which belong to
 * `sources`; their file, or the text that makes them up, is written to `path`. NULL on failure. */
const struct requests *requests_find(const struct node *root, struct sources *sources,
                                     char path[WORKLOAD_PATH], struct error *why);

/* If `root` has a workload, write the context that stands for its requests: the mean number of
 * tokens that they attend to during decode. A scenario with another context is an error. A scenario
 * with `rate` or `clients` and no workload gets one, of requests with its `prompt` and `output`. */
bool requests_set_context(struct node *root, struct sources *sources, struct error *why);
