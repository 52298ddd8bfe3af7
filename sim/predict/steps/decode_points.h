/* Steps of the decode pipeline that were computed for a surface (decode_surface.h), kept for the
 * surfaces of other runs. Servers of one question that differ in their requests, in the arrival
 * rate or in the memory for prefixes read the same surface.
 *
 * A point is a pure function of the table's key and of its place, so it does not matter which
 * thread computes it. Points are computed one at a time: another thread may want the same one.
 */
#pragma once

#include "machine/profile.h"
#include "predict/decode/shared.h"
#include "server/surface.h"

struct cores;

struct decode_point {
    uint64_t sequences, context;
    double values[SURFACE_VALUES];
    struct trust trust;
    bool asks_trace; /* hits depend on the trace */
};

/* A table of points, created empty. A value of predict/decode/shared.h. */
struct decode_points;
extern const struct shared_kind decode_points_kind;

/* Compute the point. Its place is set; all other fields are 0. */
typedef bool (*decode_point_compute)(void *context, struct decode_point *point, struct error *why);

/* Read the point at (point->sequences, point->context); compute it if the table does not have it. A
 * failure is not kept. A thread that waits for another one's point gives back one of `cores`, which
 * may be NULL. */
bool decode_points_read(const struct decode_points *points, struct cores *cores,
                        decode_point_compute compute, void *context, struct decode_point *point,
                        struct error *why);
