/* A schedule as a Chrome trace (JSON), which Perfetto and chrome://tracing open:
 * a row for each resource, a slice for each task. */
#pragma once

#include "core/engine/engine.h"

#include <stdio.h>

/* The slice's name and category for a task's tag; written into the given buffers. */
typedef void (*timeline_label)(uint32_t tag, char *name, size_t name_size, char *category,
                               size_t category_size, const void *context);

/* Write the service of tasks within [from_ns, to_ns) to `out`, with slices cut at both ends. Times
 * are microseconds since from_ns with three decimals. Tasks of no duration are left out. Tasks without
 * a queue get as many rows as they need. Fails when `out` cannot be written. */
bool timeline_write(const struct engine *engine, int64_t from_ns, int64_t to_ns,
                    timeline_label label, const void *context, FILE *out, struct error *why);
