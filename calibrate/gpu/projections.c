#include "calibrate/gpu/projections.h"

#include "base/array.h"
#include "base/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of one layer ---- */

struct shapes {
    struct projection *out;
    size_t count;
};

static void projections_add(struct shapes *shapes, const char *name, uint32_t in, uint32_t out)
{
    struct projection *shape = &shapes->out[shapes->count++];
    *shape = (struct projection){.in = in, .out = out};
    snprintf(shape->name, sizeof shape->name, "%s", name);
}

static void add_grouped(struct shapes *shapes, const struct model *model)
{
    uint32_t query = model->query_heads * model->head_dim;
    uint32_t kv = model->kv_heads * model->head_dim;
    projections_add(shapes, "qkv", model->hidden,
                    (model->gated_attention ? 2 : 1) * query + 2 * kv);
    projections_add(shapes, "o", query, model->hidden);
}

static void add_linear(struct shapes *shapes, const struct model *model)
{
    const struct model_linear *linear = &model->linear;
    uint32_t key = linear->key_heads * linear->key_dim;
    uint32_t value = linear->value_heads * linear->value_dim;
    projections_add(shapes, "linear_in", model->hidden,
                    2 * (key + value) + 2 * linear->value_heads);
    projections_add(shapes, "linear_out", value, model->hidden);
}

static void add_latent(struct shapes *shapes, const struct model *model,
                       const struct model_layer *layer)
{
    uint32_t query = model->query_heads * (model->head_dim + model->rope_dim);
    uint32_t first = model->query_lora > 0 ? model->query_lora : query;
    projections_add(shapes, "qkv_down", model->hidden, first + model->kv_lora + model->rope_dim);
    if (model->query_lora > 0) {
        projections_add(shapes, "query_up", model->query_lora, query);
    }
    if (model->index_heads > 0 && !layer->shares_index) {
        projections_add(shapes, "index_query", model->query_lora,
                        model->index_heads * model->index_dim);
        projections_add(shapes, "index_key", model->hidden, model->index_dim + model->index_heads);
    }
    projections_add(shapes, "o", model->query_heads * model->value_dim, model->hidden);
}

static void add_ffn(struct shapes *shapes, const struct model *model,
                    const struct model_layer *layer)
{
    uint32_t hidden = model->hidden, shared = layer->shared_experts * layer->ffn;
    if (layer->routed) {
        projections_add(shapes, "router", hidden, layer->experts + (model->shared_gate ? 1 : 0));
        projections_add(shapes, "experts_gate_up", hidden, 2 * layer->ffn);
        projections_add(shapes, "experts_down", layer->ffn, hidden);
        if (shared > 0) {
            projections_add(shapes, "shared_gate_up", hidden, 2 * shared);
            projections_add(shapes, "shared_down", shared, hidden);
        }
    } else {
        projections_add(shapes, model->gated_ffn ? "gate_up" : "up", hidden,
                        model->gated_ffn ? 2 * layer->ffn : layer->ffn);
        projections_add(shapes, "down", layer->ffn, hidden);
    }
}

size_t projections_of(const struct model *model, uint32_t layer,
                      struct projection out[MOST_PROJECTIONS])
{
    struct shapes shapes = {out, 0};
    if (layer == model->layer_count) {
        projections_add(&shapes, "head", model->hidden, model->vocabulary);
        return shapes.count;
    }
    const struct model_layer *own = &model->layers[layer];
    if (model->kv_lora > 0) {
        add_latent(&shapes, model, own);
    } else if (own->attention == ATTENTION_LINEAR) {
        add_linear(&shapes, model);
    } else {
        add_grouped(&shapes, model);
    }
    add_ffn(&shapes, model, own);
    return shapes.count;
}

/* ---- of all models ---- */

struct collection {
    struct projection *all;
    size_t count, capacity;
};

static struct projection *projections_find(const struct collection *collection,
                                           const struct projection *shape)
{
    for (size_t i = 0; i < collection->count; i++) {
        if (collection->all[i].in == shape->in && collection->all[i].out == shape->out) {
            return &collection->all[i];
        }
    }
    return NULL;
}

/* Append to "qkv of A": ", B" for a model with the same operator, ", up of C" for another operator.
 */
static void add_user(struct projection *to, const char *name, const char *model)
{
    size_t used = strlen(to->of), room = sizeof to->of - used;
    bool same = strcmp(to->name, name) == 0 && used > 0;
    if (strstr(to->of, model) == NULL &&
        (size_t)snprintf(to->of + used, room, "%s%s%s%s", used > 0 ? ", " : "", same ? "" : name,
                         same ? "" : " of ", model) >= room) {
        to->of[used] = '\0';
    }
}

static bool projections_collect(struct collection *collection, const struct projection *shape,
                                const char *model, struct error *why)
{
    struct projection *known = projections_find(collection, shape);
    if (!known) {
        if (!array_reserve(&collection->all, &collection->capacity, collection->count + 1,
                           sizeof *collection->all, why)) {
            return false;
        }
        known = &collection->all[collection->count++];
        *known = *shape;
    }
    add_user(known, shape->name, model);
    return true;
}

static bool collect_model(struct collection *collection, const char *name, struct error *why)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    if (!model_load(NULL, name, &options, NULL, 0, &model, why)) {
        return false;
    }
    bool ok = true;
    for (uint32_t layer = 0; ok && layer <= model.layer_count; layer++) {
        struct projection shapes[MOST_PROJECTIONS];
        size_t count = projections_of(&model, layer, shapes);
        for (size_t i = 0; ok && i < count; i++) {
            ok = projections_collect(collection, &shapes[i], name, why);
        }
    }
    model_release(&model);
    return ok;
}

static int compare_sizes(const void *a, const void *b)
{
    const struct projection *x = a, *y = b;
    uint64_t x_size = (uint64_t)x->in * x->out, y_size = (uint64_t)y->in * y->out;
    if (x_size != y_size) {
        return x_size < y_size ? -1 : 1;
    }
    return x->in < y->in ? -1 : x->in > y->in;
}

bool projections_shipped(struct projection **all, size_t *count, struct error *why)
{
    struct collection collection = {NULL, 0, 0};
    char **names;
    size_t models;
    if (!find_names("models", "json", &names, &models, why)) {
        return false;
    }
    bool ok = true;
    for (size_t i = 0; i < models; i++) {
        ok = ok && collect_model(&collection, names[i], why);
        free(names[i]);
    }
    free(names);
    if (!ok) {
        free(collection.all);
        return false;
    }
    if (collection.count > 0) {
        qsort(collection.all, collection.count, sizeof *collection.all, compare_sizes);
    }
    *all = collection.all;
    *count = collection.count;
    return true;
}
