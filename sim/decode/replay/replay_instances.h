/* The caches that a source layer needs, and who reads them.
 *
 * A source head has a stream of demands for each way to ask for them; its number is
 * REPLAY_ASKS * head + (enum replay_asks). Target layers choose, so one source head may be read in
 * several ways. There is one instance for each distinct stream, importance among the target heads,
 * and policy among the parts; it has a cache for each capacity.
 */
#pragma once

#include "decode/replay/replay_job.h"

#define REPLAY_NO_INSTANCE UINT32_MAX

struct policy_sizes;

/* The rows of one cache for one sequence. */
struct replay_record {
    struct ledger_row *rows;    /* [steps] owned */
    uint64_t most;              /* units that the cache has held */
    uint64_t wanted, hit, cold; /* units of the trace over reported steps */
};

/* Caches of several sizes over one stream, of one policy, for heads of one importance. */
struct replay_instance {
    uint32_t stream;
    float importance;
    const struct replay_plan *plan; /* the first with its policy */
    uint32_t next;                  /* instance of the same stream, or REPLAY_NO_INSTANCE */
    uint32_t *capacities;           /* [count] ascending, owned */
    uint32_t count;
    struct policy_sizes *caches;
    struct replay_record *records; /* [count] owned */
};

/* A source layer and the target layers [first, end) that read it. */
struct replay_instances {
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

/* The record of a part's target head; NULL if the head is resident. */
const struct replay_record *replay_instances_record(const struct replay_instances *set,
                                                    uint32_t part, uint32_t target, uint32_t head);

/* The sequences of a batch that read one recorded sequence.
 *
 * Sequence b reads recorded sequence b modulo their number. They read one outcome many times,
 * shifted: a row is added once for each distinct shift, however large the batch.
 */

/* Add a target layer's `rows` [steps], moved by `shift`, once for each sequence of the part that
 * reads recorded sequence `sequence`. Of the `copies` sequences of the whole batch that read it,
 * number c is shifted by another floor(c * steps / copies). The mass is not moved. */
void replay_add_copies(const struct replay_part *part, uint32_t target,
                       const struct ledger_row *rows, uint32_t shift, uint32_t sequence);

/* The number of the part's sequences that read recorded sequence `sequence`; and whether any
 * sequence of any part reads it. */
uint32_t replay_copies(const struct replay_part *part, uint32_t sequence);
bool replay_is_read(const struct replay_job *job, uint32_t sequence);
