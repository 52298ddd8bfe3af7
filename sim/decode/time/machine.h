/* The machine of a profile on the engine: resources, channels, and the routes over them. */
#pragma once

#include "decode/time/pipe.h"

/* Create pipe->engine with everything on it. pipe_release() frees it, also after a failure. */
bool machine_add(struct pipe *pipe, struct error *why);
