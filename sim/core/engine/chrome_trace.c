/* Timeline: slices are sorted by resource and start, and each is put on the first row of its
 * resource that is free by then. One trace event per line, in the Trace Event Format's JSON object
 * form. */
#include "core/engine/chrome_trace.h"

#include "core/array.h"
#include "core/json_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct slice {
    engine_task_id task;
    uint32_t resource, tag;
    int64_t begin_ns, end_ns; /* clipped to the window */
};

struct timeline_writer {
    const struct engine *engine;
    int64_t from_ns;
    timeline_label label;
    const void *context;
    struct json_writer json;
    /* Rows of the resource being written. */
    uint32_t resource, rows_before; /* rows of the resources before it */
    int64_t *row_end_ns;            /* owned */
    size_t row_count, row_capacity;
};

static int compare_slices(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    if (a->begin_ns != b->begin_ns) {
        return a->begin_ns < b->begin_ns ? -1 : 1;
    }
    return (a->task > b->task) - (a->task < b->task);
}

/* The slices in [from_ns, to_ns), sorted. The caller frees them; NULL when memory runs out. */
static struct slice *collect_slices(const struct engine *engine, int64_t from_ns, int64_t to_ns,
                                    size_t *count, struct error *why)
{
    struct slice *slices = array_zeroed(engine_task_count(engine), sizeof *slices, why);
    *count = 0;
    for (engine_task_id id = 0; slices && id < engine_task_count(engine); id++) {
        const struct engine_record *record = engine_task_record(engine, id);
        int64_t begin_ns = record->start_ns > from_ns ? record->start_ns : from_ns;
        int64_t end_ns = record->end_ns < to_ns ? record->end_ns : to_ns;
        if (record->end_ns > record->start_ns && begin_ns < end_ns) {
            slices[(*count)++] =
                (struct slice){id, record->resource, record->tag, begin_ns, end_ns};
        }
    }
    if (slices) {
        qsort(slices, *count, sizeof *slices, compare_slices);
    }
    return slices;
}

static void begin_event(struct timeline_writer *writer, const char *phase, const char *name,
                        uint32_t tid)
{
    json_begin(&writer->json, NULL, '{');
    json_put_text(&writer->json, "ph", phase);
    json_put_text(&writer->json, "name", name);
    json_put(&writer->json, "pid", "0");
    json_put(&writer->json, "tid", "%u", tid);
}

static void end_event(struct timeline_writer *writer)
{
    json_end(&writer->json, '}');
    fputc('\n', writer->json.out);
}

static void put_microseconds(struct json_writer *json, const char *key, int64_t ns)
{
    json_put(json, key, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

/* Name a row of the resource, and give it its place among all. */
static void write_row_name(struct timeline_writer *writer, uint32_t resource, size_t row)
{
    struct json_writer *json = &writer->json;
    char name[256], number[32] = "";
    if (row > 0) {
        snprintf(number, sizeof number, " %zu", row + 1);
    }
    snprintf(name, sizeof name, "%s%s",
             resource == ENGINE_NONE ? "no queue" : engine_resource_name(writer->engine, resource),
             number);
    for (int event = 0; event < 2; event++) {
        uint32_t tid = writer->rows_before + (uint32_t)row;
        begin_event(writer, "M", event == 0 ? "thread_name" : "thread_sort_index", tid);
        json_begin(json, "args", '{');
        if (event == 0) {
            json_put_text(json, "name", name);
        } else {
            json_put(json, "sort_index", "%u", tid);
        }
        json_end(json, '}');
        end_event(writer);
    }
}

/* Find a row of the slice's resource that is free when the slice begins; add one if needed. */
static bool timeline_find_row(struct timeline_writer *writer, const struct slice *slice,
                              size_t *row, struct error *why)
{
    if (slice->resource != writer->resource) {
        writer->rows_before += (uint32_t)writer->row_count;
        writer->row_count = 0;
        writer->resource = slice->resource;
    }
    for (*row = 0; *row < writer->row_count; ++*row) {
        if (writer->row_end_ns[*row] <= slice->begin_ns) {
            break;
        }
    }
    if (*row == writer->row_count) {
        if (!array_reserve(&writer->row_end_ns, &writer->row_capacity, writer->row_count + 1,
                           sizeof *writer->row_end_ns, why)) {
            return false;
        }
        writer->row_count++;
        write_row_name(writer, slice->resource, *row);
    }
    writer->row_end_ns[*row] = slice->end_ns;
    return true;
}

static bool write_slice(struct timeline_writer *writer, const struct slice *slice,
                        struct error *why)
{
    size_t row;
    if (!timeline_find_row(writer, slice, &row, why)) {
        return false;
    }
    char name[256] = "", category[64] = "";
    writer->label(slice->tag, name, sizeof name, category, sizeof category, writer->context);
    begin_event(writer, "X", name, writer->rows_before + (uint32_t)row);
    json_put_text(&writer->json, "cat", category);
    put_microseconds(&writer->json, "ts", slice->begin_ns - writer->from_ns);
    put_microseconds(&writer->json, "dur", slice->end_ns - slice->begin_ns);
    end_event(writer);
    return true;
}

bool timeline_write(const struct engine *engine, int64_t from_ns, int64_t to_ns,
                    timeline_label label, const void *context, FILE *out, struct error *why)
{
    size_t count;
    struct slice *slices = collect_slices(engine, from_ns, to_ns, &count, why);
    if (!slices) {
        return false;
    }
    struct timeline_writer writer = {
        .engine = engine,
        .from_ns = from_ns,
        .label = label,
        .context = context,
        .json = {.out = out},
        .resource = ENGINE_NONE,
    };
    bool ok = true;
    json_begin(&writer.json, NULL, '{');
    json_put_text(&writer.json, "displayTimeUnit", "ns");
    json_begin(&writer.json, "traceEvents", '[');
    for (size_t i = 0; ok && i < count; i++) {
        ok = write_slice(&writer, &slices[i], why);
    }
    json_end(&writer.json, ']');
    json_end(&writer.json, '}');
    fputc('\n', out);
    free(writer.row_end_ns);
    free(slices);
    if (ok && (fflush(out) != 0 || ferror(out))) {
        ok = error_set(why, NULL, 0, "cannot write the timeline: %s", strerror(errno));
    }
    return ok;
}
