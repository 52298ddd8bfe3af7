/* Replay of one source layer: its caches, and what they add to the target layers that read it. */
#ifndef DECODE_REPLAY_REPLAY_LAYER_H
#define DECODE_REPLAY_REPLAY_LAYER_H

#include "decode/replay/replay.h"
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

/* One of the plans that replay together, and where its ledger goes. */
struct replay_part {
    const struct replay_plan *plan;
    struct ledger *ledger;
    uint32_t capacity;            /* units */
    uint32_t sequences;           /* of the trace that are read */
    struct replay_totals *totals; /* one a source layer */
};

/* A replay: what is the same for all its layers. */
struct replay_job {
    const struct trace *trace;
    const struct trace_header *header;
    const struct replay_plan *plan; /* for what all parts have in common */
    struct replay_part *parts;
    uint32_t part_count;
    struct demand_shape shape;
    uint32_t sequences;             /* of the trace that any part reads */
    double tokens;                  /* of the target for a unit of the trace */
    struct replay_scratch *scratch; /* one a thread */
};

/* The row of one pair whose outcome this is, in the target's tokens. */
struct ledger_row replay_row(const struct replay_job *job, float window_mass,
                             const struct outcome *outcome);

/* Add a target layer's `rows` [steps], moved by `shift`, for the part's sequences that read
 * recorded sequence `sequence`. Copy c of all that do in the whole batch is shifted by
 * floor(c * steps / copies) more. */
void replay_add_copies(const struct replay_part *part, uint32_t target,
                       const struct ledger_row *rows, uint32_t shift, uint32_t sequence);

/* Sequences of the part that read recorded sequence `sequence`; and does any of any part? */
uint32_t replay_copies(const struct replay_part *part, uint32_t sequence);
bool replay_is_read(const struct replay_job *job, uint32_t sequence);

/* The replay of source layer `index`, an item of parallel_for() over a struct replay_job. Writes
 * the rows of the target layers that read it and its own totals, nothing else. */
bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why);

/* The same where blocks are cached. */
bool replay_blocks(uint32_t index, uint32_t thread, void *context, struct error *why);

#endif
