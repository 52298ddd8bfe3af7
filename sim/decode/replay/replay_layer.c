/* The heads of a source layer are replayed tile by tile and head by head. There is one cache for
 * each distinct importance among the target heads, and each policy and capacity among the parts.
 * The outcomes
 * are then added to the rows of the target layers in each part.
 *
 * A source head has a stream of demands for each way to ask for them; its number is
 * REPLAY_ASKS * head + (enum replay_asks). Target layers choose, so one source head may be read in
 * several ways.
 *
 * A policy that knows the future needs two passes over the layer. The first notes what each head
 * will want, a number for each wanted unit, and keeps it while the sequence replays.
 *
 * The sequences of a batch read one outcome many times, shifted. A row is added once for each
 * distinct shift, however large the batch.
 */
#include "decode/replay/replay_layer.h"

#include "base/array.h"
#include "decode/replay/cpu_heads.h"
#include "decode/replay/replay_fill.h"
#include "decode/replay/replay_union.h"
#include "policy/next_use.h"
#include "policy/sizes.h"
#include "trace/generate/mapping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* The rows of one cache for one sequence. */
struct record {
    struct ledger_row *rows;    /* [steps] owned */
    uint64_t most;              /* units that the cache has held */
    uint64_t wanted, hit, cold; /* units of the trace over reported steps */
};

/* Caches of several sizes over one stream, of one policy, for heads of one importance. */
struct replay_instance {
    uint32_t stream;
    float importance;
    const struct replay_plan *plan; /* the first with its policy */
    uint32_t next;                  /* instance of the same stream, or NONE */
    uint32_t *capacities;           /* [count] ascending, owned */
    uint32_t count;
    struct policy_sizes *caches;
    struct record *records; /* [count] owned */
};

/* A source layer and the target layers [first, end) that read it. */
struct replay_layer {
    const struct replay_job *job;
    uint32_t source, first, end;
    struct replay_instance *instances;
    uint32_t count;
    uint32_t streams;           /* REPLAY_ASKS * source KV heads */
    uint32_t *first_of_stream;  /* [streams] instance or NONE */
    uint32_t *instance_of;      /* [part][target layer - first][target KV head] instance or NONE */
    float *importance;          /* [query heads of a group] */
    struct next_use *future;    /* [streams] of the sequence; empty unless the policy needs it */
    uint64_t *for_cpu;          /* [target KV heads] tokens of one step, scratch */
    struct ledger_row *tasks;   /* [steps] of the CPU's tasks, scratch */
    struct outcome *outcomes;   /* [parts] of an instance's caches, scratch */
    uint32_t *fill_units;       /* [units of the trace] what caches begin with, scratch */
    uint8_t *fill_mass;         /* [units of the trace] */
    struct replay_union unions; /* of plans with drafts */
};

/* Called for the demand of one stream at one step. */
typedef bool (*demand_visit)(struct replay_layer *layer, uint32_t stream, uint32_t step,
                             const struct demand *demand, struct error *why);

static uint32_t *assigned_instance(const struct replay_layer *layer, uint32_t part, uint32_t target,
                                   uint32_t head)
{
    size_t row = (size_t)part * (layer->end - layer->first) + target - layer->first;
    return &layer->instance_of[row * layer->job->plan->kv_heads + head];
}

/* Are these demands approximate rows of the trace? */
static bool asks_recorded(const struct replay_job *job, enum replay_asks asks)
{
    return job->header->has_approximate && (asks != ASKS_OWN || job->plan->asks_recorded);
}

