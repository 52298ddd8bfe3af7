/* `spillway trace info`: prints the header of a decode trace. */
#include "tables/frame.h"
#include "cli/frame/command.h"
#include "cli/trace/trace_argument.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { JSON };
static const struct command_option options[] = {
    [JSON] = {.name = "--json", .summary = "print a JSON object"},
    {.name = NULL},
};

/* The header's numbers, with the names of the format. */
#define FIELDS(FIELD)                                                                              \
    FIELD(layers, "of the model")                                                                  \
    FIELD(kv_heads, "KV heads of a layer")                                                         \
    FIELD(query_heads, "query heads of a layer")                                                   \
    FIELD(head_dim, "numbers in a query")                                                          \
    FIELD(context, "tokens of the prefix")                                                         \
    FIELD(unit_tokens, "tokens of a unit")                                                         \
    FIELD(units, "units of the prefix")                                                            \
    FIELD(sinks, "first tokens, in every row")                                                     \
    FIELD(recent, "last tokens, in every row")                                                     \
    FIELD(keep, "units of a row besides, at most")                                                 \
    FIELD(sequences, "recorded")                                                                   \
    FIELD(steps, "of each sequence")                                                               \
    FIELD(steps_per_tile, "of the file")

#define NAMED(field) .key = #field, .title = #field
static const struct frame_column columns[] = {
    {NAMED(source), .unit = UNIT_JSON},
    {NAMED(hash)},
    {NAMED(unit_kind)},
    {NAMED(queries), .unit = UNIT_FLAG, .what = "of each query head"},
    {NAMED(approximate), .unit = UNIT_FLAG, .what = "rows as a speculative query would keep them"},
#define OF_TRACE(field, means) {NAMED(field), .unit = UNIT_WHOLE, .what = (means)},
    FIELDS(OF_TRACE)
#undef OF_TRACE
};

/* The source is written anew, on one line. */
static struct frame *info_frame(const struct trace_header *header, uint64_t hash, struct error *why)
{
    struct frame *frame = frame_create(columns, sizeof columns / sizeof *columns, why);
    uint32_t at = 0;
    json_t *source = json_loads(header->source, 0, NULL);
    char *line = json_dumps(source, JSON_COMPACT | JSON_REAL_PRECISION(12));
    frame_row(frame);
    frame_text(frame, at++, line);
    free(line);
    json_decref(source);
    frame_textf(frame, at++, "%016" PRIx64, hash);
    frame_text(frame, at++, header->unit_kind == TRACE_CLUSTERS ? "clusters" : "positions");
    frame_number(frame, at++, header->has_queries);
    frame_number(frame, at++, header->has_approximate);
#define NUMBER(field, means) frame_number(frame, at++, header->field);
    FIELDS(NUMBER)
#undef NUMBER
    return frame;
}

static bool print_info(const struct trace *trace, bool json, struct error *why)
{
    uint64_t hash;
    if (!trace_hash(trace, &hash, why)) {
        return false;
    }
    struct frame *frame = info_frame(trace_header(trace), hash, why);
    bool ok = (json ? frame_print_json : frame_print_fields)(frame, stdout, why);
    frame_destroy(frame);
    return ok;
}

static bool trace_info_run(const struct arguments *arguments, struct error *why)
{
    struct trace *trace = trace_from_arguments(arguments, why);
    bool ok = trace != NULL && print_info(trace, arguments_given(arguments, JSON), why);
    trace_close(trace);
    return ok;
}

const struct command command_trace_info = {
    .name = "trace info",
    .operands = "TRACE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "print the header of a decode trace",
    .example = "spillway trace info smollm2-135m",
    .options = options,
    .run = trace_info_run,
};
