/* A binary tree of cells for each octave of x, and the points computed so far: a surface has tens of them. */
#include "server/surface.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OCTAVES = 64,
    NO_CELL = UINT32_MAX,
    WIDEST = 4 /* most over least y of a cell that is read */
};

enum surface_side { ALONG_X, ALONG_Y };

struct surface_point {
    uint64_t x, y;
    double values[SURFACE_VALUES];
};

struct surface_cell {
    uint64_t x[2], y[2];
    double corner[2][2][SURFACE_VALUES]; /* [x][y] */
    uint64_t middle_x, middle_y;
    enum surface_side cut; /* the side that was cut, if one was */
    uint32_t below;        /* the lower of its two parts, in front of the other; NO_CELL: none */
    bool is_known;         /* it was cut if needed; if not, its corners are computed */
};

struct surface {
    struct surface_domain domain;
    double tolerance;
    surface_compute compute;
    void *context;
    struct surface_point *points;
    size_t point_count, point_capacity;
    struct surface_cell *cells;
    size_t cell_count, cell_capacity;
    uint32_t octaves[OCTAVES]; /* cells: 1, 2, 3 to 4, 5 to 8, and so on; NO_CELL: not read yet */
};

static uint64_t surface_middle_of(uint64_t least, uint64_t most)
{
    uint64_t middle = (uint64_t)llround(sqrt((double)least * (double)most));
    return middle <= least && most > least + 1 ? least + 1 : middle;
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
    for (int i = 0; i < OCTAVES; i++) {
        surface->octaves[i] = NO_CELL;
    }
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

static bool surface_compute_point(struct surface *surface, uint64_t x, uint64_t y,
                                  double values[SURFACE_VALUES], struct error *why)
{
    for (size_t i = 0; i < surface->point_count; i++) {
        const struct surface_point *known = &surface->points[i];
        if (known->x == x && known->y == y) {
            memcpy(values, known->values, sizeof known->values);
            return true;
        }
    }
    struct surface_point point = {.x = x, .y = y, .values = {0}};
    if (!surface->compute(surface->context, x, y, point.values, why) ||
        !array_reserve(&surface->points, &surface->point_capacity, surface->point_count + 1,
                       sizeof *surface->points, why)) {
        return false;
    }
    surface->points[surface->point_count++] = point;
    memcpy(values, point.values, sizeof point.values);
    return true;
}

/* ---- cells ---------------------------------------------------------------------------- */

static double share_along(const uint64_t side[2], uint64_t at)
{
    return side[1] > side[0] ? (double)(at - side[0]) / (double)(side[1] - side[0]) : 0;
}

static void interpolate(const struct surface_cell *cell, uint64_t x, uint64_t y,
                        double values[SURFACE_VALUES])
{
    double u = share_along(cell->x, x), v = share_along(cell->y, y);
    for (int i = 0; i < SURFACE_VALUES; i++) {
        double low = cell->corner[0][0][i] * (1 - v) + cell->corner[0][1][i] * v;
        double high = cell->corner[1][0][i] * (1 - v) + cell->corner[1][1][i] * v;
        values[i] = low * (1 - u) + high * u;
    }
}

/* Append a cell; NO_CELL when memory is out. */
static uint32_t add_cell(struct surface *surface, const uint64_t x[2], const uint64_t y[2],
                         struct error *why)
{
    if (!array_reserve(&surface->cells, &surface->cell_capacity, surface->cell_count + 1,
                       sizeof *surface->cells, why)) {
        return NO_CELL;
    }
    surface->cells[surface->cell_count] =
        (struct surface_cell){.x = {x[0], x[1]},
                              .y = {y[0], y[1]},
                              .middle_x = surface_middle_of(x[0], x[1]),
                              .middle_y = surface_middle_of(y[0], y[1]),
                              .below = NO_CELL};
    return (uint32_t)surface->cell_count++;
}

/* Append the two parts of a cell. It takes an index because appending moves the cells. */
static bool surface_cut(struct surface *surface, uint32_t index, enum surface_side side,
                        struct error *why)
{
    const struct surface_cell cell = surface->cells[index];
    const uint64_t low_x[] = {cell.x[0], side == ALONG_X ? cell.middle_x : cell.x[1]};
    const uint64_t low_y[] = {cell.y[0], side == ALONG_Y ? cell.middle_y : cell.y[1]};
    const uint64_t high_x[] = {side == ALONG_X ? cell.middle_x : cell.x[0], cell.x[1]};
    const uint64_t high_y[] = {side == ALONG_Y ? cell.middle_y : cell.y[0], cell.y[1]};
    uint32_t below = add_cell(surface, low_x, low_y, why);
    if (below == NO_CELL || add_cell(surface, high_x, high_y, why) == NO_CELL) {
        return false;
    }
    surface->cells[index].cut = side;
    surface->cells[index].below = below;
    return true;
}

/* ---- bends ---------------------------------------------------------------------------- */

/* The values at the ends and the middles of both sides: [x][y]. */
typedef double grid[3][3][SURFACE_VALUES];

/* By how much a line from `low` to `high` misses what is at `share` of it: a share of the time. */
static double miss_of(const double *low, const double *high, double share, const double *exact)
{
    double most = 0;
    for (int v = 0; v < SURFACE_HELD; v++) {
        double miss = fabs(low[v] * (1 - share) + high[v] * share - exact[v]);
        most = fmax(most, miss > 0 ? miss / exact[0] : 0);
    }
    return most;
}

/* By how much the cell bends along a side: the most of three lines. */
static double bend_of(const struct surface_cell *cell, grid at, enum surface_side side)
{
    bool along_x = side == ALONG_X;
    double share =
        along_x ? share_along(cell->x, cell->middle_x) : share_along(cell->y, cell->middle_y);
    double most = 0;
    for (int i = 0; i < 3; i++) {
        most = fmax(most, along_x ? miss_of(at[0][i], at[2][i], share, at[1][i])
                                  : miss_of(at[i][0], at[i][2], share, at[i][1]));
    }
    return most;
}

/* Compute the cell's corners and middles, and cut the side that bends more, if it bends. */
static bool look_at(struct surface *surface, uint32_t index, struct error *why)
{
    grid at;
    double guessed[SURFACE_VALUES];
    struct surface_cell *cell = &surface->cells[index];
    const uint64_t x[] = {cell->x[0], cell->middle_x, cell->x[1]};
    const uint64_t y[] = {cell->y[0], cell->middle_y, cell->y[1]};
    for (int i = 0; i < 9; i++) {
        if (!surface_compute_point(surface, x[i / 3], y[i % 3], at[i / 3][i % 3], why)) {
            return false;
        }
    }
    for (int i = 0; i < 4; i++) {
        memcpy(cell->corner[i / 2][i % 2], at[i / 2 * 2][i % 2 * 2], sizeof at[0][0]);
    }
    double along_x = bend_of(cell, at, ALONG_X), along_y = bend_of(cell, at, ALONG_Y);
    interpolate(cell, cell->middle_x, cell->middle_y, guessed);
    double bend = fmax(fmax(along_x, along_y), miss_of(guessed, guessed, 0, at[1][1]));
    bool bent = bend > surface->tolerance;
    cell->is_known = true;
    return !bent || surface_cut(surface, index, along_x >= along_y ? ALONG_X : ALONG_Y, why);
}

/* Make sure that the cell is cut, or flat. One too long along y is cut unseen: its middle says little. */
static bool know(struct surface *surface, uint32_t index, struct error *why)
{
    struct surface_cell *cell = &surface->cells[index];
    if (cell->is_known) {
        return true;
    }
    if (cell->y[1] > WIDEST * cell->y[0]) {
        cell->is_known = true;
        return surface_cut(surface, index, ALONG_Y, why);
    }
    return look_at(surface, index, why);
}

/* ---- reading -------------------------------------------------------------------------- */

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* The cell of x's octave, which has no bounds in common with its neighbours. */
static uint32_t find_octave(struct surface *surface, uint64_t x, struct error *why)
{
    int octave = 0;
    while (x > UINT64_C(1) << octave) {
        octave++;
    }
    if (surface->octaves[octave] == NO_CELL) {
        const struct surface_domain *all = &surface->domain;
        uint64_t most = UINT64_C(1) << octave, least = most / 2 + 1;
        const uint64_t xs[] = {clamp(least, all->least_x, all->most_x),
                               clamp(most, all->least_x, all->most_x)};
        const uint64_t ys[] = {all->least_y, all->most_y};
        surface->octaves[octave] = add_cell(surface, xs, ys, why);
    }
    return surface->octaves[octave];
}

bool surface_read(struct surface *surface, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                  struct error *why)
{
    x = clamp(x, surface->domain.least_x, surface->domain.most_x);
    y = clamp(y, surface->domain.least_y, surface->domain.most_y);
    uint32_t index = find_octave(surface, x, why);
    while (index != NO_CELL && know(surface, index, why)) {
        const struct surface_cell *cell = &surface->cells[index];
        if (cell->below == NO_CELL) {
            interpolate(cell, x, y, values);
            return true;
        }
        bool above = cell->cut == ALONG_X ? x > cell->middle_x : y > cell->middle_y;
        index = cell->below + above;
    }
    return false;
}
