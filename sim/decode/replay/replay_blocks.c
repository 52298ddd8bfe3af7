/* Replay of caches that keep blocks: ranges of tokens of one head, or the same range of all heads
 * of a layer (PQCache).
 *
 * A wanted token hits if its block is in the cache before the step. Then the policy sees a demand
 * of the step's blocks, those with most wanted tokens first (ties by position): all of them, or the
 * first `block_candidates`. So hits are counted in tokens, and the manager's work in blocks.
 *
 *     tokens  head 0   . x . . | x x . . | . . . .        block     0 1 2
 *             head 1   . . . . | x . . x | . . x .        wanted    1 4 1: 1 first, then 0, then 2
 *
 * A cache belongs to a target layer, whose heads read their source heads shifted in time (traces/FORMAT.md).
 * So the demands of all source heads are read first, in blocks. Then each target layer plays its heads
 * together: a head shifted by s reads step t + s, and past the end it goes on with the first reported step. A
 * block is the same share of the recorded context as of the target's, but at least a unit of the trace. */
#include "decode/replay/replay_job.h"

#include "trace/generate/trace_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block and how many of its units are wanted. */
struct wanted_block {
    uint32_t block, count;
};

/* The blocks that a source head wants at a step. */
struct wanted_blocks {
    size_t first;
    uint32_t blocks; /* list[first, first + blocks) */
    struct mass_bounds mass;
};

/* A source layer and the target layers [first, end) that read it. */
struct blocks_layer {
    struct arrays arrays; /* all but `list`, which grows */
    const struct replay_job *job;
    const struct replay_part *part; /* the part being played */
    uint32_t *played_as;            /* [parts] the first part that is played as this one */
    uint32_t source, first, end;
    uint32_t blocks, sinks, recent; /* blocks */
    uint32_t capacity;              /* the same, of the part */
    uint32_t total;                 /* steps, with warm-up */
    struct wanted_blocks *wants;    /* [source KV heads][total] */
    struct wanted_block *list;
    size_t list_count, list_capacity;
    uint32_t *tally;            /* [blocks] units wanted at the step */
    uint32_t tally_most;        /* no tally is larger */
    uint32_t *place;            /* [tally_most + 1] scratch of the sort by tally */
    uint32_t *demand;           /* [blocks] best first */
    struct ledger_row *rows;    /* [target KV heads][steps] of a target layer */
    struct ledger_row *manager; /* [steps] of a cache */
    uint64_t most;              /* units of the trace that a cache has held */
    uint64_t wanted, hit, cold; /* units of the trace over reported steps, of a cache */
    struct replay_reader reader;
};

/* Target KV heads [first, end) that share a cache. */
struct blocks_group {
    uint32_t target, first, end;
};

static uint32_t block_of(const struct blocks_layer *layer, uint32_t unit)
{
    return (uint32_t)((uint64_t)unit * layer->blocks / layer->job->header->units);
}

/* Units of the trace in a block, at most. */
static uint32_t units_each(const struct blocks_layer *layer)
{
    return (layer->job->header->units + layer->blocks - 1) / layer->blocks;
}

/* Set the number of blocks, and how many lie wholly in the window; no token of these is wanted. */
static void size_blocks(struct blocks_layer *layer)
{
    const struct replay_job *job = layer->job;
    const struct replay_plan *plan = job->plan;
    uint32_t units = job->header->units, end = job->shape.end_unit;
    double blocks = fmin(round((double)plan->context / plan->manager_unit), units);
    layer->blocks = blocks < 1 ? 1 : (uint32_t)blocks;
    layer->sinks = block_of(layer, job->shape.first_unit);
    layer->recent = end > 0 ? layer->blocks - 1 - block_of(layer, end - 1) : layer->blocks;
    layer->tally_most = plan->kv_heads * units_each(layer);
}

/* Do two parts have equal caches, which differ only in how many sequences read them? */
static bool plays_alike(const struct replay_part *a, const struct replay_part *b)
{
    const struct replay_plan *plan = a->plan;
    bool alike = plan->capacity == b->plan->capacity;
    for (size_t i = 0; alike && i < (size_t)plan->layers * plan->kv_heads; i++) {
        alike = plan->heads[i].offloaded == b->plan->heads[i].offloaded;
    }
    return alike;
}

/* The first part that is played as this one. */
static uint32_t played_as(const struct replay_job *job, uint32_t part)
{
    uint32_t first = 0;
    while (!plays_alike(&job->parts[first], &job->parts[part])) {
        first++;
    }
    return first;
}

