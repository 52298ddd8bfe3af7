/* The heads of a source layer are replayed tile by tile and head by head, by the caches of
 * replay_job.h. The outcomes are then added to the rows of the target layers in each part.
 *
 * A policy that knows the future needs two passes over the layer. The first notes what each head
 * will want, a number for each wanted unit, and keeps it while the sequence replays.
 */

#include "decode/replay/replay_layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "decode/replay/ledger.h"
#include "policy/next_use.h"
#include "policy/sizes.h"

struct replay_layer {
    struct arrays arrays; /* the fixed ones below */
    const struct replay_job *job;
    struct replay_instances set;
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

static void replay_layer_release(struct replay_layer *layer)
{
    for (uint32_t stream = 0; layer->future && stream < layer->set.streams; stream++) {
        next_use_release(&layer->future[stream]);
    }
    replay_instances_release(&layer->set);
    arrays_release(&layer->arrays);
    replay_union_release(&layer->unions);
}

/* The caller releases it, on failure too. */
static bool replay_layer_init(struct replay_layer *layer, const struct replay_job *job,
                              uint32_t source, struct error *why)
{
    const struct replay_plan *plan = job->plan;
    const struct trace_header *header = job->header;
    *layer = (struct replay_layer){.job = job};
    if (!replay_instances_init(&layer->set, job, source, why)) {
        return false;
    }
    struct arrays *arrays = &layer->arrays;
    layer->importance = arrays_add(arrays, header->query_heads, sizeof(float), why);
    layer->future = arrays_add(arrays, layer->set.streams, sizeof *layer->future, why);
    layer->for_cpu = arrays_add(arrays, plan->kv_heads, sizeof *layer->for_cpu, why);
    layer->tasks = arrays_add(arrays, plan->steps, sizeof *layer->tasks, why);
    layer->outcomes = arrays_add(arrays, job->part_count, sizeof *layer->outcomes, why);
    layer->fill_units = arrays_add(arrays, header->units, sizeof *layer->fill_units, why);
    layer->fill_mass = arrays_add(arrays, header->units, sizeof *layer->fill_mass, why);
    return !arrays->failed && (plan->rows == NULL || replay_union_init(&layer->unions, job, why));
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
    for (uint32_t i = 0; i < layer->set.count; i++) {
        struct replay_instance *instance = &layer->set.all[i];
        for (uint32_t j = 0; j < group; j++) {
            layer->importance[j] = instance->importance;
        }
        env.seed = replay_seed(job->plan->seed, header, sequence, layer->set.source,
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
            struct replay_record *record = &instance->records[size];
            *record = (struct replay_record){.rows = record->rows};
        }
    }
    return true;
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
        struct replay_record *record = &instance->records[size];
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
    for (uint32_t i = layer->set.first_of_stream[stream]; i != REPLAY_NO_INSTANCE;
         i = layer->set.all[i].next) {
        struct replay_instance *instance = &layer->set.all[i];
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
    for (uint32_t i = layer->set.first_of_stream[stream]; i != REPLAY_NO_INSTANCE;
         i = layer->set.all[i].next) {
        replay_step(layer, &layer->set.all[i], step, demand);
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

/* All steps of a tile, stream by stream. */
static bool visit_tile(struct replay_layer *layer, struct replay_scratch *scratch,
                       demand_visit visit, struct error *why)
{
    const struct replay_job *job = layer->job;
    const struct trace_frame *frame = &scratch->frame;
    uint32_t end = job->plan->warmup + job->plan->steps;
    for (uint32_t stream = 0; stream < layer->set.streams; stream++) {
        if (layer->set.first_of_stream[stream] == REPLAY_NO_INSTANCE) {
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
    bool good = replay_union_read(&layer->unions, layer->job, sequence, layer->set.source,
                                  layer->set.first_of_stream, REPLAY_NO_INSTANCE, scratch, why);
    for (uint32_t stream = 0; good && stream < layer->set.streams; stream++) {
        uint32_t end = layer->set.first_of_stream[stream] == REPLAY_NO_INSTANCE
                           ? 0
                           : plan->warmup + plan->steps;
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
        if (!replay_read_frame(job, sequence, tile, layer->set.source, scratch, why) ||
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
    for (uint32_t stream = 0; stream < layer->set.streams; stream++) {
        layer->future[stream].count = 0;
    }
    bool good = visit_sequence(layer, sequence, scratch, replay_layer_foresee_demand, why);
    for (uint32_t stream = 0; good && stream < layer->set.streams; stream++) {
        good = next_use_resolve(&layer->future[stream], header->units, why);
    }
    return good;
}

/* Did all policies give valid answers? */
static bool check_instances(const struct replay_layer *layer, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < layer->set.count; i++) {
        good = policy_sizes_check(layer->set.all[i].caches, why);
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

/* The shift with which a target head reads its source. */
static uint32_t shift_of(const struct replay_layer *layer, uint32_t target, uint32_t head)
{
    const struct replay_plan *plan = layer->job->plan;
    uint32_t source_layer, source_head, shift;
    replay_source(layer->job->header, plan->layers, plan->kv_heads, target, head, plan->steps,
                  &source_layer, &source_head, &shift);
    return shift;
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
            const struct replay_record *record =
                replay_instances_record(&layer->set, part, target, head);
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
    struct replay_totals *totals = &part->totals[layer->set.source];
    uint32_t copies = replay_copies(part, sequence);
    for (uint32_t target = layer->set.first; target < layer->set.end; target++) {
        uint32_t heads = 0;
        for (uint32_t head = 0; head < part->plan->kv_heads; head++) {
            const struct replay_record *record =
                replay_instances_record(&layer->set, number, target, head);
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

bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    const struct replay_job *job = context;
    struct replay_scratch scratch;
    struct replay_layer layer;
    (void)thread;
    replay_scratch_init(&scratch);
    bool good = replay_layer_init(&layer, job, index, why);
    for (uint32_t q = 0; good && layer.set.count > 0 && q < job->sequences; q++) {
        if (!replay_is_read(job, q)) {
            continue;
        }
        good = replay_sequence(&layer, q, &scratch, why);
        if (good) {
            for (uint32_t part = 0; part < layer.job->part_count; part++) {
                if (replay_copies(&layer.job->parts[part], q) > 0) {
                    compose_part(&layer, part, q);
                }
            }
        }
    }
    replay_scratch_release(&scratch);
    replay_layer_release(&layer);
    return good;
}

struct kept_demand {
    struct demand demand; /* without its arrays, which may still move */
    size_t first;         /* they are units[first, first + length) and mass[...], */
    uint32_t length;
    size_t query; /* and queries[query ...], one head after the other */
};

bool replay_union_init(struct replay_union *all, const struct replay_job *job, struct error *why)
{
    uint32_t units = job->header->units;
    *all = (struct replay_union){.streams = REPLAY_ASKS * job->header->kv_heads,
                                 .steps = replay_steps_read(job->plan),
                                 .whole = job->plan->policy->needs_queries};
    size_t rows = (size_t)all->streams * all->steps;
    all->kept = arrays_add(&all->arrays, rows, sizeof *all->kept, why);
    all->stamp = arrays_add(&all->arrays, units, sizeof *all->stamp, why);
    all->union_units = arrays_add(&all->arrays, units, sizeof *all->union_units, why);
    all->union_mass = arrays_add(&all->arrays, units, sizeof *all->union_mass, why);
    all->members = arrays_add(&all->arrays, job->plan->queries, sizeof *all->members, why);
    return !all->arrays.failed;
}

void replay_union_release(struct replay_union *all)
{
    arrays_release(&all->arrays);
    free(all->units);
    free(all->mass);
    free(all->queries);
}

/* ---- what is kept ---- */

static bool union_keep_queries(struct replay_union *all, const struct demand *demand,
                               struct error *why)
{
    size_t bytes = all->whole ? (size_t)demand->query_heads * demand->head_dim : 0;
    if (!array_reserve(&all->queries, &all->query_capacity, all->query_count + bytes, 1, why)) {
        return false;
    }
    for (uint32_t j = 0; all->whole && j < demand->query_heads; j++) {
        memcpy(all->queries + all->query_count,
               demand->query + (size_t)j * demand->query_stride * demand->head_dim,
               demand->head_dim);
        all->query_count += demand->head_dim;
    }
    return true;
}

/* Of the first step, units that it does not ask for are kept, too: caches begin with them
 * (replay_job.h). */
static bool union_keep(struct replay_union *all, uint32_t stream, uint32_t step,
                       const struct demand *demand, struct error *why)
{
    uint32_t length = step == 0 || all->whole ? demand->recorded : demand->wanted;
    size_t end = all->count + length, query = all->query_count;
    if (!array_reserve(&all->units, &all->unit_capacity, end, sizeof *all->units, why) ||
        !array_reserve(&all->mass, &all->mass_capacity, end, sizeof *all->mass, why) ||
        !union_keep_queries(all, demand, why)) {
        return false;
    }
    if (length > 0) {
        memcpy(all->units + all->count, demand->units, length * sizeof *all->units);
        memcpy(all->mass + all->count, demand->mass, length);
    }
    all->kept[(size_t)stream * all->steps + step] = (struct kept_demand){
        .demand = *demand, .first = all->count, .query = query, .length = length};
    all->count = end;
    return true;
}

static bool union_read_tile(struct replay_union *all, const struct replay_job *job,
                            const uint32_t *wanted, uint32_t none, struct replay_scratch *scratch,
                            struct error *why)
{
    const struct trace_frame *frame = &scratch->frame;
    bool good = true;
    for (uint32_t stream = 0; stream < all->streams; stream++) {
        uint32_t end = wanted[stream] == none ? 0 : frame->steps;
        for (uint32_t s = 0; good && s < end && frame->first_step + s < all->steps; s++) {
            struct demand demand;
            good = replay_read_demand(job, stream % REPLAY_ASKS, stream / REPLAY_ASKS, s, scratch,
                                      &demand, why) &&
                   union_keep(all, stream, frame->first_step + s, &demand, why);
        }
    }
    return good;
}

bool replay_union_read(struct replay_union *all, const struct replay_job *job, uint32_t sequence,
                       uint32_t source, const uint32_t *wanted, uint32_t none,
                       struct replay_scratch *scratch, struct error *why)
{
    uint32_t last_tile = (all->steps - 1) / job->header->steps_per_tile;
    bool good = true;
    all->count = all->query_count = 0;
    for (uint32_t tile = 0; good && tile <= last_tile; tile++) {
        good = replay_read_frame(job, sequence, tile, source, scratch, why) &&
               union_read_tile(all, job, wanted, none, scratch, why);
    }
    return good;
}

/* ---- a union ---- */

/* The recorded steps [first, end) whose demands a step's union has. */
static uint32_t union_end(const struct replay_plan *plan, uint32_t step)
{
    return plan->rejected_before ? plan->rows[step + 1] : plan->rows[step] + plan->queries;
}

static void union_add(struct replay_union *all, size_t at, uint32_t *count)
{
    uint32_t unit = all->units[at];
    if (all->stamp[unit] != all->stamps) {
        all->stamp[unit] = all->stamps;
        all->union_mass[*count] = all->mass[at];
        all->union_units[(*count)++] = unit;
    }
}

/* Add what each of these demands has at this rank. Returns false if none has as many. */
static bool union_add_rank(struct replay_union *all, const struct kept_demand *kept, uint32_t rows,
                           uint32_t rank, uint32_t *count)
{
    bool any = false;
    for (uint32_t i = 0; i < rows; i++) {
        if (rank < kept[i].demand.wanted) {
            union_add(all, kept[i].first + rank, count);
            any = true;
        }
    }
    return any;
}

/* The demands of a union's queries, whose arrays grow no more. */
static void union_place_members(struct replay_union *all, const struct kept_demand *kept,
                                uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        struct demand *member = &all->members[i];
        *member = kept[i].demand;
        member->units = all->units + kept[i].first;
        member->mass = all->mass + kept[i].first;
        member->scale = NULL;
        member->query = all->whole ? all->queries + kept[i].query : NULL;
        member->query_stride = 1;
    }
}

struct demand replay_union_demand(struct replay_union *all, const struct replay_plan *plan,
                                  uint32_t stream, uint32_t step)
{
    uint32_t first = plan->rows[step], rows = union_end(plan, step) - first, count = 0, rank = 0;
    const struct kept_demand *kept = &all->kept[(size_t)stream * all->steps + first];
    all->stamps++;
    while (union_add_rank(all, kept, rows, rank, &count)) {
        rank++;
    }
    uint32_t wanted = count;
    for (rank = kept->demand.wanted; rank < kept->length; rank++) {
        union_add(all, kept->first + rank, &count);
    }
    union_place_members(all, kept, rows);
    return (struct demand){.units = all->union_units,
                           .mass = all->union_mass,
                           .wanted = wanted,
                           .recorded = count,
                           .query_heads = kept->demand.query_heads,
                           .head_dim = kept->demand.head_dim,
                           .members = all->members,
                           .member_count = rows,
                           .staying = plan->rows[step + 1] - first};
}
