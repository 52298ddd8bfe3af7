/* A replay's job: what caches of tokens (replay_layer.c) and of blocks (replay_blocks.c) have in common. */
#pragma once

#include "decode/replay/replay.h"

/* One of the plans that replay together, and where its ledger goes. */
struct replay_part {
    const struct replay_plan *plan;
    struct ledger *ledger;
    uint32_t capacity;  /* units */
    uint32_t sequences; /* of the trace that the part reads */
};

/* A replay: everything that is the same for all layers. */
struct replay_job {
    const struct trace *trace;
    const struct trace_header *header;
    const struct replay_plan *plan; /* the first part's, for fields that all parts share */
    struct replay_part *parts;
    uint32_t part_count;
    struct demand_shape shape;
    uint32_t sequences;  /* of the trace that any part reads */
    double tokens;       /* of the target, for each unit of the trace */
    struct meter *meter; /* may be NULL */
};

/* Replay source layer `source`: caches of tokens, or of blocks (BLOCK_HEAD, BLOCK_LAYER). They write the rows
 * of the target layers that read it, and add to the totals of the parts' ledgers. */
bool replay_layer(const struct replay_job *job, uint32_t source, struct error *why);
bool replay_blocks(const struct replay_job *job, uint32_t source, struct error *why);

/* The ledger row of one pair with this outcome, in the target's tokens; without its mass. */
struct ledger_row replay_row(const struct replay_job *job, const struct outcome *outcome);

/* Demands (replay_demands.c). A source head has a stream of demands for each way to ask for them; its number
 * is REPLAY_ASKS * head + (enum replay_asks). Target layers choose, so one source head may be read in several
 * ways. With drafts a demand is the union of what the queries of a step want: each unit once, those that any
 * query ranks higher first. */

/* How a target layer asks; of ways that give the same demands, the first. */
enum replay_asks replay_asks_of(const struct replay_job *job, const struct replay_plan *plan,
                                uint32_t target);

/* What reads a source layer. */
struct replay_reader {
    const struct replay_job *job;
    uint32_t source, streams;
    bool *read; /* [streams] those that are read: the caller sets them */
    struct trace_frame frame;
    struct demand_buffer buffer;
    struct retrieval_buffer retrieval;
    struct replay_union *unions; /* with drafts */
    struct arrays arrays;
};

/* Reading no stream yet. The caller releases it, on failure too. */
bool replay_reader_init(struct replay_reader *reader, const struct replay_job *job, uint32_t source,
                        struct error *why);
void replay_reader_release(struct replay_reader *reader);

/* Called for each demand of a stream, in the order of the plan's steps, warm-up included; valid meanwhile. */
typedef bool (*replay_visit)(void *context, uint32_t stream, uint32_t step,
                             const struct demand *demand, struct error *why);

bool replay_visit_demands(struct replay_reader *reader, uint32_t sequence, replay_visit visit,
                          void *context, struct error *why);

/* The cold units (ledger.h) of a step that missed `missed`; the cache now holds `held`. `most`: its
 * largest size so far, in and out. */
uint64_t replay_cold(uint64_t held, uint64_t missed, uint64_t *most);

/* What a cache holds before the first recorded step.
 *
 * A recording begins in the middle of a text, where a cache has long been full. If it began empty,
 * a large one would not be full when counting begins, and would miss what it would have held. So it
 * begins with a guess that looks at nothing later: the units that the first step weighs most, as
 * far as the recording knows, and then the latest ones. The policy sees them as one demand, before
 * the first. What the guess had wrong is evicted in the warm-up, as far as that is long enough: an
 * LRU that the warm-up alone fills does not depend on it at all. */

/* Caches cannot be filled if the policy chooses a set itself or by queries, or a block's position decides. */
static inline bool replay_fills(const struct replay_plan *plan)
{
    const struct policy_kind *policy = plan->policy;
    return plan->starts_full && !policy->needs_queries && !policy->chooses_own &&
           !policy->by_position;
}

/* The units outside the window in that order; `units` and `mass` [units of the trace] are its arrays. */
struct demand replay_fill(const struct demand *first, const struct demand_shape *shape,
                          uint32_t *units, uint8_t *mass);

/* The caches that a source layer needs: one for each distinct stream, importance, policy and capacity. */

#define REPLAY_NO_INSTANCE UINT32_MAX

struct replay_instance {
    uint32_t stream;
    struct replay_head head;        /* its importances, if the policy needs queries */
    const struct replay_plan *plan; /* the first with its policy */
    uint32_t capacity;              /* the least, if the policy ignores it */
    uint32_t next;                  /* instance of the same stream, or REPLAY_NO_INSTANCE */
    /* Of one sequence. */
    struct policy *cache;
    struct ledger_row *rows;    /* [steps] */
    uint64_t most;              /* units that the cache has held */
    uint64_t wanted, hit, cold; /* units of the trace over reported steps */
};

/* A source layer and the target layers [first, end) that read it. */
struct replay_instances {
    struct arrays arrays; /* of all that is here */
    const struct replay_job *job;
    uint32_t source, first, end;
    struct replay_instance *all;
    uint32_t count;
    uint32_t streams;          /* REPLAY_ASKS * source KV heads */
    uint32_t *first_of_stream; /* [streams] instance or REPLAY_NO_INSTANCE */
    uint32_t *instance_of;     /* [part][target layer - first][target KV head], likewise */
};

/* Without caches: whoever plays a sequence creates them. The caller releases it, on failure too. */
bool replay_instances_init(struct replay_instances *set, const struct replay_job *job,
                           uint32_t source, struct error *why);
void replay_instances_release(struct replay_instances *set);

/* The instance of a part's target head; NULL if the head is resident. */
const struct replay_instance *replay_instance_of(const struct replay_instances *set, uint32_t part,
                                                 uint32_t target, uint32_t head);

/* The sequences of a batch that read one recorded sequence. Sequence b reads recorded sequence b modulo their
 * number. They read one outcome many times, shifted: a row is added once for each distinct shift, however
 * large the batch. */

/* Add a target layer's `rows` [steps], moved by `shift`, once for each sequence of the part that
 * reads recorded sequence `sequence`. Of the `copies` sequences of the whole batch that read it,
 * number c is shifted by another floor(c * steps / copies). The mass is not moved. */
void replay_add_copies(const struct replay_part *part, uint32_t target,
                       const struct ledger_row *rows, uint32_t shift, uint32_t sequence);

/* The number of the part's sequences that read recorded sequence `sequence`; and whether any part's do. */
uint32_t replay_copies(const struct replay_part *part, uint32_t sequence);
bool replay_is_read(const struct replay_job *job, uint32_t sequence);

/* Add as many times units to the totals of the part's ledger; layers do at the same time. */
void replay_add_totals(const struct replay_part *part, uint32_t sequence, uint64_t wanted,
                       uint64_t hit, uint64_t cold);
