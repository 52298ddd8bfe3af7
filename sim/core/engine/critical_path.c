/* The critical path leads from a task to the task that it waited for, and so on. A task starts at
 * the instant at which its binding predecessor ends, so the pieces meet. */
#include "core/engine/critical_path.h"

#include <assert.h>

void critical_path_walk(const struct engine *engine, engine_task_id last, int64_t from_ns,
                        critical_path_piece piece, void *context)
{
    engine_task_id task = last;
    int64_t end_ns = engine_task_record(engine, last)->end_ns;
    while (task != ENGINE_NONE && end_ns > from_ns) {
        const struct engine_record *record = engine_task_record(engine, task);
        assert(record->end_ns == end_ns);
        int64_t begin_ns = record->start_ns > from_ns ? record->start_ns : from_ns;
        if (begin_ns < end_ns) {
            piece(task, begin_ns, end_ns, context);
        }
        end_ns = begin_ns;
        task = record->binding;
    }
    if (end_ns > from_ns) {
        piece(ENGINE_NONE, from_ns, end_ns, context);
    }
}