/* The caller releases it, on failure too. */
static bool replay_blocks_layer_init(struct blocks_layer *layer, const struct replay_job *job,
                                     uint32_t source, struct error *why)
{
    const struct replay_plan *plan = job->plan;
    *layer = (struct blocks_layer){
        .job = job,
        .source = source,
        .first = mapping_first(plan->layers, job->header->layers, source),
        .end = mapping_first(plan->layers, job->header->layers, (uint64_t)source + 1),
        .total = plan->warmup + plan->steps,
    };
    if (!replay_reader_init(&layer->reader, job, source, why)) {
        return false;
    }
    for (uint32_t head = 0; head < job->header->kv_heads; head++) {
        layer->reader.read[REPLAY_ASKS * head + ASKS_OWN] = true;
    }
    if (job->header->unit_kind != TRACE_POSITIONS) {
        error_set(why, trace_path(job->trace), 0,
                  "the units of the trace are clusters, not ranges of tokens");
        return error_expect(why, "'block_span: unit', or a trace of positions");
    }
    size_blocks(layer);
    size_t lists = (size_t)job->header->kv_heads * layer->total;
    size_t rows = (size_t)plan->kv_heads * plan->steps;
    struct arrays *arrays = &layer->arrays;
    layer->played_as = arrays_add(arrays, job->part_count, sizeof *layer->played_as, why);
    layer->wants = arrays_add(arrays, lists, sizeof *layer->wants, why);
    layer->tally = arrays_add(arrays, layer->blocks, sizeof *layer->tally, why);
    layer->place = arrays_add(arrays, (size_t)layer->tally_most + 1, sizeof *layer->place, why);
    layer->demand = arrays_add(arrays, layer->blocks, sizeof *layer->demand, why);
    layer->rows = arrays_add(arrays, rows, sizeof *layer->rows, why);
    layer->manager = arrays_add(arrays, plan->steps, sizeof *layer->manager, why);
    for (uint32_t i = 0; !arrays->failed && i < job->part_count; i++) {
        layer->played_as[i] = played_as(job, i);
    }
    return !arrays->failed;
}

static bool add_wanted(void *context, uint32_t stream, uint32_t step, const struct demand *demand,
                       struct error *why)
{
    struct blocks_layer *layer = context;
    struct wanted_blocks *wants =
        &layer->wants[(size_t)(stream / REPLAY_ASKS) * layer->total + step];
    struct unit_set wanted = demand_wanted(demand);
    *wants = (struct wanted_blocks){.first = layer->list_count,
                                    .mass = demand_attended(demand, &wanted)};
    if (!array_reserve(&layer->list, &layer->list_capacity, layer->list_count + demand->wanted,
                       sizeof *layer->list, why)) {
        return false;
    }
    struct wanted_block *added = layer->list + wants->first;
    for (uint32_t i = 0; i < demand->wanted; i++) {
        uint32_t block = block_of(layer, demand->units[i]);
        if (layer->tally[block]++ == 0) {
            added[wants->blocks++].block = block;
        }
    }
    for (uint32_t i = 0; i < wants->blocks; i++) {
        added[i].count = layer->tally[added[i].block];
        layer->tally[added[i].block] = 0;
    }
    layer->list_count += wants->blocks;
    return true;
}

/* ---- a cache ---- */

static bool is_offloaded(const struct blocks_layer *layer, uint32_t target, uint32_t head)
{
    const struct replay_plan *plan = layer->part->plan;
    return plan->heads[(size_t)target * plan->kv_heads + head].offloaded;
}

static struct replay_source source_of(const struct blocks_layer *layer, uint32_t target,
                                      uint32_t head)
{
    return replay_source(layer->job->header, layer->job->plan, target, head);
}

static const struct wanted_blocks *wanted_of(const struct blocks_layer *layer, uint32_t target,
                                             uint32_t head, uint32_t step)
{
    struct replay_source source = source_of(layer, target, head);
    uint64_t at = (uint64_t)step + source.shift;
    at = at < layer->total ? at : at - layer->job->plan->steps;
    return &layer->wants[(size_t)source.head * layer->total + at];
}

/* Look up the blocks that a head wants and add them to the step's. Returns hits and misses. */
static struct outcome replay_blocks_look_up(struct blocks_layer *layer, const struct policy *policy,
                                            const struct wanted_blocks *wants)
{
    struct outcome outcome = {0};
    for (uint32_t i = 0; i < wants->blocks; i++) {
        struct wanted_block block = layer->list[wants->first + i];
        bool hit = policy->kind->holds(policy, block.block);
        outcome.hit += hit ? block.count : 0;
        outcome.missed += hit ? 0 : block.count;
        layer->tally[block.block] += block.count;
    }
    return outcome;
}

