/* What a server's connector makes of copies between a GPU and host memory: how many pieces a unit has, how
 * much longer they take than its bytes on the link, and the CPU's time for them (server/server_engine.h). */
#pragma once

#include "predict/scenario/point.h"
#include "server/server.h"

/* The connector by which the point's engine moves KV; NULL if its system names none, or the engine
 * has no such one. */
const struct server_connector *serving_connector(const struct point *point);

/* What waits for copies: the fields `layers`, `layered_tiers`, `load_steps`, `idle_step_ns`, `step_saves`,
 * `step_takes`, `lookup` and `step_ns`. */
void serving_pieces_waits(const struct point *point, struct server_options *out);

/* The times of a unit of `prefix_unit` tokens, of one GPU's part: to be loaded, or `saved`. Lowers `trust`
 * to that of the figures. */
struct copy_times serving_pieces_times(const struct point *point,
                                       const struct server_connector *connector, bool saved,
                                       struct trust *trust);
