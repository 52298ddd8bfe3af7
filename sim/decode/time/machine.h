/* The machine of a profile on the engine: resources, channels, and the routes over them. */
#ifndef DECODE_TIME_MACHINE_H
#define DECODE_TIME_MACHINE_H

#include "decode/time/pipe.h"

/* Create pipe->engine with everything on it. pipe_release() frees it, also after a failure. */
bool machine_add(struct pipe *pipe, struct error *why);

#endif