/* Sort the step's blocks with a tally into the demand, best first, and clear it. Returns their number. */
static uint32_t rank_step(struct blocks_layer *layer)
{
    uint32_t most = layer->tally_most, touched = 0;
    memset(layer->place, 0, ((size_t)most + 1) * sizeof *layer->place);
    for (uint32_t block = 0; block < layer->blocks; block++) {
        layer->place[layer->tally[block]]++;
    }
    for (uint32_t tally = most; tally > 0; tally--) {
        uint32_t here = layer->place[tally];
        layer->place[tally] = touched;
        touched += here;
    }
    for (uint32_t block = 0; block < layer->blocks; block++) {
        uint32_t tally = layer->tally[block];
        if (tally > 0) {
            layer->demand[layer->place[tally]++] = block;
            layer->tally[block] = 0;
        }
    }
    return touched;
}

/* Units of the trace that this many blocks of the group's heads hold at most. */
static uint64_t units_of(const struct blocks_layer *layer, const struct blocks_group *group,
                         uint32_t blocks)
{
    return (uint64_t)blocks * units_each(layer) * (group->end - group->first);
}

/* What the cache begins with (replay_job.h): blocks of the first step, most wanted first, then the latest. */
static struct demand fill_demand(struct blocks_layer *layer, const struct blocks_group *group,
                                 const struct policy *policy)
{
    for (uint32_t head = group->first; head < group->end; head++) {
        if (is_offloaded(layer, group->target, head)) {
            replay_blocks_look_up(layer, policy, wanted_of(layer, group->target, head, 0));
        }
    }
    uint32_t touched = rank_step(layer), count = touched;
    for (uint32_t i = 0; i < touched; i++) {
        layer->tally[layer->demand[i]] = 1;
    }
    for (uint32_t block = layer->blocks - layer->recent; block-- > layer->sinks;) {
        if (layer->tally[block] == 0) {
            layer->demand[count++] = block;
        }
    }
    for (uint32_t i = 0; i < touched; i++) {
        layer->tally[layer->demand[i]] = 0;
    }
    return (struct demand){.units = layer->demand, .wanted = count};
}

static void play_step(struct blocks_layer *layer, const struct blocks_group *group,
                      struct policy *policy, uint32_t step)
{
    const struct replay_plan *plan = layer->job->plan;
    uint64_t missed = 0;
    for (uint32_t head = group->first; head < group->end; head++) {
        if (!is_offloaded(layer, group->target, head)) {
            continue;
        }
        const struct wanted_blocks *wants = wanted_of(layer, group->target, head, step);
        struct outcome outcome = replay_blocks_look_up(layer, policy, wants);
        missed += outcome.missed;
        if (step >= plan->warmup) {
            layer->rows[(size_t)head * plan->steps + step - plan->warmup] =
                replay_row(layer->job, &outcome);
            layer->wanted += outcome.hit + outcome.missed;
            layer->hit += outcome.hit;
        }
    }
    struct outcome outcome;
    /* The demand that the policy sees: the step's blocks, best first. */
    uint32_t candidates = layer->job->plan->block_candidates, touched = rank_step(layer);
    uint32_t wanted = candidates > 0 && candidates < touched ? candidates : touched;
    struct demand demand = {.units = layer->demand, .wanted = wanted};
    policy_access(policy, &demand, &outcome);
    if (step >= plan->warmup) {
        layer->manager[step - plan->warmup] = (struct ledger_row){
            .lookups = outcome.lookups, .updates = outcome.updates, .inserts = outcome.inserts};
    }
    uint64_t cold = replay_cold(units_of(layer, group, policy->held), missed, &layer->most);
    layer->cold += step >= plan->warmup ? cold : 0;
}

static bool play_group(struct blocks_layer *layer, const struct blocks_group *group,
                       uint32_t sequence, struct error *why)
{
    const struct replay_plan *plan = layer->job->plan;
    uint32_t source_head = source_of(layer, group->target, group->first).head;
    const struct policy_env env = {
        .blocks = layer->blocks,
        .capacity = layer->capacity,
        .wanted = layer->blocks,
        .order = plan->order,
        .sinks = layer->sinks,
        .recent = layer->recent,
        .warmup = plan->warmup,
        .seed = replay_seed(plan->seed, layer->job->header, sequence, layer->source, source_head),
    };
    struct policy *policy = policy_create(plan->policy, plan->policy_values, &env, why);
    if (policy == NULL) {
        return false;
    }
    layer->wanted = layer->hit = layer->cold = layer->most = 0;
    if (replay_fills(plan)) {
        struct outcome outcome;
        struct demand fill = fill_demand(layer, group, policy);
        policy_access(policy, &fill, &outcome);
        layer->most = units_of(layer, group, policy->held);
    }
    for (uint32_t step = 0; step < layer->total; step++) {
        play_step(layer, group, policy, step);
    }
    bool good = policy_check(policy, why);
    policy_destroy(policy);
    return good;
}

