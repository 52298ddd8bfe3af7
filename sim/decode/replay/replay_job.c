#include "decode/replay/replay_job.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "policy/sizes.h"
#include "trace/format/ahead.h"
#include "trace/generate/trace_profile.h"

bool replay_read_frame(const struct replay_job *job, uint32_t sequence, uint32_t tile,
                       uint32_t source, struct replay_scratch *scratch, struct error *why)
{
    return job->ahead != NULL
               ? trace_ahead_read(job->ahead, job->reader, sequence, tile, &scratch->frame, why)
               : trace_read(job->trace, sequence, tile, source, &scratch->frame, why);
}

void replay_scratch_init(struct replay_scratch *scratch)
{
    trace_frame_init(&scratch->frame);
    demand_buffer_init(&scratch->buffer);
    retrieval_buffer_init(&scratch->retrieval);
}

void replay_scratch_release(struct replay_scratch *scratch)
{
    trace_frame_release(&scratch->frame);
    demand_buffer_release(&scratch->buffer);
    retrieval_buffer_release(&scratch->retrieval);
}

/* Are the demands of this way to ask approximate rows of the trace? */
static bool replay_asks_recorded(const struct replay_job *job, enum replay_asks asks)
{
    return job->header->has_approximate && (asks != ASKS_OWN || job->plan->asks_recorded);
}

bool replay_read_demand(const struct replay_job *job, enum replay_asks asks, uint32_t head,
                        uint32_t s, struct replay_scratch *scratch, struct demand *demand,
                        struct error *why)
{
    const struct retrieval_error *error = &job->plan->errors[asks];
    if (!replay_asks_recorded(job, asks) && retrieval_errs(error)) {
        return demand_from_retrieval(job->header, &scratch->frame, head, s, &job->shape, error,
                                     &scratch->retrieval, demand, why);
    }
    return (replay_asks_recorded(job, asks) ? demand_from_approximate : demand_from_frame)(
        job->header, &scratch->frame, head, s, &job->shape, &scratch->buffer, demand, why);
}

static uint64_t replay_job_rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

