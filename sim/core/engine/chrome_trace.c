/* Timeline: tasks in the order in which they start, each on the row of its resource, or, without a queue, on
 * the first further row that is free. One event a line, in the Trace Event Format's object form. */
#include "core/engine/chrome_trace.h"

#include "core/array.h"
#include "core/json_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct timeline_writer {
    const struct engine *engine;
    int64_t from_ns, to_ns;
    timeline_label label;
    const void *context;
    struct json_writer json;
    int64_t *row_end_ns; /* of the rows without a queue; owned */
    size_t row_count, row_capacity;
    bool *named; /* of the resources' rows; owned */
};

static int by_start(const void *left, const void *right, void *engine)
{
    engine_task_id a = *(const engine_task_id *)left, b = *(const engine_task_id *)right;
    int64_t x = engine_task_record(engine, a)->start_ns,
            y = engine_task_record(engine, b)->start_ns;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

static void begin_event(struct json_writer *json, const char *phase, const char *name, uint32_t row)
{
    json_begin(json, NULL, '{');
    json_put_text(json, "ph", phase);
    json_put_text(json, "name", name);
    json_put(json, "pid", "0");
    json_put(json, "tid", "%u", row);
}

static void end_event(struct json_writer *json)
{
    json_end(json, '}');
    fputc('\n', json->out);
}

static void write_row_name(struct json_writer *json, uint32_t row, const char *name)
{
    begin_event(json, "M", "thread_name", row);
    json_begin(json, "args", '{');
    json_put_text(json, "name", name);
    json_end(json, '}');
    end_event(json);
}

/* The first row without a queue that is free when the task begins; there is one more if none is. */
static bool timeline_find_row(struct timeline_writer *writer, const struct engine_record *record,
                              uint32_t *row, struct error *why)
{
    size_t free_row = 0;
    while (free_row < writer->row_count && writer->row_end_ns[free_row] > record->start_ns) {
        free_row++;
    }
    *row = engine_resource_count(writer->engine) + (uint32_t)free_row;
    if (free_row == writer->row_count) {
        char name[40], number[24] = "";
        if (!array_reserve(&writer->row_end_ns, &writer->row_capacity, free_row + 1,
                           sizeof *writer->row_end_ns, why)) {
            return false;
        }
        writer->row_count++;
        if (free_row > 0) {
            snprintf(number, sizeof number, " %zu", free_row + 1);
        }
        snprintf(name, sizeof name, "no queue%s", number);
        write_row_name(&writer->json, *row, name);
    }
    writer->row_end_ns[free_row] = record->end_ns;
    return true;
}

static void put_microseconds(struct json_writer *json, const char *key, int64_t ns)
{
    json_put(json, key, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static bool write_slice(struct timeline_writer *writer, engine_task_id task, struct error *why)
{
    const struct engine_record *record = engine_task_record(writer->engine, task);
    int64_t begin_ns = record->start_ns > writer->from_ns ? record->start_ns : writer->from_ns;
    int64_t end_ns = record->end_ns < writer->to_ns ? record->end_ns : writer->to_ns;
    uint32_t row = record->resource;
    char name[256] = "", category[64] = "";
    if (begin_ns >= end_ns) {
        return true;
    }
    if (row == ENGINE_NONE && !timeline_find_row(writer, record, &row, why)) {
        return false;
    }
    if (record->resource != ENGINE_NONE && !writer->named[row]) {
        write_row_name(&writer->json, row, engine_resource_name(writer->engine, row));
        writer->named[row] = true;
    }
    writer->label(record->tag, name, sizeof name, category, sizeof category, writer->context);
    begin_event(&writer->json, "X", name, row);
    json_put_text(&writer->json, "cat", category);
    put_microseconds(&writer->json, "ts", begin_ns - writer->from_ns);
    put_microseconds(&writer->json, "dur", end_ns - begin_ns);
    end_event(&writer->json);
    return true;
}

bool timeline_write(const struct engine *engine, int64_t from_ns, int64_t to_ns,
                    timeline_label label, const void *context, FILE *out, struct error *why)
{
    uint32_t count = engine_task_count(engine);
    struct timeline_writer writer = {.engine = engine,
                                     .from_ns = from_ns,
                                     .to_ns = to_ns,
                                     .label = label,
                                     .context = context,
                                     .json.out = out};
    engine_task_id *tasks = array_zeroed(count, sizeof *tasks, why);
    writer.named = array_zeroed(engine_resource_count(engine), sizeof *writer.named, why);
    bool ok = tasks != NULL && writer.named != NULL;
    for (engine_task_id id = 0; ok && id < count; id++) {
        tasks[id] = id;
    }
    json_begin(&writer.json, NULL, '{');
    json_put_text(&writer.json, "displayTimeUnit", "ns");
    json_begin(&writer.json, "traceEvents", '[');
    if (ok) {
        qsort_r(tasks, count, sizeof *tasks, by_start, (void *)engine);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = write_slice(&writer, tasks[i], why);
    }
    json_end(&writer.json, ']');
    json_end(&writer.json, '}');
    fputc('\n', out);
    free(writer.named);
    free(writer.row_end_ns);
    free(tasks);
    if (ok && (fflush(out) != 0 || ferror(out))) {
        ok = error_set(why, NULL, 0, "cannot write the timeline: %s", strerror(errno));
    }
    return ok;
}
