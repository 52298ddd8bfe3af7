/* The heads of a source layer are replayed tile by tile and head by head, by the caches of replay_job.h. The
 * outcomes are then added to the rows of the target layers in each part. A policy that knows the future needs
 * two passes over the layer. The first notes what each head will want, a number for each wanted unit, and
 * keeps it while the sequence replays. */

#include "decode/replay/replay_job.h"

#include <math.h>

#include "policy/next_use.h"

struct replay_layer {
    struct arrays arrays; /* the fixed ones below */
    const struct replay_job *job;
    struct replay_instances set;
    float *importance;        /* [query heads of a group] */
    struct next_use *future;  /* [streams] of the sequence; empty unless the policy needs it */
    uint64_t *for_cpu;        /* [target KV heads] tokens of one step, scratch */
    struct ledger_row *tasks; /* [steps] of the CPU's tasks, scratch */
    uint32_t *fill_units;     /* [units of the trace] what caches begin with, scratch */
    uint8_t *fill_mass;       /* [units of the trace] */
    struct replay_reader reader;
};

/* The caller releases it, on failure too. */
static bool replay_layer_init(struct replay_layer *layer, const struct replay_job *job,
                              uint32_t source, struct error *why)
{
    const struct replay_plan *plan = job->plan;
    const struct trace_header *header = job->header;
    *layer = (struct replay_layer){.job = job};
    if (!replay_reader_init(&layer->reader, job, source, why) ||
        !replay_instances_init(&layer->set, job, source, why)) {
        return false;
    }
    for (uint32_t stream = 0; stream < layer->set.streams; stream++) {
        layer->reader.read[stream] = layer->set.first_of_stream[stream] != REPLAY_NO_INSTANCE;
    }
    struct arrays *arrays = &layer->arrays;
    layer->importance = arrays_add(arrays, header->query_heads, sizeof(float), why);
    layer->future = arrays_add(arrays, layer->set.streams, sizeof *layer->future, why);
    layer->for_cpu = arrays_add(arrays, plan->kv_heads, sizeof *layer->for_cpu, why);
    layer->tasks = arrays_add(arrays, plan->steps, sizeof *layer->tasks, why);
    layer->fill_units = arrays_add(arrays, header->units, sizeof *layer->fill_units, why);
    layer->fill_mass = arrays_add(arrays, header->units, sizeof *layer->fill_mass, why);
    return !arrays->failed;
}

