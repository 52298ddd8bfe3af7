/* Steps of the decode pipeline that were computed for a surface (decode_surface.h), kept for those
 * of other runs: servers of one sweep that differ in their requests, in the rate at which these
 * come or in the memory for prefixes read the same surface.
 *
 * A point is a pure function of what the table is of and of its place, so who computes it changes
 * nothing. One is computed at a time: the others that want it would compute it as well.
 */
#ifndef SERVING_DECODE_POINTS_H
#define SERVING_DECODE_POINTS_H

#include "hardware/profile.h"
#include "run/shared.h"
#include "serve/surface.h"

struct decode_point {
    uint64_t sequences, context;
    double values[SURFACE_VALUES];
    struct trust trust;
    bool asks_trace; /* hits rest on the trace */
};

/* A table, empty as it is made. A value of run/shared.h. */
struct decode_points;
extern const struct shared_kind decode_points_kind;

/* Compute the point, whose place is set and all else is 0. */
typedef bool (*decode_point_compute)(void *context, struct decode_point *point, struct error *why);

/* The point at (point->sequences, point->context), computed where the table does not have it. What
 * fails is not kept. */
bool decode_points_read(const struct decode_points *points, decode_point_compute compute,
                        void *context, struct decode_point *point, struct error *why);

#endif
