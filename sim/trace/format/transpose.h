/* Transposes step-major rows into frames: a model decodes step by step, but frames are
 * head-major. */
#ifndef TRACE_FORMAT_TRANSPOSE_H
#define TRACE_FORMAT_TRANSPOSE_H

#include "trace/format/trace.h"

/* Transpose the rows of `pile`, in which all heads of a step stand before those of the next step,
 * into `transposed`, whose place and steps are set. Both have the same steps. */
bool frame_transpose(const struct trace_header *header, const struct trace_frame *pile,
                     struct trace_frame *transposed, struct error *why);

#endif
