/* What heads want: the demands of a source layer, tile by tile, and with drafts their unions. */
#include "decode/replay/replay_job.h"

#include <stdlib.h>
#include <string.h>

/* ---- how demands are asked for ---- */

/* Are the demands of this way to ask approximate rows of the trace? */
static bool replay_asks_recorded(const struct replay_job *job, enum replay_asks asks)
{
    return job->header->has_approximate && (asks != ASKS_OWN || job->plan->asks_recorded);
}

/* Do two ways give the same demands? */
static bool asks_alike(const struct replay_job *job, enum replay_asks a, enum replay_asks b)
{
    const struct retrieval_error *x = &job->plan->errors[a], *y = &job->plan->errors[b];
    bool recorded = replay_asks_recorded(job, a);
    return recorded == replay_asks_recorded(job, b) &&
           (recorded || (x->noise == y->noise && x->lasting == y->lasting));
}

/* The first layer's query is known only when it runs, and layers loaded whole ask for nothing ahead. */
enum replay_asks replay_asks_of(const struct replay_job *job, const struct replay_plan *plan,
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

/* ---- reading ---- */

/* The demand of a stream at step `s` of the tile. */
static bool read_demand(struct replay_reader *reader, uint32_t stream, uint32_t s,
                        struct demand *demand, struct error *why)
{
    const struct replay_job *job = reader->job;
    enum replay_asks asks = stream % REPLAY_ASKS;
    uint32_t head = stream / REPLAY_ASKS;
    const struct retrieval_error *error = &job->plan->errors[asks];
    if (!replay_asks_recorded(job, asks) && retrieval_errs(error)) {
        return demand_from_retrieval(job->header, &reader->frame, head, s, &job->shape, error,
                                     &reader->retrieval, demand, why);
    }
    return (replay_asks_recorded(job, asks) ? demand_from_approximate : demand_from_frame)(
        job->header, &reader->frame, head, s, &job->shape, &reader->buffer, demand, why);
}

/* The steps of a tile before `end`, stream by stream. */
static bool visit_tile(struct replay_reader *reader, uint32_t end, replay_visit visit,
                       void *context, struct error *why)
{
    const struct trace_frame *frame = &reader->frame;
    for (uint32_t stream = 0; stream < reader->streams; stream++) {
        uint32_t steps = reader->read[stream] ? frame->steps : 0;
        for (uint32_t s = 0; s < steps && frame->first_step + s < end; s++) {
            struct demand demand;
            if (!read_demand(reader, stream, s, &demand, why) ||
                !visit(context, stream, frame->first_step + s, &demand, why)) {
                return false;
            }
        }
    }
    return true;
}

static bool visit_recorded(struct replay_reader *reader, uint32_t sequence, replay_visit visit,
                           void *context, struct error *why)
{
    uint32_t end = replay_steps_read(reader->job->plan);
    uint32_t last_tile = (end - 1) / reader->job->header->steps_per_tile;
    for (uint32_t tile = 0; tile <= last_tile; tile++) {
        if (!trace_read(reader->job->trace, sequence, tile, reader->source, &reader->frame, why) ||
            !visit_tile(reader, end, visit, context, why)) {
            return false;
        }
    }
    return true;
}

/* ---- unions ---- */

/* What the queries of a verification want together (decode/draft/drafts.h).
 *
 *     recorded step    0 1 2 3 4 5 6 7 ...
 *     verification 0   q d d              n = 2 drafts, of which it accepts 1
 *     verification 1       q d d          ... so the next one begins 2 steps later
 *
 * A verification of n drafts has n + 1 queries. Those of accepted drafts want what the recorded steps
 * of their tokens want; what rejected drafts want is in no recording, and plan->rejected_before says
 * which of its bounds is taken. Each query attends to its own demand, so the attention mass is the
 * mean over the queries whose tokens stay; the cache holds, and the link brings, the union. */

struct kept_demand {
    struct demand demand; /* without its arrays, which may still move */
    size_t first;         /* they are units[first, first + length) and mass[...], */
    uint32_t length;
    size_t query; /* and queries[query ...], one head after the other */
};

/* The demands of all steps of one recorded sequence and layer, stream by stream. */
struct replay_union {
    uint32_t steps; /* recorded steps that the plan reads */
    bool whole;     /* all units of a row are kept, and its queries: the policy compares them */
    struct kept_demand *kept; /* [streams][steps] */
    uint32_t *units;          /* of all, best first; owned, as mass and queries */
    uint8_t *mass;
    int8_t *queries;
    size_t count, unit_capacity, mass_capacity, query_count, query_capacity;
    uint32_t *stamp; /* [units of the trace] the last union that has it */
    uint32_t stamps;
    uint32_t *union_units; /* [units of the trace] */
    uint8_t *union_mass;
    struct demand *members; /* [queries] of the last union */
};

static bool union_init(struct replay_reader *reader, struct error *why)
{
    const struct replay_plan *plan = reader->job->plan;
    struct arrays *arrays = &reader->arrays;
    uint32_t units = reader->job->header->units, steps = replay_steps_read(plan);
    struct replay_union *all = reader->unions = arrays_add(arrays, 1, sizeof *all, why);
    if (all == NULL) {
        return false;
    }
    all->steps = steps;
    all->whole = plan->policy->needs_queries;
    all->kept = arrays_add(arrays, (size_t)reader->streams * steps, sizeof *all->kept, why);
    all->stamp = arrays_add(arrays, units, sizeof *all->stamp, why);
    all->union_units = arrays_add(arrays, units, sizeof *all->union_units, why);
    all->union_mass = arrays_add(arrays, units, sizeof *all->union_mass, why);
    all->members = arrays_add(arrays, plan->queries, sizeof *all->members, why);
    return !arrays->failed;
}

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

/* Of the first step, units that it does not ask for are kept, too: caches begin with them (replay_job.h). */
static bool union_keep(void *context, uint32_t stream, uint32_t step, const struct demand *demand,
                       struct error *why)
{
    struct replay_union *all = context;
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

/* What a stream wants in a step: each unit once, by any query's highest rank. Valid until the next call. */
static struct demand union_demand(struct replay_union *all, const struct replay_plan *plan,
                                  uint32_t stream, uint32_t step)
{
    uint32_t first = plan->rows[step], next = plan->rows[step + 1], count = 0, rank = 0;
    uint32_t rows = plan->rejected_before ? next - first : plan->queries;
    const struct kept_demand *kept = &all->kept[(size_t)stream * all->steps + first];
    all->stamps++;
    while (union_add_rank(all, kept, rows, rank, &count)) {
        rank++;
    }
    uint32_t wanted = count;
    for (rank = kept->demand.wanted; rank < kept->length; rank++) {
        union_add(all, kept->first + rank, &count);
    }
    /* The demands of a union's queries, whose arrays grow no more. */
    for (uint32_t i = 0; i < rows; i++) {
        struct demand *member = &all->members[i];
        *member = kept[i].demand;
        member->units = all->units + kept[i].first;
        member->mass = all->mass + kept[i].first;
        member->scale = NULL;
        member->query = all->whole ? all->queries + kept[i].query : NULL;
        member->query_stride = 1;
    }
    return (struct demand){.units = all->union_units,
                           .mass = all->union_mass,
                           .wanted = wanted,
                           .recorded = count,
                           .query_heads = kept->demand.query_heads,
                           .head_dim = kept->demand.head_dim,
                           .members = all->members,
                           .member_count = rows,
                           .staying = next - first};
}

static bool visit_unions(struct replay_reader *reader, replay_visit visit, void *context,
                         struct error *why)
{
    const struct replay_plan *plan = reader->job->plan;
    for (uint32_t stream = 0; stream < reader->streams; stream++) {
        uint32_t end = reader->read[stream] ? plan->warmup + plan->steps : 0;
        for (uint32_t step = 0; step < end; step++) {
            struct demand demand = union_demand(reader->unions, plan, stream, step);
            if (!visit(context, stream, step, &demand, why)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- both ---- */

bool replay_reader_init(struct replay_reader *reader, const struct replay_job *job, uint32_t source,
                        struct error *why)
{
    *reader = (struct replay_reader){
        .job = job, .source = source, .streams = REPLAY_ASKS * job->header->kv_heads};
    reader->read = arrays_add(&reader->arrays, reader->streams, sizeof *reader->read, why);
    return reader->read != NULL && (job->plan->rows == NULL || union_init(reader, why));
}

void replay_reader_release(struct replay_reader *reader)
{
    trace_frame_release(&reader->frame);
    demand_buffer_release(&reader->buffer);
    retrieval_buffer_release(&reader->retrieval);
    if (reader->unions != NULL) {
        free(reader->unions->units);
        free(reader->unions->mass);
        free(reader->unions->queries);
    }
    arrays_release(&reader->arrays);
}

bool replay_visit_demands(struct replay_reader *reader, uint32_t sequence, replay_visit visit,
                          void *context, struct error *why)
{
    struct replay_union *unions = reader->unions;
    if (unions == NULL) {
        return visit_recorded(reader, sequence, visit, context, why);
    }
    unions->count = unions->query_count = 0;
    return visit_recorded(reader, sequence, union_keep, unions, why) &&
           visit_unions(reader, visit, context, why);
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
