/* A tree of cells, with four below each cell that was cut, and the points computed so far, sorted
 * by (x, y). */
#include "serve/surface.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CELL = 0, LEAST_CUTS = 2 };

struct point {
    uint64_t x, y;
    double values[SURFACE_VALUES];
};

struct cell {
    uint64_t x[2], y[2];
    double corner[2][2][SURFACE_VALUES]; /* [x][y] */
    uint64_t middle_x, middle_y;
    uint32_t below; /* the first of its four, in order of x, then y; NO_CELL: none */
    uint8_t depth;
    bool is_known; /* its corners are computed, and it was cut if needed */
};

struct surface {
    struct surface_domain domain;
    double tolerance;
    surface_compute compute;
    void *context;
    struct point *points;
    size_t point_count, point_capacity;
    struct cell *cells; /* the first is the whole domain */
    size_t cell_count, cell_capacity;
};

static uint64_t middle_of(uint64_t least, uint64_t most)
{
    uint64_t middle = (uint64_t)llround(sqrt((double)least * (double)most));
    return middle <= least && most > least + 1 ? least + 1 : middle;
}

static void set_cell(struct cell *cell, const uint64_t x[2], const uint64_t y[2], uint8_t depth)
{
    *cell = (struct cell){.x = {x[0], x[1]},
                          .y = {y[0], y[1]},
                          .middle_x = middle_of(x[0], x[1]),
                          .middle_y = middle_of(y[0], y[1]),
                          .below = NO_CELL,
                          .depth = depth};
}

struct surface *surface_create(const struct surface_domain *domain, double tolerance,
                               surface_compute compute, void *context, struct error *why)
{
    struct surface *surface = array_zeroed(1, sizeof *surface, why);
    if (surface == NULL) {
        return NULL;
    }
    *surface = (struct surface){
        .domain = *domain, .tolerance = tolerance, .compute = compute, .context = context};
    if (!array_reserve(&surface->cells, &surface->cell_capacity, 1, sizeof *surface->cells, why)) {
        surface_destroy(surface);
        return NULL;
    }
    const uint64_t x[] = {domain->least_x, domain->most_x}, y[] = {domain->least_y, domain->most_y};
    set_cell(&surface->cells[0], x, y, 0);
    surface->cell_count = 1;
    return surface;
}

void surface_destroy(struct surface *surface)
{
    if (surface == NULL) {
        return;
    }
    free(surface->points);
    free(surface->cells);
    free(surface);
}

uint32_t surface_points(const struct surface *surface)
{
    return (uint32_t)surface->point_count;
}

/* ---- points --------------------------------------------------------------------------- */

/* The place of the first point that is not before (x, y). */
static size_t find_point(const struct surface *surface, uint64_t x, uint64_t y)
{
    size_t from = 0, to = surface->point_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct point *point = &surface->points[middle];
        bool in_front = point->x < x || (point->x == x && point->y < y);
        from = in_front ? middle + 1 : from;
        to = in_front ? to : middle;
    }
    return from;
}

static bool compute_point(struct surface *surface, uint64_t x, uint64_t y,
                          double values[SURFACE_VALUES], struct error *why)
{
    size_t place = find_point(surface, x, y);
    if (place < surface->point_count && surface->points[place].x == x &&
        surface->points[place].y == y) {
        memcpy(values, surface->points[place].values, sizeof surface->points[place].values);
        return true;
    }
    struct point point = {.x = x, .y = y, .values = {0}};
    if (!surface->compute(surface->context, x, y, point.values, why) ||
        !array_reserve(&surface->points, &surface->point_capacity, surface->point_count + 1,
                       sizeof *surface->points, why)) {
        return false;
    }
    memmove(surface->points + place + 1, surface->points + place,
            (surface->point_count - place) * sizeof *surface->points);
    surface->points[place] = point;
    surface->point_count++;
    memcpy(values, point.values, sizeof point.values);
    return true;
}

/* ---- cells ---------------------------------------------------------------------------- */

