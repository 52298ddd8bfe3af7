/* The critical path: a walk back over binding predecessors that splits a span of
 * time into pieces, each owned by one task, which add up to the span exactly. */
#ifndef ENGINE_CRITICAL_PATH_H
#define ENGINE_CRITICAL_PATH_H

#include "engine/engine.h"

/* A piece of the path: `task` is what the end of the walk waited for from begin to end; ENGINE_NONE
 * where it waited for a release only. */
typedef void (*critical_path_piece)(engine_task_id task, int64_t begin_ns, int64_t end_ns,
                                    void *context);

/* Walk from the end of `last` back to `from_ns`, latest piece first. The pieces are clipped at
 * from_ns, do not overlap and cover [from_ns, end of last] without a hole. Where `from_ns` lies at
 * or past the end of `last`, there is no piece. The engine must record and have run. */
void critical_path_walk(const struct engine *engine, engine_task_id last, int64_t from_ns,
                        critical_path_piece piece, void *context);

#endif
