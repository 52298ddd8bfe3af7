#include "decode/replay/replay_union.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

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
    return (all->kept = array_zeroed((size_t)all->streams * all->steps, sizeof *all->kept, why)) &&
           (all->stamp = array_zeroed(units, sizeof *all->stamp, why)) &&
           (all->union_units = array_zeroed(units, sizeof *all->union_units, why)) &&
           (all->union_mass = array_zeroed(units, sizeof *all->union_mass, why)) &&
           (all->members = array_zeroed(job->plan->queries, sizeof *all->members, why));
}

void replay_union_release(struct replay_union *all)
{
    free(all->kept);
    free(all->units);
    free(all->mass);
    free(all->queries);
    free(all->stamp);
    free(all->union_units);
    free(all->union_mass);
    free(all->members);
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
