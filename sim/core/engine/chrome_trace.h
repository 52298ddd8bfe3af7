/* A schedule as a Chrome trace (JSON), for Perfetto: a row for each resource, a slice for each task. */
#pragma once

#include "core/engine/engine.h"

#include <stdio.h>

/* The slice's name and category for a task's tag; written into the given buffers. */
typedef void (*timeline_label)(uint32_t tag, char *name, size_t name_size, char *category,
                               size_t category_size, const void *context);

/* Write the service of tasks within [from_ns, to_ns), with slices cut at both ends, in microseconds since
 * from_ns. Tasks of no duration are left out; those without a queue get as many rows as they need. */
bool timeline_write(const struct engine *engine, int64_t from_ns, int64_t to_ns,
                    timeline_label label, const void *context, FILE *out, struct error *why);
