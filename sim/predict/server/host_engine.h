/* What the size that one types for host memory means, and what the engine then takes. Engines count in GiB,
 * in 10^9 bytes or in bytes, of each GPU or of all; and what they take is not what was asked: vLLM's pinned
 * tensors, one a layer, were each rounded up to a power of two, so that up to twice as much is gone; SGLang
 * gives a model's states a pool of the same size again. A row of `host_memory` in engines/NAME.yaml says it,
 * with its source. */
#pragma once

#include "model/kv_pools.h"
#include "predict/scenario/point.h"
#include "server/server_engine.h"
#include "tables/frame.h"

/* The row of the engine whose flag a preset's command has; NULL: it has no size of host memory. */
const struct host_engine *host_engine_of(const char *command, const struct server_engine *engine);

/* The number that is typed for `bytes` of a server: of each GPU, or of each of its ranks, which are engines. */
double host_engine_typed(const struct host_engine *engine, double bytes,
                         const struct point *server);

/* Bytes that a server of `model` takes if asked for `bytes` on all its GPUs together. */
double host_engine_takes(const struct host_engine *engine, const struct model *model,
                         const struct kv_limits *limits, double bytes);

/* "GiB pinned", "GiB of /dev/shm" without the number. */
const char *host_engine_where(const struct host_engine *engine);

/* Bytes of host memory that each server may have, stated or its part; and one whose batch only decodes. */
double host_part(const struct point *point);

/* What sizes a server's host memory is; NULL: its preset types no size. */
const struct host_engine *host_room_engine(const struct point *point);

/* Bytes that the engine takes if its flag asks for so many GiB. */
double host_takes(const struct point *point, uint64_t gib);

/* The most GiB in [least, end) for which an engine takes at most `bytes`; and that a server's part allows. */
uint64_t host_most_within(const struct point *point, uint64_t least, uint64_t end, double bytes);
uint64_t host_most_gib(const struct point *point);