struct ledger_row replay_row(const struct replay_job *job, const struct outcome *outcome)
{
    double managed = job->tokens / job->plan->manager_unit;
    double compared = job->plan->policy->needs_queries ? 1 : managed; /* query heads do not scale */
    uint64_t wanted = replay_job_rounded(job->tokens * (outcome->hit + outcome->missed));
    uint64_t missed = replay_job_rounded(job->tokens * outcome->missed);
    uint64_t for_cpu = replay_job_rounded(job->tokens * outcome->for_cpu);
    return (struct ledger_row){
        .wanted = wanted + for_cpu,
        .hit = wanted - missed,
        .missed = missed,
        .missed_worst = missed,
        .for_cpu = for_cpu,
        .lookups = replay_job_rounded(compared * outcome->lookups),
        .updates = replay_job_rounded(compared * outcome->updates),
        .inserts = replay_job_rounded(managed * outcome->inserts),
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

/* Code 255 stands for hardly any mass (traces/FORMAT.md); here it also marks units not yet taken. */
enum { TAKEN = 0, LEAST_MASS = 255 };

struct demand replay_fill(const struct demand *first, const struct demand_shape *shape,
                          uint32_t *units, uint8_t *mass)
{
    struct demand fill = *first;
    uint32_t count = 0;
    memset(mass, LEAST_MASS, shape->end_unit);
    for (uint32_t i = 0; i < first->recorded; i++) {
        units[count++] = first->units[i];
        mass[first->units[i]] = TAKEN;
    }
    for (uint32_t unit = shape->end_unit; unit-- > shape->first_unit;) {
        if (mass[unit] != TAKEN) {
            units[count++] = unit;
        }
    }
    if (first->recorded > 0) {
        memcpy(mass, first->mass, first->recorded);
    }
    memset(mass + first->recorded, LEAST_MASS, count - first->recorded);
    fill.units = units;
    fill.mass = mass;
    fill.wanted = fill.recorded = count;
    return fill;
}

static uint32_t *assigned_instance(const struct replay_instances *set, uint32_t part,
                                   uint32_t target, uint32_t head)
{
    size_t row = (size_t)part * (set->end - set->first) + target - set->first;
    return &set->instance_of[row * set->job->plan->kv_heads + head];
}

/* Do two ways give the same demands? */
static bool asks_alike(const struct replay_job *job, enum replay_asks a, enum replay_asks b)
{
    const struct retrieval_error *x = &job->plan->errors[a], *y = &job->plan->errors[b];
    bool recorded = replay_asks_recorded(job, a);
    return recorded == replay_asks_recorded(job, b) &&
           (recorded || (x->noise == y->noise && x->lasting == y->lasting));
}

/* How the target layer asks. The first layer's query is known only when it runs, and layers that
 * are loaded whole ask for nothing ahead. Of ways that are alike, the first. */
static enum replay_asks asks_of(const struct replay_job *job, const struct replay_plan *plan,
                                uint32_t target)
{
    enum replay_asks asks = target <= REPLAY_LAST_EARLY ? ASKS_AHEAD_EARLY : ASKS_AHEAD, first = 0;
    if (!plan->speculates || target == 0 || target < plan->whole_layers) {
        return ASKS_OWN;
    }
    while (!asks_alike(job, first, asks)) {
        first++;
    }
    return first;
}

static bool replay_instances_same_policy(const struct replay_plan *a, const struct replay_plan *b)
{
    const double *x = a->policy_values, *y = b->policy_values;
    return a->policy == b->policy &&
           (x == y ||
            (x != NULL && y != NULL && memcmp(x, y, POLICY_MOST_PARAMS * sizeof *x) == 0));
}

/* The instance of this stream and importance and the plan's policy; it is created if there is
 * none. */
static uint32_t find_instance(struct replay_instances *set, const struct replay_plan *plan,
                              uint32_t stream, float importance)
{
    for (uint32_t i = set->first_of_stream[stream]; i != REPLAY_NO_INSTANCE; i = set->all[i].next) {
        if (set->all[i].importance == importance &&
            replay_instances_same_policy(set->all[i].plan, plan)) {
            return i;
        }
    }
    set->all[set->count] = (struct replay_instance){.stream = stream,
                                                    .importance = importance,
                                                    .plan = plan,
                                                    .next = set->first_of_stream[stream]};
    return set->first_of_stream[stream] = set->count++;
}

static void assign_part(struct replay_instances *set, uint32_t part)
{
    const struct replay_job *job = set->job;
    const struct replay_plan *plan = job->parts[part].plan;
    for (uint32_t target = set->first; target < set->end; target++) {
        for (uint32_t head = 0; head < plan->kv_heads; head++) {
            const struct replay_head *stated = &plan->heads[(size_t)target * plan->kv_heads + head];
            uint32_t source_layer, source_head, shift;
            replay_source(job->header, plan->layers, plan->kv_heads, target, head, plan->steps,
                          &source_layer, &source_head, &shift);
            float importance = plan->policy->needs_queries ? stated->importance : 0;
            uint32_t stream = REPLAY_ASKS * source_head + asks_of(job, plan, target);
            *assigned_instance(set, part, target, head) =
                stated->offloaded ? find_instance(set, plan, stream, importance)
                                  : REPLAY_NO_INSTANCE;
        }
    }
}

/* Does a part read this instance? */
static bool reads(const struct replay_instances *set, uint32_t part, uint32_t instance)
{
    for (uint32_t target = set->first; target < set->end; target++) {
        for (uint32_t head = 0; head < set->job->plan->kv_heads; head++) {
            if (*assigned_instance(set, part, target, head) == instance) {
                return true;
            }
        }
    }
    return false;
}

/* The index of a capacity among an instance's; `count` if it has none such. */
static uint32_t replay_instances_find_size(const struct replay_instance *instance,
                                           uint32_t capacity)
{
    uint32_t i = 0;
    while (i < instance->count && instance->capacities[i] != capacity) {
        i++;
    }
    return i;
}

static int compare_units(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Collect the capacities of all parts that read the instance. */
static bool take_sizes(struct replay_instances *set, uint32_t number, struct error *why)
{
    const struct replay_job *job = set->job;
    struct replay_instance *instance = &set->all[number];
    instance->capacities = arrays_add(&set->arrays, job->part_count, sizeof(uint32_t), why);
    for (uint32_t part = 0; instance->capacities != NULL && part < job->part_count; part++) {
        uint32_t capacity = job->parts[part].capacity;
        if (reads(set, part, number) &&
            replay_instances_find_size(instance, capacity) == instance->count) {
            instance->capacities[instance->count++] = capacity;
        }
    }
    if (instance->capacities != NULL) {
        qsort(instance->capacities, instance->count, sizeof(uint32_t), compare_units);
    }
    instance->records = arrays_add(&set->arrays, instance->count, sizeof *instance->records, why);
    for (uint32_t i = 0; instance->records != NULL && i < instance->count; i++) {
        instance->records[i].rows =
            arrays_add(&set->arrays, job->plan->steps, sizeof(struct ledger_row), why);
    }
    return !set->arrays.failed;
}

void replay_instances_release(struct replay_instances *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        policy_sizes_destroy(set->all[i].caches);
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
    bool good = true;
    for (uint32_t i = 0; good && i < set->count; i++) {
        good = take_sizes(set, i, why);
    }
    return good;
}

const struct replay_record *replay_instances_record(const struct replay_instances *set,
                                                    uint32_t part, uint32_t target, uint32_t head)
{
    uint32_t i = *assigned_instance(set, part, target, head);
    if (i == REPLAY_NO_INSTANCE) {
        return NULL;
    }
    const struct replay_instance *instance = &set->all[i];
    return &instance->records[replay_instances_find_size(instance, set->job->parts[part].capacity)];
}

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
