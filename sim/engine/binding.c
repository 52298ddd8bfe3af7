/* Bindings. A resource keeps the last task of each free server, so that a task knows its
 * predecessor. */
#include "engine/binding.h"

void binding_note_ended(struct engine *engine, engine_task_id id, engine_task_id ended)
{
    const struct engine_record *records = engine->records;
    engine_task_id best = records[id].binding;
    if (best == ENGINE_NONE || records[ended].end_ns > records[best].end_ns ||
        (records[ended].end_ns == records[best].end_ns && ended < best)) {
        engine->records[id].binding = ended;
    }
}

static bool ended_now(const struct engine *engine, engine_task_id id)
{
    return id != ENGINE_NONE && engine->records[id].end_ns == engine->now_ns;
}

/* Take the server that has been free longest; returns the last task that it served. */
static engine_task_id take_server(struct resource *resource)
{
    if (resource->unused == 0) {
        return ring_pop(&resource->freed);
    }
    resource->unused--;
    return ENGINE_NONE;
}

void binding_note_start(struct engine *engine, engine_task_id id, engine_task_id before)
{
    struct engine_record *record = &engine->records[id];
    record->start_ns = engine->now_ns;
    engine_task_id served = record->resource == ENGINE_NONE
                                ? ENGINE_NONE
                                : take_server(&engine->resources[record->resource]);
    if (ended_now(engine, served)) {
        record->binding = served;
    } else if (!ended_now(engine, record->binding)) {
        record->binding = before == ENGINE_NONE ? ENGINE_NONE : engine->records[before].binding;
    }
}

void binding_note_end(struct engine *engine, engine_task_id id)
{
    struct engine_record *record = &engine->records[id];
    record->end_ns = engine->now_ns;
    if (record->resource != ENGINE_NONE) {
        ring_push(&engine->resources[record->resource].freed, id);
    }
}
