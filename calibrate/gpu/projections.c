#include "calibrate/gpu/projections.h"

#include "core/array.h"
#include "core/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of one layer ---- */

/* Products of single heads are MLA's absorbed matrices. */
static bool is_projection(const struct model_operator *op)
{
    return op->matrix && op->in > 0 && strncmp(op->name, "absorb", 6) != 0;
}

size_t projections_of(const struct model *model, uint32_t layer,
                      struct projection out[MODEL_MOST_OPERATORS])
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, 1, 1, operators), found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct model_operator *op = &operators[i];
        if (is_projection(op)) {
            struct projection *shape = &out[found++];
            *shape = (struct projection){.in = (uint32_t)op->in, .out = (uint32_t)op->out};
            snprintf(shape->name, sizeof shape->name, "%s", op->name);
        }
    }
    return found;
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
        struct projection shapes[MODEL_MOST_OPERATORS];
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
