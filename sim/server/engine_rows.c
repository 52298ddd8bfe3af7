#include "server/engine_rows.h"

#include "core/array.h"
#include "core/node_fields.h"

#include <stdlib.h>

static const char *const kind_words[] = {"pinned", "shared", NULL};
static const char *const rounding_words[] = {
    "exact", "pages", "powers-of-two", "each-pool", "first-of-latents", NULL};

static const struct node_field refusal_fields[] = {
    NODE_FIELD("experts", TEXT, engine_refusal, experts),
    NODE_FIELD("indexer", YES, engine_refusal, indexer),
    NODE_FIELD("blocks", YES, engine_refusal, blocks),
    NODE_FIELD("below", REAL, engine_refusal, below),
    NODE_FIELD("from", REAL, engine_refusal, from),
    NODE_FIELD("source", TEXT, engine_refusal, source),
    {.key = NULL}};
static const struct node_field host_fields[] = {
    NODE_FIELD("of", TEXT, host_engine, engine),
    NODE_FIELD("versions", TEXT, host_engine, versions),
    NODE_FIELD("unit", REAL, host_engine, unit, .unit = UNIT_BYTES),
    NODE_FIELD("each", YES, host_engine, each),
    NODE_FIELD("whole", YES, host_engine, whole),
    NODE_FIELD("above_gpu", YES, host_engine, above_gpu),
    NODE_FIELD("memory", WORD, host_engine, kind, .words = kind_words),
    NODE_FIELD("rounding", WORD, host_engine, rounding, .words = rounding_words),
    NODE_FIELD("source", TEXT, host_engine, source),
    {.key = NULL}};

/* The rows of a map, `size` bytes each, zeroed: to be filled, and kept for the life of the process.
 * NULL without a map, or on failure. */
static void *allocate_rows(const struct node *map, const char *key, size_t size, size_t *count,
                           bool *good, struct error *why)
{
    bool is_map = map == NULL || map->kind == NODE_MAP;
    *count = is_map && map != NULL ? map->count : 0;
    *good = is_map || node_error(map, why, "'%s' is no map", key);
    void *rows = *count > 0 ? array_zeroed(*count, size, why) : NULL;
    *good = *good && (rows != NULL || *count == 0);
    return rows;
}

static bool read_host(const struct node *map, struct server_engine *out, struct error *why)
{
    bool good;
    struct host_engine *all =
        allocate_rows(map, "host_memory", sizeof *all, &out->host_count, &good, why);
    for (size_t i = 0; good && i < out->host_count; i++) {
        const struct node *node = map->children[i];
        all[i].flag = node->key;
        good = node_fields_read(node, host_fields, node->key, &all[i], why);
        if (good && (all[i].unit == 0 || all[i].engine == NULL || all[i].versions == NULL ||
                     all[i].source == NULL)) {
            node_error(node, why, "'%s' is incomplete", node->key);
            good = error_expect(why, "unit, of, versions and source");
        }
    }
    out->host = all;
    return good;
}

static bool read_connectors(const struct node *map, struct server_engine *out, struct error *why)
{
    bool good;
    struct server_connector *all =
        allocate_rows(map, "connectors", sizeof *all, &out->connector_count, &good, why);
    for (size_t i = 0; good && i < out->connector_count; i++) {
        good = server_connector_read(map->children[i], &all[i], why);
    }
    out->connectors = all;
    return good;
}

static bool read_refusals(const struct node *map, struct server_engine *out, struct error *why)
{
    bool good;
    struct engine_refusal *all =
        allocate_rows(map, "refuses", sizeof *all, &out->refusal_count, &good, why);
    for (size_t i = 0; good && i < out->refusal_count; i++) {
        const struct node *node = map->children[i];
        all[i].reason = node->key;
        good = node_fields_read(node, refusal_fields, node->key, &all[i], why);
        if (good && all[i].source == NULL) {
            node_error(node, why, "'%.60s' has no source", node->key);
            good = error_expect(why, "the file of the engine, or the page, that says so");
        }
    }
    out->refusals = all;
    return good;
}

bool engine_rows_read(const struct node *host, const struct node *connectors,
                      const struct node *refusals, struct server_engine *out, struct error *why)
{
    bool good = read_host(host, out, why) && read_connectors(connectors, out, why) &&
                read_refusals(refusals, out, why);
    if (!good) {
        free((void *)out->host);
        free((void *)out->connectors);
        free((void *)out->refusals);
    }
    return good;
}
