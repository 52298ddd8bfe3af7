/* The header of an imported trace: the shape found by the first reading, and the user's options. An
 * imported trace has no known window and no queries. */
#include "trace/import/import_sink.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum {
    TILE_STEPS_MOST = 256,
    TILE_BYTES = 1 << 20, /* target size of a frame */
};

/* Make the trace's source. The name of a file need not be UTF-8. */
static char *import_header_describe(const struct import_sink *sink)
{
    const char *slash = strrchr(sink->path, '/');
    json_t *name = json_string(slash != NULL ? slash + 1 : sink->path);
    const char *mass = sink->has_mass                        ? "recorded"
                       : sink->options->mass == IMPORT_EQUAL ? "assumed: equal in a row"
                                                             : "assumed: 1/rank in a row";
    json_t *source = json_pack("{s:s, s:s, s:s, s:o*}", "method", "imported", "format",
                               sink->format->name, "mass", mass, "model", name);
    char *text = json_dumps(source, 0);
    json_decref(source);
    return text;
}

bool import_header_make(struct import_sink *sink, struct error *why)
{
    const struct import_options *options = sink->options;
    uint32_t size = options->unit_tokens > 0 ? options->unit_tokens : 1;
    uint32_t share = options->share > 0 ? options->share : 1;
    uint64_t units = sink->units > 0 ? sink->units : 1;
    uint64_t context = options->context > 0 ? options->context : units * size;
    uint64_t layers = (uint64_t)sink->layers * share;
    if (context > UINT32_MAX || layers > IMPORT_LAYERS_MOST) {
        return error_set(why, sink->path, 0,
                         "%" PRIu64 " layers of %" PRIu64 " tokens are too many for a trace",
                         layers, context);
    }
    uint32_t end = (uint32_t)(options->context > 0 ? sink->rule.end_unit : units);
    uint64_t step_bytes = (uint64_t)sink->heads * (12 + 3ull * sink->keep);
    uint64_t tile_steps = TILE_BYTES / step_bytes;
    sink->header = (struct trace_header){
        .layers = (uint32_t)layers,
        .kv_heads = sink->heads,
        .query_heads = sink->heads,
        .head_dim = 1,
        .context = (uint32_t)context,
        .unit_kind = TRACE_POSITIONS,
        .unit_tokens = size,
        .units = end,
        .keep = sink->keep < end ? sink->keep : end,
        .sequences = 1,
        .steps = sink->steps,
        .steps_per_tile = (uint32_t)(tile_steps > TILE_STEPS_MOST ? TILE_STEPS_MOST
                                     : tile_steps > 0             ? tile_steps
                                                                  : 1),
        .source = import_header_describe(sink),
    };
    return sink->header.source != NULL || error_set(why, sink->path, 0, "out of memory");
}
