/* Replay of one source layer: its caches, and what they add to the target layers that read it. */
#ifndef DECODE_REPLAY_LAYER_H
#define DECODE_REPLAY_LAYER_H

#include "decode/replay.h"
#include "trace/demand.h"

/* What a thread reads into. */
struct replay_scratch {
    struct trace_frame frame;
    struct demand_buffer buffer;
};

/* What one source layer adds to the ledger's totals. */
struct replay_totals {
    bool filled;
    uint64_t wanted, hit;
};

/* A replay: what is the same for all its layers. */
struct replay_job {
    const struct trace *trace;
    const struct trace_header *header;
    const struct replay_plan *plan;
    struct ledger *ledger;
    struct demand_shape shape;
    uint32_t capacity;              /* units */
    uint32_t sequences;             /* of the trace that are read */
    double tokens;                  /* of the target for a unit of the trace */
    struct replay_scratch *scratch; /* one a thread */
    struct replay_totals *totals;   /* one a source layer */
};

/* The replay of source layer `index`, an item of parallel_for() over a struct replay_job. Writes
 * the rows of the target layers that read it and its own totals, nothing else. */
bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why);

#endif
