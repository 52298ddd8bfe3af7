/* The critical path: a walk back over binding predecessors. It splits a span of time into pieces
 * that add up to the span exactly; each piece belongs to one task. */
#pragma once

#include "core/engine/engine.h"

/* A piece of the path: `task` held up the end of the walk from begin to end; ENGINE_NONE where only
 * a release time did. */
typedef void (*critical_path_piece)(engine_task_id task, int64_t begin_ns, int64_t end_ns,
                                    void *context);

/* Walk from the end of `last` back to `from_ns`, latest piece first. The pieces are clipped at
 * from_ns, do not overlap and cover [from_ns, end of last] without a hole. If `last` ends at or
 * before `from_ns`, there is no piece. The engine must record and have run. */
void critical_path_walk(const struct engine *engine, engine_task_id last, int64_t from_ns,
                        critical_path_piece piece, void *context);
