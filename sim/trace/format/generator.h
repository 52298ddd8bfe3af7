/* The calls by which trace_read() and its variants use a generated trace. Internal to this
 * folder. */
#pragma once

#include "trace/format/trace.h"

struct trace_generator;

enum { GENERATOR_MOST_FRAMES = 16 }; /* made together */

/* A frame to make, whose sequence, tile, layer and steps are set, and the header of its trace. */
struct generator_frame {
    const struct trace_header *header;
    struct trace_frame *frame;
};

/* Make `count` frames (at most GENERATOR_MOST_FRAMES) of one place, or only their queries. Their
 * traces are of one stream (generator_stream()). Fails if `stop` is raised before they are done
 * (NULL: never). */
bool generator_read(const struct trace_generator *generator, const struct generator_frame *frames,
                    uint32_t count, bool with_rows, const struct stop_flag *stop,
                    struct error *why);

/* A hash of everything that decides the rows. */
uint64_t generator_hash(const struct trace_generator *generator);

/* The same without the number of units that a row keeps. Traces of one stream rank units alike. */
uint64_t generator_stream(const struct trace_generator *generator);

void generator_destroy(struct trace_generator *generator); /* NULL is fine */