/* Create empty caches for the next sequence. */
static bool start_instances(struct replay_layer *layer, uint32_t sequence, struct error *why)
{
    const struct replay_job *job = layer->job;
    const struct trace_header *header = job->header;
    uint32_t group = header->query_heads / header->kv_heads;
    uint32_t outside = job->shape.end_unit - job->shape.first_unit, wanted = job->shape.wanted;
    bool unions = job->plan->rows != NULL && !job->plan->policy->needs_queries;
    bool all = (replay_fills(job->plan) || unions) && outside > wanted;
    /* At most so many are wanted at once; of a reused set, by one token. */
    struct policy_env env = {.blocks = header->units,
                             .wanted = all ? outside : wanted,
                             .tokens = job->plan->rows != NULL ? job->plan->queries : 1,
                             .order = job->plan->order,
                             .sinks = job->shape.first_unit,
                             .recent = header->units - job->shape.end_unit,
                             .warmup = job->plan->warmup,
                             .decoded = (double)job->plan->decoded / job->tokens,
                             .born = 1 / job->tokens,
                             .query_heads = header->has_queries ? group : 0,
                             .head_dim = header->head_dim,
                             .importance = layer->importance};
    for (uint32_t i = 0; i < layer->set.count; i++) {
        struct replay_instance *instance = &layer->set.all[i];
        for (uint32_t j = 0; j < group; j++) {
            const struct replay_head *head = &instance->head;
            layer->importance[j] =
                head->queries > 0 ? head->query_importance[j % head->queries] : head->importance;
        }
        env.kv_importance = &instance->head.importance;
        env.seed = replay_seed(job->plan->seed, header, sequence, layer->set.source,
                               instance->stream / REPLAY_ASKS);
        env.next_use = layer->future[instance->stream].access;
        env.capacity = instance->capacity;
        policy_destroy(instance->cache);
        instance->cache =
            policy_create(instance->plan->policy, instance->plan->policy_values, &env, why);
        if (instance->cache == NULL) {
            return false;
        }
        instance->most = instance->wanted = instance->hit = instance->cold = 0;
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

static void replay_step(const struct replay_job *job, struct replay_instance *instance,
                        uint32_t step, const struct demand *demand)
{
    struct outcome outcome;
    policy_access(instance->cache, demand, &outcome);
    uint64_t cold = replay_cold(instance->cache->held, outcome.missed, &instance->most);
    if (step >= job->plan->warmup) {
        struct ledger_row *row = &instance->rows[step - job->plan->warmup];
        *row = replay_row(job, &outcome);
        replay_layer_take_mass(demand, &outcome, row);
        instance->wanted += outcome.hit + outcome.missed + outcome.for_cpu;
        instance->hit += outcome.hit;
        instance->cold += cold;
    }
}

static struct demand fill_of(struct replay_layer *layer, const struct demand *first)
{
    return replay_fill(first, &layer->job->shape, layer->fill_units, layer->fill_mass);
}

static bool replay_demand(void *context, uint32_t stream, uint32_t step,
                          const struct demand *demand, struct error *why)
{
    struct replay_layer *layer = context;
    bool fills = step == 0 && replay_fills(layer->job->plan);
    struct demand fill = fills ? fill_of(layer, demand) : (struct demand){.wanted = 0};
    (void)why;
    for (uint32_t i = layer->set.first_of_stream[stream]; i != REPLAY_NO_INSTANCE;
         i = layer->set.all[i].next) {
        struct replay_instance *instance = &layer->set.all[i];
        if (fills) {
            struct outcome unused;
            policy_access(instance->cache, &fill, &unused);
            instance->most = instance->cache->held;
        }
        replay_step(layer->job, instance, step, demand);
    }
    return true;
}

static bool replay_layer_foresee_demand(void *context, uint32_t stream, uint32_t step,
                                        const struct demand *demand, struct error *why)
{
    struct replay_layer *layer = context;
    if (step == 0 && replay_fills(layer->job->plan)) {
        struct demand fill = fill_of(layer, demand);
        if (!next_use_add(&layer->future[stream], &fill, why)) {
            return false;
        }
    }
    return next_use_add(&layer->future[stream], demand, why);
}

/* The first pass: note what each stream of the sequence will want. */
static bool foresee_sequence(struct replay_layer *layer, uint32_t sequence, struct error *why)
{
    const struct trace_header *header = layer->job->header;
    for (uint32_t stream = 0; stream < layer->set.streams; stream++) {
        layer->future[stream].count = 0;
    }
    bool good =
        replay_visit_demands(&layer->reader, sequence, replay_layer_foresee_demand, layer, why);
    for (uint32_t stream = 0; good && stream < layer->set.streams; stream++) {
        good = next_use_resolve(&layer->future[stream], header->units, why);
    }
    return good;
}

static bool replay_sequence(struct replay_layer *layer, uint32_t sequence, struct error *why)
{
    bool foresees = layer->job->plan->policy->needs_next_use;
    bool good = (!foresees || foresee_sequence(layer, sequence, why)) &&
                start_instances(layer, sequence, why) &&
                replay_visit_demands(&layer->reader, sequence, replay_demand, layer, why);
    for (uint32_t i = 0; good && i < layer->set.count; i++) {
        good = policy_check(layer->set.all[i].cache, why);
    }
    return good;
}

static uint32_t shift_of(const struct replay_layer *layer, uint32_t target, uint32_t head)
{
    return replay_source(layer->job->header, layer->job->plan, target, head).shift;
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
            const struct replay_instance *record =
                replay_instance_of(&layer->set, part, target, head);
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
    for (uint32_t target = layer->set.first; target < layer->set.end; target++) {
        uint32_t heads = 0;
        for (uint32_t head = 0; head < part->plan->kv_heads; head++) {
            const struct replay_instance *record =
                replay_instance_of(&layer->set, number, target, head);
            if (record != NULL) {
                replay_add_copies(part, target, record->rows, shift_of(layer, target, head),
                                  sequence);
                heads++;
                replay_add_totals(part, sequence, record->wanted, record->hit, record->cold);
            }
        }
        if (part->plan->cpu_threads > 0 && heads > 0) {
            compose_tasks(layer, number, target, heads, sequence);
        }
    }
}

bool replay_layer(const struct replay_job *job, uint32_t source, struct error *why)
{
    struct replay_layer layer;
    bool good = replay_layer_init(&layer, job, source, why);
    for (uint32_t q = 0; good && layer.set.count > 0 && q < job->sequences; q++) {
        if (!replay_is_read(job, q)) {
            continue;
        }
        good = replay_sequence(&layer, q, why);
        for (uint32_t part = 0; good && part < job->part_count; part++) {
            if (replay_copies(&job->parts[part], q) > 0) {
                compose_part(&layer, part, q);
            }
        }
    }
    for (uint32_t stream = 0; layer.future && stream < layer.set.streams; stream++) {
        next_use_release(&layer.future[stream]);
    }
    replay_instances_release(&layer.set);
    arrays_release(&layer.arrays);
    replay_reader_release(&layer.reader);
    return good;
}