/* ---- a layer ---- */

/* Add what a group's cache did to a part's target layer and totals. */
static void add_played(struct blocks_layer *layer, const struct replay_part *part,
                       const struct blocks_group *group, uint32_t sequence)
{
    for (uint32_t head = group->first; head < group->end; head++) {
        if (is_offloaded(layer, group->target, head)) {
            replay_add_copies(part, group->target, layer->rows + (size_t)head * part->plan->steps,
                              0, sequence);
        }
    }
    replay_add_copies(part, group->target, layer->manager, 0, sequence);
    replay_add_totals(part, sequence, layer->wanted, layer->hit, layer->cold);
}

/* Play a cache for the sequence, and add what it did to all parts played as part `number`. */
static bool add_group(struct blocks_layer *layer, uint32_t number, const struct blocks_group *group,
                      uint32_t sequence, struct error *why)
{
    const struct replay_job *job = layer->job;
    uint32_t offloaded = 0;
    for (uint32_t head = group->first; head < group->end; head++) {
        offloaded += is_offloaded(layer, group->target, head);
    }
    if (offloaded == 0) {
        return true;
    }
    if (!play_group(layer, group, sequence, why)) {
        return false;
    }
    for (uint32_t head = group->first; head < group->end; head++) {
        if (is_offloaded(layer, group->target, head)) {
            /* The mass of a head's rows, which is not shifted. */
            const struct replay_plan *plan = layer->job->plan;
            uint32_t source_head = source_of(layer, group->target, head).head;
            for (uint32_t s = 0; s < plan->steps; s++) {
                struct ledger_row *row = &layer->rows[(size_t)head * plan->steps + s];
                size_t at = (size_t)source_head * layer->total + plan->warmup + s;
                row->mass = layer->wants[at].mass.least;
                row->mass_most = layer->wants[at].mass.most;
            }
        }
    }
    for (uint32_t i = number; i < job->part_count; i++) {
        if (layer->played_as[i] == number && replay_copies(&job->parts[i], sequence) > 0) {
            add_played(layer, &job->parts[i], group, sequence);
        }
    }
    return true;
}

static bool replay_blocks_add_part(struct blocks_layer *layer, uint32_t number, uint32_t sequence,
                                   struct error *why)
{
    const struct replay_plan *plan = layer->job->plan;
    uint32_t together = plan->block_span == BLOCK_LAYER ? plan->kv_heads : 1;
    bool good = true;
    /* Make this the part being played. */
    const struct replay_part *part = &layer->job->parts[number];
    double share = part->plan->capacity, capacity = round(fmin(share, 1) * layer->blocks);
    layer->part = part;
    layer->capacity = share > 0 && capacity < 1 ? 1 : (uint32_t)capacity;
    for (uint32_t target = layer->first; target < layer->end; target++) {
        for (uint32_t head = 0; good && head < plan->kv_heads; head += together) {
            struct blocks_group group = {target, head, head + together};
            good = add_group(layer, number, &group, sequence, why);
        }
    }
    return good;
}

/* Does any part that is played as `number` read the sequence? None is if another part stands for this one. */
static bool is_played(const struct blocks_layer *layer, uint32_t number, uint32_t sequence)
{
    bool played = false;
    for (uint32_t i = number; !played && i < layer->job->part_count; i++) {
        played =
            layer->played_as[i] == number && replay_copies(&layer->job->parts[i], sequence) > 0;
    }
    return played;
}

bool replay_blocks(const struct replay_job *job, uint32_t source, struct error *why)
{
    struct blocks_layer layer;
    bool good = replay_blocks_layer_init(&layer, job, source, why);
    for (uint32_t q = 0; good && layer.first < layer.end && q < job->sequences; q++) {
        layer.list_count = 0;
        bool read = replay_is_read(job, q);
        good = !read || replay_visit_demands(&layer.reader, q, add_wanted, &layer, why);
        for (uint32_t i = 0; good && read && i < job->part_count; i++) {
            good = !is_played(&layer, i, q) || replay_blocks_add_part(&layer, i, q, why);
        }
    }
    arrays_release(&layer.arrays);
    free(layer.list);
    replay_reader_release(&layer.reader);
    return good;
}
