/* Where a trace came from: the usual keys of the source in its header (FORMAT.md). */
#pragma once

#include "machine/profile.h"
#include "trace/format/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* A text is "" if the source does not state it; a longer text is cut. */
struct trace_source {
    char model[256], text[256];
    bool twin;               /* generated from a profile that was fitted to a recording */
    uint64_t fitted_context; /* of a twin: the tokens of that recording */
    enum basis basis;        /* measured for a recording; the profile's basis for a twin */
    bool masses;             /* the masses of rows were recorded, not assumed on import */
    char retrieval[16];      /* whose approximate rows are there: page, cluster, code; "": of none,
                                as where only the query is that of a layer ahead */
    uint32_t model_layers;   /* of the model; more than the trace has if only some were recorded */
};

void trace_source_read(const struct trace_header *header, struct trace_source *out);
