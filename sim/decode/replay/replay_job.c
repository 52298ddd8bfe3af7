#include "decode/replay/replay_job.h"

#include <string.h>

#include "trace/generate/trace_profile.h"

struct ledger_row replay_row(const struct replay_job *job, const struct outcome *outcome)
{
    double managed = job->tokens / job->plan->manager_unit;
    double compared = job->plan->policy->needs_queries ? 1 : managed; /* query heads do not scale */
    uint64_t wanted = ledger_rounded(job->tokens * (outcome->hit + outcome->missed));
    uint64_t missed = ledger_rounded(job->tokens * outcome->missed);
    uint64_t for_cpu = ledger_rounded(job->tokens * outcome->for_cpu);
    return (struct ledger_row){
        .wanted = wanted + for_cpu,
        .hit = wanted - missed,
        .missed = missed,
        .missed_worst = missed,
        .for_cpu = for_cpu,
        .lookups = ledger_rounded(compared * outcome->lookups),
        .updates = ledger_rounded(compared * outcome->updates),
        .inserts = ledger_rounded(managed * outcome->inserts),
        .fetching_heads = missed > 0,
        .reused_heads = outcome->reused,
        .offloaded_heads = 1,
    };
}

uint64_t replay_cold(uint64_t held, uint64_t missed, uint64_t *most)
{
    uint64_t grown = held > *most ? held - *most : 0;
    *most = held > *most ? held : *most;
    return grown < missed ? grown : missed;
}

static uint32_t *assigned_instance(const struct replay_instances *set, uint32_t part,
                                   uint32_t target, uint32_t head)
{
    size_t row = (size_t)part * (set->end - set->first) + target - set->first;
    return &set->instance_of[row * set->job->plan->kv_heads + head];
}

/* The instance of this stream and head, and the part's policy and capacity; created if missing. */
static uint32_t find_instance(struct replay_instances *set, const struct replay_part *part,
                              uint32_t stream, const struct replay_head *head)
{
    const struct replay_plan *plan = part->plan;
    bool any = plan->policy->ignores_capacity;
    for (uint32_t i = set->first_of_stream[stream]; i != REPLAY_NO_INSTANCE; i = set->all[i].next) {
        struct replay_instance *instance = &set->all[i];
        const struct replay_head *other = &instance->head;
        const double *x = instance->plan->policy_values, *y = plan->policy_values;
        if (other->importance == head->importance && other->queries == head->queries &&
            memcmp(other->query_importance, head->query_importance,
                   head->queries * sizeof(float)) == 0 &&
            instance->plan->policy == plan->policy &&
            (x == y ||
             (x != NULL && y != NULL && memcmp(x, y, POLICY_MOST_PARAMS * sizeof *x) == 0)) &&
            (any || instance->capacity == part->capacity)) {
            bool less = part->capacity < instance->capacity;
            instance->capacity = less ? part->capacity : instance->capacity;
            return i;
        }
    }
    set->all[set->count] = (struct replay_instance){.stream = stream,
                                                    .head = *head,
                                                    .plan = plan,
                                                    .capacity = part->capacity,
                                                    .next = set->first_of_stream[stream]};
    return set->first_of_stream[stream] = set->count++;
}

static void assign_part(struct replay_instances *set, uint32_t part)
{
    const struct replay_job *job = set->job;
    const struct replay_plan *plan = job->parts[part].plan;
    static const struct replay_head alike = {.offloaded = true};
    for (uint32_t target = set->first; target < set->end; target++) {
        for (uint32_t head = 0; head < plan->kv_heads; head++) {
            const struct replay_head *stated = &plan->heads[(size_t)target * plan->kv_heads + head];
            struct replay_source source = replay_source(job->header, plan, target, head);
            const struct replay_head *head_of = plan->policy->needs_queries ? stated : &alike;
            uint32_t stream = REPLAY_ASKS * source.head + replay_asks_of(job, plan, target);
            *assigned_instance(set, part, target, head) =
                stated->offloaded ? find_instance(set, &job->parts[part], stream, head_of)
                                  : REPLAY_NO_INSTANCE;
        }
    }
}

void replay_instances_release(struct replay_instances *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        policy_destroy(set->all[i].cache);
    }
    arrays_release(&set->arrays);
}

bool replay_instances_init(struct replay_instances *set, const struct replay_job *job,
                           uint32_t source, struct error *why)
{
    const struct replay_plan *plan = job->plan;
    const struct trace_header *header = job->header;
    *set = (struct replay_instances){
        .job = job,
        .source = source,
        .first = mapping_first(plan->layers, header->layers, source),
        .end = mapping_first(plan->layers, header->layers, (uint64_t)source + 1),
        .streams = REPLAY_ASKS * header->kv_heads,
    };
    size_t targets = (size_t)(set->end - set->first) * plan->kv_heads * job->part_count;
    set->all = arrays_add(&set->arrays, targets, sizeof *set->all, why);
    set->first_of_stream = arrays_add(&set->arrays, set->streams, sizeof(uint32_t), why);
    set->instance_of = arrays_add(&set->arrays, targets, sizeof(uint32_t), why);
    if (set->arrays.failed) {
        return false;
    }
    for (uint32_t stream = 0; stream < set->streams; stream++) {
        set->first_of_stream[stream] = REPLAY_NO_INSTANCE;
    }
    for (uint32_t part = 0; part < set->job->part_count; part++) {
        assign_part(set, part);
    }
    for (uint32_t i = 0; i < set->count; i++) {
        set->all[i].rows = arrays_add(&set->arrays, plan->steps, sizeof(struct ledger_row), why);
    }
    return !set->arrays.failed;
}

const struct replay_instance *replay_instance_of(const struct replay_instances *set, uint32_t part,
                                                 uint32_t target, uint32_t head)
{
    uint32_t i = *assigned_instance(set, part, target, head);
    return i != REPLAY_NO_INSTANCE ? &set->all[i] : NULL;
}

/* The part's range [first, end) of the batch's sequences that read one recorded sequence (`all`). */
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

void replay_add_totals(const struct replay_part *part, uint32_t sequence, uint64_t wanted,
                       uint64_t hit, uint64_t cold)
{
    uint64_t copies = replay_copies(part, sequence);
    __atomic_fetch_add(&part->ledger->demand_wanted, copies * wanted, __ATOMIC_RELAXED);
    __atomic_fetch_add(&part->ledger->demand_hit, copies * hit, __ATOMIC_RELAXED);
    __atomic_fetch_add(&part->ledger->demand_cold, copies * cold, __ATOMIC_RELAXED);
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
