/* The calls by which trace_read() and its variants use a generated trace. Internal to this
 * folder. */
#ifndef TRACE_FORMAT_GENERATOR_H
#define TRACE_FORMAT_GENERATOR_H

#include "trace/format/trace.h"

struct trace_generator;

/* Make the frame whose sequence, tile, layer and steps are set, or only its queries. Fails if
 * `stop` is raised before it is done (NULL: never). */
bool generator_read(const struct trace_generator *generator, const struct trace_header *header,
                    bool with_rows, const struct stop_flag *stop, struct trace_frame *frame,
                    struct error *why);

/* A hash of everything that decides the rows. */
uint64_t generator_hash(const struct trace_generator *generator);

void generator_destroy(struct trace_generator *generator); /* NULL is fine */

#endif
