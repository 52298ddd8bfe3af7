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

typedef bool read_row(const struct node *node, void *out, struct error *why);

/* The rows of a map, `size` bytes each, read one by one and kept for the life of the process. The
 * caller frees `*rows` after a failure. */
static bool read_rows(const struct node *map, const char *key, size_t size, read_row *read,
                      void **rows, size_t *count, struct error *why)
{
    if (map != NULL && map->kind != NODE_MAP) {
        return node_error(map, why, "'%s' is no map", key);
    }
    *count = map != NULL ? map->count : 0;
    char *all = *count > 0 ? array_zeroed(*count, size, why) : NULL;
    bool good = all != NULL || *count == 0;
    for (size_t i = 0; good && i < *count; i++) {
        good = read(map->children[i], all + i * size, why);
    }
    *rows = all;
    return good;
}

static bool read_host(const struct node *node, void *out, struct error *why)
{
    struct host_engine *row = out;
    row->flag = node->key;
    if (!node_fields_read(node, host_fields, node->key, row, why)) {
        return false;
    }
    if (row->unit == 0 || row->engine == NULL || row->versions == NULL || row->source == NULL) {
        node_error(node, why, "'%s' is incomplete", node->key);
        return error_expect(why, "unit, of, versions and source");
    }
    return true;
}

static bool read_connector(const struct node *node, void *out, struct error *why)
{
    return server_connector_read(node, out, why);
}

static bool read_refusal(const struct node *node, void *out, struct error *why)
{
    struct engine_refusal *row = out;
    row->reason = node->key;
    if (!node_fields_read(node, refusal_fields, node->key, row, why)) {
        return false;
    }
    if (row->source == NULL) {
        node_error(node, why, "'%.60s' has no source", node->key);
        return error_expect(why, "the file of the engine, or the page, that says so");
    }
    return true;
}

bool engine_rows_read(const struct node *host, const struct node *connectors,
                      const struct node *refusals, struct server_engine *out, struct error *why)
{
    void *rows[3] = {NULL};
    bool good = read_rows(host, "host_memory", sizeof *out->host, read_host, &rows[0],
                          &out->host_count, why) &&
                read_rows(connectors, "connectors", sizeof *out->connectors, read_connector,
                          &rows[1], &out->connector_count, why) &&
                read_rows(refusals, "refuses", sizeof *out->refusals, read_refusal, &rows[2],
                          &out->refusal_count, why);
    for (int i = 0; i < 3 && !good; i++) {
        free(rows[i]);
        rows[i] = NULL;
    }
    out->host = rows[0];
    out->connectors = rows[1];
    out->refusals = rows[2];
    return good;
}