static double share_along(const uint64_t side[2], uint64_t at)
{
    return side[1] > side[0] ? (double)(at - side[0]) / (double)(side[1] - side[0]) : 0;
}

static void interpolate(const struct cell *cell, uint64_t x, uint64_t y,
                        double values[SURFACE_VALUES])
{
    double u = share_along(cell->x, x), v = share_along(cell->y, y);
    for (int i = 0; i < SURFACE_VALUES; i++) {
        double low = cell->corner[0][0][i] * (1 - v) + cell->corner[0][1][i] * v;
        double high = cell->corner[1][0][i] * (1 - v) + cell->corner[1][1][i] * v;
        values[i] = low * (1 - u) + high * u;
    }
}

/* Does interpolation miss the function at the middle of the cell, or of one of its sides? */
static bool is_bent(struct surface *surface, struct cell *cell, bool *bent, struct error *why)
{
    const uint64_t at[][2] = {{cell->middle_x, cell->middle_y},
                              {cell->x[0], cell->middle_y},
                              {cell->x[1], cell->middle_y},
                              {cell->middle_x, cell->y[0]},
                              {cell->middle_x, cell->y[1]}};
    *bent = false;
    for (size_t i = 0; i < sizeof at / sizeof *at && !*bent; i++) {
        double exact[SURFACE_VALUES], guessed[SURFACE_VALUES];
        if (!compute_point(surface, at[i][0], at[i][1], exact, why)) {
            return false;
        }
        interpolate(cell, at[i][0], at[i][1], guessed);
        for (int v = 0; v < SURFACE_HELD; v++) {
            *bent = *bent || fabs(guessed[v] - exact[v]) > surface->tolerance * exact[0];
        }
    }
    return true;
}

/* Append the four parts of a cell. It takes an index because appending moves the cells. */
static bool cut(struct surface *surface, size_t index, struct error *why)
{
    if (!array_reserve(&surface->cells, &surface->cell_capacity, surface->cell_count + 4,
                       sizeof *surface->cells, why)) {
        return false;
    }
    struct cell *cell = &surface->cells[index];
    cell->below = (uint32_t)surface->cell_count;
    for (int part = 0; part < 4; part++) {
        const uint64_t x[] = {part < 2 ? cell->x[0] : cell->middle_x,
                              part < 2 ? cell->middle_x : cell->x[1]};
        const uint64_t y[] = {part % 2 == 0 ? cell->y[0] : cell->middle_y,
                              part % 2 == 0 ? cell->middle_y : cell->y[1]};
        set_cell(&surface->cells[surface->cell_count++], x, y, (uint8_t)(cell->depth + 1));
    }
    return true;
}

/* Compute the cell's corners, and cut it if needed. */
static bool look_at(struct surface *surface, size_t index, struct error *why)
{
    struct cell *cell = &surface->cells[index];
    bool can_cut = cell->x[1] > cell->x[0] + 1 || cell->y[1] > cell->y[0] + 1;
    bool bent = false;
    for (int i = 0; i < 4; i++) {
        if (!compute_point(surface, cell->x[i / 2], cell->y[i % 2], cell->corner[i / 2][i % 2],
                           why)) {
            return false;
        }
    }
    if (can_cut && !is_bent(surface, cell, &bent, why)) {
        return false;
    }
    cell->is_known = true;
    return !can_cut || (!bent && cell->depth >= LEAST_CUTS) || cut(surface, index, why);
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

bool surface_read(struct surface *surface, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                  struct error *why)
{
    x = clamp(x, surface->domain.least_x, surface->domain.most_x);
    y = clamp(y, surface->domain.least_y, surface->domain.most_y);
    for (size_t index = 0;;) {
        if (!surface->cells[index].is_known && !look_at(surface, index, why)) {
            return false;
        }
        const struct cell *cell = &surface->cells[index];
        if (cell->below == NO_CELL) {
            interpolate(cell, x, y, values);
            return true;
        }
        index = cell->below + (x > cell->middle_x ? 2u : 0u) + (y > cell->middle_y ? 1u : 0u);
    }
}