/* Do two ways give the same demands? */
static bool asks_alike(const struct replay_job *job, enum replay_asks a, enum replay_asks b)
{
    const struct retrieval_error *x = &job->plan->errors[a], *y = &job->plan->errors[b];
    bool recorded = asks_recorded(job, a);
    return recorded == asks_recorded(job, b) &&
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

static bool replay_layer_same_policy(const struct replay_plan *a, const struct replay_plan *b)
{
    const double *x = a->policy_values, *y = b->policy_values;
    return a->policy == b->policy &&
           (x == y ||
            (x != NULL && y != NULL && memcmp(x, y, POLICY_MOST_PARAMS * sizeof *x) == 0));
}

/* The instance of this stream and importance and the plan's policy; it is created if there is
 * none. */
static uint32_t find_instance(struct replay_layer *layer, const struct replay_plan *plan,
                              uint32_t stream, float importance)
{
    for (uint32_t i = layer->first_of_stream[stream]; i != NONE; i = layer->instances[i].next) {
        if (layer->instances[i].importance == importance &&
            replay_layer_same_policy(layer->instances[i].plan, plan)) {
            return i;
        }
    }
    layer->instances[layer->count] =
        (struct replay_instance){.stream = stream,
                                 .importance = importance,
                                 .plan = plan,
                                 .next = layer->first_of_stream[stream]};
    return layer->first_of_stream[stream] = layer->count++;
}

static void assign_part(struct replay_layer *layer, uint32_t part)
{
    const struct replay_job *job = layer->job;
    const struct replay_plan *plan = job->parts[part].plan;
    for (uint32_t target = layer->first; target < layer->end; target++) {
        for (uint32_t head = 0; head < plan->kv_heads; head++) {
            const struct replay_head *stated = &plan->heads[(size_t)target * plan->kv_heads + head];
            uint32_t source_layer, source_head, shift;
            replay_source(job->header, plan->layers, plan->kv_heads, target, head, plan->steps,
                          &source_layer, &source_head, &shift);
            float importance = plan->policy->needs_queries ? stated->importance : 0;
            uint32_t stream = REPLAY_ASKS * source_head + asks_of(job, plan, target);
            *assigned_instance(layer, part, target, head) =
                stated->offloaded ? find_instance(layer, plan, stream, importance) : NONE;
        }
    }
}

static void assign_instances(struct replay_layer *layer)
{
    for (uint32_t stream = 0; stream < layer->streams; stream++) {
        layer->first_of_stream[stream] = NONE;
    }
    for (uint32_t part = 0; part < layer->job->part_count; part++) {
        assign_part(layer, part);
    }
}

/* Does a part read this instance? */
static bool reads(const struct replay_layer *layer, uint32_t part, uint32_t instance)
{
    for (uint32_t target = layer->first; target < layer->end; target++) {
        for (uint32_t head = 0; head < layer->job->plan->kv_heads; head++) {
            if (*assigned_instance(layer, part, target, head) == instance) {
                return true;
            }
        }
    }
    return false;
}

/* The index of a capacity among an instance's; `count` if it has none such. */
static uint32_t replay_layer_find_size(const struct replay_instance *instance, uint32_t capacity)
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
static bool take_sizes(struct replay_layer *layer, uint32_t number, struct error *why)
{
    const struct replay_job *job = layer->job;
    struct replay_instance *instance = &layer->instances[number];
    instance->capacities = array_zeroed(job->part_count, sizeof(uint32_t), why);
    for (uint32_t part = 0; instance->capacities != NULL && part < job->part_count; part++) {
        uint32_t capacity = job->parts[part].capacity;
        if (reads(layer, part, number) &&
            replay_layer_find_size(instance, capacity) == instance->count) {
            instance->capacities[instance->count++] = capacity;
        }
    }
    if (instance->capacities != NULL) {
        qsort(instance->capacities, instance->count, sizeof(uint32_t), compare_units);
    }
    instance->records = instance->capacities != NULL
                            ? array_zeroed(instance->count, sizeof *instance->records, why)
                            : NULL;
    bool good = instance->records != NULL;
    for (uint32_t i = 0; good && i < instance->count; i++) {
        instance->records[i].rows = array_zeroed(job->plan->steps, sizeof(struct ledger_row), why);
        good = instance->records[i].rows != NULL;
    }
    return good;
}

static void instance_release(struct replay_instance *instance)
{
    for (uint32_t i = 0; instance->records != NULL && i < instance->count; i++) {
        free(instance->records[i].rows);
    }
    policy_sizes_destroy(instance->caches);
    free(instance->records);
    free(instance->capacities);
}

static void replay_layer_release(struct replay_layer *layer)
{
    for (uint32_t i = 0; i < layer->count; i++) {
        instance_release(&layer->instances[i]);
    }
    for (uint32_t stream = 0; layer->future && stream < layer->streams; stream++) {
        next_use_release(&layer->future[stream]);
    }
    free(layer->future);
    free(layer->instances);
    free(layer->first_of_stream);
    free(layer->instance_of);
    free(layer->importance);
    free(layer->for_cpu);
    free(layer->tasks);
    free(layer->outcomes);
    free(layer->fill_units);
    free(layer->fill_mass);
    replay_union_release(&layer->unions);
}

/* The caller releases it, on failure too. */
static bool replay_layer_init(struct replay_layer *layer, const struct replay_job *job,
                              uint32_t source, struct error *why)
{
    const struct replay_plan *plan = job->plan;
    const struct trace_header *header = job->header;
    *layer = (struct replay_layer){
        .job = job,
        .source = source,
        .first = mapping_first(plan->layers, header->layers, source),
        .end = mapping_first(plan->layers, header->layers, (uint64_t)source + 1),
        .streams = REPLAY_ASKS * header->kv_heads,
    };
    size_t targets = (size_t)(layer->end - layer->first) * plan->kv_heads * job->part_count;
    if (!(layer->instances = array_zeroed(targets, sizeof *layer->instances, why)) ||
        !(layer->first_of_stream = array_zeroed(layer->streams, sizeof(uint32_t), why)) ||
        !(layer->instance_of = array_zeroed(targets, sizeof(uint32_t), why)) ||
        !(layer->importance = array_zeroed(header->query_heads, sizeof(float), why)) ||
        !(layer->future = array_zeroed(layer->streams, sizeof *layer->future, why)) ||
        !(layer->for_cpu = array_zeroed(plan->kv_heads, sizeof *layer->for_cpu, why)) ||
        !(layer->tasks = array_zeroed(plan->steps, sizeof *layer->tasks, why)) ||
        !(layer->outcomes = array_zeroed(job->part_count, sizeof *layer->outcomes, why)) ||
        !(layer->fill_units = array_zeroed(header->units, sizeof *layer->fill_units, why)) ||
        !(layer->fill_mass = array_zeroed(header->units, sizeof *layer->fill_mass, why))) {
        return false;
    }
    assign_instances(layer);
    bool good = plan->rows == NULL || replay_union_init(&layer->unions, job, why);
    for (uint32_t i = 0; good && i < layer->count; i++) {
        good = take_sizes(layer, i, why);
    }
    return good;
}

/* The most units that a demand can have; where sets are reused, that one token's can have. */
static uint32_t most_wanted(const struct replay_job *job)
{
    uint32_t outside = job->shape.end_unit - job->shape.first_unit;
    bool unions = job->plan->rows != NULL && !job->plan->policy->needs_queries;
    bool all = replay_fills(job->plan) || unions;
    return all && outside > job->shape.wanted ? outside : job->shape.wanted;
}

/* Create empty caches for the next sequence. */
static bool start_instances(struct replay_layer *layer, uint32_t sequence, struct error *why)
{
    const struct replay_job *job = layer->job;
    const struct trace_header *header = job->header;
    uint32_t group = header->query_heads / header->kv_heads;
    struct policy_env env = {.blocks = header->units,
                             .wanted = most_wanted(job),
                             .tokens = job->plan->rows != NULL ? job->plan->queries : 1,
                             .order = job->plan->order,
                             .sinks = job->shape.first_unit,
                             .recent = header->units - job->shape.end_unit,
                             .warmup = job->plan->warmup,
                             .born = 1 / job->tokens,
                             .query_heads = header->has_queries ? group : 0,
                             .head_dim = header->head_dim,
                             .importance = layer->importance};
    for (uint32_t i = 0; i < layer->count; i++) {
        struct replay_instance *instance = &layer->instances[i];
        for (uint32_t j = 0; j < group; j++) {
            layer->importance[j] = instance->importance;
        }
        env.seed = replay_seed(job->plan->seed, header, sequence, layer->source,
                               instance->stream / REPLAY_ASKS);
        env.next_use = layer->future[instance->stream].access;
        policy_sizes_destroy(instance->caches);
        instance->caches =
            policy_sizes_create(instance->plan->policy, instance->plan->policy_values, &env,
                                instance->capacities, instance->count, why);
        if (instance->caches == NULL) {
            return false;
        }
        for (uint32_t size = 0; size < instance->count; size++) {
            struct record *record = &instance->records[size];
            *record = (struct record){.rows = record->rows};
        }
    }
    return true;
}

static uint64_t replay_layer_rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

struct ledger_row replay_row(const struct replay_job *job, const struct outcome *outcome)
{
    double managed = job->tokens / job->plan->manager_unit;
    double compared = job->plan->policy->needs_queries ? 1 : managed; /* query heads do not scale */
    uint64_t wanted = replay_layer_rounded(job->tokens * (outcome->hit + outcome->missed));
    uint64_t missed = replay_layer_rounded(job->tokens * outcome->missed);
    uint64_t for_cpu = replay_layer_rounded(job->tokens * outcome->for_cpu);
    return (struct ledger_row){
        .wanted = wanted + for_cpu,
        .hit = wanted - missed,
        .missed = missed,
        .missed_worst = missed,
        .for_cpu = for_cpu,
        .lookups = replay_layer_rounded(compared * outcome->lookups),
        .updates = replay_layer_rounded(compared * outcome->updates),
        .inserts = replay_layer_rounded(managed * outcome->inserts),
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

/* The attention mass of a policy's answer. Of the tokens born while decoding, the least is without
 * those that the policy may have dropped: a row has one mass for all of them. It is assumed that
 * the older ones do not have more of it than the later ones. */
static void replay_layer_take_mass(const struct demand *demand, const struct outcome *outcome,
                                   struct ledger_row *row)
{
    bool reused = demand->member_count > 0 && outcome->reused;
    struct mass_bounds mass =
        reused ? outcome->members : demand_attended(demand, &outcome->attended);
    double lost = (double)outcome->born_lost * (double)demand->born_mass;
    row->mass = fmax(0, mass.least - lost);
    row->mass_most = mass.most;
}

static void replay_step(struct replay_layer *layer, struct replay_instance *instance, uint32_t step,
                        const struct demand *demand)
{
    const struct replay_job *job = layer->job;
    policy_sizes_access(instance->caches, demand, layer->outcomes);
    for (uint32_t size = 0; size < instance->count; size++) {
        const struct outcome *outcome = &layer->outcomes[size];
        struct record *record = &instance->records[size];
        uint64_t cold =
            replay_cold(policy_sizes_held(instance->caches, size), outcome->missed, &record->most);
        if (step >= job->plan->warmup) {
            struct ledger_row *row = &record->rows[step - job->plan->warmup];
            *row = replay_row(job, outcome);
            replay_layer_take_mass(demand, outcome, row);
            record->wanted += outcome->hit + outcome->missed + outcome->for_cpu;
            record->hit += outcome->hit;
            record->cold += cold;
        }
    }
}

static struct demand fill_of(struct replay_layer *layer, const struct demand *first)
{
    return replay_fill(first, &layer->job->shape, layer->fill_units, layer->fill_mass);
}

/* Let the stream's caches begin with what the first demand suggests. */
static void fill_caches(struct replay_layer *layer, uint32_t stream, const struct demand *first)
{
    struct demand fill = fill_of(layer, first);
    for (uint32_t i = layer->first_of_stream[stream]; i != NONE; i = layer->instances[i].next) {
        struct replay_instance *instance = &layer->instances[i];
        policy_sizes_access(instance->caches, &fill, layer->outcomes);
        for (uint32_t size = 0; size < instance->count; size++) {
            instance->records[size].most = policy_sizes_held(instance->caches, size);
        }
    }
}

static bool replay_demand(struct replay_layer *layer, uint32_t stream, uint32_t step,
                          const struct demand *demand, struct error *why)
{
    (void)why;
    if (step == 0 && replay_fills(layer->job->plan)) {
        fill_caches(layer, stream, demand);
    }
    for (uint32_t i = layer->first_of_stream[stream]; i != NONE; i = layer->instances[i].next) {
        replay_step(layer, &layer->instances[i], step, demand);
    }
    return true;
}

static bool replay_layer_foresee_demand(struct replay_layer *layer, uint32_t stream, uint32_t step,
                                        const struct demand *demand, struct error *why)
{
    if (step == 0 && replay_fills(layer->job->plan)) {
        struct demand fill = fill_of(layer, demand);
        if (!next_use_add(&layer->future[stream], &fill, why)) {
            return false;
        }
    }
    return next_use_add(&layer->future[stream], demand, why);
}

bool replay_read_demand(const struct replay_job *job, enum replay_asks asks, uint32_t head,
                        uint32_t s, struct replay_scratch *scratch, struct demand *demand,
                        struct error *why)
{
    const struct retrieval_error *error = &job->plan->errors[asks];
    if (!asks_recorded(job, asks) && retrieval_errs(error)) {
        return demand_from_retrieval(job->header, &scratch->frame, head, s, &job->shape, error,
                                     &scratch->retrieval, demand, why);
    }
    return (asks_recorded(job, asks) ? demand_from_approximate : demand_from_frame)(
        job->header, &scratch->frame, head, s, &job->shape, &scratch->buffer, demand, why);
}

/* All steps of a tile, stream by stream. */
static bool visit_tile(struct replay_layer *layer, struct replay_scratch *scratch,
                       demand_visit visit, struct error *why)
{
    const struct replay_job *job = layer->job;
    const struct trace_frame *frame = &scratch->frame;
    uint32_t end = job->plan->warmup + job->plan->steps;
    for (uint32_t stream = 0; stream < layer->streams; stream++) {
        if (layer->first_of_stream[stream] == NONE) {
            continue;
        }
        for (uint32_t s = 0; s < frame->steps && frame->first_step + s < end; s++) {
            struct demand demand;
            if (!replay_read_demand(job, stream % REPLAY_ASKS, stream / REPLAY_ASKS, s, scratch,
                                    &demand, why) ||
                !visit(layer, stream, frame->first_step + s, &demand, why)) {
                return false;
            }
        }
    }
    return true;
}

static bool visit_unions(struct replay_layer *layer, uint32_t sequence,
                         struct replay_scratch *scratch, demand_visit visit, struct error *why)
{
    const struct replay_plan *plan = layer->job->plan;
    bool good = replay_union_read(&layer->unions, layer->job, sequence, layer->source,
                                  layer->first_of_stream, NONE, scratch, why);
    for (uint32_t stream = 0; good && stream < layer->streams; stream++) {
        uint32_t end = layer->first_of_stream[stream] == NONE ? 0 : plan->warmup + plan->steps;
        for (uint32_t step = 0; good && step < end; step++) {
            struct demand demand = replay_union_demand(&layer->unions, plan, stream, step);
            good = visit(layer, stream, step, &demand, why);
        }
    }
    return good;
}

static bool visit_sequence(struct replay_layer *layer, uint32_t sequence,
                           struct replay_scratch *scratch, demand_visit visit, struct error *why)
{
    const struct replay_job *job = layer->job;
    if (job->plan->rows != NULL) {
        return visit_unions(layer, sequence, scratch, visit, why);
    }
    uint32_t last_step = job->plan->warmup + job->plan->steps - 1;
    uint32_t last_tile = last_step / job->header->steps_per_tile;
    for (uint32_t tile = 0; tile <= last_tile; tile++) {
        if (!replay_read_frame(job, sequence, tile, layer->source, scratch, why) ||
            !visit_tile(layer, scratch, visit, why)) {
            return false;
        }
    }
    return true;
}

/* The first pass: note what each stream of the sequence will want. */
static bool foresee_sequence(struct replay_layer *layer, uint32_t sequence,
                             struct replay_scratch *scratch, struct error *why)
{
    const struct trace_header *header = layer->job->header;
    for (uint32_t stream = 0; stream < layer->streams; stream++) {
        layer->future[stream].count = 0;
    }
    bool good = visit_sequence(layer, sequence, scratch, replay_layer_foresee_demand, why);
    for (uint32_t stream = 0; good && stream < layer->streams; stream++) {
        good = next_use_resolve(&layer->future[stream], header->units, why);
    }
    return good;
}

/* Did all policies give valid answers? */
static bool check_instances(const struct replay_layer *layer, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < layer->count; i++) {
        good = policy_sizes_check(layer->instances[i].caches, why);
    }
    return good;
}

static bool replay_sequence(struct replay_layer *layer, uint32_t sequence,
                            struct replay_scratch *scratch, struct error *why)
{
    bool foresees = layer->job->plan->policy->needs_next_use;
    return (!foresees || foresee_sequence(layer, sequence, scratch, why)) &&
           start_instances(layer, sequence, why) &&
           visit_sequence(layer, sequence, scratch, replay_demand, why) &&
           check_instances(layer, why);
}

/* Of the sequences of the whole batch that read one recorded sequence (`all`), the range
 * [first, end) that belongs to a part. */
struct readers {
    uint32_t first, end, all;
};

/* Readers of recorded sequence `sequence` among the first `count` sequences of the batch: sequence
 * b reads recorded sequence b modulo their number. */
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

/* The shift with which a target head reads its source. */
static uint32_t shift_of(const struct replay_layer *layer, uint32_t target, uint32_t head)
{
    const struct replay_plan *plan = layer->job->plan;
    uint32_t source_layer, source_head, shift;
    replay_source(layer->job->header, plan->layers, plan->kv_heads, target, head, plan->steps,
                  &source_layer, &source_head, &shift);
    return shift;
}

/* The record of a part's target head; NULL if the head is resident. */
static const struct record *record_of(const struct replay_layer *layer, uint32_t part,
                                      uint32_t target, uint32_t head)
{
    uint32_t i = *assigned_instance(layer, part, target, head);
    if (i == NONE) {
        return NULL;
    }
    const struct replay_instance *instance = &layer->instances[i];
    return &instance->records[replay_layer_find_size(instance, layer->job->parts[part].capacity)];
}

/* Add the CPU's tasks over the `heads` offloaded heads of one sequence. A sequence's place in the
 * batch shifts all its heads equally, so tasks are added like the rows of a head. */
static void compose_tasks(struct replay_layer *layer, uint32_t part, uint32_t target,
                          uint32_t heads, uint32_t sequence)
{
    const struct replay_plan *plan = layer->job->parts[part].plan;
    uint64_t each = cpu_heads_each(heads * replay_all_sequences(plan), plan->cpu_threads);
    for (uint32_t s = 0; s < plan->steps; s++) {
        uint32_t count = 0;
        for (uint32_t head = 0; head < plan->kv_heads; head++) {
            const struct record *record = record_of(layer, part, target, head);
            if (record != NULL) {
                uint32_t at = (s + shift_of(layer, target, head)) % plan->steps;
                layer->for_cpu[count++] = record->rows[at].for_cpu;
            }
        }
        layer->tasks[s] = (struct ledger_row){0};
        cpu_heads_pad(layer->for_cpu, count, each, &layer->tasks[s].for_cpu_padded,
                      &layer->tasks[s].for_cpu_worst);
    }
    replay_add_copies(&layer->job->parts[part], target, layer->tasks, 0, sequence);
}

/* Add the result of a sequence's replay to a part's target layers. */
static void compose_part(struct replay_layer *layer, uint32_t number, uint32_t sequence)
{
    const struct replay_part *part = &layer->job->parts[number];
    struct replay_totals *totals = &part->totals[layer->source];
    uint32_t copies = replay_copies(part, sequence);
    for (uint32_t target = layer->first; target < layer->end; target++) {
        uint32_t heads = 0;
        for (uint32_t head = 0; head < part->plan->kv_heads; head++) {
            const struct record *record = record_of(layer, number, target, head);
            if (record != NULL) {
                replay_add_copies(part, target, record->rows, shift_of(layer, target, head),
                                  sequence);
                heads++;
                totals->wanted += copies * record->wanted;
                totals->hit += copies * record->hit;
                totals->cold += copies * record->cold;
            }
        }
        if (part->plan->cpu_threads > 0 && heads > 0) {
            compose_tasks(layer, number, target, heads, sequence);
        }
    }
}

static void compose_sequence(struct replay_layer *layer, uint32_t sequence)
{
    for (uint32_t part = 0; part < layer->job->part_count; part++) {
        if (replay_copies(&layer->job->parts[part], sequence) > 0) {
            compose_part(layer, part, sequence);
        }
    }
}

bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    const struct replay_job *job = context;
    struct replay_scratch scratch;
    struct replay_layer layer;
    (void)thread;
    replay_scratch_init(&scratch);
    bool good = replay_layer_init(&layer, job, index, why);
    for (uint32_t q = 0; good && layer.count > 0 && q < job->sequences; q++) {
        if (!replay_is_read(job, q)) {
            continue;
        }
        good = replay_sequence(&layer, q, &scratch, why);
        if (good) {
            compose_sequence(&layer, q);
        }
    }
    replay_scratch_release(&scratch);
    replay_layer_release(&layer);
    return good;
}
