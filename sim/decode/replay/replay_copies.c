#include "decode/replay/replay_copies.h"

#include "trace/generate/mapping.h"

/* Of the sequences of the whole batch that read one recorded sequence (`all`), the range
 * [first, end) that belongs to a part. */
struct readers {
    uint32_t first, end, all;
};

/* Among the first `count` sequences of the batch. */
static uint32_t readers_among(const struct replay_part *part, uint32_t sequence, uint64_t count)
{
    uint64_t recorded = part->sequences;
    return count > sequence ? (uint32_t)((count - sequence + recorded - 1) / recorded) : 0;
}

static struct readers readers_of(const struct replay_part *part, uint32_t sequence)
{
    uint64_t first = part->plan->before, end = first + part->plan->batch;
    return (struct readers){
        .first = readers_among(part, sequence, first),
        .end = readers_among(part, sequence, end),
        .all = readers_among(part, sequence, replay_all_sequences(part->plan)),
    };
}

uint32_t replay_copies(const struct replay_part *part, uint32_t sequence)
{
    struct readers readers = readers_of(part, sequence);
    return readers.end - readers.first;
}

bool replay_is_read(const struct replay_job *job, uint32_t sequence)
{
    uint32_t part = 0;
    while (part < job->part_count && replay_copies(&job->parts[part], sequence) == 0) {
        part++;
    }
    return part < job->part_count;
}

/* The number of the part's readers that are shifted by less than `by`. */
static uint32_t shifted_less(struct readers readers, uint32_t steps, uint64_t by)
{
    uint32_t place = mapping_first(readers.all, steps, by);
    return place < readers.first ? 0 : (place < readers.end ? place : readers.end) - readers.first;
}

void replay_add_copies(const struct replay_part *part, uint32_t target,
                       const struct ledger_row *rows, uint32_t shift, uint32_t sequence)
{
    uint32_t layers = part->plan->layers, steps = part->plan->steps;
    struct readers readers = readers_of(part, sequence);
    for (uint64_t by = 0; by < steps; by++) {
        uint32_t times = shifted_less(readers, steps, by + 1) - shifted_less(readers, steps, by);
        for (uint64_t s = 0; times > 0 && s < steps; s++) {
            ledger_add(&part->ledger->rows[s * layers + target], &rows[(s + shift + by) % steps],
                       times);
        }
    }
    for (uint32_t s = 0; s < steps; s++) {
        ledger_add_mass(&part->ledger->rows[(size_t)s * layers + target], &rows[s],
                        readers.end - readers.first);
    }
}
