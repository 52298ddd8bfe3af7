#include "server/server_connector.h"

#include "core/node_fields.h"

static const char *const piece_words[] = {"unit", "block", "layer", "half", "row", NULL};
static const char *const mover_words[] = {"calls", "batch", "kernel", NULL};

#define TIME .unit = UNIT_NS, .most = 3600000000000

static const struct node_field way_fields[] = {
    NODE_FIELD("pieces", WORD, connector_way, pieces, .words = piece_words),
    NODE_FIELD("by", WORD, connector_way, by, .words = mover_words),
    NODE_FIELD("kernel_below", REAL, connector_way, kernel_below, .unit = UNIT_BYTES),
    NODE_FIELD("unit", WHOLE, connector_way, unit_ns, TIME),
    {.key = NULL}};
static const struct node_field lookup_fields[] = {
    NODE_FIELD("request", WHOLE, connector_lookup, request_ns, TIME),
    NODE_FIELD("token", WHOLE, connector_lookup, token_ns, TIME),
    NODE_FIELD("gpu", WHOLE, connector_lookup, gpu_ns, TIME),
    NODE_FIELD("again", YES, connector_lookup, again),
    {.key = NULL}};
static const struct node_field connector_fields[] = {
    NODE_FIELD("load", MAP, server_connector, load, .inside = way_fields),
    NODE_FIELD("save", MAP, server_connector, save, .inside = way_fields),
    NODE_FIELD("dense", WORD, server_connector, dense, .words = piece_words),
    NODE_FIELD("latents", WORD, server_connector, latents, .words = piece_words),
    NODE_FIELD("frees_early", YES, server_connector, frees_early),
    NODE_FIELD("prompts_only", YES, server_connector, prompts_only),
    NODE_FIELD("calls_first", YES, server_connector, calls_first),
    NODE_FIELD("steps", SMALL, server_connector, steps, .unit = UNIT_COUNT, .most = 64),
    NODE_FIELD("lookup", MAP, server_connector, lookup, .inside = lookup_fields),
    NODE_FIELD("gpu_units", SMALL, server_connector, gpu_units, .unit = UNIT_COUNT, .most = 64),
    NODE_FIELD("host_ratio", REAL, server_connector, host_ratio, .unit = UNIT_COUNT),
    NODE_FIELD("step", WHOLE, server_connector, step_ns, TIME),
    NODE_FIELD("source", TEXT, server_connector, source),
    {.key = NULL}};

bool server_connector_read(const struct node *map, struct server_connector *out, struct error *why)
{
    out->name = map->key;
    if (!node_fields_read(map, connector_fields, map->key, out, why)) {
        return false;
    }
    if (out->source == NULL) {
        node_error(map, why, "connector '%.60s' has no source", map->key);
        return error_expect(why, "its version, and the files that say what it does");
    }
    return true;
}
