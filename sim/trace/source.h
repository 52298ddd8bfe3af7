/* What a trace's header says of where it came from: the usual keys of its source (FORMAT.md). */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include "hardware/profile.h"
#include "trace/format/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Texts are "" where the source does not say; longer ones are cut. */
struct trace_source {
    char model[256], text[256];
    bool twin;               /* generated from a profile that was fitted to a recording */
    uint64_t fitted_context; /* tokens of that recording; of a twin */
    enum basis basis;        /* measured, of a recording; of a twin, that of its profile */
    bool masses;             /* those of the rows are what was recorded, not assumed on import */
};

void trace_source_read(const struct trace_header *header, struct trace_source *out);

#endif
