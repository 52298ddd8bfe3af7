/* `spillway trace info`: prints the header of a decode trace. */
#include "cli/frame/commands.h"
#include "answer/table.h"
#include "cli/trace/trace_argument.h"

#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { JSON };
static const struct command_option options[] = {
    [JSON] = {.name = "--json", .summary = "print a JSON object"},
    {.name = NULL},
};

/* The header's numbers, with the names of the format. */
static const struct {
    const char *name;
    size_t offset;
    const char *what;
} fields[] = {
#define FIELD(name) #name, offsetof(struct trace_header, name)
    {FIELD(layers), "of the model"},
    {FIELD(kv_heads), "KV heads of a layer"},
    {FIELD(query_heads), "query heads of a layer"},
    {FIELD(head_dim), "numbers in a query"},
    {FIELD(context), "tokens of the prefix"},
    {FIELD(unit_tokens), "tokens of a unit"},
    {FIELD(units), "units of the prefix"},
    {FIELD(sinks), "first tokens, in every row"},
    {FIELD(recent), "last tokens, in every row"},
    {FIELD(keep), "units of a row besides, at most"},
    {FIELD(sequences), "recorded"},
    {FIELD(steps), "of each sequence"},
    {FIELD(steps_per_tile), "of the file"},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static uint32_t field(const struct trace_header *header, int i)
{
    uint32_t value;
    memcpy(&value, (const char *)header + fields[i].offset, sizeof value);
    return value;
}

static const char *unit_kind(const struct trace_header *header)
{
    return header->unit_kind == TRACE_CLUSTERS ? "clusters" : "positions";
}

static bool print_json(json_t *object, struct error *why)
{
    bool ok = object != NULL && json_dumpf(object, stdout, JSON_REAL_PRECISION(6)) == 0;
    json_decref(object);
    fputc('\n', stdout);
    return ok || error_set(why, "standard output", 0, "cannot be written");
}

static bool info_json(const struct trace *trace, uint64_t hash, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_t *object = json_object();
    json_object_set_new(object, "hash", json_string(text));
    json_object_set_new(object, "unit_kind", json_string(unit_kind(header)));
    for (int i = 0; i < FIELDS; i++) {
        json_object_set_new(object, fields[i].name, json_integer(field(header, i)));
    }
    json_object_set_new(object, "queries", json_boolean(header->has_queries));
    json_object_set_new(object, "approximate", json_boolean(header->has_approximate));
    json_object_set_new(object, "source", json_loads(header->source, 0, NULL));
    return print_json(object, why);
}

static const struct table_column columns[] = {
    {.title = ""}, {.title = "", .right = true}, {.title = "", .wrap = true}};

/* The header's source, one row per key. */
static bool add_source(struct table *table, const char *text, struct error *why)
{
    json_t *source = json_loads(text, 0, NULL);
    const char *key;
    json_t *value;
    bool ok = true;
    json_object_foreach(source, key, value)
    {
        char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        const char *texts[] = {key, dumped != NULL ? dumped : json_string_value(value)};
        ok = ok && table_add(table, texts, 2, why);
        free(dumped);
    }
    json_decref(source);
    return ok;
}

static bool add_fields(struct table *table, const struct trace *trace, uint64_t hash,
                       struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    char text[32];
    for (int i = 0; i < FIELDS; i++) {
        snprintf(text, sizeof text, "%" PRIu32, field(header, i));
        const char *texts[] = {fields[i].name, text, fields[i].what};
        if (!table_add(table, texts, 3, why)) {
            return false;
        }
    }
    const char *queries[] = {"queries", header->has_queries ? "yes" : "no", "of each query head"};
    const char *approximate[] = {"approximate", header->has_approximate ? "yes" : "no",
                                 "rows as a speculative query would keep them"};
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    const char *hashes[] = {"hash", text};
    return table_add(table, queries, 3, why) && table_add(table, approximate, 3, why) &&
           table_add(table, hashes, 2, why);
}

static bool info_table(const struct trace *trace, uint64_t hash, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct table *table = table_create(columns, 3, why);
    const char *kind[] = {"unit_kind", unit_kind(header)};
    bool ok = table != NULL && add_source(table, header->source, why) &&
              table_add(table, kind, 2, why) && add_fields(table, trace, hash, why);
    if (ok) {
        table_print(table, stdout);
    }
    table_destroy(table);
    return ok;
}

static bool run(const struct arguments *arguments, struct error *why)
{
    uint64_t hash;
    struct trace *trace = trace_from_arguments(arguments, why);
    bool ok = trace != NULL && trace_hash(trace, &hash, why) &&
              (arguments_given(arguments, JSON) ? info_json(trace, hash, why)
                                                : info_table(trace, hash, why));
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
    .run = run,
};
