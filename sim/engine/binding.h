/* Bindings: what each task of a recording engine waited for last. engine.h says which of
 * several it is. */
#ifndef ENGINE_BINDING_H
#define ENGINE_BINDING_H

#include "engine/state.h"

/* `ended`, which task `id` was submitted after, has ended. Until the task starts, its binding is
 * the latest of these, of equals the lowest id. */
void binding_note_ended(struct engine *engine, engine_task_id id, engine_task_id ended);

/* The task starts now, and takes a server if it is on a resource. `before`: the task that
 * started in front of it at this same event, ENGINE_NONE for none. */
void binding_note_start(struct engine *engine, engine_task_id id, engine_task_id before);

/* The task ends now, and leaves its server. */
void binding_note_end(struct engine *engine, engine_task_id id);

#endif
