/* A list suffices: a surface has tens of points, rarely hundreds. */
#include "predict/steps/decode_points.h"

#include "core/array.h"
#include "core/parallel.h"

#include <pthread.h>
#include <stdlib.h>

struct decode_table {
    struct decode_point *all;
    size_t count, capacity;
    pthread_mutex_t lock; /* of all of the above; held while a point is computed */
};

/* Shared values are read-only, so this one only points to the table that changes. */
struct decode_points {
    struct decode_table *table;
};

static void *decode_points_make(void *context, struct error *why)
{
    (void)context;
    struct decode_points *points = array_zeroed(1, sizeof *points, why);
    struct decode_table *table = array_zeroed(1, sizeof *table, why);
    if (points == NULL || table == NULL) {
        free(points);
        free(table);
        return NULL;
    }
    pthread_mutex_init(&table->lock, NULL);
    points->table = table;
    return points;
}

static void decode_points_destroy(void *value)
{
    struct decode_points *points = value;
    pthread_mutex_destroy(&points->table->lock);
    free(points->table->all);
    free(points->table);
    free(points);
}

const struct shared_kind decode_points_kind = {decode_points_make, decode_points_destroy};

static const struct decode_point *decode_points_find(const struct decode_table *table,
                                                     const struct decode_point *place)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->all[i].sequences == place->sequences &&
            table->all[i].context == place->context) {
            return &table->all[i];
        }
    }
    return NULL;
}

static bool read_locked(struct decode_table *table, decode_point_compute compute, void *context,
                        struct decode_point *point, struct error *why)
{
    const struct decode_point *kept = decode_points_find(table, point);
    if (kept != NULL) {
        *point = *kept;
        return true;
    }
    if (!compute(context, point, why) ||
        !array_reserve(&table->all, &table->capacity, table->count + 1, sizeof *table->all, why)) {
        return false;
    }
    table->all[table->count++] = *point;
    return true;
}

static void decode_points_lock(struct decode_table *table, struct cores *cores)
{
    if (pthread_mutex_trylock(&table->lock) != 0) {
        cores_give(cores);
        pthread_mutex_lock(&table->lock);
        cores_take(cores);
    }
}

bool decode_points_read(const struct decode_points *points, struct cores *cores,
                        decode_point_compute compute, void *context, struct decode_point *point,
                        struct error *why)
{
    decode_points_lock(points->table, cores);
    bool ok = read_locked(points->table, compute, context, point, why);
    pthread_mutex_unlock(&points->table->lock);
    return ok;
}
