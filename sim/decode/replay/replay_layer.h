/* Replay of one source layer: its caches, and their rows in the target layers that read it. */
#ifndef DECODE_REPLAY_REPLAY_LAYER_H
#define DECODE_REPLAY_REPLAY_LAYER_H

#include "decode/replay/replay.h"
#include "trace/demand.h"

/* Buffers of a source layer that replays. */
struct replay_scratch {
    struct trace_frame frame;
    struct demand_buffer buffer;
    struct retrieval_buffer retrieval;
};

void replay_scratch_init(struct replay_scratch *scratch);
void replay_scratch_release(struct replay_scratch *scratch);

/* One source layer's part of the ledger's totals. */
struct replay_totals {
    uint64_t wanted, hit, cold;
};

/* One of the plans that replay together, and where its ledger goes. */
struct replay_part {
    const struct replay_plan *plan;
    struct ledger *ledger;
    uint32_t capacity;            /* units */
    uint32_t sequences;           /* of the trace that the part reads */
    struct replay_totals *totals; /* [source layers] */
};

struct trace_ahead;

/* A replay: everything that is the same for all layers. */
struct replay_job {
    const struct trace *trace;
    struct trace_ahead *ahead; /* of the layer in progress, or NULL: nothing is made ahead ... */
    uint32_t reader;           /* ... and the number of this replay among its readers */
    const struct trace_header *header;
    const struct replay_plan *plan; /* the first part's, for fields that all parts share */
    struct replay_part *parts;
    uint32_t part_count;
    struct demand_shape shape;
    uint32_t sequences;  /* of the trace that any part reads */
    double tokens;       /* of the target, for each unit of the trace */
    struct meter *meter; /* may be NULL */
};

/* The ledger row of one pair with this outcome, in the target's tokens; without its mass. */
struct ledger_row replay_row(const struct replay_job *job, const struct outcome *outcome);

/* Read the frame of a source layer into `scratch`. */
bool replay_read_frame(const struct replay_job *job, uint32_t sequence, uint32_t tile,
                       uint32_t source, struct replay_scratch *scratch, struct error *why);

/* The demand of a source head at step `s` of the tile in `scratch`, as it is asked for. */
bool replay_read_demand(const struct replay_job *job, enum replay_asks asks, uint32_t head,
                        uint32_t s, struct replay_scratch *scratch, struct demand *demand,
                        struct error *why);

/* Add a target layer's `rows` [steps], moved by `shift`, once for each sequence of the part that
 * reads recorded sequence `sequence`. Of the `copies` sequences of the whole batch that read it,
 * number c is shifted by another floor(c * steps / copies). The mass is not moved. */
void replay_add_copies(const struct replay_part *part, uint32_t target,
                       const struct ledger_row *rows, uint32_t shift, uint32_t sequence);

/* The number of the part's sequences that read recorded sequence `sequence`; and whether any
 * sequence of any part reads it. */
uint32_t replay_copies(const struct replay_part *part, uint32_t sequence);
bool replay_is_read(const struct replay_job *job, uint32_t sequence);

/* The cold units (ledger.h) of a step that missed `missed`; the cache now holds `held`. `most`: its
 * largest size so far, in and out. */
uint64_t replay_cold(uint64_t held, uint64_t missed, uint64_t *most);

/* Replay source layer `index`: an item of parallel_for() over a struct replay_job. Writes only its
 * own totals and the rows of the target layers that read it. */
bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why);

/* The same for caches of blocks (BLOCK_HEAD, BLOCK_LAYER). */
bool replay_blocks(uint32_t index, uint32_t thread, void *context, struct error *why);

#endif
