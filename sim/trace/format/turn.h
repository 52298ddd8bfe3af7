/* Turns step-major rows into frames: a model decodes step by step, but frames are head-major. */
#ifndef TRACE_FORMAT_TURN_H
#define TRACE_FORMAT_TURN_H

#include "trace/format/trace.h"

/* Turn the rows of `pile`, in which all heads of a step stand before those of the next step, into
 * `turned`, whose place and steps are set. Both have the same steps. */
bool frame_turn(const struct trace_header *header, const struct trace_frame *pile,
                struct trace_frame *turned, struct error *why);

#endif
