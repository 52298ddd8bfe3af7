/* Bindings: what each task of a recording engine waited for last. engine.h defines which task that
 * is when there are several. */
#ifndef ENGINE_BINDING_H
#define ENGINE_BINDING_H

#include "engine/state.h"

/* `ended`, a predecessor of task `id`, has ended. Until the task starts, its binding is the
 * predecessor that ended last; among equals, the lowest id. */
void binding_note_ended(struct engine *engine, engine_task_id id, engine_task_id ended);

/* The task starts now, and takes a server if it is on a resource. `before`: the task ahead of it in
 * the queue that started at this same event, or ENGINE_NONE. */
void binding_note_start(struct engine *engine, engine_task_id id, engine_task_id before);

/* The task ends now, and leaves its server. */
void binding_note_end(struct engine *engine, engine_task_id id);

#endif
